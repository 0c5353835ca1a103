"""Where something became slower by one of several commits, the weighing ends with how to find that commit."""

from __future__ import annotations

import shlex

import pytest

from tests.histories import BUILD, History
from tests.tool import Done
from tests.world import ScriptedWorld, at_launch, ctrl_c

pytestmark = pytest.mark.real

FILE = f"""
[build]
command = "{BUILD}"

[[target]]
name = "a program"
command = "./prog"

[compare]
pairs = 40
max-time = "3s"
"""
OTHER = """
[[target]]
name = "other"
command = "./prog other"
timeout = "30s"
"""


@pytest.fixture
def history(scripted: ScriptedWorld) -> History:
    """A project of one target, 3 % slower from commit 3 on."""
    made = History(scripted, [10.3 if number >= 3 else 10.0 for number in range(6)])
    scripted.folder.joinpath("steelyard.toml").write_text(FILE)
    return made


def search_after(done: Done) -> list[str]:
    """Return the words of the command that a weighing ends with; none if it does not."""
    text = done.text.replace("\\\n", " ")
    lines = [line for line in text.splitlines() if "steelyard bisect" in line]
    assert len(lines) <= 1, done
    return shlex.split(lines[0])[2:] if lines and lines[0].startswith("find it ") else []


def test_what_it_says_finds_the_commit(scripted: ScriptedWorld, history: History) -> None:
    done = scripted("compare", "--base", "c0", "--candidate", "main")
    assert done.status == 1, done
    assert search_after(done) == ["steelyard", "bisect", "--good", history.short(0), "--bad", history.short(5)]
    found = scripted(*search_after(done)[1:])
    assert found.status == 1, found
    assert f"slower     {history.names[3]}\n" in found.text


def test_it_follows_one_of_several_targets_as_it_was_judged(scripted: ScriptedWorld, history: History) -> None:
    scripted.folder.joinpath("steelyard.toml").write_text(FILE + OTHER)
    done = scripted("compare", "--base", "c0", "--candidate", "c4", "--metric", "wall", "--margin", "2%")
    assert done.text.count("in 2 weighings") == 1, done
    words = search_after(done)
    (name,) = {"a program", "other"}.intersection(words)
    ends = ["--good", history.short(0), "--bad", history.short(4)]
    assert words == ["steelyard", "bisect", *ends, "--target", name, "--metric", "wall", "--margin", "2%"]
    found = scripted(*words[1:])
    assert (found.status, f"slower     {history.names[3]}\n" in found.text) == (1, True), found


@pytest.mark.parametrize("timeout", ["", 'timeout = "30s"'], ids=["one weighing", "two weighings"])
def test_of_targets_with_one_command_it_follows_the_slower_one(
    scripted: ScriptedWorld, history: History, timeout: str
) -> None:
    other = f'[[target]]\nname = "other"\ncommand = "./prog"\nmargin = "50%"\n{timeout}\n'
    scripted.folder.joinpath("steelyard.toml").write_text(FILE.replace("[[target]]", f"{other}\n[[target]]"))
    words = search_after(scripted("compare", "--base", "c0", "--candidate", "c4"))
    assert words[-2:] == ["--target", "a program"]
    assert f"slower     {history.names[3]}\n" in scripted(*words[1:]).text


@pytest.mark.usefixtures("history")
def test_a_search_that_would_be_refused_is_not_told(scripted: ScriptedWorld) -> None:
    for commands, is_told in (('["true"]', True), ('["true", "true 2"]', False)):
        scripted.folder.joinpath("steelyard.toml").write_text(f"{FILE}prepare = {commands}\n")
        done = scripted("compare", "--base", "c0", "--candidate", "c4")
        assert (done.status, bool(search_after(done))) == (1, is_told)


def test_it_is_told_for_a_command_with_its_build(scripted: ScriptedWorld, history: History) -> None:
    asked = ("--build", BUILD, "--margin", "2%", "./prog all 'of it'")
    done = scripted("compare", "--base", "c0", "--candidate", "c5", "--pairs", "40", *asked)
    words = search_after(done)
    ends = ["--good", history.short(0), "--bad", history.short(5)]
    assert words == ["steelyard", "bisect", *ends, *asked]
    assert f"slower     {history.names[3]}\n" in scripted(*words[1:]).text
    several = ("--base", "c0", "--candidate", "c5", "-L", "n", "1,2", "./prog {n}", "--build", BUILD)
    assert search_after(scripted("compare", "--pairs", "40", *several)) == []


def test_it_is_told_of_a_weighing_that_is_carried_on(scripted: ScriptedWorld, history: History) -> None:
    asked = ("--build", BUILD, "--metric", "wall", "--margin", "2%", "./prog all 'of it'")
    script = scripted.script
    for words, is_told in ((asked, True), (("--env", "LEVEL=1", *asked), False)):
        scripted.script = at_launch(scripted.launches + 11, ctrl_c, script)
        done = scripted("compare", "--base", "c0", "--candidate", "c5", "--pairs", "40", *words, "-o", "begun.json")
        assert (done.status, search_after(done)) == (130, [])
        done = scripted("compare", "--resume", "begun.json")
        ends = ["--good", history.short(0), "--bad", history.short(5)]
        assert done.status == 1
        assert search_after(done) == (["steelyard", "bisect", *ends, *asked] if is_told else [])


def test_a_project_s_file_that_is_new_in_the_work_tree_is_no_change(scripted: ScriptedWorld, history: History) -> None:
    history.repo.git("reset", "--quiet", "--hard", "main")
    scripted.folder.joinpath("steelyard.toml").write_text(FILE)
    scripted.folder.joinpath(".git/info/exclude").write_text("/*\n!steelyard.toml\n!notes\n")
    words = search_after(scripted("compare", "--base", "c0"))
    assert words == ["steelyard", "bisect", "--good", history.short(0), "--bad", history.short(5)]
    scripted.folder.joinpath("notes").write_text("")
    assert search_after(scripted("compare", "--base", "c0")) == []


def test_of_parameters_it_follows_the_benchmark_that_became_slower(scripted: ScriptedWorld, history: History) -> None:
    varied = FILE.replace('"./prog"', '"./prog {n}"\nparameters = { n = [1, 2] }')
    scripted.folder.joinpath("steelyard.toml").write_text(varied)
    words = search_after(scripted("compare", "--base", "c0", "--candidate", "main"))
    assert words[-2:] in (["-b", "a program, n=1"], ["-b", "a program, n=2"])
    assert f"slower     {history.names[3]}\n" in scripted(*words[1:]).text


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--base", "c2", "--candidate", "c3"), 1),
        (("--base", "c3", "--candidate", "c5"), 0),
        (("--base", "c5", "--candidate", "c0"), 0),
        (("--base", "c0", "--candidate", "c5", "--build", BUILD), 1),
        (("--base", "c0"), 1),
    ],
    ids=["one commit", "nothing slower", "the other way round", "built otherwise", "no commit"],
)
@pytest.mark.usefixtures("history")
def test_otherwise_there_is_nothing_to_find(scripted: ScriptedWorld, words: tuple[str, ...], status: int) -> None:
    for name in ("prog", "number.h"):  # as slow in the work tree, which is no commit
        scripted.folder.joinpath(name).write_text("5")
    scripted.folder.joinpath("prog").chmod(0o755)
    done = scripted("compare", *words)
    assert (done.status, search_after(done)) == (status, []), done
