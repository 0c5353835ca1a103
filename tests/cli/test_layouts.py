"""Several builds of each side: what is launched, what is reported, and what is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from steelyard.model.derived import Verdict
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.layouts import LayoutFacts
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from tests.loaded import weighing_in
from tests.world import LaunchScript, ScriptedWorld, at_launch, ctrl_c, measured, program_of

COMMANDS = ("./old-{layout}", "./new-{layout}")
# By how much the candidate is slower in each of the ten layouts; on average it is not.
UNEVEN = (0.03, -0.03, 0.02, -0.02, 0.025, -0.025, 0.04, -0.04, 0.01, -0.01)


def builds(world: ScriptedWorld, count: int) -> None:
    for layout in range(1, count + 1):
        world.executable(f"old-{layout}")
        world.executable(f"new-{layout}")


def by_layout(effects: tuple[float, ...], change: float = 0.0, noise: float = 0.002) -> LaunchScript:
    """Return a script: launches of 12 ms, of the candidate's k-th build longer by the k-th effect and the change."""

    def script(spec: LaunchSpec, number: int) -> Measured:
        name, _, layout = program_of(spec).partition("-")
        slower = effects[int(layout) - 1] + change if name == "new" else 0.0
        return measured(12 * (1 + slower) * (1 + noise * ((number * 7919 % 101) / 50 - 1)))

    return script


def weighed(world: ScriptedWorld, *words: str, status: int = 0) -> Weighing:
    assert world("compare", *COMMANDS, "--pairs", "60", "-o", "record.json", *words).status == status
    return weighing_in(world.folder / "record.json")


def verdict_of(record: Weighing) -> Verdict:
    assert record.derived is not None
    return record.derived.verdicts[0]


def facts_of(record: Weighing) -> LayoutFacts:
    facts = verdict_of(record).layouts
    assert facts is not None
    return facts


def test_both_launches_of_a_pair_are_of_the_layout_that_it_drew(scripted: ScriptedWorld) -> None:
    builds(scripted, 5)
    scripted.script = by_layout((0.0,) * 5)
    record = weighed(scripted, "--layouts", "5")
    rows = record.launches.rows()
    assert record.settings.layouts == 5
    for row, spec in zip(rows, scripted.launched, strict=True):
        assert program_of(spec) == f"{('old', 'new')[row.side]}-{row.layout}"
        assert spec.argv[0] == f"./{program_of(spec)}".encode()
    by_pair = {row.pair: row.layout for row in rows}
    assert all(row.layout == by_pair[row.pair] for row in rows)
    pairs = [by_pair[pair] for pair in sorted(by_pair)]
    blocks = [pairs[begin : begin + 5] for begin in range(0, len(pairs) - 4, 5)]
    assert all(sorted(block) == [1, 2, 3, 4, 5] for block in blocks)
    assert len(set(map(tuple, blocks))) > 1


def test_layouts_that_differ_leave_a_change_open_that_one_of_them_shows(scripted: ScriptedWorld) -> None:
    builds(scripted, 10)
    scripted.script = by_layout(UNEVEN)
    done = scripted("compare", "./old-1", "./new-1", "--pairs", "60")
    assert done.text.startswith("slower") or "\nslower" in done.text
    record = weighed(scripted, "--layouts", "10")
    verdict, facts = verdict_of(record), facts_of(record)
    assert verdict.verdict == "undecided"
    assert verdict.interval is not None
    assert verdict.interval[0] < -0.01 < 0.01 < verdict.interval[1]
    assert facts.changes == pytest.approx(dict(enumerate(UNEVEN, 1)), abs=0.004)
    assert facts.most == "layout"
    assert (facts.p_value or 1.0) < 0.01
    assert facts.parts[0].share > 0.9
    assert "few-layouts" in [finding.code for finding in verdict.findings]


@pytest.mark.parametrize(("each", "are_unlike"), [((0.0, 0.2), True), ((0.0, 0.001), False)])
def test_what_is_said_of_two_layouts_fits_what_chance_makes_of_them(
    scripted: ScriptedWorld, each: tuple[float, ...], are_unlike: bool
) -> None:
    builds(scripted, 2)
    scripted.script = by_layout(each)
    record = weighed(scripted, "--layouts", "2")
    said = [one.message for one in verdict_of(record).findings if one.code == "few-layouts"]
    assert ((facts_of(record).p_value or 1.0) < 0.05) is are_unlike
    assert all(message.startswith("the layouts differ") is are_unlike for message in said)
    assert not are_unlike or "reaches any size to either side" in said[0]


