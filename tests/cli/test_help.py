"""What `--help` shows, and that steelyard reads the command lines of its examples."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from steelyard.cli.app import command_line, run
from steelyard.design import session
from steelyard.design.bisection import session as bisection
from steelyard.design.calibration import calibration
from steelyard.design.check import session as checking
from steelyard.design.noise import session as noise
from tests.foreign import hyperfine
from tests.world import ScriptedWorld, in_place, steady

COMMANDS: dict[str, Any] = dict(vars(command_line())["commands"])
OPTIONS = {
    name: [one for one in command.params if one.param_type_name == "option"] for name, command in COMMANDS.items()
}


@pytest.fixture
def help_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*words: str) -> str:
        capsys.readouterr()
        assert run([*words, "--help"]) == 0
        return capsys.readouterr().out

    return shown


def headings(text: str) -> list[str]:
    return [line.removesuffix(":") for line in text.splitlines() if re.fullmatch(r"\S.*:", line)]


# --- the list of commands


def test_commands_are_in_groups(help_of: Callable[..., str]) -> None:
    text = help_of()
    groups = ["Weigh and measure", "Count", "Look at benchmarks", "Look at results"]
    groups += ["Look at the machine", "Keep things in order", "Read"]
    assert headings(text) == ["Options", *groups, "Examples"]
    for name in COMMANDS:
        assert re.search(rf"^  {name}  +\S", text, re.MULTILINE), name


def test_each_command_says_what_it_does_in_a_whole_sentence(help_of: Callable[..., str]) -> None:
    text = help_of()
    assert "..." not in text.replace("[ARGS]...", "")
    words = " ".join(text.split())
    for command in COMMANDS.values():
        sentence = " ".join(command.help.partition("\n\n")[0].split())
        assert sentence.endswith(".")
        assert sentence in words


# --- one command


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_under_headings(help_of: Callable[..., str], name: str) -> None:
    text = help_of(name)
    _, _, others = text.partition("\nOptions:\n")
    assert re.findall(r"--\S+", others.partition("\n\n")[0]) == ["--help"], "the only one that belongs nowhere"
    for option in OPTIONS[name]:
        assert (option.opts[0] in text) is not option.hidden


@pytest.mark.parametrize("name", COMMANDS)
def test_what_an_option_does_is_a_whole_sentence(name: str) -> None:
    for option in COMMANDS[name].params:
        said, _, default = (option.help or "").partition("  [default: ")
        assert option.hidden or re.fullmatch(r"[A-Z].*\.", said), option.name
        assert default[-1:] in ("", "]")


def test_the_headings_of_compare(help_of: Callable[..., str]) -> None:
    assert headings(help_of("compare")) == [
        "Arguments",
        "Revisions of a git repository",
        "What is judged",
        "What is run",
        "Benchmarks inside programs",
        "The heap",
        "How it is launched",
        "Counting under Valgrind",
        "Output",
        "To carry on",
        "Options",
        "Examples",
    ]


def test_arguments_are_shown_as_they_are_declared(help_of: Callable[..., str]) -> None:
    assert "Usage: steelyard compare [OPTIONS] [BASELINE CANDIDATE...]\n" in help_of("compare")
    assert "Usage: steelyard show [OPTIONS] [FILE]\n" in help_of("show")
    assert not re.search(r"<(str|int|path|list)", "".join(map(help_of, COMMANDS)))


def test_an_option_means_the_same_in_every_command() -> None:
    by_short: dict[str, set[str]] = {}
    for options in OPTIONS.values():
        for option in options:
            long = option.opts[0]
            for short in option.opts[1:]:
                by_short.setdefault(short, set()).add(long)
    # -M is the most that is measured, pairs of two commands or launches of one; -o the file that is asked for most.
    assert {short: longs for short, longs in by_short.items() if len(longs) > 1} == {
        "-M": {"--pairs", "--launches"},
        "-o": {"--html", "--json", "--output"},
    }


def test_what_one_command_is_given_is_not_told_of_two(help_of: Callable[..., str]) -> None:
    assert "for each of two commands" in " ".join(help_of("compare").split())
    for name in ("run", "count", "bisect"):
        assert "given twice" not in " ".join(help_of(name).split()), "it is refused"


def test_the_usual_budget_is_that_of_the_command() -> None:
    def usual(name: str) -> str:
        (option,) = (option for option in OPTIONS[name] if option.opts[0] == "--max-time")
        return str(option.help.partition("[default: ")[2])

    assert usual("run") == "30, or none with a number of launches]", "it measures no pairs"
    assert usual("compare") == usual("timeit")
    assert "with a number of pairs; slow commands up to 10m" in usual("compare")


# --- examples


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each steelyard command line in an example."""
    for part in re.split(r" && |; | \| ", text):
        words = shlex.split(part)
        if words[0] == "steelyard":
            yield words[1:]


EXAMPLES = [
    pytest.param(name, words, id=" ".join(words))
    for name, command in [("", command_line()), *COMMANDS.items()]
    for line in command.epilog.splitlines()
    for words in commands_in(line)
]


def test_each_command_has_two_examples_that_fit_the_screen(help_of: Callable[..., str]) -> None:
    for name, command in COMMANDS.items():
        lines = command.epilog.splitlines()
        assert len(lines) == 2, name
        assert all(name in line for line in lines)
        assert all(len(line) <= 100 for line in lines), lines
        assert "\n".join(f"  {line}" for line in lines) in help_of(name), "they are shown as they are, to be pasted"


class Reached(BaseException):
    """Raised in place of measuring."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples would find on a usual machine, or have made before they need it."""
    world = ScriptedWorld(tmp_path_factory.mktemp("examples"), steady({"old": 12.0}))
    with pytest.MonkeyPatch.context() as patch:
        in_place(world, patch)
        prepare(world)
    return world.folder


@pytest.mark.parametrize(("name", "words"), EXAMPLES)
def test_an_example_is_read_to_its_end(
    scripted: ScriptedWorld, prepared: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: list[str]
) -> None:
    shutil.copytree(prepared, scripted.folder, dirs_exist_ok=True)
    reached: list[str] = []

    def measure(*_: object, **__: object) -> NoReturn:
        reached.append(name)
        raise Reached

    begun = (
        (session, "measure"),
        (calibration, "calibrate"),
        (checking, "check_target"),
        (bisection, "bisect"),
        (noise, "measure_noise"),
    )
    for module, function in begun:
        monkeypatch.setattr(module, function, measure)
    try:
        done = scripted(*words)
    except Reached:
        assert reached
    else:
        assert done.status in (0, 1), done
        silent = "cache diff docs doctor export gate import init list merge report show still tune"
        assert words[0] in silent.split()


def prepare(world: ScriptedWorld) -> None:
    for program in ("old", "bin/cargo", "bin/gzip", "bin/python", "bin/sort"):
        world.executable(program)
    for record in ("a.json", "b.json"):
        assert run(["run", "./old", "--launches", "12", "-o", record], world.outside()) == 0
    assert run(["compare", "./old", "./old", "--pairs", "12", "-o", "weighing.json"], world.outside()) == 0
    for part, record in (("1/2", "one.json"), ("2/2", "two.json")):
        words = ["compare", "./old {n}", "./old {n}", "-L", "n", "1,2", "--shard", part, "-o", record]
        assert run([*words, "--pairs", "12"], world.outside()) == 0
    hyperfine(world.folder / "theirs.json", gzip=[0.01] * 10)
