"""Several builds of each revision: real git and real builds; the launches are scripted but for the last test's."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.subjects.revisions.cache import Cache
from tests.in_process import InProcess
from tests.loaded import weighing_in
from tests.repositories import BUILD, Repo, script
from tests.world import Killed, ScriptedWorld, at_launch, kill, measured, program_of

pytestmark = pytest.mark.real

LAYOUTS = 5
IN_LAYOUTS = f"{BUILD} && echo '# {{layout}}' >> program"
BASE = ("compare", "--base", "main", "./program", "--pairs", "30", "-o", "../record.json")
# By how much the work tree's program is slower than the base's in each layout; on average it is not.
UNEVEN = (0.03, -0.03, 0.02, -0.015, -0.005)


@pytest.fixture
def repo(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with a work tree whose speed depends on how it is built."""
    made = Repo.made(scripted.folder / "project")
    made.write("source", script("new"))
    monkeypatch.chdir(made.folder)

    def launch(spec: LaunchSpec, number: int) -> Measured:
        assert spec.cwd is not None
        program = Path(os.fsdecode(spec.program)).read_text(errors="replace")
        found = re.search(r"# (\d+)$", program)
        effect = UNEVEN[(int(found[1]) if found else 1) - 1] if "echo new" in program else 0.0
        return measured(12 * (1 + effect) * (1 + 0.001 * (number * 7919 % 101) / 50))

    scripted.script = launch
    return made


def record_of(path: str = "../record.json") -> Weighing:
    return weighing_in(path)


def kept(scripted: ScriptedWorld) -> list[str]:
    """Return the names of the builds that are kept."""
    return [one.key for one in Cache.of_user(scripted.environment).kept()]


def built(scripted: ScriptedWorld) -> list[str]:
    """Return the layouts that were built."""
    return sorted((scripted.folder / ".cache/steelyard/builds/built").read_text().split())


@pytest.mark.usefixtures("repo")
def test_what_one_layout_calls_slower_is_not_where_they_are_averaged(scripted: ScriptedWorld) -> None:
    assert scripted(*BASE, "--build", BUILD).status == 1
    done = scripted(*BASE, "--build", IN_LAYOUTS, "--layouts", f"{LAYOUTS}")
    assert done.status == 0
    record = record_of()
    assert record.derived is not None
    (verdict,) = record.derived.verdicts
    assert verdict.verdict == "undecided"
    assert verdict.layouts is not None
    assert verdict.layouts.changes == pytest.approx(dict(enumerate(UNEVEN, 1)), abs=0.004)
    assert "layouts    5 builds of each side" in done.text
    assert f"in each revision, built by {IN_LAYOUTS}" in " ".join(done.text.split())
    assert done.text.startswith(scripted("show").text)


@pytest.mark.usefixtures("repo")
def test_each_launch_is_in_the_folder_of_its_side_and_layout(scripted: ScriptedWorld) -> None:
    scripted(*BASE, "--build", IN_LAYOUTS, "--layouts", f"{LAYOUTS}")
    record = record_of()
    assert record.settings.layouts == LAYOUTS
    for row, spec in zip(record.launches.rows(), scripted.launched, strict=True):
        folder = (record.subjects[row.side].directory or "").replace("{layout}", str(row.layout))
        assert (spec.cwd, spec.program) == (folder.encode(), f"{folder}/program".encode())
        assert spec.argv == (b"./program",)
    assert len({spec.cwd for spec in scripted.launched}) == 2 * LAYOUTS
    assert len({len(spec.cwd or b"") for spec in scripted.launched}) == 1
    facts = record.subjects[0].revision
    assert facts is not None
    assert (facts.build, facts.layout) == (IN_LAYOUTS, None)


@pytest.mark.usefixtures("repo")
def test_each_layout_is_built_once(scripted: ScriptedWorld) -> None:
    words = (*BASE, "--build", f"{IN_LAYOUTS} && echo {{layout}} >> ../../built", "--layouts")
    first = scripted(*words, "3").err.decode()
    assert first.count("building ") == first.count(" in 3 layouts: cp source program") == 2
    assert built(scripted) == sorted("112233")
    assert scripted(*words, "3").err == b""
    assert scripted(*words, "4").err.count(b"building ") == 2
    assert built(scripted) == sorted("11223344")
    assert len(kept(scripted)) == 8


