"""Invalid values: each option that takes a number, a time or a share refuses them itself, and not its parser."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.cli.app import command_line
from tests.in_process import InProcess

COMMANDS: dict[str, Any] = dict(vars(command_line())["commands"])
ARGUMENTS = {
    "bisect": ["true", "--good", "main"],
    "calibrate": [],
    "compare": ["true", "true"],
    "diff": ["a", "b"],
    "docs": [],
    "import": ["a"],
    "show": [],
    "tune": [],
}
NUMBERS = [
    (name, option.opts[0])
    for name, command in COMMANDS.items()
    for option in command.params
    if option.metavar in ("N", "SECONDS", "P", "PERCENT")
]
NONSENSE = ["many", "", "1,5", "--", "0x10", "1e", "٣x", "3 0", "\x1b[31m", "9" * 5000, "-", "%", "s", "None"]


def test_there_are_such_options() -> None:
    assert {("compare", "--max-time"), ("check", "--timeout"), ("show", "--functions"), ("diff", "--alpha")} <= {
        *NUMBERS
    }
    assert len(NUMBERS) > 30


@pytest.mark.parametrize(("command", "option"), NUMBERS, ids=str)
def test_nonsense_is_named_in_one_plain_sentence(asked: InProcess, command: str, option: str) -> None:
    for nonsense in NONSENSE:
        sentence = asked.refuses(command, *ARGUMENTS.get(command, ["true"]), f"{option}={nonsense}")
        assert sentence.startswith(option), sentence
        assert len(sentence) < 300
        assert "nvalid" not in sentence
        assert "nput should" not in sentence
    assert not asked.kept()
