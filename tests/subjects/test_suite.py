from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.errors import UsageError
from steelyard.model.subject import RevisionFacts, Subject
from steelyard.subjects.command import command_subject, with_parameters
from steelyard.subjects.suite import benchmarks_of, parameter_list, parameter_scan

_FACTS: dict[str, Any] = {"commit": None, "tree": "0", "build": None}


def subjects(*commands: str) -> list[Subject]:
    return [Subject(name=command, command=command, argv=command.split(), program="/bin/echo") for command in commands]


def test_a_list_is_parted_at_its_commas_but_not_at_escaped_ones() -> None:
    assert parameter_list("size", "1,2,x y") == ("size", ["1", "2", "x y"])
    assert parameter_list("size", r"a\,b,c") == ("size", ["a,b", "c"])


@pytest.mark.parametrize(("name", "values"), [("a-b", "1"), ("", "1"), ("n", "1,2,1")])
def test_a_list_without_a_name_or_with_a_value_twice_is_refused(name: str, values: str) -> None:
    with pytest.raises(UsageError, match="--parameter-list"):
        parameter_list(name, values)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("1", "4", "1"), ["1", "2", "3", "4"]),
        (("1", "4", "2"), ["1", "3"]),
        (("0.1", "0.3", "0.1"), ["0.1", "0.2", "0.3"]),  # not 0.30000000000000004
        (("3", "1", "-1"), ["3", "2", "1"]),
        (("5", "5", "1"), ["5"]),
    ],
)
def test_a_scan_is_exact(words: tuple[str, str, str], values: list[str]) -> None:
    assert parameter_scan("n", *words) == ("n", values)


@pytest.mark.parametrize(
    "words",
    [("1", "4", "0"), ("1", "4", "-1"), ("x", "4", "1"), ("1", "inf", "1"), ("nan", "2", "1"), ("0", "1", "1e-9")],
)
def test_a_scan_that_never_arrives_or_never_ends_is_refused(words: tuple[str, str, str]) -> None:
    with pytest.raises(UsageError, match="--parameter-scan n"):
        parameter_scan("n", *words)


def test_the_product_of_parameters_for_every_candidate() -> None:
    given_parameters = [("a", ["1", "2"]), ("b", ["x", "y"])]
    found = benchmarks_of(subjects("old {a} {b}", "new {a} {b}", "other {a}"), given_parameters, control=False)
    assert len(found) == 8
    assert len({one.name for one in found}) == 8
    assert {(one.candidate, one.params["a"], one.params["b"]) for one in found} == {
        (candidate, a, b) for candidate in (1, 2) for a in "12" for b in "xy"
    }


def test_a_control_weighs_the_baseline_against_itself() -> None:
    *_, control = benchmarks_of(subjects("old {n}", "new {n}"), [("n", ["1", "2"])], control=True)
    assert (control.control, control.candidate, control.params) == (True, 0, {"n": "1"})


def test_two_commands_without_parameters_are_one_benchmark_named_after_the_candidate() -> None:
    (only,) = benchmarks_of(subjects("old", "new"), [], control=False)
    assert (only.name, only.params, only.candidate) == ("new", {}, 1)


def test_several_revisions_of_one_command_are_told_apart() -> None:
    sides = [
        one.model_copy(update={"name": name, "command": "./it", "revision": RevisionFacts(name=name, **_FACTS)})
        for one, name in zip(subjects("a", "b", "c"), ("good", "middle", "bad"), strict=True)
    ]
    assert [one.name for one in benchmarks_of(sides, [], control=False)] == ["middle", "bad"]
    assert [one.name for one in benchmarks_of(sides[:2], [], control=False)] == ["./it"]


def test_parameters_that_go_nowhere_or_come_twice_are_refused() -> None:
    with pytest.raises(UsageError, match="used in no command"):
        benchmarks_of(subjects("old", "new"), [("n", ["1"])], control=False)
    with pytest.raises(UsageError, match="given twice"):
        benchmarks_of(subjects("old {n}", "new"), [("n", ["1"]), ("n", ["2"])], control=False)
    with pytest.raises(UsageError, match="10000"):
        benchmarks_of(subjects("{a} {b}", "new"), [("a", list("abc") * 50), ("b", list("abc") * 50)], control=False)


@given(st.text().filter(lambda value: "\0" not in value))
def test_a_value_stays_one_word_whatever_is_in_it(value: str) -> None:
    subject = command_subject("echo before {n} 'a {n}' {other} {}", "echo", "baseline", shell=False)
    replaced = with_parameters(subject, {"n": value}, "baseline")
    assert replaced.argv == ["echo", "before", value, f"a {value}", "{other}", "{}"]


def test_a_program_may_be_a_parameter_and_has_to_exist() -> None:
    subject = command_subject("{tool} -c :", "tool", "candidate", shell=False)
    assert with_parameters(subject, {"tool": "sh"}, "candidate").program.endswith("/sh")
    with pytest.raises(UsageError, match="candidate command 'no-such-tool'"):
        with_parameters(subject, {"tool": "no-such-tool"}, "candidate")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("x", "or for a plain command of compare, run or count --parameter-list x A,B"),
        ("layout", "--parameter-list layout A,B (for builds of each side to average over: --layouts N)"),
    ],
)
def test_a_name_in_the_program_that_has_no_value_is_named(name: str, hint: str) -> None:
    subject = command_subject(f"./no-such-{{{name}}}", "old", "baseline", shell=False)
    with pytest.raises(UsageError) as refused:
        with_parameters(subject, {}, "baseline")
    assert str(refused.value).endswith(hint)


def test_braces_may_be_in_the_name_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "old-{layout}"
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    subject = command_subject(str(program), "old", "baseline", shell=False)
    assert with_parameters(subject, {}, "baseline").program == str(program)
