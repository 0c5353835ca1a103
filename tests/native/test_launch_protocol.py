"""What the launch server and the driver both define: the numbers of a launch, and what a request for it has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import get_args

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS, Numbers, declared

NATIVE = Path(__file__).resolve().parents[2] / "native"
PROTOCOL = (NATIVE / "launch" / "src" / "protocol.rs").read_text()


def part(start: str, end: str) -> str:
    """Return the server's source between two lines."""
    _, found, rest = PROTOCOL.partition(f"\n{start}\n")
    assert found, f"there is no `{start}` any more"
    return rest[: rest.index(f"\n{end}\n")]


def types(struct: str) -> dict[str, str]:
    """Return field -> type, in order."""
    return dict(re.findall(r"^ +pub (\w+): (.+),$", part(f"pub struct {struct} {{", "}"), re.MULTILINE))


def names(dataclass: type[Measured | LaunchSpec]) -> set[str]:
    return {field.name for field in fields(dataclass)}


def test_the_server_replies_with_the_numbers_of_a_launch_in_their_order() -> None:
    assert tuple(types("Report"))[: len(NUMBERS)] == NUMBERS


def test_the_server_may_leave_out_what_may_be_none() -> None:
    optional = {name for name, (kind, _) in declared(Numbers).items() if NoneType in get_args(get_args(kind)[0])}
    assert {name for name in NUMBERS if types("Report")[name].startswith("Option<")} == optional


def test_the_row_that_the_server_writes_has_the_numbers_in_their_order() -> None:
    row = part("    pub fn row(&self) -> String {", "    }")
    assert tuple(re.findall(r"\bself\.(\w+)", row)) == NUMBERS


def test_the_server_replies_with_all_that_is_measured() -> None:
    assert set(types("Report")) == names(Measured)


def test_the_server_is_asked_for_all_that_fixes_one_process() -> None:
    assert set(types("Request")) - {"then"} == names(LaunchSpec) - {"repeat", "lockstep"}
