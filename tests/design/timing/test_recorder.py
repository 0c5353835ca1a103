"""The launch right before a pair, so that the pair's first launch follows another one, as its second does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Frame
from tests.world import ScriptedServer, ScriptedWorld, measured, program_of

Request = tuple[list[str], list[bool]]
"""The programs of the launches in a request, and which of the launches are kept."""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """All requests that the launch server gets."""
    found: list[Request] = []
    launch_series = ScriptedServer.launch_series

    def noting(server: ScriptedServer, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]) -> list[Any]:
        found.append(([program_of(spec) for spec in specs], [frame is not None for frame in frames]))
        return launch_series(server, specs, frames)

    monkeypatch.setattr(ScriptedServer, "launch_series", noting)
    return found


def weigh(world: ScriptedWorld, **others: Any) -> None:
    """Weigh launches of 12 ms, which measure `others`, too."""

    def launch(_: LaunchSpec, number: int) -> Measured:
        return measured(12 + number * 1e-5, **others)

    world.script = launch
    asked = ("compare", "./old", "./new", "--pairs", "12", "--pairing", "adjacent", "--ignore-failure")
    assert world(*asked).status == 0


@pytest.mark.parametrize("others", [{}, {"wall_ns": 25_000_000, "delay_ns": 6_000_000}], ids=["quick", "waiting"])
def test_pairs_of_a_short_program_run_behind_a_launch_of_the_other_side_of_which_nothing_is_kept(
    scripted: ScriptedWorld, requests: list[Request], others: dict[str, Any]
) -> None:
    weigh(scripted, **others)
    (_, first), *later = requests
    assert False not in first  # how long a launch takes is not known yet
    assert later
    for programs, are_kept in later:
        assert are_kept == [False, *[True] * (len(are_kept) - 1)]
        assert programs[0] == programs[2] != programs[1]


@pytest.mark.parametrize("others", [{"wall_ns": 20_000_000}, {"exit_code": 1}], ids=["long", "failed"])
def test_nothing_more_is_launched_for_a_long_program_or_one_that_ends_a_series(
    scripted: ScriptedWorld, requests: list[Request], others: dict[str, Any]
) -> None:
    weigh(scripted, **others)
    assert requests
    assert not any(False in are_kept for _, are_kept in requests)
