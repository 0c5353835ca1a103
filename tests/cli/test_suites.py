"""Suites over several sessions and machines: going on, shards and merging, named baselines, the store."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.cli import outcome
from steelyard.model.files import load, save
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.subject import RevisionFacts
from tests.design.counted import count, counted_run
from tests.golden.programs import noise
from tests.loaded import weighing_in
from tests.world import LaunchScript, ScriptedWorld, at_launch, ctrl_c, measured, program_of, steady

PAIRS = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,2,3")


def noisy(change: float, share: float = 0.02) -> LaunchScript:
    """Return a script: the candidate is slower by the fraction `change`, and launches have a relative noise `share`."""
    return lambda spec, number: measured(
        12 * (1 + change * (program_of(spec) == "new")) * (1 + share * noise(program_of(spec), number))
    )


def by_parameter(**scripts: LaunchScript) -> LaunchScript:
    return lambda spec, number: scripts[f"n{spec.argv[-1].decode()}"](spec, number)


def verdicts(record: Weighing) -> dict[str, str]:
    assert record.derived is not None
    return {verdict.benchmark: verdict.verdict for verdict in record.derived.verdicts}


# --- going on


def test_an_undecided_weighing_goes_on_with_what_it_has(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.01)
    first = scripted("compare", "./old", "./new", "--pairs", "20", "-o", "first.json")
    assert first.status == 0
    (kept,) = scripted.kept()
    assert "go on      steelyard compare --resume first.json --pairs" in first.text
    assert scripted("compare", "--resume", kept.name, "--pairs", "5").status == 0
    done = scripted("compare", "--resume", "first.json", "--max-time", "60", "-o", "whole.json")
    assert done.status == 1
    before, after = weighing_in("first.json"), weighing_in("whole.json")
    count = len(before.launches)
    assert after.launches.rows()[:count] == before.launches.rows()
    assert len(scripted.launched) == len(after.launches) - count
    assert after.benchmarks[0].ended == 20
    assert after.settings.alpha == before.settings.alpha
    assert after.settings.max_time_s == pytest.approx(before.seconds + 60)
    assert scripted("show", "whole.json").text == done.text
    assert "it was carried on after 20 pairs" in done.text


def test_the_plan_is_that_of_one_that_was_never_stopped(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.005)
    scripted("compare", "./old", "./new", "--pairs", "20", "-o", "first.json")
    scripted("compare", "--resume", "first.json", "--pairs", "5", "-o", "second.json")
    scripted.launches = 0
    scripted("compare", "./old", "./new", "--pairs", "25", "-o", "at-once.json")
    drawn = [(row.pair, row.side, row.order, row.hash_seed) for row in weighing_in("at-once.json").launches.rows()]
    assert [
        (row.pair, row.side, row.order, row.hash_seed) for row in weighing_in("second.json").launches.rows()
    ] == drawn


def test_so_many_pairs_more_reach_to_the_next_look(scripted: ScriptedWorld) -> None:
    """Pairs after the last look would not be judged, and one more look at an end that the user chooses has no alpha."""
    scripted.script = noisy(0.0)
    scripted("compare", "./old", "./new", "--pairs", "20", "-o", "first.json")
    for more, pairs in ((1, 25), (5, 25), (6, 31)):
        scripted("compare", "--resume", "first.json", "--pairs", str(more), "-o", f"{more}.json")
        assert weighing_in(f"{more}.json").settings.pairs == pairs


def test_the_first_end_is_counted_once_however_often_it_goes_on(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.0)
    scripted("compare", "./old", "./new", "--pairs", "20", "-o", "0.json")
    for number in range(3):
        scripted("compare", "--resume", f"{number}.json", "--pairs", "5", "-o", f"{number + 1}.json")
        assert weighing_in(f"{number + 1}.json").benchmarks[0].ended == 20


def test_what_is_killed_while_it_goes_on_is_carried_on_as_it_was(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.0)
    scripted("compare", "./old", "./new", "--pairs", "20", "-o", "first.json")
    scripted.script = at_launch(scripted.launches + 5, ctrl_c, noisy(0.0))
    assert scripted("compare", "--resume", "first.json", "--pairs", "11", "-o", "cut.json").status == 130
    scripted.script = noisy(0.0)
    refused = scripted.refuses("compare", "--resume", "cut.json", "--max-time", "9")
    assert "cut.json was interrupted, and has the rest of its own budget" in refused
    scripted("compare", "--resume", "cut.json", "-o", "whole.json")
    whole = weighing_in("whole.json")
    assert (whole.stop, whole.benchmarks[0].ended, whole.settings.pairs) == (["pairs"], 20, 31)


def test_of_a_suite_only_what_is_undecided_goes_on(scripted: ScriptedWorld) -> None:
    scripted.script = by_parameter(n1=noisy(0.5, 0.001), n2=noisy(0.0, 0.0005), n3=noisy(0.012))
    scripted(*PAIRS, "--pairs", "20", "-o", "first.json")
    first = weighing_in("first.json")
    assert Counter(verdicts(first).values()) == {"slower": 1, "same": 1, "undecided": 1}
    scripted("compare", "--resume", "first.json", "--max-time", "60", "-o", "whole.json")
    assert {spec.argv[-1] for spec in scripted.launched} == {b"3"}
    whole = weighing_in("whole.json")
    assert verdicts(whole) == {**verdicts(first), "n=3": "slower"}
    assert [one.ended for one in whole.benchmarks] == [None, None, 20]


def changed(record: Weighing, **update: object) -> Weighing:
    return record.model_copy(update=update)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: changed(one, settings=one.settings.model_copy(update={"reserve": 0.0})), "spent all of its alpha"),
        (lambda one: changed(one, machine=one.machine.model_copy(update={"key": "f" * 16})), "on another machine"),
        (lambda one: changed(one, stop=["failed"]), "has failed"),
        (
            lambda one: changed(
                one, subjects=[one.subjects[0].model_copy(update={"digest": "0" * 64}), one.subjects[1]]
            ),
            "is not the program that",
        ),
    ],
)
def test_what_does_not_go_on(scripted: ScriptedWorld, change: Callable[[Weighing], Weighing], why: str) -> None:
    scripted.script = noisy(0.0)
    scripted("compare", "./old", "./new", "--pairs", "20", "-o", "first.json")
    save(change(weighing_in("first.json")), Path("other.json"))
    assert why in scripted.refuses("compare", "--resume", "other.json", "--pairs", "20")
    assert not scripted.launched


def test_a_weighing_of_fewer_pairs_than_can_show_anything_has_spent_nothing(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.0)
    scripted("compare", "./old", "./new", "--max-time", "0.15", "-o", "first.json")
    first = weighing_in("first.json")
    assert first.derived is not None
    assert 0 < first.derived.verdicts[0].pairs < 8
    scripted("compare", "--resume", "first.json", "--pairs", "10", "-o", "whole.json")
    whole = weighing_in("whole.json")
    assert whole.derived is not None
    assert whole.derived.verdicts[0].looks > 2


@pytest.mark.parametrize(("many", "stopped"), [(3, 7), (3, 11), (14, 50), (14, 57)])
def test_why_pairs_ran_one_after_the_other_is_said_once_of_what_was_carried_on(
    scripted: ScriptedWorld, many: int, stopped: int
) -> None:
    scripted.script = at_launch(stopped, ctrl_c, lambda _, number: measured(12 + number * 1e-4, delay_ns=None))
    values = ",".join(map(str, range(many)))
    words = ("./old {n}", "./new {n}", "-L", "n", values, "--metric", "cpu", "--pairing", "tandem")
    assert scripted("compare", *words, "--pairs", "12", "-o", "part.json").status == 130
    assert [one.code for one in weighing_in("part.json").findings].count("adjacent") == 1
    done = scripted("compare", "--resume", "part.json", "-o", "whole.json")
    assert done.text.count("the launches of a pair ran") == 1
    assert [one.code for one in weighing_in("whole.json").findings].count("adjacent") == 1


# --- shards


def test_shards_have_each_benchmark_once_and_merge_to_the_whole(scripted: ScriptedWorld) -> None:
    scripted.script = by_parameter(n1=noisy(0.0, 0.001), n2=noisy(0.2, 0.001), n3=noisy(0.0, 0.001))
    for number in (1, 2):
        scripted(*PAIRS, "--shard", f"{number}/2", "-o", f"{number}.json")
    parts = [weighing_in(f"{number}.json") for number in (1, 2)]
    assert [[one.name for one in part.benchmarks] for part in parts] == [["n=1", "n=3"], ["n=2"]]
    assert scripted("merge", "2.json", "1.json", "-o", "all.json").status == 1
    whole = weighing_in("all.json")
    assert [one.name for one in whole.benchmarks] == ["n=1", "n=2", "n=3"]
    assert verdicts(whole) == {"n=1": "same", "n=2": "slower", "n=3": "same"}
    assert len(whole.launches) == sum(len(part.launches) for part in parts)
    for part in parts:
        for place, one in enumerate(part.benchmarks):
            rows = [row._replace(benchmark=0) for row in part.launches.rows() if row.benchmark == place]
            now = [other.name for other in whole.benchmarks].index(one.name)
            assert [row._replace(benchmark=0) for row in whole.launches.rows() if row.benchmark == now] == rows


@pytest.mark.parametrize(("number", "of"), [(1, "./new"), (2, "./newer")])
def test_a_part_with_one_of_several_candidates_shows_the_two_that_were_weighed(
    scripted: ScriptedWorld, number: int, of: str
) -> None:
    scripted.script = steady({"old": 12.0, "new": 18.0, "newer": 24.0})
    scripted.executable("newer")
    done = scripted("compare", "./old", "./new", "./newer", "--pairs", "12", "--shard", f"{number}/2")
    assert done.status == 1
    said = [line.split()[:2] for line in done.text.splitlines()]
    assert said[:4] == [["baseline", "./old"], ["candidate", of], ["part", f"{number}"], []]


def test_a_part_of_one_benchmark_has_no_start_to_share_and_merges_all_the_same(scripted: ScriptedWorld) -> None:
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json")
    save(with_settings(weighing_in("1.json"), starts="shared"), Path("shared.json"))
    for parts in (("shared.json", "2.json"), ("2.json", "shared.json")):
        assert scripted("merge", *parts, "-o", "all.json").status in (0, 1)


def test_a_part_says_that_it_is_one_wherever_it_is_shown_and_the_whole_does_not(scripted: ScriptedWorld) -> None:
    for number in (1, 2):
        done = scripted(
            *PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json", "--html", "page.html"
        )
        said = f"{number} of 2 of a suite of 3 benchmarks; steelyard merge joins the records of all parts"
        assert f"part       {said}" in re.sub(r"\s*\n {11}", " ", done.text)
        assert f"part {said}" in scripted("show", f"{number}.json", "--markdown", "-").text
        assert f"Part {said}." in Path("page.html").read_text()
    assert "part " not in scripted("merge", "1.json", "2.json", "-o", "all.json", "--markdown", "-").text


def test_parts_on_processors_of_their_own_merge(scripted: ScriptedWorld) -> None:
    """Each machine may have its own processor, as `--cpu auto` chooses it, and its own way of pairing."""
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json")
        path = Path(f"{number}.json")
        pairing = ("auto", "adjacent")[number - 1]
        save(with_settings(weighing_in(str(path)), cpu=number, cpu_choice=f"chosen {number}", pairing=pairing), path)
    assert scripted("merge", "1.json", "2.json", "-o", "all.json").status in (0, 1)


def test_parts_merge_where_not_all_machines_have_the_same_variables_set(scripted: ScriptedWorld) -> None:
    for number, passed_on in ((1, ["PATH", "TZ"]), (2, ["HOME", "PATH"])):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json")
        path = Path(f"{number}.json")
        save(with_settings(weighing_in(str(path)), environment=passed_on), path)
    assert scripted("merge", "1.json", "2.json", "-o", "all.json").status in (0, 1)
    assert sorted(weighing_in("all.json").settings.environment) == ["HOME", "PATH", "TZ"]


@pytest.mark.parametrize("budget", [("--pairs", "12"), ("--max-time", "0.6")])
@pytest.mark.parametrize("more", [("--pairs", "8"), ("--max-time", "1")])
def test_a_part_that_was_carried_on_merges_with_one_that_was_not(
    scripted: ScriptedWorld, budget: tuple[str, ...], more: tuple[str, ...]
) -> None:
    scripted.script = noisy(0.005, 0.02)
    for number in (1, 2):
        scripted(*PAIRS, *budget, "--shard", f"{number}/2", "-o", f"{number}.json")
    scripted("compare", "--resume", "2.json", *more, "-o", "more.json")
    assert len(weighing_in("more.json").launches) > len(weighing_in("2.json").launches)
    assert scripted("merge", "1.json", "more.json", "-o", "all.json").status in (0, 1)
    parts = [weighing_in(name) for name in ("1.json", "more.json")]
    found = {one.benchmark: (one.verdict, one.change, one.interval) for part in parts for one in part.verdicts}
    whole = weighing_in("all.json")
    assert {one.benchmark: (one.verdict, one.change, one.interval) for one in whole.verdicts} == found


def test_a_shard_shares_alpha_with_the_whole_suite(scripted: ScriptedWorld) -> None:
    """Else what a shard calls slower could be undecided after merging, when nobody can measure it any more."""
    scripted.script = noisy(0.013, 0.012)
    words = ("compare", "./old {n}", "./new {n}", "-L", "n")
    scripted(*words, "1", "--pairs", "18", "-o", "alone.json")
    many = ",".join(map(str, range(1, 60)))
    scripted.launches = 0
    scripted(*words, many, "--pairs", "18", "--shard", "1/59", "-o", "shard.json")
    alone, shard = weighing_in("alone.json"), weighing_in("shard.json")
    assert [one.name for one in shard.benchmarks] == ["n=1"]
    assert list(verdicts(alone).values()) == ["slower"]
    assert verdicts(shard) == {"n=1": "undecided"}


def test_a_budget_too_small_for_the_only_one_of_a_part_is_too_small_for_its_share(scripted: ScriptedWorld) -> None:
    err = scripted(*PAIRS, "--shard", "1/3", "--pairs", "8").err.decode()
    assert "8 pairs are too few for a verdict at its share of alpha 0.01, which takes 11;" in err
    err = scripted("compare", "./old", "./new", "--shard", "1/1", "--max-time", "0.1").err.decode()
    assert "too few for a verdict at alpha 0.01, which takes 8;" in err


def test_an_option_is_no_value_of_a_parameter(scripted: ScriptedWorld) -> None:
    assert "-L takes 2 words: -L NAME A,B,C" in scripted.refuses("compare", "./old {n}", "./new {n}", "-L", "n=1", "-M")


@pytest.mark.parametrize(("words", "there"), [([], "is one benchmark: leave it out"), (["-L", "n", "1,2"], "are 2")])
def test_no_part_may_be_without_any(scripted: ScriptedWorld, words: list[str], there: str) -> None:
    sentence = scripted.refuses("compare", "./old {n}" if words else "./old", "./new", *words, "--shard", "1/3")
    assert f"--shard 1/3 makes 3 parts, and there {there}" in sentence


def test_what_does_not_merge(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.0, 0.001)
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json")
    first, second = weighing_in("1.json"), weighing_in("2.json")
    save(with_settings(first, shard=None), Path("whole.json"))
    scripted("run", "./old", "--launches", "9", "-o", "run.json")
    assert "whole.json is no part of a suite" in scripted.refuses("merge", "1.json", "whole.json")
    assert "run.json is a run of one subject" in scripted.refuses("merge", "1.json", "run.json")
    assert "both part 1/2" in scripted.refuses("merge", "1.json", "1.json", "2.json")
    assert "2/2 of the suite is missing" in scripted.refuses("merge", "1.json")
    assert "1.json is read, and would be" in scripted.refuses("merge", "1.json", "2.json", "-o", "1.json")
    assert second.settings.shard is not None
    baseline, candidate = second.subjects
    other_file = changed(second, subjects=[baseline, candidate.model_copy(update={"digest": "0" * 64})])
    facts = RevisionFacts(name="work tree", commit=None, tree="d" * 40, build=None)
    other_tree = changed(second, subjects=[baseline, candidate.model_copy(update={"revision": facts})])
    other_suite = second.settings.shard.model_copy(update={"suite": [*second.settings.shard.suite, "n=4"]})
    overlapping = changed(
        first, settings=first.settings.model_copy(update={"shard": second.settings.shard.model_copy()})
    )
    others = {
        "build it once": other_file,
        "of no revision in one and git's tree dddddddddddd in the other": other_tree,
        "alpha is 0.01 in one and 0.05": with_settings(second, alpha=0.05),
        "their suites differ in 'n=4'": with_settings(second, shard=other_suite),
        "both have 'n=1'": overlapping,
        "was interrupted": changed(second, stop=["interrupted"] * len(second.stop)),
        "other.json failed before its benchmarks were known": changed(
            with_settings(second, shard=None), benchmarks=[], stop=[], launches=Launches()
        ),
    }
    for why, record in others.items():
        save(record, Path("other.json"))
        assert why in scripted.refuses("merge", "1.json", "other.json")


def with_settings(record: Weighing, **update: object) -> Weighing:
    return changed(record, settings=record.settings.model_copy(update=update))


def test_parts_that_are_kept_are_merged_by_their_names(scripted: ScriptedWorld) -> None:
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2")
    names = [path.name.partition("-")[0] for path in (scripted.folder / "state/steelyard").glob("*.json.gz")]
    assert scripted("merge", *names, "-o", "all.json").status == 1
    assert len(weighing_in("all.json").parts) == 2


def test_a_merged_record_is_not_said_to_go_on_with_another_budget(scripted: ScriptedWorld) -> None:
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json")
    scripted("merge", "1.json", "2.json", "-o", "all.json")
    for budget in ([], ["--max-time", "9"]):
        assert scripted.refuses("compare", "--resume", "all.json", *budget) == (
            "all.json was merged from several weighings: carry each of them on, and merge them again"
        )


def test_parts_of_several_machines_are_told(scripted: ScriptedWorld) -> None:
    scripted.script = noisy(0.0, 0.001)
    for number in (1, 2):
        scripted(*PAIRS, "--pairs", "12", "--shard", f"{number}/2", "-o", f"{number}.json", "--control")
    second = weighing_in("2.json")
    other = second.machine.model_copy(update={"key": "f" * 16, "cpu_model": "Another processor"})
    save(changed(second, machine=other), Path("2.json"))
    outputs = ("--markdown", "all.md", "--html", "all.html")
    done = scripted("merge", "1.json", "2.json", "-o", "all.json", *outputs)
    assert "merged from 2 parts, measured on 2 kinds of machine" in done.text
    whole = weighing_in("all.json")
    assert [part.machine.key for part in whole.parts] == [weighing_in("1.json").machine.key, "f" * 16]
    assert sorted(place for part in whole.parts for place in part.benchmarks) == list(range(len(whole.benchmarks)))
    assert [one.name for one in whole.benchmarks if one.control] == ["control of part 1", "control of part 2"]
    assert [one.control for one in whole.benchmarks] == [False] * 3 + [True] * 2
    text = Path("all.md").read_text()
    assert all(f"<code>n={place}</code>" in text for place in (1, 2, 3))
    assert text.endswith("on A processor, 1 core; Another processor, 1 core</sub>\n")
    page = Path("all.html").read_text()
    assert all(f"The machine of part {number}<" in page for number in (1, 2))
    assert "draws the same plan again" not in page
    scripted("gate", "all.json", "--markdown", "gate.md")
    text = Path("gate.md").read_text()
    assert re.findall(r"^- machine&#58; ([^,]+)", text, re.MULTILINE) == ["A processor", "Another processor"]
    assert "in an order drawn at random, each part by its own seed;" in text


# --- the budget of a suite


def test_benchmarks_that_are_decided_leave_their_time_to_those_that_are_open(scripted: ScriptedWorld) -> None:
    easy = noisy(0.5, 0.001)
    scripted.script = by_parameter(n1=easy, n2=noisy(0.0, 0.012), n3=easy)
    scripted(*PAIRS, "--max-time", "5.5", "-o", "record.json")
    record = weighing_in("record.json")
    of_each = Counter(record.launches.benchmark)
    fair_share = 5.5 / 3 / (2 * 0.012)
    assert of_each[1] / 2 > 1.5 * fair_share
    assert all(of_each[place] / 2 <= 16 for place in (0, 2))
    assert record.seconds <= 5.5
    assert verdicts(record) == {"n=1": "slower", "n=2": "same", "n=3": "slower"}


# --- named baselines


def test_a_baseline_is_kept_by_its_name_and_compared_with(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "200", "--save-baseline", "main")
    (kept,) = (scripted.folder / "state/steelyard/baselines").iterdir()
    assert (kept.name, kept.stat().st_mode & 0o777) == ("main.json.gz", 0o600)
    assert scripted("run", "./old", "--launches", "200", "--baseline", "main").status == 0
    slower = scripted("run", "./new", "--launches", "200", "--baseline", "main", "--save-baseline", "main")
    assert slower.status == 1
    assert load(kept).subjects[0].name == "./new"
    assert scripted("show", "main").status == 0


def test_a_folder_of_a_kept_name_hides_no_run(scripted: ScriptedWorld) -> None:
    for name in ("main", "release"):
        scripted("run", "./old", "--launches", "20", "--save-baseline", name)
        Path(name).mkdir()
    assert scripted("diff", "main", "release").status == 0
    Path("other").mkdir()
    assert scripted.refuses("show", "other").startswith("cannot read other: Is a directory")


def test_a_baseline_is_kept_also_where_nobody_reads_the_report_to_its_end(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: object, **__: object) -> None:
        raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(outcome, "_print_report", unread)
        with pytest.raises(BrokenPipeError):
            scripted("run", "./old", "--launches", "20", "--save-baseline", "main")
    assert scripted("show", "main").status == 0


def test_what_stays_undecided_beside_a_baseline_fails_a_strict_one(scripted: ScriptedWorld) -> None:
    few = ("run", "./old", "--launches", "20")
    scripted(*few, "--save-baseline", "main")
    assert scripted(*few, "--baseline", "main").status == 0
    assert scripted(*few, "--baseline", "main", "--strict").status == 4
    assert "--strict is of what --baseline NAME compares with" in scripted.refuses(*few, "--strict")


@pytest.mark.parametrize("option", ["--json", "--csv", "--markdown", "--html"])
def test_what_a_baseline_says_stands_beside_printed_data(scripted: ScriptedWorld, option: str) -> None:
    few = ("run", "./old", "--launches", "20")
    scripted(*few, "--save-baseline", "main")
    alone, compared = scripted(*few, option, "-"), scripted(*few, option, "-", "--baseline", "main")
    assert compared.out.count(b"\n") == alone.out.count(b"\n")
    assert b"undecided" in compared.err
    assert b"measured apart" not in compared.out


def test_a_baseline_of_another_kind_is_refused_before_anything_is_measured(scripted: ScriptedWorld) -> None:
    few = ("run", "./old", "--launches", "20", "--baseline", "main")
    scripted(*few[:4], "--save-baseline", "main")
    (kept,) = (scripted.folder / "state/steelyard/baselines").iterdir()
    machine = load(kept).machine
    assert "main was timed, and not counted" in scripted.refuses(*few, "--metric", "instructions")
    save(counted_run([count(0, 1000)]).model_copy(update={"machine": machine}), kept)
    assert "main was counted, and not timed" in scripted.refuses(*few)
    assert not scripted.launched


def test_a_baseline_of_another_machine_is_refused_before_anything_is_measured(scripted: ScriptedWorld) -> None:
    few = ("run", "./old", "--launches", "20")
    scripted(*few, "--save-baseline", "main")
    (kept,) = (scripted.folder / "state/steelyard/baselines").iterdir()
    run = load(kept)
    save(run.model_copy(update={"machine": run.machine.model_copy(update={"key": "f" * 16})}), kept)
    said = scripted.refuses(*few, "--baseline", "main")
    assert "the baseline main was measured on another machine (A processor, ffffffffffffffff)" in said
    assert not scripted.launched


def test_a_run_that_cannot_be_compared_is_a_baseline_all_the_same(scripted: ScriptedWorld) -> None:
    scripted("run", "./old {n}", "--launches", "20", "-L", "n", "1,2", "--save-baseline", "main")
    done = scripted("run", "./old", "--launches", "20", "--baseline", "main", "--save-baseline", "other")
    assert (done.status, b"no benchmark in common" in done.err) == (2, True)
    assert scripted("show", "other").status == 0


def test_an_interrupted_run_is_no_baseline(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(9, ctrl_c, noisy(0.0))
    assert scripted("run", "./old", "--save-baseline", "main").status == 130
    assert "no baseline 'main' is kept" in scripted.refuses("run", "./old", "--baseline", "main")


def test_a_file_goes_before_a_baseline_of_its_name(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "20", "--save-baseline", "main")
    scripted("run", "./new", "--launches", "20", "-o", "main")
    assert "./new" in scripted("show", "main").text


def test_a_name_by_which_nothing_is_kept(scripted: ScriptedWorld) -> None:
    for name in ("20260101T120000", "20260101T120000.000000-weighing-7"):
        assert scripted.refuses("show", name) == f"no record of the name {name} is kept: steelyard list has the names"
    unknown = "cannot read mian: No such file, and no record of that name is kept: steelyard list has the names"
    for words in ("show mian", "report mian", "export mian --format csv", "diff mian b.json"):
        assert scripted.refuses(*words.split()) == unknown
    assert scripted("gate", "mian").status == 3


def test_a_baseline_hides_no_record(scripted: ScriptedWorld) -> None:
    said = scripted.refuses("run", "./old", "--save-baseline", "20260101T120000")
    assert said.startswith("'20260101T120000' cannot be a baseline's name, as records have such")
    assert not scripted.launched


@pytest.mark.parametrize("name", ["", "../main", ".main", "a/b", "a" * 101, "a b", "\u202emain"])
def test_what_is_no_name(scripted: ScriptedWorld, name: str) -> None:
    assert "cannot be a baseline's name" in scripted.refuses("run", "./old", "--save-baseline", name)
    assert not scripted.launched


# --- the store


def test_the_list_has_all_that_is_kept_newest_first(scripted: ScriptedWorld) -> None:
    assert "none yet" in scripted("list").text
    scripted("compare", "./old", "./new")
    scripted("run", "./old", "--launches", "20", "--save-baseline", "main")
    (scripted.kept()[0].parent / "20200101T000000.000000-run-1.json.gz").write_bytes(b"nothing")
    entries = json.loads(scripted("list", "--json", "-").out)
    assert {entry["kind"] for entry in entries} == {"weighing", "run", "unreadable"}
    assert [entry["verdicts"] for entry in entries if entry["kind"] == "weighing"] == [{"slower": 1}]
    assert [entry["name"] for entry in entries if entry["name"]] == ["main"]
    times = [Path(entry["path"]).stat().st_mtime_ns for entry in entries if entry["name"] is None]
    assert times == sorted(times, reverse=True)
    text = scripted("list").text
    assert "main" in text
    assert "unreadable" in text


def test_what_is_being_measured_is_running(scripted: ScriptedWorld) -> None:
    usual, seen = scripted.script, dict[str, str]()

    def looked(spec: LaunchSpec, number: int) -> Measured:
        if number == 20:
            (journal,) = scripted.kept()
            scripted.script = usual
            seen["list"], seen["show"], seen["page"] = (
                scripted(*words).text for words in (("list",), ("show",), ("show", journal, "--markdown", "-"))
            )
            scripted("report", journal, "-o", "page.html")
            seen["html"] = Path("page.html").read_text()
            seen["json"] = json.loads(scripted("list", "--json", "-").out)[0]["state"]
        return usual(spec, number)

    scripted.script = looked
    assert scripted("compare", "./old", "./new").status == 1
    assert seen["json"] == "running"
    assert " running " in seen["list"]
    assert seen["show"].startswith("running    it is being measured right now: this is what there is so far\n")
    assert "(it is being measured right now" in seen["page"]
    assert "It is being measured right now" in seen.pop("html")
    assert "interrupted" not in "".join(seen.values())
    assert " slower " in scripted("list").text


def test_the_list_tells_each_from_the_others_in_80_columns(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = scripted.environment
    monkeypatch.setattr(ScriptedWorld, "environment", {**usual, "COLUMNS": "80"})
    scripted("compare", "./old a long name of its input", "./new a long name of its input")
    for _ in range(2):
        scripted("run", "./old", "--launches", "20")
    head, *lines = scripted("list").text.splitlines()[1:]
    assert head.split() == ["kind", "result", "of", "name"]
    assert all(len(line) <= 80 for line in lines)
    assert "  old a lo…ts input | new a lon…ts input  " in lines[-1]
    for line, kept in zip(lines, reversed(scripted.kept()), strict=True):
        name = line.split()[-1]
        assert kept.name.startswith(name)
        assert len(name) < 25
        # A name as it is shown can be given to `show`.
        assert scripted("show", name).text == scripted("show", kept).text
    monkeypatch.setattr(ScriptedWorld, "environment", {**usual, "COLUMNS": "30"})
    assert scripted("list").text.splitlines()[1].split() == ["result", "name"]


def test_the_time_of_several_is_no_name(scripted: ScriptedWorld) -> None:
    for name in ("20200101T000000.000001-run-1", "20200101T000000.000002-run-1", "20200101T000000.000002-run-2"):
        scripted("run", "./old", "--launches", "20", "--json", f"{name}.json.gz")
        kept = scripted.kept()[-1]
        (scripted.folder / f"{name}.json.gz").rename(kept.with_name(f"{name}.json.gz"))
        kept.unlink()
    said = scripted.refuses("show", "20200101T000000.000002")
    assert said.startswith("20200101T000000.000002 begins the names of 2 records: give more of one, of 2020")
    assert scripted("show", "20200101T000000.000001").status == 0
    text = scripted("list").text
    assert " 20200101T000000.000001\n" in text
    assert " 20200101T000000.000002-run-2.json.gz\n" in text
    assert scripted("show", "20210101T000000").status == 2