@pytest.mark.parametrize(("change", "status", "verdict"), [(0.1, 1, "slower"), (-0.1, 0, "faster")])
def test_a_change_in_every_layout_is_one(scripted: ScriptedWorld, change: float, status: int, verdict: str) -> None:
    builds(scripted, 10)
    scripted.script = by_layout(UNEVEN, change)
    record = weighed(scripted, "--layouts", "10", "--margin", "1%", status=status)
    found = verdict_of(record)
    assert found.verdict == verdict
    assert found.interval is not None
    assert found.interval[0] < change < found.interval[1]


def test_equal_layouts_are_the_same_and_no_more_than_chance(scripted: ScriptedWorld) -> None:
    builds(scripted, 5)
    scripted.script = by_layout((0.0,) * 5)
    record = weighed(scripted, "--layouts", "5", "--margin", "1%")
    assert verdict_of(record).verdict == "same"
    assert (facts_of(record).p_value or 0.0) > 0.01
    assert facts_of(record).parts[0].share < 0.5


def test_few_layouts_are_called_too_few_to_assume_nothing(scripted: ScriptedWorld) -> None:
    builds(scripted, 5)
    scripted.script = by_layout((0.001, -0.001, 0.0, 0.001, -0.001), 0.2)
    found = verdict_of(weighed(scripted, "--layouts", "5", status=1))
    (said,) = [finding for finding in found.findings if finding.code == "normal-layouts"]
    assert said.remedy == "from 11 on no assumption is needed"  # as it was decided at the first look


def test_the_report_says_where_the_variance_is(scripted: ScriptedWorld) -> None:
    builds(scripted, 10)
    scripted.script = by_layout(UNEVEN)
    done = scripted("compare", *COMMANDS, "--layouts", "10", "--pairs", "60", "--markdown", "report.md")
    assert "layouts    10 builds of each side" in done.text
    assert "variance   layout " in done.text
    assert "more layouts narrow the interval" in done.text
    assert "10 builds of each side" in (scripted.folder / "report.md").read_text()


def test_one_pair_of_each_layout_tells_no_variance(scripted: ScriptedWorld) -> None:
    builds(scripted, 10)
    scripted.script = by_layout((0.0,) * 10, 0.5)
    done = scripted("compare", *COMMANDS, "--layouts", "10", "--pairs", "60", "-o", "record.json")
    said = " ".join(done.text.split())
    assert (done.status, "two pairs of each" in said, "variance" in said) == (1, True, False)


def test_a_weighing_that_is_carried_on_keeps_to_its_layouts(scripted: ScriptedWorld) -> None:
    builds(scripted, 3)
    whole = by_layout((0.0, 0.01, -0.01))
    scripted.script = whole
    plan = {row.pair: row.layout for row in weighed(scripted, "--layouts", "3", "--seed", "5").launches.rows()}
    scripted.script = at_launch(scripted.launches + 20, ctrl_c, whole)
    scripted("compare", *COMMANDS, "--layouts", "3", "--seed", "5", "--pairs", "60")
    scripted.script = whole
    journal = scripted.kept()[-1]
    scripted("compare", "--resume", journal, "-o", "resumed.json")
    resumed = weighing_in(scripted.folder / "resumed.json")
    known = [row for row in resumed.launches.rows() if row.pair in plan]
    assert len(known) > 40
    assert all(row.layout == plan[row.pair] for row in known)


def test_a_layout_that_was_built_anew_keeps_it_from_being_carried_on(scripted: ScriptedWorld) -> None:
    builds(scripted, 3)
    scripted.script = at_launch(9, ctrl_c, by_layout((0.0,) * 3))
    scripted("compare", *COMMANDS, "--layouts", "3", "--pairs", "60")
    scripted.executable("new-2", "another one")
    sentence = scripted.refuses("compare", "--resume", scripted.kept()[-1])
    assert "./new-{layout} is not the program that" in sentence


