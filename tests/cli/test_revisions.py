"""`compare --base`: from the command line to the record, with real git and real builds; the launches are scripted."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.subjects.revisions.cache import Cache, Kept
from tests.golden.programs import Bench, Call, Program
from tests.repositories import BUILD, Repo, script, slower_work_tree
from tests.world import Killed, ScriptedWorld, at_launch, kill, measured

pytestmark = pytest.mark.real

BUILT = ("--build", BUILD)


@pytest.fixture
def repo(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository whose work tree is slower than `main`, and in which the command lines run."""
    return slower_work_tree(scripted, monkeypatch)


def record_of(path: str = "../record.json") -> Any:
    return json.loads(Path(path).read_text())


def test_what_the_baseline_s_own_file_accepts_has_expired_and_what_the_change_brings_holds(
    scripted: ScriptedWorld, repo: Repo
) -> None:
    old, new = (
        f'[[gate.accepted]]\nbenchmark = "./program"\nchange = "60%"\nreason = "{reason}"\n'
        for reason in ("validates its input", "sorts its output")
    )
    repo.write("source", script("old"))
    repo.commit("slower, and accepted", **{"steelyard.toml": old})
    repo.write("source", script("new"))
    repo.write("steelyard.toml", old)
    words = ("compare", "--base", "main", *BUILT, "./program", "--pairs", "12", "--json", "../record.json")
    assert scripted(*words).status == 1
    kept = {"above": 0.6, "benchmark": "./program", "metric": None, "reason": "validates its input"}
    assert record_of()["subjects"][0]["revision"]["accepted"] == [kept]
    assert scripted("gate", "../record.json").status == 1
    repo.write("steelyard.toml", old + new)
    done = scripted("gate", "../record.json")
    assert done.status == 0
    said = " ".join(done.text.split())
    assert "accepted up to 60 % (sorts its output)" in said
    assert "./program=60% (validates its input) is passed over: the baseline has it already" in said


def test_the_work_tree_against_a_branch(scripted: ScriptedWorld, repo: Repo) -> None:
    done = scripted("compare", "--base", "main", *BUILT, "./program a b", "--json", "../record.json")
    assert done.status == 1
    assert "slower     +50.0 %" in done.text
    assert f"baseline   main ({repo.git('rev-parse', 'main')[:7]})" in done.text
    assert "candidate  work tree" in done.text
    assert f"command    ./program a b, in each revision, built by {BUILD}" in done.text
    record = record_of()
    baseline, candidate = record["subjects"]
    assert baseline["revision"] == {
        "name": "main",
        "commit": repo.git("rev-parse", "main"),
        "tree": repo.git("rev-parse", "main^{tree}"),
        "build": BUILD,
        "layout": None,
    }
    assert candidate["revision"]["commit"] is None
    assert record["benchmarks"][0]["name"] == "./program a b"
    assert record["settings"]["directory"] == str(repo.folder)
    assert {os.fsdecode(spec.cwd or b"") for spec in scripted.launched} == {
        subject["directory"] for subject in record["subjects"]
    }
    assert {len(spec.program) for spec in scripted.launched} == {len(scripted.launched[0].program)}
    assert {spec.argv for spec in scripted.launched} == {(b"./program", b"a", b"b")}
    assert scripted("show").text == done.text


@pytest.mark.usefixtures("repo")
def test_a_second_time_nothing_is_built_or_said_of_it(scripted: ScriptedWorld) -> None:
    assert "building" in scripted("compare", *BUILT, "./program").err.decode()
    assert scripted("compare", *BUILT, "./program").err == b""


@pytest.mark.usefixtures("repo")
def test_names_of_one_s_own(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "--base", "HEAD", *BUILT, "./program", "-n", "before", "-n", "after", "--markdown", "-")
    assert "baseline <code>before</code>, candidate <code>after</code>; <code>./program, in each" in done.out.decode()


def test_where_the_user_stands_it_is_run(scripted: ScriptedWorld, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.folder / "below")
    done = scripted("compare", "--base", "main", "--build", "cp ../source here && chmod +x here", "./here")
    assert done.status == 1
    assert {Path(os.fsdecode(spec.cwd or b"")).name for spec in scripted.launched} == {"below"}


