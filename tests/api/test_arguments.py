"""What arguments take: anything else is refused in one sentence that names the argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import steelyard
from steelyard.api.keywords import Checking, Comparing, Counted, Keywords, Running, options_of
from tests.world import ScriptedWorld, steady

BOTH = ["./old", "./new"]
UNTYPED: Any = steelyard


def test_the_path_of_a_program_is_a_command(scripted: ScriptedWorld) -> None:
    scripted.executable("a name")
    scripted.script = steady({"old": 12.0, "new": 18.0, "a name": 18.0})
    found = steelyard.compare([Path("./old"), Path("a name")], pairs=12, world=scripted.outside())
    assert [one.argv for one in found.data.subjects] == [["./old"], ["./a name"]]
    assert steelyard.run(Path("old"), launches=3, world=scripted.outside()).data.subjects[0].command == "./old"
    # A single text is the command itself, not a sequence of letters; so is a single name.
    found = steelyard.compare(BOTH, names="one", pairs=12, world=scripted.outside())
    assert [one.name for one in found.data.subjects] == ["one", "./new"]


@pytest.mark.parametrize("known", [Checking, Counted, Running, Comparing])
def test_none_is_as_if_a_keyword_were_not_given(known: Keywords) -> None:
    hints = get_type_hints(known)
    assert options_of(dict.fromkeys(hints), known) == options_of({}, known)
    assert [key for key, hint in hints.items() if type(None) not in get_args(hint)] == []


def test_none_is_the_default_of_an_argument_that_has_one_too(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    scripted.script = steady({"old": 12.0, "true": 1.0})
    found = steelyard.check("./old", heap=None, max_time=None, world=world).data
    assert (found.looked != [], found.allocating) == (True, [])
    ran = [steelyard.run("./old", launches=12, world=world) for _ in range(2)]
    options = dict.fromkeys(("margin", "alpha", "force", "same_conditions"))
    assert UNTYPED.diff(*ran, world=world, **options).data == steelyard.diff(*ran, world=world).data


def test_alpha_is_a_part_or_a_percentage_as_the_margin_is(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    weighed = [steelyard.compare(BOTH, alpha=one, pairs=20, world=world) for one in (0.02, "2%")]
    assert [one.data.settings.alpha for one in weighed] == [0.02, 0.02]
    ran = [steelyard.run("./old", launches=12, world=world) for _ in range(2)]
    assert steelyard.diff(*ran, alpha="2%", world=world).data.alpha == 0.02  # type: ignore[union-attr]


def test_a_name_may_be_that_of_a_file(scripted: ScriptedWorld) -> None:
    """On the command line it may be a word of a command without its quotes, which a text in a program cannot be."""
    Path("input").write_text("x")
    found = steelyard.run("./old", name="input", launches=3, world=scripted.outside())
    assert found.data.subjects[0].name == "input"


def test_every_time_may_be_a_text_with_its_unit_as_in_a_project_s_file(scripted: ScriptedWorld) -> None:
    times = {"max_time": "2m", "timeout": "500ms", "wait_quiet": "0s"}
    settings = UNTYPED.compare(BOTH, pairs=12, world=scripted.outside(), **times).data.settings
    assert (settings.max_time_s, settings.timeout_s, settings.wait_quiet_s) == (120.0, 0.5, 0.0)
    with pytest.raises(steelyard.UsageError, match=r"^timeout 'soon' is not a time"):
        steelyard.run("./old", timeout="soon", world=scripted.outside())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda **world: UNTYPED.run(["./old"], **world), "command takes one command line"),
        (lambda **world: UNTYPED.run(None, **world), "command takes one command line"),
        (lambda **world: UNTYPED.count(3, **world), "command takes one command line"),
        (lambda **world: UNTYPED.check(["./old"], **world), "command takes one command line"),
        (lambda **world: UNTYPED.check("./old", heap=1, **world), "heap takes True or False, not 1"),
        (lambda **world: UNTYPED.check("./old", max_time=[1], **world), "max_time takes a number of seconds"),
        (lambda **world: UNTYPED.compare([["./old"], ["./new"]], pairs=8, **world), "commands takes command lines"),
        (lambda **world: UNTYPED.compare({"./old", "./new"}, **world), "commands takes command lines"),
        (
            lambda **world: UNTYPED.compare([sorted, sum], **world),
            "commands takes command lines, each as a text or the Path of a program, not [<built-in function sorted>, "
            "<built-in function sum>]: a function is weighed as a benchmark in a file of its own, with @",
        ),
        (lambda **world: UNTYPED.compare(BOTH, names=3, **world), "names takes a text, or a list of texts, not 3"),
        (lambda **world: UNTYPED.compare(BOTH, progress=3, **world), "progress takes a function, not 3"),
        (lambda **world: UNTYPED.compare(BOTH, setup=["a", "b", "c"], **world), "setup has 3 commands: give one for"),
        (lambda **world: UNTYPED.run("./old", name=3, **world), "name takes a text, not 3"),
        (lambda **world: UNTYPED.compare_project(3, **world), "folder takes the path of a folder"),
        (lambda **world: UNTYPED.compare_project(targets=3, **world), "targets takes a text, or a list"),
        (lambda **world: UNTYPED.load(3, **world), "path takes the path of a file"),
        (lambda **world: UNTYPED.diff("a", 3, **world), "cannot read a: "),
        (lambda **world: UNTYPED.diff(3, 4, **world), "baseline takes the path of a file"),
        (lambda **world: UNTYPED.import_(3, **world), "files takes paths of files"),
        (lambda **world: UNTYPED.page(3, **world), "path takes the path of a file"),
        (
            lambda **world: UNTYPED.page(["a", "b"], **world),
            "page takes records and files one by one: steelyard.page(*",
        ),
        (lambda **world: UNTYPED.run("./old", launches=3, **world).save(3), "path takes the path of a file"),
        (lambda **world: UNTYPED.run("./old", launches=3, **world).export(3), "format takes a text, not 3"),
    ],
)
def test_an_argument_of_a_wrong_type_is_one_sentence(scripted: ScriptedWorld, call: Any, said: str) -> None:
    with pytest.raises(steelyard.UsageError) as refused:
        call(world=scripted.outside())
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    "call",
    [
        lambda text, **world: steelyard.load(text, **world),
        lambda text, **world: steelyard.import_([Path(text)], **world),
        lambda text, **world: steelyard.page(text, **world),
        lambda text, **world: steelyard.compare_project(text, **world),
        lambda text, **world: steelyard.compare([text, "./old"], **world),
        lambda text, **world: steelyard.run(Path(text), **world),
        lambda text, **world: steelyard.run("./old", stdin=text, **world),
        lambda text, **world: steelyard.run("./old {n}", parameters={"n": [text]}, **world),
        lambda text, **world: steelyard.run("./old", environment={"A": text}, **world),
        lambda text, **world: steelyard.run("./old", launches=3, **world).save(text),
    ],
)
def test_a_nul_is_in_no_text_that_the_system_gets(scripted: ScriptedWorld, call: Any) -> None:
    with pytest.raises(steelyard.UsageError, match=r" takes .*a\\x00b'.*: leave the NUL character out$"):
        call("a\0b", world=scripted.outside())


def test_the_values_of_a_parameter_are_taken_as_they_are(scripted: ScriptedWorld) -> None:
    values = ["a\\", "b", "c,d", "e\\,f", " g"]
    found = steelyard.run("./old {n}", parameters={"n": values}, launches=3, world=scripted.outside())
    assert [one.params for one in found.data.benchmarks] == [{"n": value} for value in values]


def test_an_output_with_too_long_a_name_is_one_sentence(scripted: ScriptedWorld) -> None:
    with pytest.raises(steelyard.UsageError, match=r"^output x+ cannot be written: File name too long; "):
        steelyard.run("./old", output="x" * 300, world=scripted.outside())


def test_a_parameter_has_a_value(scripted: ScriptedWorld) -> None:
    with pytest.raises(steelyard.UsageError, match=r"^parameters takes a dictionary .*, not \{'n': \[\]\}$"):
        steelyard.run("./old {n}", parameters={"n": []}, world=scripted.outside())


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("pairs", ["a", 1.5, True, [12], float("nan"), float("inf")], "a whole number"),
        ("seed", ["x", 0.5], "a whole number"),
        ("metrics", [3, True, ["wall", 3], {"wall": 1}, b"wall"], "a text, or a list of texts"),
        ("setup", [3], "a text, or a list of texts"),
        ("tags", [3], "a text, or a list of texts"),
        ("alpha", [True, [0.01], 10**400], "a part of 1 as 0.01, or a text in percent"),
        ("margin", [False, 1j], "a part of 1 as 0.01, or a text in percent"),
        ("timeout", [True], "a number of seconds, or a text as '2m'"),
        ("max_time", [[1]], "a number of seconds, or a text as '2m'"),
        ("shell", ["no", 1], "True or False"),
        ("cpu", ["first", 0.5, True], "the number of a processor, or 'auto'"),
        ("environment", [{"A=B": "1"}, {3: "1"}, {"A": ["1"]}, 3], "a dictionary of names (without =)"),
        ("parameters", [{"n": None}, {3: "1"}, "n"], "a dictionary of names with their values"),
        ("stdin", [3], "the path of a file"),
        ("bytes", [True, [3]], "a number, or a text as '64M'"),
    ],
)
def test_each_keyword_says_what_it_takes(scripted: ScriptedWorld, key: str, values: list[Any], said: str) -> None:
    for value in values:
        with pytest.raises(steelyard.UsageError) as refused:
            UNTYPED.compare(BOTH, world=scripted.outside(), **{key: value})
        assert str(refused.value).startswith(f"{key} takes {said}"), value
        assert str(refused.value).isprintable()


def test_what_is_refused_is_shown_on_one_short_line(scripted: ScriptedWorld) -> None:
    class Long:
        def __repr__(self) -> str:
            return "a\n" * 999

    with pytest.raises(steelyard.UsageError, match="seed takes a whole number, not a a") as refused:
        UNTYPED.compare(BOTH, seed=Long(), world=scripted.outside())
    assert len(str(refused.value)) < 100


def test_numbers_are_those_of_any_kind(scripted: ScriptedWorld) -> None:
    found = UNTYPED.run(
        "./old {n}",
        launches=np.int64(3),
        seed=7.0,
        max_time=np.float32(60),
        parameters={"n": np.arange(2)},
        environment={"A": 1},
        world=scripted.outside(),
    )
    assert found.data.settings.seed == 7
    assert [one.params for one in found.data.benchmarks] == [{"n": "0"}, {"n": "1"}]
    assert found.data.settings.variables == {"A": "1"}
