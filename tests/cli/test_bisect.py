from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from steelyard.design import session as weighing_session
from steelyard.design.bisection import session
from steelyard.design.bisection.search import CommitSearch
from steelyard.design.bisection.weighing import SearchRequest
from steelyard.design.outcome import Outcome, judge_outcome
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.subjects.revisions import builds
from steelyard.subjects.revisions.git import Git
from tests.histories import AUTHOR, BUILD, NUMBER, History
from tests.in_process import InProcess
from tests.tool import Done
from tests.world import ScriptedWorld, at_launch, ctrl_c, program_of

pytestmark = pytest.mark.real

FAST, SLOW = 10.0, 10.3


@pytest.fixture
def git(scripted: ScriptedWorld) -> Callable[..., History]:
    """Make a repository of `commits` commits, slow from number `slow` on."""

    def make(commits: int = 9, slow: int = 6, **options: Any) -> History:
        options.setdefault("ms", [SLOW if number >= slow else FAST for number in range(commits)])
        return History(scripted, **options)

    return make


def bisect(scripted: ScriptedWorld, *words: str) -> Done:
    return scripted("bisect", "--good", "c0", "./prog", "--pairs", "40", *words)


def test_the_commit_is_named_with_its_change(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(commits=17, slow=11)
    done = bisect(scripted, "--json", "found.json")
    assert done.status == 1, done
    assert f"slower     {repository.names[11]}\n" in done.text
    assert "Change number 11" in done.text
    assert AUTHOR in done.text
    assert f"against its parent {repository.short(10)}" in done.text
    found = json.loads(Path("found.json").read_text())
    assert (found["end"], found["found"]["hash"]) == ("found", repository.names[11])
    assert found["change"]["interval"][0] < 0.03 < found["change"]["interval"][1]
    assert [step["kind"] for step in found["steps"]] == ["ends", "step", "step", "step", "step", "last"]
    # Meanwhile each decision prints a line.
    assert done.err.decode().count("\n") == len(found["steps"]) + 1
    # Each weighing is a record of its own.
    assert sorted(step["record"] for step in found["steps"]) == [str(path) for path in scripted.kept()]


def test_the_commit_that_made_it_faster_is_named(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(commits=17, slow=0, ms=[SLOW if number < 11 else FAST for number in range(17)])
    done = scripted("bisect", "--faster", "--old", "c0", "./prog", "--pairs", "40", "--json", "found.json")
    assert done.status == 1, done
    assert f"faster     {repository.names[11]}\n" in done.text
    assert f"{repository.short(0)} (old) to {repository.short(16)} (new)" in done.err.decode()
    assert not {"good", "bad"} & set((done.err.decode() + done.text).replace(",", " ").split())
    found = json.loads(Path("found.json").read_text())
    assert (found["sought"], found["change"]["verdict"]) == ("faster", "faster")


@pytest.mark.parametrize(("words", "is_free"), [([], True), (["--pairing", "adjacent"], False)])
def test_a_pairing_that_is_asked_for_holds_for_suites(
    words: list[str], is_free: bool, scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[SearchRequest] = []

    def noted(asked: SearchRequest, *_: object) -> None:
        seen.append(asked)
        raise MeasurementError("enough is seen")

    monkeypatch.setattr(session, "bisect", noted)
    assert bisect(scripted, "--harness", "protocol", *words).status == 3
    assert [one.selection.any_pairing for one in seen] == [is_free]


def test_no_weighing_keeps_alpha_for_going_on(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    """A weighing that stays open widens the range of commits; nobody will give it another budget."""
    git(commits=4, slow=2)
    assert bisect(scripted).status == 1
    assert {load(path).settings.reserve for path in scripted.kept()} == {0}


def test_each_commit_is_built_once_and_in_its_own_folder(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git()
    assert bisect(scripted, "--build", BUILD).status == 1
    folders = {spec.cwd or b"" for spec in scripted.launched}
    assert len(folders) == repository.builds() > 3
    assert len(set(map(len, folders))) == 1  # the length of the path changes how some programs behave
    # The builds are kept, as those of any revision are: a second search builds nothing.
    built = repository.builds()
    again = bisect(scripted, "--build", BUILD)
    assert again.status == 1
    assert b"building" not in again.err
    assert repository.builds() == built


def test_commands_around_launches_run_where_their_commit_does(
    scripted: ScriptedWorld, git: Callable[..., History]
) -> None:
    git()
    hooks = ("--setup", "./prog up", "--prepare", "./prog p", "--cleanup", "./prog down")
    assert bisect(scripted, "--build", BUILD, *hooks).status == 1
    launched = scripted.launched
    before = [one for one, _ in pairwise(launched) if one.argv[-1] == b"p"]
    after = [other for one, other in pairwise(launched) if one.argv[-1] == b"p"]
    assert {spec.argv for spec in after} == {(b"./prog",)}
    assert [spec.cwd for spec in before] == [spec.cwd for spec in after]
    # A step weighs three commits.
    places: dict[bytes, list[bytes | None]] = {b"up": [], b"down": []}
    for spec in launched:
        if spec.argv[-1] in places:
            places[spec.argv[-1]].append(spec.cwd)
    assert places[b"up"] == places[b"down"]
    assert {*places[b"up"]} == {spec.cwd for spec in after}


def test_commits_that_do_not_build_or_run_are_skipped(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(commits=17, slow=11, broken={8}, without={9}, failing={7})
    done = bisect(scripted, "--build", BUILD)
    assert done.status == 1
    assert repository.names[11] in done.text
    said = done.err.decode()
    assert f"skipped: {repository.short(8)[:7]} does not build: {BUILD} failed with exit status 2; its log is " in said
    assert "/log: work.c:1: error: no such thing\n" in said
    assert "3 commits that could not be weighed" in done.text


def test_a_commit_that_says_that_it_failed_is_skipped(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(commits=5, slow=1, lying={2})
    done = bisect(scripted)
    assert f"slower     {repository.names[1]}\n" in done.text
    skipped = f"skipped: {repository.short(2)} wrote to standard error, as neither end did: 'prog: cannot open table'"
    assert skipped in done.err.decode()


def test_a_commit_that_does_not_end_is_waited_for_once(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    """Its comparisons with both ends would wait for the same program."""
    repository = git(ms=[FAST] * 4 + [1e9] + [FAST] * 2 + [SLOW] * 2)
    done = scripted("bisect", "--good", "c0", "./prog")
    assert done.status == 1, done
    assert repository.names[7] in done.text
    assert f"skipped: {repository.short(4)} did not end within 4 min" in done.err.decode()
    folders = [spec.cwd or b"" for spec in scripted.launched]
    (waited,) = [folder for folder in {*folders} if (Path(os.fsdecode(folder)) / NUMBER).read_text() == "4"]
    assert folders.count(waited) == 1


def test_where_the_slow_one_hides_among_those_that_are_skipped_a_range_is_named(
    scripted: ScriptedWorld, git: Callable[..., History]
) -> None:
    repository = git(broken={5, 6})
    done = bisect(scripted, "--build", BUILD, "--json", "found.json")
    assert done.status == 4
    assert f"after {repository.short(4)}, up to {repository.short(7)}: 3 commits" in done.text
    found = json.loads(Path("found.json").read_text())
    assert found["found"] is None
    assert [one["hash"] for one in found["suspects"]] == repository.names[5:8]


@pytest.mark.parametrize("broken", [0, 8])
def test_an_end_that_does_not_build(scripted: ScriptedWorld, git: Callable[..., History], broken: int) -> None:
    repository = git(broken={broken})
    done = bisect(scripted, "--build", BUILD)
    assert done.status == 3
    assert f"{repository.short(broken)[:7]} does not build" in done.err.decode()
    assert "give a --good and a --bad that build\n  | work.c:1: error: no such thing\n" in done.err.decode()


@pytest.mark.parametrize("failing", [0, 8])
def test_an_end_whose_command_fails(scripted: ScriptedWorld, git: Callable[..., History], failing: int) -> None:
    repository = git(failing={failing})
    done = bisect(scripted)
    assert done.status == 3
    assert f"{repository.short(failing)} failed with exit status 1" in done.err.decode()
    assert "(bisect needs both ends: give a --good and a --bad that work.)\n" in done.err.decode()


def test_an_end_without_the_command(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(without={0})
    done = bisect(scripted)
    assert done.status == 2
    assert "the baseline command" in done.err.decode()
    assert f"(in {repository.short(0)[:7]}, where nothing is built" in done.err.decode()
    assert done.err.decode().endswith("; bisect needs both ends: give a --good and a --bad that have it\n")


@pytest.mark.parametrize("wobbling", [set(), {4}])
def test_counts_that_repeat_exactly_are_compared_with_one_end(
    scripted: ScriptedWorld, git: Callable[..., History], wobbling: set[int]
) -> None:
    repository = git(ms=[10.0] * 6 + [10.01] * 3, wobbling=wobbling)
    words = ("--metric", "instructions", "--margin", "0.05%", "--json", "found.json")
    done = scripted("bisect", "--good", "c0", "./prog", *words)
    assert done.status == 1, done
    assert "slower +0.10 % exactly" in done.text
    found = json.loads(Path("found.json").read_text())
    assert found["found"]["hash"] == repository.names[6]
    compared = [len(step["compared"]) for step in found["steps"]]
    # Once counts differ from launch to launch, a commit is compared with both ends.
    assert compared == ([1, 2, 2, 2, 1] if wobbling else [1] * 5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pairs", "40"), "could not be told apart: more --pairs would tell more"),
        (("--max-time", "2"), "could not be told apart: a longer --max-time would tell more"),
        (("--metric", "instructions"), "could not be told apart\n"),  # more counts would tell nothing more
    ],
)
def test_what_would_tell_the_ends_apart_is_what_was_too_little(
    scripted: ScriptedWorld, git: Callable[..., History], words: tuple[str, ...], said: str
) -> None:
    git(ms=[10.0, 10.05], wobbling={0, 1})
    noisy = scripted.script
    scripted.script = lambda spec, number: replace(  # the ends differ by the margin, the noise is larger
        (one := noisy(spec, number)), wall_ns=round(one.wall_ns * (1 + number * 37 % 11 * 2e-2))
    )
    done = scripted("bisect", "--good", "c0", "./prog", "--json", "found.json", *words)
    assert done.status == 4, done
    assert f"undecided  good and bad {said}" in done.text
    assert f"{json.loads(Path('found.json').read_text())['why']}\n".endswith(said.removesuffix("\n") + "\n")


def test_what_fails_on_the_way_leaves_the_range(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git()

    def failing(spec: LaunchSpec, number: int) -> Measured:
        if number > 100 and program_of(spec) == "prog":
            raise MeasurementError("the launch server ended unexpectedly")
        return repository.script(spec, number)

    scripted.script = failing
    done = bisect(scripted)
    assert done.status == 3
    assert "undecided  after" in done.text
    assert "the launch server ended unexpectedly" in done.err.decode()


def test_nothing_to_find(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    git(slow=99)
    done = bisect(scripted)
    assert done.status == 0
    assert "nothing to find: bad is the same as good" in done.text


@pytest.mark.parametrize("words", [(), ("--metric", "instructions")])
def test_what_else_changed_it_is_said_be_it_a_small_part(
    scripted: ScriptedWorld, git: Callable[..., History], words: tuple[str, ...]
) -> None:
    """No step shows a small change beside the ends, which are much farther apart."""
    repository = git(ms=[10.0] * 2 + [10.2] * 4 + [13.0] * 3)
    done = scripted("bisect", "--good", "c0", "./prog", *words)
    assert f"slower     {repository.names[6]}\n" in done.text
    assert "other commits changed it as well (bad against good: slower +30.0 %" in " ".join(done.text.split())
    done = scripted("bisect", "--good", "c2", "./prog", *words)
    assert f"slower     {repository.names[6]}\n" in done.text
    assert "caution" not in done.text


def test_of_a_merge_each_line_that_it_brought_in_can_be_searched(
    scripted: ScriptedWorld, git: Callable[..., History]
) -> None:
    repository = git(commits=5, slow=4)
    merge = repository.merge_branches()
    done = bisect(scripted, "--json", "found.json")
    assert f"slower     {merge}\n" in done.text
    (finding,) = json.loads(Path("found.json").read_text())["findings"]
    one, other = (repository.repo.git("rev-parse", name)[:10] for name in ("one", "other"))
    searches = [f"--good {repository.short(1)} --bad {one}", f"--good {repository.short(0)} --bad {other}"]
    assert finding["remedy"] == f"search what it brought in: {', or '.join(searches)}"
    assert finding["remedy"] in " ".join(done.text.split())
    # Also `other`, into which the line had been merged before, so that the merge base is not on its own line.
    done = scripted("bisect", "./prog", "--pairs", "40", *searches[1].split())
    assert f"slower     {repository.repo.git('rev-parse', 'other')}\n" in done.text
    assert "merge" not in done.text


def test_what_became_faster_is_nothing_to_find(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    git(ms=[FAST, 9.0, 9.0])
    done = bisect(scripted)
    assert done.status == 0
    assert "bad is faster than good" in done.text


def test_the_same_files_are_not_weighed(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git(same_files={4: 0})
    done = bisect(scripted)
    assert done.status == 1
    assert f"{repository.short(4)} holds the same files as the good end" in done.err.decode()


def test_what_the_commits_share_is_told(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    git(commits=3, slow=2)
    number = scripted.folder / NUMBER
    done = scripted("bisect", "--good", "c0", f"./prog {number}", "--pairs", "40", "--json", "found.json")
    said = f"{number} is a file of the work tree, whichever revision is measured"
    assert said.replace(" ", "") in "".join(done.text.split())  # a long path is broken at the end of the line
    found = json.loads(Path("found.json").read_text())
    assert [finding["message"] for finding in found["findings"]] == [said]
    # Each weighing has the finding, too.
    assert {finding.message for path in scripted.kept() for finding in load(path).findings} >= {said}
    page = scripted("report", "found.json", "-o", "page.html")
    assert page.status == 0
    assert "whichever revision is measured" in Path("page.html").read_text()


def test_changes_that_are_not_committed_are_said_to_be_in_nothing(
    scripted: ScriptedWorld, git: Callable[..., History]
) -> None:
    history = git()
    history.repo.git("reset", "--hard", "--quiet")
    assert "committed" not in bisect(scripted).text
    history.repo.write("prog", "#!/bin/sh\nsleep 1\n")
    said = "changes that are not committed are in nothing that was weighed: of prog"
    assert said in " ".join(bisect(scripted, "--json", "found.json").text.split())
    assert [one["code"] for one in json.loads(Path("found.json").read_text())["findings"]] == ["not-committed"]
    assert said not in " ".join(bisect(scripted, "--bad", "c7").text.split())
    history.repo.git("reset", "--hard", "--quiet")
    history.repo.git("mv", "prog", "renamed")
    assert said.replace("prog", "renamed") in " ".join(bisect(scripted).text.split())


def test_the_same_program_is_not_weighed(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    """Many commits do not change the program: their builds are equal byte for byte."""
    repository = git()
    build = "cp /usr/bin/$([ $(cat number.h) -lt 6 ] && echo true || echo false) tool"
    words = ("--good", "c0", "./tool", "--pairs", "40", "--build", build)
    done = scripted("bisect", *words)
    assert done.status == 1
    assert f"{repository.short(4)} builds the same program as the good end" in done.err.decode()
    assert repository.names[6] in done.text
    done = scripted("bisect", *words, "--bad", "c5")
    assert done.status == 0
    assert "both commits build the same program" in done.text
    assert not scripted.launched


def test_a_subject_line_steers_no_terminal(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    git(commits=2, slow=1, subject="\x1b[31m\u202ered [bold]")
    done = bisect(scripted)  # this checks that no control character is printed
    assert "\\x1b[31m\\u202ered [bold] 1" in done.text


@pytest.mark.parametrize("launch", [25, 120])
def test_ctrl_c_leaves_the_range_so_far(scripted: ScriptedWorld, git: Callable[..., History], launch: int) -> None:
    repository = git()
    scripted.script = at_launch(launch, ctrl_c, repository.script)
    done = bisect(scripted, "--json", "found.json")
    assert done.status == 130, done
    if launch == 120:
        assert json.loads(Path("found.json").read_text())["end"] == "interrupted"
        assert "4 commits" in done.text
        assert f"go on      with what is left: --good {repository.short(4)} --bad {repository.short(8)}\n" in done.text
    else:
        assert done.out == b""


def test_ctrl_c_between_two_weighings(
    scripted: ScriptedWorld, git: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    git()
    judge = CommitSearch._judge

    def interrupted(*words: Any) -> None:
        judge(*words)
        ctrl_c()

    monkeypatch.setattr(CommitSearch, "_judge", interrupted)
    done = bisect(scripted)
    assert done.status == 130
    assert done.err.decode().count("\n") == 3  # the line of commits, the ends, and one step


def test_what_was_found_is_written_after_a_second_ctrl_c(
    scripted: ScriptedWorld, git: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    git()

    def insisting(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CommitSearch, "_judge", insisting)
    done = bisect(scripted, "--json", "found.json")
    assert done.status == 130, done
    assert json.loads(Path("found.json").read_text())["end"] == "interrupted"


def test_ctrl_c_when_all_pairs_of_a_weighing_are_measured(
    scripted: ScriptedWorld, git: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    git()

    def interrupted(*words: Any) -> Outcome:
        ctrl_c()
        return judge_outcome(*words)

    monkeypatch.setattr(weighing_session, "judge_outcome", interrupted)
    done = bisect(scripted)
    assert done.status == 130
    assert done.err.decode().count("\n") == 2  # the line of commits, and the ends


def test_ctrl_c_while_git_is_asked_for_files(
    scripted: ScriptedWorld, git: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = git()
    build = "cp /usr/bin/$([ $(cat number.h) -lt 4 ] && echo true || echo false) tool"

    def interrupted(_: Git) -> None:
        raise InterruptedBeforeStart("interrupted")

    words = ("bisect", "--good", "c0", "./tool", "--pairs", "40", "--build", build, "--json", "found.json")
    repository.ms = [FAST] * 4 + [SLOW] * 5
    monkeypatch.setattr(builds, "_tracked_files", interrupted)
    assert scripted(*words).status == 130
    assert json.loads(Path("found.json").read_text())["end"] == "interrupted"


@pytest.mark.parametrize("number", [0, 4])
def test_ctrl_c_while_a_commit_is_built(scripted: ScriptedWorld, git: Callable[..., History], number: int) -> None:
    git()
    done = bisect(scripted, "--build", f"test $(cat number.h) != {number} || {{ kill -INT {os.getpid()}; sleep 60; }}")
    assert done.status == 130
    assert "interrupted" in (done.text if number else done.err.decode())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--good", "nope"], "--good 'nope' is no revision that"),
        (["--good=--all"], "--good '--all' is no name of a revision"),
        (["--bad", "c0"], "are the same commit"),
        (["--good", "c7", "--bad", "c3"], "exchange them"),
        (["--good", "c2", "--bad", "side"], "they part at {c0}: try --good {c0}"),
        (["--good", "side", "--bad", "merged"], "the line of first parents does not pass it: give --good {c0}"),
        (["--pairs", "10"], "--pairs 10 can never tell commits apart"),
        (["--build-timeout", "0"], "--build-timeout 0"),
        (["--build-timeout", "9"], "--build-timeout is how long --build may take, and nothing is built: leave it out"),
        (["--build", ""], "--build '' is empty: give the command that builds, or leave it out"),
    ],
)
def test_bad_input(
    scripted: ScriptedWorld,
    git: Callable[..., History],
    words: list[str],
    sentence: str,
) -> None:
    repository = git()
    repository.branch_off()
    said = scripted.refuses("bisect", "--good", "c0", "./prog", *words)
    assert sentence.format(c0=repository.short(0)) in said
    assert not scripted.launched


def test_a_shallow_clone(scripted: ScriptedWorld, git: Callable[..., History]) -> None:
    repository = git()
    (scripted.folder / ".git/shallow").write_text(f"{repository.names[3]}\n")
    for words in (["--good", "nope"], ["--good", repository.names[0]]):
        assert "git fetch --unshallow" in scripted.refuses("bisect", "./prog", *words)


def test_no_repository(scripted: ScriptedWorld) -> None:
    assert "is in no git repository" in scripted.refuses("bisect", "--good", "c0", "./prog")


def test_without_git(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert "git, which was not found on PATH" in scripted.refuses("bisect", "--good", "c0", "./prog")


def test_the_options_are_checked_before_anything_runs(asked: InProcess) -> None:
    assert "--good" in asked.refuses("bisect", "./prog")
    twice = ("--prepare", "true", "--prepare", "true")
    # A commit is judged by all benchmarks, so shards are refused.
    assert "--shard" in asked.refuses("bisect", "--good", "x", "true", "--shard", "1/2")
    assert "--prepare has 2 commands" in asked.refuses("bisect", "--good", "x", "true", *twice)
    assert "--jobs" in asked.refuses("bisect", "--good", "x", "true", "--jobs", "0")
    assert "the command is empty: give the command to run" in asked.refuses("bisect", "--good", "x", " ")


def test_a_real_repository(here: InProcess) -> None:
    """A history of 6 commits, of which the fourth doubles the work and the third does not build."""

    def git(*words: str) -> str:
        names = ("AUTHOR", "COMMITTER")
        people = {f"GIT_{who}_{what}": "someone@example.org" for who in names for what in ("NAME", "EMAIL")}
        surroundings = {**os.environ, **people, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *words], cwd=here.folder, env=surroundings, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    for number, rounds in enumerate((400, 400, 400, 800, 800, 800)):
        (here.folder / "work.in").write_text(f"#!/bin/sh\ni=0\nwhile [ $i -lt {rounds} ]; do i=$((i+1)); done\n")
        (here.folder / "number").write_text(f"{number}")
        git("add", "work.in", "number")
        git("commit", "--quiet", "--message", f"Commit {number}")
    names = git("log", "--reverse", "--format=%H").splitlines()
    build = "test $(cat number) != 2 || exit 9; cp work.in work; chmod +x work"
    done = here("bisect", "--good", names[0], "--build", build, "./work", "--json", "found.json", "--max-time", "20")
    found = here.json("found.json")
    assert done.status in (1, 4), done
    suspects = [one["hash"] for one in found["suspects"]]
    assert names[3] in suspects
    assert git("worktree", "list").count("\n") == 0  # there is only the user's own
    assert git("status", "--porcelain").splitlines() == ["?? found.json", "?? state/"]