@pytest.mark.usefixtures("repo")
def test_commands_around_launches_run_where_their_side_does(scripted: ScriptedWorld) -> None:
    hooks = ("--setup", "./program up", "--prepare", "./program p", "--cleanup", "./program down")
    assert scripted("compare", "--base", "main", *BUILT, "./program", *hooks).status == 1
    ran: dict[bytes, list[str | None]] = {b"up": [], b"down": []}
    before: LaunchSpec | None = None
    for spec in scripted.launched:
        word = spec.argv[-1]
        if word in ran:
            ran[word].append(os.fsdecode(spec.cwd or b""))
        if before is not None and before.argv[-1] == b"p":
            assert (spec.argv, spec.cwd) == ((b"./program",), before.cwd)
        before = spec
    assert len(set(ran[b"up"])) == len(ran[b"up"]) == 2
    assert ran[b"down"] == ran[b"up"]


@pytest.mark.usefixtures("repo")
def test_parameters(scripted: ScriptedWorld) -> None:
    done = scripted(
        "compare", "--base", "main", *BUILT, "./{p} {n}", "-L", "p", "program", "-L", "n", "1,2", "--pairs", "12"
    )
    assert done.status == 1
    assert done.text.count("slower") >= 2


def test_a_suite_in_a_folder_that_the_base_has_not_is_new(
    scripted: ScriptedWorld, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("new/source", script("new"))
    monkeypatch.chdir(repo.folder / "new")
    suite = Call("program", Program(benchmarks={"up": Bench()}), 1, ["--steelyard-list"], 1)
    scripted.script = lambda *_: measured(0, **suite.measured())
    done = scripted("compare", *BUILT, "--harness", "protocol", "./program", "--json", "../../record.json")
    said = "has no ./program, so nothing is compared yet; new in work tree: up they are compared"
    assert (done.status, said in " ".join(done.text.split())) == (0, True)
    assert (record_of("../../record.json")["verdict"], len(scripted.launched)) == (None, 1)


# --- one program


@pytest.mark.usefixtures("repo")
def test_one_tree_is_not_measured(scripted: ScriptedWorld) -> None:
    words = ("compare", "--base", "main", "--candidate", "HEAD", *BUILT, "./program")
    done = scripted(*words, "--json", "../record.json", "--markdown", "../report.md")
    assert done.status == 0
    assert scripted.launched == []
    assert "same       identical: main (" in done.text
    assert "note" not in done.text
    record = record_of()
    assert (record["verdict"], record["change"], record["pairs"], record["stop"]) == ("same", 0.0, 0, ["decided"])
    assert record["findings"][0]["code"] == "identical"
    assert "**same**: identical" in Path("../report.md").read_text()
    assert scripted("show").text == done.text
    assert " ./program | main (" in scripted("list").text
    assert scripted("compare", "--resume", scripted.kept()[-1]).status == 2


@pytest.mark.usefixtures("repo")
def test_parts_of_what_had_not_to_be_measured_merge(scripted: ScriptedWorld) -> None:
    words = ("compare", "--base", "main", "--candidate", "HEAD", *BUILT, "./program", "--harness", "auto")
    for number in (1, 2):
        said = scripted(*words, "--shard", f"{number}/2", "-o", f"../{number}.json").text
    done = scripted("merge", "../1.json", "../2.json", "-o", "../record.json")
    assert (done.status, done.text) == (0, said)
    assert (record_of()["verdict"], scripted.launched) == ("same", [])


@pytest.mark.usefixtures("repo")
def test_one_tree_that_is_prepared_otherwise_on_one_side_is_measured(scripted: ScriptedWorld) -> None:
    words = ("compare", "--base", "main", "--candidate", "HEAD", *BUILT, "./program", "--pairs", "12")
    assert "identical" in scripted(*words, "--prepare", "true", "--prepare", "true").text
    done = scripted(*words, "--prepare", "true", "--prepare", "true 2")
    assert len(scripted.launched) > 2 * 12
    assert "identical" not in done.text
    assert "this is a control" not in done.text


def test_who_changed_nothing_is_told_of_the_last_commit(scripted: ScriptedWorld, repo: Repo) -> None:
    hint = "to weigh what the last commit changed: --base HEAD~1"
    repo.git("checkout", "--quiet", "--", ".")
    first = " ".join(scripted("compare", "--base", "HEAD", *BUILT, "./program").text.split())
    assert "nothing had to be measured" in first
    assert hint not in first  # nothing came before it
    repo.commit("more", other="")
    assert hint in scripted("compare", "--base", "HEAD", *BUILT, "./program").text
    assert hint not in scripted("compare", "--base", "HEAD", "--candidate", "main", *BUILT, "./program").text
    repo.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    weighed_already = scripted("compare", "--base", "HEAD~1", *BUILT, "./program").text
    assert ("identical: HEAD~1" in weighed_already, hint in weighed_already) == (True, False)


@pytest.mark.usefixtures("repo")
def test_a_harness_is_not_even_asked(scripted: ScriptedWorld) -> None:
    words = ("compare", "--base", "main", "--candidate", "HEAD", *BUILT, "./program", "--harness", "auto")
    assert scripted(*words, "--json", "../record.json").status == 0
    assert scripted.launched == []
    assert record_of()["verdict"] == "same"
    passed = scripted("gate", "../record.json", "--require", "sort", "--markdown", "../page.md")
    assert (passed.status, Path("../page.md").read_text().splitlines()[0]) == (0, "### Steelyard: nothing slower")


@pytest.mark.parametrize(("file", "is_measured"), [("work.c", False), ("data/n.txt", True)])
def test_one_program_may_read_what_differs_beside_it(
    scripted: ScriptedWorld, repo: Repo, file: str, is_measured: bool
) -> None:
    repo.git("checkout", "source")
    repo.write(file, "20000000")
    scripted.script = lambda spec, number: measured(  # as if the program read that file
        (18.0 if (Path(os.fsdecode(spec.cwd or b"")) / file).exists() else 12.0) * (1 + number * 1e-6)
    )
    done = scripted("compare", "--base", "main", "--build", "cp /usr/bin/true tool", "./tool")
    assert bool(scripted.launched) == is_measured
    assert done.status == is_measured
    assert ("build the same program" in " ".join(done.text.split())) != is_measured


# --- carried on


@pytest.fixture
def journal(scripted: ScriptedWorld, repo: Repo) -> Path:  # noqa: ARG001 - the place
    """The journal of a weighing of revisions that was killed."""
    launch = scripted.script
    scripted.script = at_launch(11, kill, launch)
    with pytest.raises(Killed):
        scripted("compare", "--base", "main", *BUILT, "./program", "--pairs", "12")
    scripted.script = launch
    return scripted.kept()[-1]


def test_what_was_killed_is_carried_on_in_both_trees(scripted: ScriptedWorld, journal: Path) -> None:
    launch, removed = scripted.script, list[Kept]()

    def clearing(spec: LaunchSpec, number: int) -> Measured:
        removed.extend(Cache.of_user(scripted.environment).clear())
        return launch(spec, number)

    scripted.script = clearing
    assert scripted("compare", "--resume", journal).status == 1
    assert len({spec.cwd for spec in scripted.launched}) == 2
    assert removed == []


def test_it_is_not_without_its_builds(scripted: ScriptedWorld, journal: Path) -> None:
    Cache.of_user(scripted.environment).clear()
    assert "is not kept any more: weigh again" in scripted.refuses("compare", "--resume", journal)


# --- what is refused


def test_a_script_without_its_interpreter_is_not_told_to_be_built(scripted: ScriptedWorld, repo: Repo) -> None:
    repo.commit("a script", **{"sort.py": "print(1)"})
    sentence = scripted.refuses("compare", "--base", "HEAD", "sort.py")
    assert "name its interpreter first, in quotes: 'python3 sort.py' (in HEAD (" in sentence
    assert "--build" not in sentence


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "--base", "main", "-o", "program"),
        ("run", "--base", "main", "--csv", "program"),
        ("bisect", "--good", "main", "-o", "program"),
    ],
)
def test_the_file_that_a_revision_has_a_copy_of_is_not_written_over(
    scripted: ScriptedWorld, repo: Repo, words: tuple[str, ...]
) -> None:
    path = repo.write("program", script("mine"))
    done = scripted(*words, *BUILT, "./program")
    assert "program is read, and would be overwritten: give another file" in done.err.decode()
    assert path.read_text() == script("mine")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--base", "main"], "weigh one command, in two revisions"),
        (["--build-timeout", "9", "true", "false"], "weigh one command, in two revisions"),
        (["--base", "main", "true", "false"], "weigh one command, in two revisions"),
        (["--base", "nothing", "./program"], "--base 'nothing' is no revision"),
        (["--base", "main", "./program"], "where nothing is built: give --build CMD"),
        (["--base", "main", "--build", "true", "./program"], "built by true; see /"),
        (["--base", "main", "--build", "true\ntrue", "./program"], "built by its command; see /"),
        (["--base", "main", "--build-timeout", "0", "./program"], "--build-timeout 0"),
        (["--base", "main", "--build-timeout", "9", "./program"], "how long --build may take, and nothing is built"),
        (["--base", "main", "--build", "", "./program"], "--build '' is empty: give the command that builds"),
        (["--base", "main", "--trust-journal", "./program"], "--trust-journal"),
        (["./program"], "or one in two revisions: steelyard compare --base main"),
        (["--base", "main", "-n", "a", "-n", "a", *BUILT, "./program"], "--name 'a'"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_refusals(scripted: ScriptedWorld, words: list[str], said: str) -> None:
    done = scripted("compare", *words)
    assert done.status == 2
    assert said in done.err.decode().splitlines()[-1]
    assert scripted.launched == []


@pytest.mark.usefixtures("repo")
def test_where_a_kept_build_lacks_the_program_the_way_to_build_it_again_is_told(scripted: ScriptedWorld) -> None:
    words = ("compare", "--base", "main", *BUILT, "./program")
    assert scripted(*words).status == 1
    for folder in {os.fsdecode(spec.cwd or b"") for spec in scripted.launched}:
        Path(folder, "program").unlink()
    again = "; if something removed it since, steelyard cache --clear has all built again)"
    assert again in scripted(*words).err.decode()
    assert again not in scripted("compare", "--base", "main", "--build", "true", "./program").err.decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["main", "HEAD"], "compare --base main --candidate HEAD 'COMMAND its words'"),
        (["main~0", "main", "./program 1"], "compare --base main~0 --candidate main './program 1'"),
        (
            ["main", "./program"],
            "'main' is a revision here, in which one command can be weighed: steelyard compare --base main",
        ),
        (
            ["main"],
            "'main' is a revision here, in which one command can be weighed: steelyard compare --base main 'COM",
        ),
        (["./program"], "compare needs two commands or more"),
        (["nothing", "main"], "'nothing' was not found on PATH"),
        (["source", "source"], "a file of that name is here"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_revisions_in_the_place_of_commands(scripted: ScriptedWorld, words: list[str], said: str) -> None:
    assert said in scripted.refuses("compare", *words)


@pytest.mark.parametrize(
    ("words", "options"), [(["main"], "--base main"), (["main", "HEAD"], "--base main --candidate HEAD")]
)
def test_revisions_in_the_place_of_commands_in_a_project(
    scripted: ScriptedWorld, repo: Repo, words: list[str], options: str
) -> None:
    repo.write("steelyard.toml", '[[target]]\nname = "x"\ncommand = "./program"\n')
    said = scripted.refuses("compare", *words)
    assert said.endswith(f" here: steelyard compare {options} weighs what steelyard.toml says")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "--pairs", "1"], "--pairs 1 can never show anything"),
        (["compare", "-L", "a", "1,1"], "--parameter-list a '1,1' names a value twice"),
        (["compare", "-L", "a", "1,2"], "the parameter 'a' is used in no command"),
        (["compare", "--layouts", "3"], "'./program' has no {layout}"),
        (["compare", "--names", "one"], "--names 'one' has to be 2 different names"),
        (["run", "-L", "a", "1,2"], "the parameter 'a' is used in no command"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_what_needs_no_build_is_said_before_it(scripted: ScriptedWorld, words: list[str], said: str) -> None:
    done = scripted(*words, "--base", "main", *BUILT, "./program")
    assert done.status == 2
    assert said in done.err.decode()
    assert b"building" not in done.err


@pytest.mark.usefixtures("repo")
def test_an_empty_build_of_a_run(scripted: ScriptedWorld) -> None:
    said = scripted.refuses("run", "--build", " ", "./program")
    assert said == "--build '' is empty: give the command that builds, or leave it out"


def test_the_work_tree_s_own_program_is_none_of_a_revision(scripted: ScriptedWorld, repo: Repo) -> None:
    path = repo.write("program", script("new"))
    path.chmod(0o755)
    done = scripted("compare", "--base", "main", f"{path}")
    assert done.status == 2
    assert "give its path from here, ./program" in done.err.decode()
    link = repo.folder.with_name("link")
    link.symlink_to(repo.folder)
    done = scripted("compare", "--base", "main", f"{link}/program")
    assert done.status == 2
    assert f"{link}/program is a file of the work tree" in done.err.decode()


def test_a_program_that_both_builds_write_to_one_place_is_said(scripted: ScriptedWorld, repo: Repo) -> None:
    repo.write("source", script("new"))
    program = repo.folder.with_name("elsewhere")
    for _ in ("built", "kept"):
        done = scripted(
            "compare",
            "--base",
            "main",
            "--build",
            f"cat source > {program} && chmod +x {program}",  # two cp at the same time may fail
            f"{program}",
            "--pairs",
            "12",
        )
        said = "".join(done.text.split())  # a long path is broken at the end of the line
        assert f"note{program}waswrittenbyabuild,andisinnocheckout" in said


def test_a_program_of_the_work_tree_on_path_is_said(scripted: ScriptedWorld, repo: Repo) -> None:
    repo.write("bin/tool", script("new")).chmod(0o755)
    environment = type(scripted).environment
    path = f"{repo.folder}/bin:{scripted.environment['PATH']}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(scripted), "environment", property(lambda w: {**environment.fget(w), "PATH": path}))  # type: ignore[attr-defined]
        done = scripted("compare", "--base", "main", "tool", "--pairs", "12")
    before, said, _ = done.text.partition("note ")
    assert "within the work tree and runs on both sides" in " ".join(done.text.split())
    assert said
    assert "metric " not in before, "it stands at the verdict"


def test_what_was_built_in_the_work_tree_and_is_not_ignored_is_said(scripted: ScriptedWorld, repo: Repo) -> None:
    (repo.folder / "left.o").write_bytes(b"\x7fELF rest")
    repo.write("notes.txt", "x")
    done = scripted("compare", "--base", "main", *BUILT, "./program", "--pairs", "12")
    said = " ".join(done.text.split())
    assert "neither tracks nor ignores, built files too: left.o a build may take them for up to date" in said


def test_a_base_that_does_not_build(scripted: ScriptedWorld, repo: Repo) -> None:
    done = scripted("compare", "--base", "main", "--build", "echo no rule; grep -q new source", "./program")
    assert done.status == 3
    assert done.out == b""
    *_, sentence, line = done.err.decode().splitlines()
    assert f"steelyard: main ({repo.git('rev-parse', 'main')[:7]}) does not build: echo no rule" in sentence
    assert line == "  | no rule"
    assert Path(sentence.rpartition("its log is ")[2]).read_text() == "no rule\n"


@pytest.mark.usefixtures("repo")
def test_a_build_of_several_lines_is_not_repeated_where_it_fails(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "--base", "main", "--build", "echo no rule\ngrep -q new source", "./program")
    assert done.status == 3
    *_, sentence, line = done.err.decode().splitlines()
    assert "does not build: its command failed with exit status 1; its log is " in sentence
    assert line == "  | no rule"


@pytest.mark.usefixtures("repo")
def test_of_a_failed_build_the_cause_is_shown_and_no_colour(scripted: ScriptedWorld) -> None:
    build = "printf '\\033[31merror\\033[0m: %0300d: no host\\n\\033[0m\\033[0m\\n' 0; exit 1"
    done = scripted("compare", "--base", "main", "--build", build, "./program")
    *_, line = done.err.decode().splitlines()
    assert line.startswith("  | error: 000")
    assert line.endswith("0: no host")
    assert " ... " in line
    assert len(line) < 220


def test_where_nothing_could_be_built_there_is_no_record_of_an_earlier_weighing(
    scripted: ScriptedWorld,
    repo: Repo,  # noqa: ARG001 - the place
) -> None:
    Path("../record.json").write_text("{}")
    Path("../link.json").symlink_to("record.json")
    Path("../page.html").write_text("slower")
    words = ("--base", "main", "--build", "exit 1", "./program", "-o", "../link.json", "--html", "../page.html")
    done = scripted("compare", *words)
    assert done.status == 3
    assert b"../link.json was removed: it came from an earlier weighing" in done.err
    assert not Path("../record.json").exists()
    assert not Path("../page.html").exists()
    assert Path("../link.json").is_symlink()
    assert b"removed" not in scripted("compare", *words).err


def test_what_is_printed_of_a_build_steers_no_terminal(scripted: ScriptedWorld, repo: Repo) -> None:
    repo.git("branch", "a|<b>$c")
    done = scripted("compare", "--base", "a|<b>$c", "--build", "printf '\\033[2Jx\\n'; exit 1", "./program")
    assert done.status == 3  # `scripted` checks that no control character is printed
    assert "  | \\x1b[2Jx" in done.err.decode()


# --- steelyard cache


def test_the_cache_is_listed_and_cleared(scripted: ScriptedWorld, repo: Repo) -> None:
    assert scripted("cache").text.startswith("0 builds, 0 B of 10.00 GiB")
    scripted("compare", "--base", "main", *BUILT, "./program")
    listed = scripted("cache").text
    assert f"project     main ({repo.git('rev-parse', 'main')[:7]})" in listed
    assert "work tree" in listed
    assert "2 builds" in listed
    assert re.search(r"\d s +\d s +cp source", listed)
    for key in ("lock", "facts.json"):
        for path in (scripted.folder / ".cache/steelyard/builds").glob(f"*/{key}"):
            os.utime(path, (0, 0))
    assert re.search(r"\d s +[\d,]+ days +cp source", scripted("cache").text)
    cleared = scripted("cache", "--clear").text
    assert cleared.startswith("0 builds")
    assert "removed 2 builds" in cleared


def test_the_cache_is_bounded_from_then_on(scripted: ScriptedWorld, repo: Repo) -> None:
    assert "of 20.00 KiB" in scripted("cache", "--max-size", "20K").text
    scripted("compare", "--base", "main", *BUILT, "./program")
    assert "2 builds" in scripted("cache").text  # kept because they were in use
    repo.write("source", script("newer"))
    scripted("compare", "--base", "main", *BUILT, "./program")
    assert "work tree" in scripted("cache").text
    assert "2 builds" in scripted("cache").text
    assert "--max-size 'much' is not a size" in scripted.refuses("cache", "--max-size", "much")


def test_a_target_that_is_the_work_tree_s_own_file_is_named_with_its_line(scripted: ScriptedWorld, repo: Repo) -> None:
    (repo.folder / "source").chmod(0o755)
    targets = {"right": "./program", "wrong": f"{repo.folder}/source"}
    lines = [f'[[target]]\nname = "{name}"\ncommand = "{command}"\n' for name, command in targets.items()]
    repo.write("steelyard.toml", f"[build]\ncommand = {json.dumps(BUILD)}\n{''.join(lines)}")
    done = scripted("compare", "--base", "main")
    assert done.status == 2
    assert "steelyard.toml:8: " in done.err.decode()
    assert "is a file of the work tree" in done.err.decode()
    assert scripted("compare", "--base", "main", "--target", "right").status == 1
    assert "--build-timeout 0 is out of range" in scripted("compare", "--build-timeout", "0").err.decode()


# --- one alone


def test_one_revision_is_measured_alone(scripted: ScriptedWorld, repo: Repo) -> None:
    words = ("run", "./program", "--launches", "5", "--json", "../record.json", *BUILT)
    done = scripted(*words, "--base", "main")
    assert done.status == 0
    assert f"built by {BUILD}" in " ".join(done.text.split())
    (subject,) = record_of()["subjects"]
    assert subject["name"] == f"main ({repo.git('rev-parse', 'main')[:7]})"
    assert subject["revision"]["commit"] == repo.git("rev-parse", "main")
    assert {os.fsdecode(spec.cwd or b"") for spec in scripted.launched} == {subject["directory"]}
    assert b"building" in done.err
    # Without --base it is the work tree; and then a weighing of the two has nothing left to build.
    assert scripted(*words).status == 0
    assert record_of()["subjects"][0]["name"] == "work tree"
    assert scripted("compare", "--base", "main", *BUILT, "./program").err == b""


def test_a_script_that_a_revision_lacks_is_told_to_be_copied_there(repo: Repo, scripted: ScriptedWorld) -> None:
    new = repo.write("tools/new.sh", script("new"))
    new.chmod(0o755)
    words = ["compare", "--base", "main", "tools/new.sh"]
    said = scripted.refuses(*words)
    copying = said.partition("lacks this script: --build ")[2].partition(" copies it there")[0]
    assert copying == f"'install -D {new} tools/new.sh'"
    assert scripted(*words, "--build", copying.strip("'")).status == 0
    said = scripted(*words, "--build", "true").err.decode()
    assert f"lacks this script: have its build copy it, install -D {new} tools/new.sh)" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--base", "nothing"], "--base 'nothing' is no revision"),
        (["--base", "main"], "where nothing is built: give --build CMD"),
        (["--base", "main", "--build-timeout", "0"], "--build-timeout 0"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_refusals_of_one_alone(scripted: ScriptedWorld, words: list[str], said: str) -> None:
    assert said in scripted.refuses("run", "./program", *words)
