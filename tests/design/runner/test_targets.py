"""What a record's benchmarks launch, and by which names, in errors too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from steelyard.design.runner.target import COMMAND_REMEDY
from steelyard.design.runner.targets import (
    first_limit_s,
    longest_at_first_s,
    subject_of,
    targets_of,
    with_time_limit,
    work_of,
)
from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import Draw
from steelyard.model.subject import Benchmark, RevisionFacts, Subject
from tests.design.scripted import run_header, weighing

MISSING = Subject(name="tool", command="{tool}", argv=["{tool}"], program="{tool}")


@pytest.mark.parametrize(("side", "role"), [(0, "baseline"), (1, "candidate")])
def test_a_program_that_a_parameter_names_is_missing_on_one_side(side: int, role: str) -> None:
    record = weighing(1).model_copy(
        update={"subjects": [MISSING, MISSING], "benchmarks": [Benchmark(name="n", params={"tool": "./nowhere"})]}
    )
    with pytest.raises(UsageError, match=rf"the {role} command './nowhere' cannot be run"):
        subject_of(record, 0, side)


def test_what_a_harness_calls_a_parameter_is_not_put_into_its_command() -> None:
    tool = MISSING.model_copy(update={"program": "/bin/true", "argv": ["true", "{n}"]})
    harness = Benchmark(name="sort", entry="sort", params={"n": "10"})
    record = weighing(1).model_copy(update={"subjects": [tool, tool], "benchmarks": [harness]})
    assert subject_of(record, 0, 0).argv == ["true", "{n}"]


def test_a_control_weighs_the_baseline_against_itself() -> None:
    record = weighing(1)
    record = record.model_copy(update={"benchmarks": [Benchmark(name="control", candidate=0, control=True)]})
    assert [subject_of(record, 0, side).name for side in (0, 1)] == ["baseline", "baseline"]


def test_a_launch_of_a_weighing_may_not_use_up_its_budget_and_that_of_a_run_may() -> None:
    assert with_time_limit(weighing(1, max_time_s=7)).timeout_s == 7
    assert with_time_limit(weighing(1, max_time_s=7, timeout_s=9)).timeout_s == 9
    assert with_time_limit(weighing(1, max_time_s=None)).timeout_s is None
    assert with_time_limit(run_header(max_time_s=7)).timeout_s is None
    assert with_time_limit(run_header(max_time_s=7, repeat=3)).timeout_s == 14
    assert with_time_limit(run_header(max_time_s=None, repeat=3)).timeout_s is None


def test_until_there_is_a_pair_a_launch_of_a_weighing_may_take_more_than_the_budget() -> None:
    assert longest_at_first_s(weighing(1, max_time_s=7)) == first_limit_s(weighing(1, max_time_s=7)) == 14
    given = weighing(1, max_time_s=7, timeout_s=9)
    assert (longest_at_first_s(given), first_limit_s(given)) == (None, 9)
    for endless in (weighing(1, max_time_s=None), run_header(max_time_s=7)):
        assert (longest_at_first_s(endless), first_limit_s(endless)) == (None, None)


def test_the_clock_of_a_harness_is_that_of_its_record_or_its_benchmark() -> None:
    works = [work_of(weighing(1, clock=clock), 0) for clock in (None, "still")]
    assert [work.still for work in works] == [False, True]
    by_process = weighing(1).model_copy(update={"benchmarks": [Benchmark(name="one", clock="process")]})
    assert [work_of(record, 0).by_process for record in (weighing(1), by_process)] == [False, True]


def test_only_where_a_shell_is_timed_its_start_is_measured() -> None:
    shells = [one.model_copy(update={"shell": True}) for one in weighing(1).subjects]
    for metrics, measured in ((["wall"], True), (["instructions"], False)):
        record = weighing(1, metrics=metrics, seed=3).model_copy(update={"subjects": shells})
        assert (targets_of(record, {}).empty_shell is not None) is measured
    assert targets_of(weighing(1), {}).empty_shell is None


def in_folders(names: Sequence[str]) -> list[Subject]:
    plain = Subject(name="tool", command="true", argv=["true"], program="/bin/true")
    return [plain.model_copy(update={"name": name, "directory": f"/{name}"}) for name in names]


def test_of_several_candidates_each_has_its_commands_in_its_own_folder() -> None:
    around = ("setup", "prepare", "conclude", "cleanup")
    settings = {option: ["/bin/echo"] for option in around}
    benchmarks = [Benchmark(name="low"), Benchmark(name="high", candidate=2)]
    benchmarks.append(Benchmark(name="control", candidate=0, control=True))
    update = {"subjects": in_folders(["commit", "low", "high"]), "benchmarks": benchmarks}
    targets = targets_of(weighing(3, **settings).model_copy(update=update), {})
    for number, side in product(range(3), range(2)):
        launch = targets.of(number, side, Draw(0, 0))
        for specs in (targets.hooks.prepare, targets.hooks.conclude):
            assert targets.hooks.of(specs, launch).cwd == launch.spec.cwd
    for specs in (targets.hooks.setup, targets.hooks.cleanup):
        assert [spec.cwd for spec in specs] == [b"/commit", b"/low", b"/high"]


def test_of_several_layouts_each_has_its_commands_in_its_own_folder() -> None:
    subjects = [one.model_copy(update={"directory": f"/{one.name}/{{layout}}"}) for one in in_folders(["old", "new"])]
    record = weighing(1, layouts=3, prepare=["/bin/echo"], setup=["/bin/echo"]).model_copy(
        update={"subjects": subjects}
    )
    targets = targets_of(record, {})
    folders = [f"/{name}/{layout}".encode() for name in ("old", "new") for layout in (1, 2, 3)]
    launches = [targets.of(0, side, Draw(0, 0, layout)) for side in range(2) for layout in (1, 2, 3)]
    assert [launch.spec.cwd for launch in launches] == folders
    assert [targets.hooks.of(targets.hooks.prepare, launch).cwd for launch in launches] == folders
    assert [spec.cwd for spec in targets.hooks.setup] == folders


def test_commands_around_launches_run_as_from_the_prompt() -> None:
    limits = {"timeout_s": 5, "cpu": 0, "stdin": "/dev/null", "output": "/dev/null", "addresses": "shared", "repeat": 3}
    targets = targets_of(weighing(1, prepare=["/bin/echo"], **limits), {})
    (hook,) = targets.hooks.prepare
    assert hook == replace(hook, timeout_ns=None, cpus=None, stdin=None, stdout=None, mapping_pages=None, repeat=1)
    assert hook == targets_of(weighing(1, prepare=["/bin/echo"]), {}).hooks.prepare[0]


def test_of_two_commands_around_launches_the_first_is_the_baseline_s() -> None:
    benchmarks = [Benchmark(name="one"), Benchmark(name="control", candidate=0, control=True)]
    record = weighing(2, prepare=["/bin/echo 0", "/bin/echo 1"]).model_copy(update={"benchmarks": benchmarks})
    targets = targets_of(record, {})
    launches = [targets.of(number, side, Draw(0, 0)) for number in range(2) for side in range(2)]
    said = [targets.hooks.of(targets.hooks.prepare, launch).argv[1] for launch in launches]
    assert said == [b"0", b"1", b"0", b"0"]


@pytest.mark.parametrize("word", ["data", "new.py::test", "new.js", "absolute", "both", "nowhere", "x" * 5000])
def test_what_git_does_not_have_is_named_where_a_revision_misses_it(tmp_path: Path, word: str) -> None:
    here, checkout = tmp_path / "here", tmp_path / "checkout"
    for folder, names in ((here, ["data", "new.py", "both", "absolute"]), (checkout, ["both"])):
        folder.mkdir()
        for name in [*names, "lib.js"]:
            (folder / name).touch()
    (here / "new.js").write_text("require('./lib')")
    given = str(here / word) if word == "absolute" else word
    revision = RevisionFacts(name="v1", commit=None, tree="0", build=None)
    side = Subject(name="v1", command=f"cat {given}", argv=["cat", given], program="/bin/cat")
    side = side.model_copy(update={"directory": str(checkout), "revision": revision})
    record = weighing(1, directory=str(here)).model_copy(update={"subjects": [side, side]})
    remedy = targets_of(record, {}).of(0, 0, Draw(0, 0)).remedy
    missing = "data is in your folder and not in that revision, where it runs: give its absolute path"
    of_python = ", and --env PYTHONPATH=src where the code is in src, so that each revision imports its own"
    told = {"data": missing, "new.py::test": missing.replace("data", "new.py") + of_python}
    told["new.js"] = (
        "new.js is in your folder and not in that revision, where it runs: "
        f"--setup 'cp {here}/new.js new.js' copies it there, to be run as new.js"
    )
    assert remedy == told.get(word, COMMAND_REMEDY)
