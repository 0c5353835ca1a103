"""What is on a page: in words, without scripts, whatever the record holds."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.reporting import page_of_shown
from steelyard.design.unpaired.foreign import compare_foreign
from steelyard.design.unpaired.runs import compare_runs
from steelyard.design.unpaired.terms import Terms
from steelyard.history.calibrations import to_json
from steelyard.model.bisection import Bisection, Commit, Compared, End, Step
from steelyard.model.errors import UsageError
from steelyard.model.files import load_any, save
from steelyard.model.findings import IDENTICAL, Finding
from steelyard.model.launches import Launches
from steelyard.model.rows import Sample
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.report.page import budget, elements
from tests.calibrations import calibration, interrupted_calibration
from tests.foreign import foreign_results, processes
from tests.hostile.full_records import full_records
from tests.hostile.json_places import replaced
from tests.hostile.test_strings import texts
from tests.report import records
from tests.report.page import pages
from tests.report.test_check import looked, trouble

HOSTILE = "\"'><img src=x onerror=alert(1)></script></style><i>=\x1b[31m\u202e\nFORGED\ud800]]>"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pages.page_of_suite(tmp_path_factory.mktemp("suite"))


def kept(folder: Path, record: Any) -> Path:
    save(record, folder / "record.json")
    return folder / "record.json"


def told(page: str) -> str:
    return " ".join(" ".join(pages.read(page).texts).split())


# --- a suite


def test_every_verdict_and_figure_is_told_without_scripts(suite: str) -> None:
    text = told(suite)
    for phrase in ("slower", "faster", "6 benchmarks", "Change of every pair over time", "Distributions of both sides"):
        assert phrase in text
    for phrase in ("4-plot", "look by look", "Inside the launches", "The machine", "Abacus 9000", "to the power of"):
        assert phrase in text
    for name in pages.CHANGES:
        assert text.count(name) >= 2


def test_the_evidence_of_a_single_verdict_is_told_once(tmp_path: Path) -> None:
    text = told(pages.page([kept(tmp_path, records.weighing())]))
    for evidence in ("31 pairs in", "leans towards slower", "would decide"):
        assert text.count(evidence) == 1


def test_each_row_has_what_stands_behind_it(suite: str) -> None:
    reader = pages.read(suite)
    ids = {value for _, name, value in reader.attributes if name == "id"}
    links = [value.removeprefix("#") for tag, name, value in reader.attributes if (tag, name) == ("a", "href")]
    assert set(links) <= ids
    assert sum(link.startswith("d") for link in links) == len(pages.CHANGES)
    assert len(ids) == sum(name == "id" for _, name, _ in reader.attributes)


def test_every_figure_has_its_data_with_labelled_axes(suite: str) -> None:
    data = pages.carried(suite)
    numbers = [int(value) for _, name, value in pages.read(suite).attributes if name == "data-figure"]
    assert numbers == list(range(len(data["figures"])))
    for figure in data["figures"]:
        for panel in figure:
            assert panel["title"]
            assert panel["x"]["label"]
            assert panel["y"]["label"]
            assert panel["series"]
            for series in panel["series"]:
                lengths = {len(series[name]["v"]) for name in ("x", "y", "low", "high") if name in series}
                assert len(lengths) == 1


def test_the_change_of_every_pair_is_drawn(suite: str) -> None:
    figure = next(one for one in pages.carried(suite)["figures"] if one[0]["title"] == "Candidate against baseline")
    panel, noise = figure
    judged = [series for series in panel["series"] if series["draw"] in ("points", "rings")]
    assert sum(len(series["x"]["v"]) for series in judged) == 20
    assert {series["draw"] for series in judged} == {"points", "rings"}
    solid = {mark["label"].split()[0]: mark.get("solid", False) for mark in panel["marks"]}
    assert solid == {"no": True, "interval": False, "change": True}
    assert "waited for a processor" in json.dumps(noise)


def test_a_table_can_be_sorted_and_grouped_by_what_it_carries(suite: str) -> None:
    table = pages.carried(suite)["tables"][0]
    assert table["columns"][0] == [*pages.CHANGES]
    assert {"slower", "faster"} <= set(table["verdicts"])
    assert table["tags"][0] == ["slow"]
    assert table["params"][5] == {"size": "1"}
    assert all(len(column) == len(pages.CHANGES) for column in table["columns"])


def test_nothing_on_it_asks_for_anything_else(suite: str) -> None:
    reader = pages.read(suite)
    addresses = [value for _, name, value in reader.attributes if name in ("src", "href", "action", "srcset", "style")]
    assert all(value.startswith("#") for value in addresses)
    assert not any(name.startswith("on") for _, name, _ in reader.attributes)


# --- other records


def test_a_benchmark_that_failed_is_counted_and_said_once(tmp_path: Path) -> None:
    record = records.weighing(benchmarks=("a", "b"))
    rows = [row for row in record.launches.rows() if row.benchmark == 0]
    record = record.model_copy(update={"stop": ["decided", "failed"], "launches": Launches.of_rows(rows)})
    page = pages.page([kept(tmp_path, record)])
    assert "of 2 benchmarks" in re.findall(r"<h1.*?</h1>", page)[0]
    assert page[page.index("<body") :].count("1 of 2 benchmarks failed") == 1


def test_the_page_of_identical_sides_says_once_why_and_claims_no_measurement(tmp_path: Path) -> None:
    why = "identical: main and faster build the same program, so that nothing had to be measured"
    findings = (Finding(code=IDENTICAL, message=why, remedy="to weigh what changed: --base x"),)
    for benchmarks in [("a",), ("a", "b")]:
        record = records.weighing(findings=findings, benchmarks=benchmarks)
        page = pages.page([kept(tmp_path, record.model_copy(update={"launches": Launches.of_rows([])}))])
        assert f">{why}</h1>" in page  # without a verdict's mark
        text = told(page)
        assert text.count(why) == text.count("To weigh what changed: --base x") == 1
        assert "warm-up" not in text


def test_a_bisection_is_told_as_on_the_terminal(tmp_path: Path) -> None:
    commit = Commit(hash="a" * 40, parents=["b" * 40], tree="t", author="A", date="2026-01-01", subject="s")
    compared = Compared(
        baseline="c" * 40, candidate="a" * 40, verdict="slower", change=0.1, interval=(0.05, 0.15), metric="active",
        pairs=12,
    )  # fmt: skip
    steps = [
        Step(kind="ends", commit="d" * 40, low="c" * 40, high="d" * 40, left=2, compared=[compared]),
        Step(kind="step", commit="a" * 40, side="bad", low="c" * 40, high="a" * 40, left=1, compared=[compared]),
    ]
    record = Bisection(
        tool="0", repository="r", command="x", build=None, metric="active", margin=0.01, alpha=0.01, end="found",
        good=commit, bad=commit, commits=2, steps=steps, seconds=1.0, found=commit, several=True, change=compared,
    )  # fmt: skip
    (tmp_path / "found.json").write_text(record.model_dump_json())
    text = told(pages.page([tmp_path / "found.json"]))
    assert "Several commits changed it; the larger part came from here (bad against good: slower +10.0 %" in text
    assert "A wrong commit is named with a chance of 1 % at most." in text
    assert "step 1 of 1 aaaaaaaaaa bad, 1 commit left" in text


@pytest.mark.parametrize(
    ("end", "left", "headline"),
    [
        ("range", 1, "undecided: 1 commit left"),
        ("interrupted", 2, "interrupted: 2 commits left"),
        ("undecided", 0, "undecided"),
    ],
)
def test_a_bisection_that_names_no_commit_claims_no_more_than_it_knows(
    tmp_path: Path, end: End, left: int, headline: str
) -> None:
    commit = Commit(hash="a" * 40, parents=["b" * 40], tree="t", author="A", date="2026-01-01", subject="s")
    record = Bisection(
        tool="0", repository="r", command="x", build=None, metric="active", margin=0.01, alpha=0.01, end=end,
        good=commit, bad=commit, commits=3, steps=[], seconds=1.0, suspects=[commit] * left, why="unclear",
    )  # fmt: skip
    (tmp_path / "ended.json").write_text(record.model_dump_json())
    page = pages.page([tmp_path / "ended.json"])
    assert re.sub("<.*?>", "", re.findall(r"<h1.*?</h1>", page)[0]) == headline


def test_pairs_that_no_look_judged_are_said_where_they_are_drawn(tmp_path: Path) -> None:
    text = told(pages.page([kept(tmp_path, records.weighing(0.0, stop="interrupted"))]))
    judged, measured = (
        re.findall(pattern, text)[0] for pattern in (r"(\d+) pairs in 0.9 s", r"(\d+) pairs with changes")
    )
    assert int(judged) < int(measured)
    assert f"; {int(measured) - int(judged)} pairs behind the last look, not judged" in text


@pytest.mark.parametrize(
    ("name", "took"),
    [
        ("version-2-weighing.json.gz", "took 58 ms, and 1.7 s for the counts, added up margin"),
        ("version-2-run.json", "took 0.2 s Steelyard"),
        ("version-2.journal", "took 1.3 s for the counts, added up margin"),
        ("version-1.journal", None),
    ],
)
def test_how_long_it_took_is_told_as_far_as_it_is_known(name: str, took: str | None) -> None:
    text = told(pages.page([pages.RECORDS / name]))
    assert took in text if took else " took " not in text


def test_of_counts_it_is_not_said_how_quiet_the_machine_was() -> None:
    text = told(pages.page([pages.RECORDS / "version-2-run.json"]))
    assert "Repeats exactly, 2 counts" in text
    assert "waited for a processor" not in text
    assert "quiet" not in text


@pytest.mark.parametrize("name", sorted(path.name for path in pages.RECORDS.iterdir()))
def test_records_of_every_version_have_a_page(name: str) -> None:
    page = pages.page([pages.RECORDS / name])
    assert pages.carried(page)["tables"]
    assert "The machine" in told(page)


def test_several_records_are_parts_of_one_page() -> None:
    page = pages.page([pages.RECORDS / "version-2-run.json", pages.RECORDS / "version-2-heap.json.gz"])
    reader = pages.read(page)
    assert reader.tags.count("h1") == 1
    assert "<title>2 records · Steelyard</title>" in page  # not the result of one of them
    assert ("a", "href", "#part-2") in reader.attributes
    assert "_dl_relocate_object" in told(page)
    assert "98.44 KiB" in told(page)


def test_records_with_the_same_title_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name in ("monday.json", "tuesday.json"):
        save(records.weighing(), tmp_path / name)
    text = told(pages.page(sorted(tmp_path.iterdir())))
    assert [text.count(f"{name}.json") for name in ("monday", "tuesday")] == [2, 2]  # in the list, and in its part
    assert "monday.json" not in told(pages.page([tmp_path / "monday.json"]))


def test_an_import_and_the_diff_of_two(tmp_path: Path) -> None:
    one, other = (
        foreign_results({"sort": processes(12, level)}, name=f"{name}.json") for name, level in (("a", 1.0), ("b", 1.5))
    )
    save(one, tmp_path / "a")
    assert "Imported, not measured by Steelyard" in told(pages.page([tmp_path / "a"]))
    found = compare_foreign(one, other, Terms(margin=0.01, alpha=0.01))
    diff = told(page_of_shown([found], pages.NOW))
    assert "+50" in diff
    assert "Every sample in its order" in diff
    assert f"A: {one.provenance.tool}" in diff
    assert "Drift: cannot be seen" in diff, "what it is of, as no label stands before it"
    assert "steelyard compare decides it" in diff
    assert "the value, of which lower is better" in diff, "which way of a change is the better one"


def test_the_diff_of_imports_has_a_column_for_what_is_better_only_where_that_differs() -> None:
    def better(*rates: bool) -> bool:
        sides = []
        for level in (1.0, 1.5):
            made = foreign_results({"sort": processes(12, level), "rate": processes(12, level)}, name=f"{level}.json")
            pairs = zip(made.benchmarks, rates, strict=True)
            sides.append(replace(made, benchmarks=[replace(each, higher_is_better=rate) for each, rate in pairs]))
        one, other = sides
        found = compare_foreign(one, other, Terms(margin=0.01, alpha=0.01))
        return ">better<" in page_of_shown([found], pages.NOW)

    assert (better(False, True), better(True, True), better(False, False)) == (True, False, False)


def test_the_diff_of_two_runs() -> None:
    one = records.run()
    other = one.model_copy(update={"created": "2026-01-02T00:00:00Z"})
    found = compare_runs(one, other, Terms(margin=0.01, alpha=0.01, metrics=["active"]))
    text = told(page_of_shown([found], pages.NOW))
    assert "measured apart" in text
    assert "active: wall time less" in text  # a metric has the same name as in the options
    assert re.search(r"judged by a margin of 1\s%;", text)
    assert re.search(r"margin (?!of|shaded)|alpha", text) is None, "the runs were judged by none of their own"


def test_of_very_many_rows_those_that_changed_most_have_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_DRAWN_ROWS", 2)
    levels = {"same": 1.0, "less": 1.001, "more": 1.5}
    one = foreign_results({name: processes(12, 1.0) for name in levels}, name="a.json")
    other = foreign_results({name: processes(12, level) for name, level in levels.items()}, name="b.json")
    found = compare_foreign(one, other, Terms(margin=0.01, alpha=0.01))
    page = page_of_shown([found], pages.NOW)
    assert "2 of 3 rows have charts" in told(page)
    assert [article.count("<figure") for article in page.split("<article")[1:]] == [0, 2, 2]
    weighing = records.weighing(0.1, benchmarks=("a", "b", "c"), pairs=8)
    for record in (one, weighing, records.run(benchmarks=("a", "b", "c"))):
        page = pages.page([kept(tmp_path, record)])
        assert [bool(article.count("<figure")) for article in page.split("<article")[1:]] == [True, True, False]


def test_what_check_found(tmp_path: Path) -> None:
    found = soundness([looked(), trouble(code="memory", benchmark="leak")])
    (tmp_path / "check.json").write_text(json.dumps(found))
    text = told(pages.page([tmp_path / "check.json"]))
    assert "1 trouble with 1 of 2 benchmarks" in text
    assert "warm up" in text


def soundness(found: list[Any]) -> dict[str, Any]:
    names = list(dict.fromkeys(one.benchmark for one in found))
    plain = {"format": "steelyard-check", "version": 1, "tool": "0", "command": "./bench", "harness": "protocol"}
    rules = [one.model_dump(mode="json") for one in found]
    return {**plain, "benchmarks": names, "launches": 9, "seconds": 1.0, "looked": rules}


def test_of_what_a_rule_says_no_option_or_number_is_broken(tmp_path: Path) -> None:
    found = looked(outcome="untried", finding="launches of 3.8 s are too few for `true`: --max-time allows more")
    (tmp_path / "check.json").write_text(json.dumps(soundness([found])))
    page = pages.page([tmp_path / "check.json"])
    assert "3.8\u00a0s are too few for <code>true</code>" in page
    assert '<span class="option">--max-time</span> allows' in page


def test_calibrations_also_those_that_were_interrupted(tmp_path: Path) -> None:
    for record, phrase in (
        (calibration(), "Predicted against measured"),
        (interrupted_calibration(), "Ended before weights"),
    ):
        (tmp_path / "calibration.json").write_bytes(to_json(record))
        assert phrase in told(pages.page([tmp_path / "calibration.json"]))


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_few_pairs_or_none(tmp_path: Path, pairs: int) -> None:
    page = pages.page([kept(tmp_path, records.weighing(pairs=pairs))])
    assert "The machine" in told(page)
    pages.carried(page)


@pytest.mark.parametrize(
    ("orders", "pairing", "said"),
    [
        ([0, 0, 0], "adjacent", "one after the other"),
        ([2, 2, 2], "auto", "in tandem, chosen by auto"),
        ([0, 2, 2], "auto", "in tandem 2 of 3 pairs, chosen by auto"),
        ([0, 0, 0], "tandem", "one after the other"),
    ],
)
def test_the_pairing_is_what_was_done(tmp_path: Path, orders: list[int], pairing: Any, said: str) -> None:
    rows = [records.row(pair, side, 10**6, order=order + side) for pair, order in enumerate(orders) for side in (0, 1)]
    record = records.weighing(settings=Settings(pairing=pairing))
    page = pages.page([kept(tmp_path, record.model_copy(update={"launches": Launches.of_rows(rows)}))])
    assert f"<dt>pairing</dt><dd>{said}</dd>" in page


def test_where_nothing_was_timed_nothing_was_paired(tmp_path: Path) -> None:
    assert "<dt>pairing</dt>" not in pages.page([kept(tmp_path, records.weighing(pairs=0))])


def test_samples_in_turn_are_told(tmp_path: Path) -> None:
    rows = [
        records.row(0, side, 10**6, order=2 + side)._replace(
            samples=(Sample(1, 9, 9, 0, side), Sample(1, 9, 9, 0, side))
        )
        for side in (0, 1)
    ]
    record = records.weighing().model_copy(update={"launches": Launches.of_rows(rows)})
    assert "<dd>in tandem, samples in turn</dd>" in pages.page([kept(tmp_path, record)])


def test_several_candidates_are_ranked_with_ties(tmp_path: Path) -> None:
    rows = [
        row._replace(benchmark=number)
        for number, change in enumerate((0.3, -0.2, 0.0))
        for row in records.pair_rows(change)
    ]
    names = ("old", "slow", "fast", "like")
    benchmarks = [Benchmark(name=name, candidate=place) for place, name in enumerate(names[1:], start=1)]
    record = records.weighing(benchmarks=names[1:]).model_copy(
        update={
            "subjects": [records.subject(name) for name in names],
            "benchmarks": benchmarks,
            "launches": Launches.of_rows(rows),
        }
    )
    page = pages.page([kept(tmp_path, record)])
    ranked = page[page.index("From the fastest") :]
    assert re.findall(r'<th scope="row">(\w+)</th><td>([\d-]+)</td>', ranked) == [
        ("fast", "1"),
        ("like", "2-3"),
        ("old", "2-3"),
        ("slow", "4"),
    ]
    assert "overlapping places are ties" in ranked
    assert "as fast as the baseline" in ranked


def test_one_candidate_is_not_ranked(suite: str) -> None:
    assert "From the fastest" not in suite


def test_the_heading_of_the_bars_tells_their_scale(suite: str) -> None:
    assert '<th scope="col" class="bar">change and interval, ±30\u00a0%</th>' in suite
    assert "drawn from -30.0\u00a0% to +30.0\u00a0%, the margin shaded" in suite


def test_each_metric_has_a_scale_of_its_own(tmp_path: Path) -> None:
    record = records.weighing(0.02, pairs=12, settings=Settings(metrics=["active", "max_rss"]))
    rows = [row._replace(max_rss_bytes=(1 + 3 * row.side) << 20) for row in record.launches.rows()]
    page = pages.page([kept(tmp_path, record.model_copy(update={"launches": Launches.of_rows(rows)}))])
    assert "change and interval, scale by metric</th>" in page
    ends = re.findall(r" to \+([\d.]+)\u00a0% \((active|max_rss)\)", page)
    of_metrics = {metric: float(limit) for limit, metric in ends}
    assert of_metrics["active"] <= 20 < 300 <= of_metrics["max_rss"]
    symbols = re.findall(r'<symbol id="([^"]+)"', page)
    assert sorted(symbols) == sorted({*re.findall(r'<use href="#([^"]+)"', page)})
    assert len(symbols) == 2


def test_why_a_weighing_failed_is_said(tmp_path: Path) -> None:
    found = Finding(code="failed", message="./sort-new exited with status 1")
    assert "./sort-new exited with status 1" in told(
        pages.page([kept(tmp_path, records.weighing(pairs=3, stop="failed", findings=(found,)))])
    )


def test_what_failed_before_a_verdict_is_told_as_it_was(tmp_path: Path) -> None:
    found = Finding(code="failed", message="sh -c 'exit 3' failed with exit status 3")
    record = records.weighing(pairs=2, stop="failed", findings=(found,), names=("sh -c 'exit 3'", "./new"))
    said = told(pages.page([kept(tmp_path, record)]))
    assert "A launch failed, so there is no verdict" in said
    assert "what was measured before" not in said
    assert "sh -c 'exit 3' failed with exit status 3." in said, "a command is called as it is, also at a line's start"


def test_what_is_repeated_is_drawn_as_one_process(tmp_path: Path) -> None:
    """A launch of ten processes is drawn by the time of one, as the medians in the table are those of one."""
    rows = [records.row(pair, side, 10**6 + 10 * pair) for pair in range(20) for side in (0, 1)]
    record = records.weighing(pairs=1, settings=Settings(repeat=10))
    page = pages.page([kept(tmp_path, record.model_copy(update={"launches": Launches.of_rows(rows)}))])
    panel = next(one[0] for one in pages.carried(page)["figures"] if one[0]["title"].startswith("Share of"))
    assert panel["x"]["label"] == "active time, µs"
    assert max(panel["x"]["ends"]) < 101


def test_a_weighing_that_stands_still(tmp_path: Path) -> None:
    """All values equal: no spread, no correlation, one bar."""
    rows = [records.row(pair, side, 10**6) for pair in range(20) for side in (0, 1)]
    record = records.weighing(pairs=1)
    launches = type(record.launches).of_rows(rows)
    pages.carried(pages.page([kept(tmp_path, record.model_copy(update={"launches": launches}))]))


# --- texts


@pytest.mark.parametrize("kind", full_records())
def test_no_text_of_a_record_is_markup(tmp_path: Path, kind: str) -> None:
    record = full_records()[kind]
    known = {"created", "role", "verdict", "pairing", "family", "tool"}
    for place in texts(record):
        # Names of fields, and fields that allow only certain words, cannot hold any text.
        if not place.is_name and not known & set(map(str, place.path)):
            changed = replaced(record, place, HOSTILE)
            try:
                (tmp_path / "record.json").write_text(json.dumps(changed))
                load_any(tmp_path / "record.json")
            except UsageError:
                continue
            record = changed
    (tmp_path / "record.json").write_text(json.dumps(record))
    check_harmless(pages.page([tmp_path / "record.json"]))


def check_harmless(page: str) -> None:
    reader = pages.read(page)
    assert not {"img", "i"} & set(reader.tags)
    assert not any(name.startswith("on") for _, name, _ in reader.attributes)
    assert "FORGED" in " ".join(reader.texts)
    for text in [*reader.texts, *(value for _, _, value in reader.attributes)]:
        # The only non-breaking spaces are those before units.
        assert re.sub(r"(?<=[\d,±])\u00a0(?=[-+\d%\w])", " ", text.replace("\n", "")).isprintable(), text
    for text in _strings(pages.carried(page)):
        assert text.isprintable()


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [one for pair in value.items() for part in pair for one in _strings(part)]
    if isinstance(value, list):
        return [one for part in value for one in _strings(part)]
    return [value] if isinstance(value, str) else []


def test_of_what_a_launcher_offers_only_what_is_missed_is_told(tmp_path: Path) -> None:
    offers = {"pidfd": False, "schedstat": True, "steal": False}
    machine = records.MACHINE.model_copy(update={"offers": offers})
    page = pages.page([kept(tmp_path, records.weighing().model_copy(update={"machine": machine}))])
    assert "<dt>the system does not tell</dt><dd>what the host takes</dd>" in page
    assert "<dt>begun</dt><dd>2026-01-01 00:00 UTC</dd>" in page
    assert "pidfd" not in told(page)
    assert "the system does not tell" not in pages.page([kept(tmp_path, records.weighing())])


def test_what_is_quoted_is_code_and_an_option_is_not_broken(tmp_path: Path) -> None:
    found = Finding(code="x", message="`a <b>` and --max-time 3 or a--b", remedy="give `run --max-time 30`, or ` alone")
    page = pages.page([kept(tmp_path, records.weighing(pairs=3, findings=(found,)))])
    option = '<span class="option">--max-time</span>'
    assert f"<p><code>a &lt;b&gt;</code> and {option} 3 or a--b</p>" in page
    assert f'<p class="remedy">give <code>run {option} 30</code>, or ` alone</p>' in page


def test_no_number_is_parted_from_its_unit_but_in_what_is_copied() -> None:
    assert elements.sentence_markup("+1 % [-0.5 %, +2 %] in 3 s: `sleep 3 s`") == (
        "+1\u00a0% [-0.5\u00a0%,\u00a0+2\u00a0%] in 3\u00a0s: <code>sleep 3 s</code>"
    )


def test_an_undecided_weighing_tells_how_it_goes_on(tmp_path: Path) -> None:
    short = Settings(max_time_s=3, reserve=0.2)
    page = told(pages.page([kept(tmp_path, records.weighing(0.003, stop="time", settings=short))]))
    assert re.search(rf"To go on: steelyard compare --resume {tmp_path}/record.json --max-time \d+ ", page)
    assert "To go on" not in told(pages.page([kept(tmp_path, records.weighing(0.2, settings=short))]))


def test_a_name_of_10_000_characters_is_cut_in_the_middle(tmp_path: Path) -> None:
    page = pages.page([kept(tmp_path, records.weighing(benchmarks=("a" * 5000 + "b" * 5000,), pairs=3))])
    assert len(page) < 300_000
    assert "a…b" in told(page)


def test_a_control_without_an_alarm_counts_as_no_verdict(tmp_path: Path) -> None:
    record = records.weighing(0.0, benchmarks=("sort", "control"))
    benchmarks = [record.benchmarks[0], record.benchmarks[1].model_copy(update={"control": True})]
    page = pages.page([kept(tmp_path, record.model_copy(update={"benchmarks": benchmarks}))])
    (table,) = pages.carried(page)["tables"]
    assert table["verdicts"][1] == "no alarm"
    assert "no alarm" in table["columns"][1]
    control = told(page).rpartition("control active")[2]
    assert control.strip().startswith("no alarm")
    assert "leans" not in control


def test_the_bar_of_a_benchmark_shows_its_own_margin(tmp_path: Path) -> None:
    record = records.weighing(0.02, benchmarks=("sort", "parse"), settings=Settings(margins={"parse": 0.03}))
    page = pages.page([kept(tmp_path, record)])
    widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" y="0" width="([\d.]+)"', page)]
    assert len(widths) == 2
    assert widths[1] == pytest.approx(6 * widths[0], rel=0.05)


def test_what_is_only_counted_says_nothing_of_pairs_addresses(tmp_path: Path) -> None:
    record = records.weighing(settings=Settings(addresses="shared"), pairs=12)
    said = "equal for both of a pair"
    assert said in told(pages.page([kept(tmp_path, record)]))
    assert said not in told(pages.page([kept(tmp_path, record.model_copy(update={"launches": Launches()}))]))


def test_an_interrupted_weighing_says_so_in_a_sentence(tmp_path: Path) -> None:
    assert "Interrupted: this is what was measured" in told(
        pages.page([kept(tmp_path, records.weighing(stop="interrupted"))])
    )


def test_a_run_is_not_called_quiet_where_nobody_tells(tmp_path: Path) -> None:
    rows = [row._replace(delay_ns=None, cpu_ns=None) for row in records.run().launches.rows()]
    page = pages.page([kept(tmp_path, records.run().model_copy(update={"launches": Launches.of_rows(rows)}))])
    assert "<td>not known</td>" in page
    assert "quiet" not in told(page)


def test_a_warm_up_far_off_is_told_as_beyond_the_edge(tmp_path: Path) -> None:
    warm_up = [records.row(0, side, 13_000_000 * (1 + 4 * side), role=0) for side in (0, 1)]
    rows = [*warm_up, *(row._replace(pair=row.pair + 1) for row in records.pair_rows(0.0, 20))]
    record = records.weighing().model_copy(update={"launches": Launches.of_rows(rows)})
    page = pages.page([kept(tmp_path, record)])
    assert "1 warm-up, not judged, beyond the edge" in told(page)
    (crosses,) = (one for one in pages.carried(page)["figures"][0][0]["series"] if one["draw"] == "crosses")
    assert crosses["label"] == "warm-up, not judged, beyond the edge"


def test_what_is_nothing_on_both_sides_is_drawn_as_nothing(tmp_path: Path) -> None:
    record = records.weighing(pairs=20, settings=Settings(metrics=["major_faults"]))
    text = told(pages.page([kept(tmp_path, record)]))
    assert "20 pairs with a change of 0.00 %" in text
    assert "Baseline: all 20 are 0." in text
