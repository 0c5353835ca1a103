"""`steelyard bisect` without a command: it follows a target of the project's file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from steelyard.model.files import load
from tests.histories import BUILD, History
from tests.tool import Done
from tests.world import ScriptedWorld

pytestmark = pytest.mark.real

OWN_BUILD = "echo >> ../../own; test $(cat number.h) != 6"
FILE = f"""
[build]
command = "{BUILD}"
environment = ["KIND=own"]

[[target]]
name = "prog"
command = "./prog own"
build = "{OWN_BUILD}"
timeout = "30s"
prepare = "./prog p"

[[target]]
name = "other"
command = "./prog"
build = "exit 1"

[compare]
margin = "1%"
max-time = "3s"
"""


@pytest.fixture
def history(scripted: ScriptedWorld) -> History:
    """A project of two targets, slow from commit 5 on; the target prog does not build in commit 6."""
    return project(scripted, [10.3 if number >= 5 else 10.0 for number in range(9)])


@pytest.fixture
def short(scripted: ScriptedWorld) -> History:
    """The same with three commits, of which the last one is slow."""
    return project(scripted, [10.0, 10.0, 10.3])


def project(scripted: ScriptedWorld, ms: list[float]) -> History:
    made = History(scripted, ms)
    scripted.folder.joinpath("steelyard.toml").write_text(FILE)
    return made


def bisect(scripted: ScriptedWorld, *words: str) -> Done:
    return scripted("bisect", "--good", "c0", "--pairs", "40", *words)


def put(scripted: ScriptedWorld, *changes: tuple[str, str]) -> None:
    text = FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    scripted.folder.joinpath("steelyard.toml").write_text(text)


def test_the_commit_is_named_by_what_the_target_says(
    scripted: ScriptedWorld, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = scripted.folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    done = bisect(scripted, "--target", "pro*", "--json", "found.json")
    assert done.status == 1, done
    assert f"slower     {history.names[5]}\n" in done.text
    skipped = f"skipped: target prog of {history.short(6)[:7]} does not build: {OWN_BUILD} failed with exit status 1"
    assert skipped in done.err.decode()
    found = json.loads((below / "found.json").read_text())
    assert (found["command"], found["build"]) == ("./prog own", f"{BUILD}\n{OWN_BUILD}")
    settings = load(scripted.kept()[0]).settings
    assert (settings.margin, settings.timeout_s, settings.prepare) == (0.01, 30, ["./prog p"])
    assert {spec.argv for spec in scripted.launched} == {(b"./prog", b"own"), (b"./prog", b"p")}


def test_what_is_run_is_said_first_and_is_that_of_one_target(scripted: ScriptedWorld, short: History) -> None:
    lines = bisect(scripted, "--target", "prog").err.decode().splitlines()
    assert lines[0] == "steelyard: steelyard.toml says what is run:"
    assert [line.split("  ")[1].strip() for line in lines[1:5]] == ["build", "prog, build", "prog", "prog, prepare"]
    own = scripted.folder / ".cache/steelyard/builds/own"
    assert len(own.read_text().splitlines()) == short.builds()


def test_builds_of_a_weighing_serve_a_search(scripted: ScriptedWorld, history: History) -> None:
    words = ("--base", "c0", "--candidate", "c8", "--target", "prog")
    assert scripted("compare", *words).status == 1
    built = history.builds()
    assert b"building c" not in bisect(scripted, "--target", "prog").err
    assert built == 2


@pytest.mark.usefixtures("short")
def test_the_command_line_goes_before_the_file(scripted: ScriptedWorld) -> None:
    assert bisect(scripted, "--target", "prog", "--margin", "2%", "--build", "true", "--max-time", "60").status == 1
    record = load(scripted.kept()[0])
    assert (record.settings.margin, record.settings.max_time_s) == (0.02, 60)
    assert {one.revision.build for one in record.subjects if one.revision} == {"true"}


@pytest.mark.parametrize(
    ("old", "new", "margin"),
    [
        ('name = "prog"', 'name = "prog"\nmargin = "0.7%"', 0.007),
        ('margin = "1%"', 'margin = "1%"\nmargins = { "p*" = "0.8%" }', 0.008),
        ('margin = "1%"\n', "", 0.005),
    ],
)
@pytest.mark.usefixtures("short")
def test_the_margin_is_that_of_the_target(scripted: ScriptedWorld, old: str, new: str, margin: float) -> None:
    put(scripted, (old, new))
    assert bisect(scripted, "--target", "prog").status == 1
    assert load(scripted.kept()[0]).settings.margin == margin


@pytest.mark.usefixtures("short")
def test_nothing_that_looks_like_a_secret_reaches_a_target(scripted: ScriptedWorld) -> None:
    put(scripted, ('timeout = "30s"', "inherit-environment = true"))
    scripted.environment["API_TOKEN"] = "secret"
    assert bisect(scripted, "--target", "prog").status == 1
    passed_on = {os.fsdecode(one).partition("=")[0] for spec in scripted.launched for one in spec.env}
    assert "HOME" in passed_on
    assert "API_TOKEN" not in passed_on


@pytest.mark.parametrize(
    ("changes", "words", "sentence"),
    [
        ([], [], "bisect follows one target, and steelyard.toml has several (prog, other): choose with --target"),
        ([], ["--target", "prgo"], "--target 'prgo' is none of steelyard.toml: it has prog, other"),
        ([], ["--target", "prog", "./prog"], "--target chooses from those of a project's file: leave it out, or"),
        ([], ["--target", "prog", "-o", "steelyard.toml"], "steelyard.toml"),
        (
            [('prepare = "./prog p"', 'prepare = ["true", "true"]')],
            ["--target", "prog"],
            "steelyard.toml:11: prepare has 2 commands, and all commits have one: give one, here or as "
            "bisect --prepare CMD",
        ),
        (
            [("./prog own", "./prog {n}"), ('timeout = "30s"', "parameters = { n = [1, 2] }")],
            ["--target", "prog"],
            "steelyard.toml:8: bisect follows one benchmark, and the parameters of prog make 2: choose one by its name",
        ),
        (
            [("./prog own", "./prog {n}"), ('timeout = "30s"', "parameters = { n = [1, 2] }")],
            ["--target", "prog", "-b", "prog, n=3"],
            "--benchmark and --tag choose none of the commands, which go by their names: 'prog, n=1', 'prog, n=2'",
        ),
    ],
)
def test_bad_input(
    scripted: ScriptedWorld, history: History, changes: list[tuple[str, str]], words: list[str], sentence: str
) -> None:
    put(scripted, *changes)
    assert sentence in scripted.refuses("bisect", "--good", "c0", *words)
    assert (scripted.launched, history.builds()) == ([], 0)


@pytest.mark.parametrize("name", ["prog, n=2, m=a", "*n=2*"])
@pytest.mark.usefixtures("short")
def test_of_parameters_one_benchmark_is_followed(scripted: ScriptedWorld, name: str) -> None:
    put(
        scripted,
        ("./prog own", "./prog {n} {m}"),
        ("./prog p", "./prog p{n}"),
        ('timeout = "30s"', 'parameters = { n = [1, 2], m = ["a"] }'),
        ('margin = "1%"', 'margin = "1%"\nmargins = { "prog, n=2*" = "0.8%", "prog" = "3%" }'),
    )
    assert bisect(scripted, "--target", "prog", "-b", name).status == 1
    assert {spec.argv for spec in scripted.launched} == {(b"./prog", b"2", b"a"), (b"./prog", b"p2")}
    assert load(scripted.kept()[0]).settings.margin == 0.008


@pytest.mark.usefixtures("short")
def test_a_parameter_s_value_stays_one_word(scripted: ScriptedWorld) -> None:
    put(
        scripted,
        ("./prog own", "./prog {n} 'two words' x={n}"),
        ("./prog p", "./prog p {n}"),
        ('timeout = "30s"', """parameters = { n = ["it's one"] }"""),
    )
    assert bisect(scripted, "--target", "prog").status == 1
    seen = {tuple(os.fsdecode(word) for word in spec.argv[1:]) for spec in scripted.launched}
    assert seen == {("it's one", "two words", "x=it's one"), ("p", "it's one")}


def test_without_a_project_either_is_asked_for(scripted: ScriptedWorld) -> None:
    assert "bisect needs a command, in quotes" in scripted.refuses("bisect", "--good", "c0")
    Path("steelyard.toml").write_text("")
    assert "has no [[target]]" in scripted.refuses("bisect", "--good", "c0")


@pytest.mark.usefixtures("short")
def test_the_only_target_needs_no_name(scripted: ScriptedWorld) -> None:
    put(scripted, (FILE[FILE.index('[[target]]\nname = "other"') : FILE.index("[compare]")], ""))
    assert bisect(scripted).status == 1


@pytest.mark.usefixtures("short")
def test_a_build_of_several_layouts_is_that_of_the_first(scripted: ScriptedWorld) -> None:
    put(
        scripted,
        ('environment = ["KIND=own"]', 'environment = ["LAYOUT={layout}"]\nlayouts = 2'),
        ("./prog own", "./prog {layout}"),
        ("./prog p", "./prog p-{layout}"),
        ('build = "exit 1"', ""),
    )
    assert bisect(scripted, "--target", "prog").status == 1
    assert {spec.argv for spec in scripted.launched} == {(b"./prog", b"1"), (b"./prog", b"p-1")}