def test_a_control_copies_every_layout(scripted: ScriptedWorld) -> None:
    for layout in (1, 2, 3):
        for name in ("old", "new"):
            shutil.copy("/bin/true", scripted.folder / f"{name}-{layout}")
    scripted.script = lambda spec, number: measured(12 * (1 + number % 5 * 1e-4))  # noqa: ARG005
    record = weighed(scripted, "--layouts", "3", "--control")
    copies: dict[int, set[str]] = {1: set(), 2: set(), 3: set()}
    for row, spec in zip(record.launches.rows(), scripted.launched[-len(record.launches) :], strict=True):
        if record.benchmarks[row.benchmark].control and row.side == 1:
            copies[row.layout].add(os.fsdecode(spec.program))
    for layout, programs in copies.items():
        (program,) = programs
        assert Path(program).name == f"old-{layout}"
        assert scripted.folder not in Path(program).parents


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*COMMANDS, "--layouts", "1"), "--layouts"),
        ((*COMMANDS, "--layouts", "1001"), "--layouts"),
        (("./old-{layout}", "./new", "--layouts", "3"), "'./new' has no {layout}"),
        ((*COMMANDS, "--layouts", "3", "-L", "layout", "a,b"), "give the parameter another name"),
        ((*COMMANDS, "--layouts", "4"), "'./old-4' cannot be run"),
        (("./old-{layout}", "./none-{layout}", "--layouts", "3"), "'./none-1' cannot be run"),
    ],
)
def test_what_cannot_be_layouts_is_refused(scripted: ScriptedWorld, words: tuple[str, ...], sentence: str) -> None:
    builds(scripted, 3)
    assert sentence in scripted.refuses("compare", *words)
    assert not scripted.launched


def test_builds_that_are_the_same_file_are_named(scripted: ScriptedWorld) -> None:
    builds(scripted, 3)
    for layout in (1, 2, 3):
        (scripted.folder / f"new-{layout}").write_text("#!/bin/sh\n")
    (scripted.folder / "old-2").write_bytes((scripted.folder / "old-1").read_bytes())
    scripted.script = by_layout((0.0,) * 3)
    messages = [one.message for one in weighed(scripted, "--layouts", "3").findings if one.code == "equal-layouts"]
    assert messages == [
        "the 3 layouts of ./old-{layout} are only 2 different ones, byte by byte",
        "the 3 layouts of ./new-{layout} are one and the same, byte by byte",
    ]


def test_builds_of_both_sides_that_are_the_same_file_are_named_once(scripted: ScriptedWorld) -> None:
    builds(scripted, 3)
    for side in ("old", "new"):
        for layout in (1, 2, 3):
            (scripted.folder / f"{side}-{layout}").write_text(f"#!/bin/sh\n# {side}\n")
    scripted.script = by_layout((0.0,) * 3)
    messages = [one.message for one in weighed(scripted, "--layouts", "3").findings if one.code == "equal-layouts"]
    assert messages == [
        "the 3 layouts of ./old-{layout} and those of ./new-{layout} are one and the same, byte by byte"
    ]


def test_builds_behind_env_are_told_apart_by_what_it_starts(scripted: ScriptedWorld) -> None:
    for layout in (1, 2, 3):
        scripted.executable(f"old-{layout}/program", f"{layout}")
        scripted.executable(f"new-{layout}/program", "new")
    scripted.script = lambda spec, number: measured(12 * (1 + number % 5 * 1e-4))  # noqa: ARG005
    commands = [f"env -C {side}-{{layout}} ./program" for side in ("old", "new")]
    scripted("compare", *commands, "--layouts", "3", "--pairs", "60", "-o", "record.json")
    record = weighing_in(scripted.folder / "record.json")
    assert record.subjects[0].digest != record.subjects[1].digest
    messages = [one.message for one in record.findings if one.code == "equal-layouts"]
    assert messages == [f"the 3 layouts of {commands[1]} are one and the same, byte by byte"]


def test_layouts_may_be_told_apart_by_an_argument(scripted: ScriptedWorld) -> None:
    scripted.script = lambda spec, number: measured(12 * (1 + number % 5 * 1e-4))  # noqa: ARG005
    assert scripted("compare", "./old {layout}", "./new {layout}", "--layouts", "2", "--pairs", "20").status == 0
    assert {spec.argv[1] for spec in scripted.launched} == {b"1", b"2"}
