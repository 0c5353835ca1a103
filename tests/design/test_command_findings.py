"""Programs that do less work if their output goes to /dev/null, and interpreters that lack a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.command_findings import hidden_variable_findings, unread_output_findings
from steelyard.model.settings import Settings
from tests.design.scripted import subject

GREP = "grep stops at the first match where what it prints goes to /dev/null, as --output has it here"

TAR = "tar reads no files where what it prints goes to /dev/null, as --output has it here"


def told(*argv: str, **settings: object) -> list[str]:
    subjects = [subject("it").model_copy(update={"argv": [*argv]})] * 2
    return [one.message for one in unread_output_findings(subjects, Settings.model_validate({"seed": 1, **settings}))]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("/usr/bin/grep", "a", "in"), GREP),
        (("sh", "-c", "sort in | grep -c a"), GREP),
        (("sh", "-c", "grep a in"), GREP),
        (("tar", "cf", "-", "in"), TAR),
    ],
)
def test_what_does_less_is_named_once(argv: tuple[str, ...], message: str) -> None:
    assert told(*argv, output="/dev/null") == [message]
    assert told(*argv) == told(*argv, output="out") == told(*argv, output="/dev/null", harness="shell") == []


@pytest.mark.parametrize(
    "argv",
    [
        ("grep", "-q", "a", "in"),
        ("sh", "-c", "grep a in | sort"),
        ("sh", "-c", "grep a in > out"),
        ("sh", "-c", ""),
        ("tar", "xf", "-"),
        ("tar", "cf", "out.tar", "in"),
        ("tar", "czf", "-", "in"),
        ("tar",),
    ],
)
def test_what_does_all_is_not(argv: tuple[str, ...]) -> None:
    assert told(*argv, output="/dev/null") == []


def hidden(program: str, set_here: dict[str, str], **settings: object) -> list[str]:
    subjects = [subject("it").model_copy(update={"program": program})] * 2
    settings_of_launches = Settings.model_validate({"seed": 1, **settings})
    return [one.message for one in hidden_variable_findings(subjects, settings_of_launches, set_here)]


@pytest.mark.parametrize(
    ("program", "variable", "name"),
    [("/a/python3.11", "PYTHONPATH", "python"), ("/a/perl", "PERL5LIB", "perl"), ("/a/node", "NODE_PATH", "node")],
)
def test_an_interpreter_without_its_variable_is_named_once(program: str, variable: str, name: str) -> None:
    set_here = {"PATH": "/a", "PYTHONPATH": "src", "PERL5LIB": "lib", "NODE_PATH": "a"}
    assert hidden(program, set_here) == [
        f"{variable} is set here, but a launch does not see it: {name} may have loaded other modules than it does in "
        "your shell"
    ]
    assert hidden(program, {**set_here, variable: ""}) == hidden(program, {"PATH": "/a"}) == []
    assert hidden(program, set_here, environment=["PATH", variable]) == []
    assert hidden(program, set_here, variables={variable: "other"}) == []


def test_a_script_is_known_by_its_interpreter_and_other_programs_need_no_variable(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/python3 -O\n")
    set_here = {"PYTHONPATH": "src"}
    assert len(hidden(str(script), set_here)) == 1
    script.write_text("#!/bin/sh\n")
    assert hidden(str(script), set_here) == hidden("/a/pythonic", set_here) == hidden(str(tmp_path), set_here) == []