def test_a_project_s_file_says_how_many(scripted: ScriptedWorld, repo: Repo) -> None:
    target = '[[target]]\nname = "program"\ncommand = "./program"\n'
    build = f"[build]\ncommand = {json.dumps(BUILD + ' && echo $NUMBER >> program')}\nlayouts = 3\n"
    repo.write("steelyard.toml", f'{build}environment = ["NUMBER=# {{layout}}"]\n{target}')
    words = ("compare", "--base", "main", "--pairs", "60", "-o", "../record.json")
    assert scripted(*words).status == 0
    assert record_of().settings.layouts == 3
    assert len({spec.cwd for spec in scripted.launched}) == 6
    scripted(*words, "--layouts", "2")
    assert record_of().settings.layouts == 2
    repo.write("steelyard.toml", f"{build}{target}")
    done = scripted(*words)
    assert done.status == 2
    assert "steelyard.toml:3: layouts 3: './program' has no {layout}" in done.err.decode()


@pytest.mark.parametrize("layouts", ["", "layouts = 1"])
def test_a_single_build_is_the_first_layout(scripted: ScriptedWorld, repo: Repo, layouts: str) -> None:
    build = f'[build]\ncommand = "{IN_LAYOUTS}"\n{layouts}\n'
    repo.write("steelyard.toml", f'{build}[[target]]\nname = "program"\ncommand = "./program"\n')
    for words in ([*BASE[:3], *BASE[4:], "-o", "../record.json"], [*BASE, "--build", IN_LAYOUTS]):
        scripted(*words)
        assert [one.revision and one.revision.layout for one in record_of().subjects] == [1, 1]
    assert [key.partition("-")[2] for key in kept(scripted)] == ["1", "1"]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "--base", "main", "--pairs", "12"),
        ("run", "--base", "main", "--pairs", "2"),
        ("check", "--base", "main", "--max-time", "1"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_a_command_of_a_single_build_has_its_number(scripted: ScriptedWorld, words: tuple[str, ...]) -> None:
    build = f"{BUILD} && cp program p-{{layout}}"
    around = ("--prepare", "./p-{layout} {layout}") if words[0] != "check" else ()
    done = scripted(*words, "--build", build, *around, "./p-{layout}")
    assert done.status in (0, 1), done.err
    launched = [spec for spec in scripted.launched if Path(os.fsdecode(spec.program)).name != "true"]
    assert {spec.argv for spec in launched} == {(b"./p-1",), *([(b"./p-1", b"1")] if around else [])}
    if words[0] != "check":
        refused = (*words, "--build", IN_LAYOUTS, "./program {layout}", "-L", "layout", "1,2")
        assert "the build sets {layout} in the commands: give the parameter another" in scripted.refuses(*refused)


@pytest.mark.usefixtures("repo")
def test_commands_around_launches_run_in_the_folder_of_the_layout(scripted: ScriptedWorld) -> None:
    hooks = ("--setup", "./program up", "--prepare", "./program p", "--cleanup", "./program down")
    scripted("compare", "--base", "main", "./program", "--pairs", "12", "--build", IN_LAYOUTS, "--layouts", "2", *hooks)
    launched = scripted.launched
    for word in (b"up", b"down"):
        assert len({spec.cwd for spec in launched if spec.argv[-1] == word}) == 4
        assert len([spec for spec in launched if spec.argv[-1] == word]) == 4
    after = {before.cwd == spec.cwd for before, spec in pairwise(launched) if before.argv[-1] == b"p"}
    assert after == {True}


@pytest.mark.usefixtures("repo")
def test_one_build_of_several_programs(scripted: ScriptedWorld) -> None:
    """If only the commands have the layout's number, they find all layouts in one build."""
    build = f'{BUILD} && for n in 1 2; do cp program p-$n; echo "# $n" >> p-$n; done'
    words = ("--build", build, "--layouts", "2", "--pairs", "12", "--setup", "true")
    scripted("compare", "--base", "main", "./p-{layout}", *words)
    assert len(kept(scripted)) == 2
    programs = Counter(program_of(spec) for spec in scripted.launched)
    assert set(programs) == {"p-1", "p-2", "true"}
    assert programs["true"] == 2  # once on each side


@pytest.mark.usefixtures("repo")
def test_a_number_that_changes_nothing_is_said(scripted: ScriptedWorld) -> None:
    done = scripted(*BASE, "--build", f"{BUILD} && : {{layout}}", "--layouts", "3")
    words = r"the 3 layouts of main \(\w+\) and those of work tree are one and the same, byte by byte"
    assert re.search(words, " ".join(done.text.split()))


@pytest.mark.usefixtures("repo")
def test_one_tree_is_not_measured_in_any_layout(scripted: ScriptedWorld) -> None:
    done = scripted(*BASE, "--candidate", "HEAD", "--build", IN_LAYOUTS, "--layouts", "3")
    assert done.status == 0
    assert not scripted.launched
    assert len(kept(scripted)) == 3


def test_the_same_programs_are_not_measured(scripted: ScriptedWorld, repo: Repo) -> None:
    repo.git("checkout", "source")
    repo.write("work.c", "/* of no consequence */")
    build = "cp /usr/bin/$([ {layout} = 1 ] && echo true || echo false) tool"
    done = scripted("compare", "--base", "main", "./tool", "--build", build, "--layouts", "2")
    assert "build the same program" in " ".join(done.text.split())
    assert not scripted.launched
    build = "cp /usr/bin/$([ {layout} = 1 ] && [ -e work.c ] && echo true || echo false) tool"
    scripted("compare", "--base", "main", "./tool", "--build", build, "--layouts", "2", "--pairs", "12")
    assert scripted.launched


@pytest.mark.usefixtures("repo")
def test_what_was_killed_is_carried_on_in_all_layouts(scripted: ScriptedWorld) -> None:
    launch, removed = scripted.script, []
    scripted.script = at_launch(11, kill, launch)
    with pytest.raises(Killed):
        scripted(*BASE, "--build", IN_LAYOUTS, "--layouts", "3")
    journal = scripted.kept()[-1]

    def clearing(spec: LaunchSpec, number: int) -> Measured:
        removed.extend(Cache.of_user(scripted.environment).clear())
        return launch(spec, number)

    program = next((scripted.folder / ".cache/steelyard/builds").glob("*-3/tree/program"))
    text = program.read_text()
    program.write_text("another")
    assert "is not the program that" in scripted.refuses("compare", "--resume", journal)
    program.write_text(text)
    scripted.script = clearing
    assert scripted("compare", "--resume", journal).status == 0
    assert len({spec.cwd for spec in scripted.launched}) == 6
    assert removed == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--build", BUILD, "--layouts", "3"],
            "'./program' has no {layout}, so that one layout alone would be weighed",
        ),
        (["--layouts", "3"], "write it in the command that builds"),
        (["--build", IN_LAYOUTS, "--layouts", "1"], "--layouts 1"),
        (["--build", f"test {{layout}} != 3 && {IN_LAYOUTS}", "--layouts", "4"], "test 3 != 3"),
        (["--build", f"{IN_LAYOUTS}; test {{layout}} != 3 || rm program", "--layouts", "4"], "the baseline command"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_refusals(scripted: ScriptedWorld, words: list[str], said: str) -> None:
    done = scripted(*BASE, *words)
    assert done.status in (2, 3)
    assert said in done.err.decode().splitlines()[-1]
    assert not scripted.launched


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_a_c_program_in_layouts_that_are_its_own(here: InProcess) -> None:
    work = "int main(void) { volatile unsigned sum = 0; for (int i = 0; i < 100000; i++) sum += i; return 0; }\n"
    repo = Repo.made(here.folder / "project", **{"work.c": work})
    repo.write("work.c", f"int unused(void) {{ return 1; }}\n{work}")
    pad = "printf '.text\\n.skip {layout}*16\\n.section .note.GNU-stack,\"\",@progbits\\n' > pad.s"
    os.chdir(repo.folder)
    words = ("--build", f"{pad} && gcc -O2 -o work pad.s work.c", "--layouts", "3", "--pairs", "12")
    assert here("compare", "--base", "main", "./work", *words, "-o", "../record.json").status in (0, 1)
    record = record_of()
    assert sorted({row.layout for row in record.launches.rows()}) == [1, 2, 3]
    assert "equal-layouts" not in [finding.code for finding in record.findings]
