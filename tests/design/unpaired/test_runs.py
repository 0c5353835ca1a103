from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.design.timing.alone import RunMeasurement
from steelyard.design.unpaired.comparable import require_run
from steelyard.design.unpaired.runs import compare_runs
from steelyard.design.unpaired.terms import Terms
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.files import load_any, save
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Run
from steelyard.model.subject import Benchmark, RevisionFacts, Subject
from steelyard.model.unpaired import UnpairedReport
from tests.design.scripted import MACHINE, Machine, Script, noisy, recorder, run_header, weigh


def measured(
    script: Script, launches: int = 1000, created: str = "2026-01-01T00:00:00+00:00", **settings: object
) -> Run:
    machine = Machine(script)
    header = run_header(pairs=launches, max_time_s=None, **settings)
    run = RunMeasurement(header, recorder(machine), machine.clock, lambda _: None).run()
    return run.model_copy(update={"created": created})


def scripted(wall_ns: float = 12e6, seed: int = 1, **fields: object) -> Script:
    plain = noisy(0.0, 0.005, seed, wall_ns)
    return lambda number, spec: replace(plain(number, spec), **fields)  # type: ignore[arg-type]


A = measured(scripted())
B = measured(scripted(12e6 * 1.10, seed=2), created="2026-01-02T00:00:00+00:00")
AGAIN = measured(scripted(seed=3), created="2026-01-02T00:00:00+00:00")


def diff(one: Run = A, other: Run = B, **options: object) -> UnpairedReport:
    return compare_runs(one, other, Terms(**{"margin": 0.005, "alpha": 0.01, **options}))  # type: ignore[arg-type]


def notes(report: UnpairedReport) -> str:
    found = [*report.findings, *(finding for verdict in report.verdicts for finding in verdict.findings)]
    return "\n".join(f"{finding.code}: {finding.message}" for finding in found)


def test_a_large_change_is_found_either_way_and_the_same_program_is_not_changed() -> None:
    slower, faster, same = (diff(*runs).verdicts[0] for runs in ((A, B), (B, A), (A, AGAIN)))
    assert (slower.verdict, faster.verdict, same.verdict) == ("slower", "faster", "undecided")
    assert slower.change == pytest.approx(0.10, abs=0.002)
    assert slower.interval is not None
    assert slower.interval[0] < 0.10 < slower.interval[1]
    assert slower.baseline.median == pytest.approx(12e6, rel=0.01)
    assert slower.candidate.launches == 1000


def test_warm_ups_are_left_out() -> None:
    def slow_start(number: int, spec: LaunchSpec) -> Measured:
        return replace(noisy()(number, spec), wall_ns=10**9 if number < 3 else 12 * 10**6)

    run = measured(slow_start, 20, warm_up=3)
    assert diff(run, B).verdicts[0].baseline.spread == 0
    assert diff(run, B).verdicts[0].baseline.launches == 20


def test_other_machines_are_refused_unless_forced() -> None:
    other = B.model_copy(update={"machine": MACHINE.model_copy(update={"key": "1", "cpu_model": "abacus"})})
    with pytest.raises(UsageError, match="--force"):
        diff(A, other)
    forced = diff(A, other, force=True)
    assert forced.verdicts[0].verdict == "slower"
    assert "other-machine" in notes(forced)
    assert "processor differs: scripted in A, abacus in B" in notes(forced)


def test_a_run_and_itself_are_refused() -> None:
    with pytest.raises(UsageError, match="same run"):
        diff(A, A)


def test_active_undefined_in_one_makes_it_wall_in_both() -> None:
    threads = measured(scripted(12e6 * 1.1, seed=2, others_ns=5_000_000, pressure_ns=0))
    for runs in ((A, threads), (threads, A)):
        report = diff(*runs)
        assert report.verdicts[0].metric == "wall"
        assert "metric-fallback" in notes(report)
    assert diff().verdicts[0].metric == "active"
    assert "metric-fallback" not in notes(diff())
    followed = measured(scripted(12e6 * 1.1, seed=2, others_ns=5_000_000, pressure_ns=0, lost_ns=0))
    assert diff(A, followed).verdicts[0].metric == "active"


@pytest.mark.parametrize(
    "fields",
    [
        {"delay_ns": 12_000_000},
        {"others_ns": 5_000_000, "pressure_ns": 12_000_000},
        {"others_ns": 5_000_000, "lost_ns": 12_000_000},
    ],
)
def test_a_change_of_wall_time_that_waiting_explains_is_undecided(fields: dict[str, object]) -> None:
    kept_waiting = measured(scripted(24e6, seed=2, **fields))
    report = diff(A, kept_waiting, metrics=["wall"])
    assert report.verdicts[0].verdict == "undecided"
    assert "waiting" in notes(report)
    assert diff(A, measured(scripted(24e6, seed=2)), metrics=["wall"]).verdicts[0].verdict == "slower"


def test_a_metric_that_was_not_measured_is_an_error() -> None:
    blind = measured(scripted(cpu_ns=None, delay_ns=None, timeslices=None, others_ns=None), seed=2)
    assert diff(A, blind).verdicts[0].metric == "wall"
    with pytest.raises(MeasurementError, match="--metric wall"):
        diff(A, blind, metrics=["delay"])
    with pytest.raises(MeasurementError, match="was 0"):
        diff(A, measured(scripted(major_faults=3)), metrics=["major_faults"])
    others = diff(A, measured(scripted(major_faults=3), created="z"), metrics=["active", "major_faults"])
    assert [verdict.metric for verdict in others.verdicts] == ["active"]
    assert "not-compared: major_faults was 0 in some launches" in notes(others)
    none = diff(metrics=["major_faults"]).verdicts[0]  # 0 in every launch of both runs
    assert (none.change, none.baseline.median, none.candidate.median) == (0, 0, 0)


def test_processes_of_a_repeated_launch_are_compared_one_by_one() -> None:
    repeated = measured(scripted(12e6 * 4, seed=2), repeat=4)
    report = diff(A, repeated, metrics=["active", "max_rss"])
    assert [verdict.change for verdict in report.verdicts] == pytest.approx([0, 0], abs=0.002)
    assert "--repeat differs: 1 in A, 4 in B" in notes(report)


FACTS: dict[str, Callable[[Run], Run]] = {
    "kernel differs: none in A, Linux 7 in B": lambda run: machine(run, kernel="Linux 7"),
    "governor differs: none in A, powersave in B": lambda run: machine(run, governor="powersave"),
    "--cpu differs: none in A, 1 in B": lambda run: settings(run, cpu=1),
    "--heap-shuffle differs: False in A, True in B": lambda run: settings(run, heap_shuffle=True),
    "--isolate differs: False in A, True in B": lambda run: settings(run, isolate=True),
    "--stdin differs: none in A, /x in B": lambda run: settings(run, stdin="/x"),
    "environment differs: none of these in A, TZ in B": lambda run: settings(run, environment=["TZ"]),
    "set differently: TOKEN": lambda run: settings(run, variables={"TOKEN": "secret"}),
    "Steelyard version differs: test in A, 9 in B": lambda run: run.model_copy(update={"tool": "9"}),
    "command differs: baseline in A, ./b in B": lambda run: subject(run, command="./b"),
    "digest (SHA-256) differs: unknown in A, abc in B": lambda run: subject(run, digest="abc"),
}


def test_of_revisions_the_build_is_told_and_not_the_folder_that_it_is_kept_in() -> None:
    def built(run: Run, build: str, program: str) -> Run:
        return subject(run, revision=RevisionFacts(name="v1", commit=None, tree="0", build=build), program=program)

    report = diff(built(A, "make", "/kept/1/prog"), built(AGAIN, "make -B", "/kept/2/prog"))
    assert "--build differs: make in A, make -B in B" in notes(report)
    assert "path differs" not in notes(report)


@pytest.mark.parametrize(("word", "is_told"), [("./b", False), ("b", True)])
def test_a_program_whose_path_the_command_gives_is_told_of_once(word: str, is_told: bool) -> None:
    one = subject(A, command="./a 1", argv=["./a", "1"], program="./a")
    other = subject(B, command=f"{word} 1", argv=[word, "1"], program="./b")
    said = notes(diff(one, other))
    assert f"command differs: ./a 1 in A, {word} 1 in B" in said
    assert ("path differs" in said) == is_told


def test_with_and_without_a_shell_that_alone_is_told_and_not_that_its_path_differs_and_its_digest_is_unknown() -> None:
    plain = subject(A, program="/bin/work", digest="abc")
    assert (
        notes(diff(plain, subject(AGAIN, shell=True, program="/bin/sh")))
        == "differs: --shell differs: False in A, True in B"
    )


def machine(run: Run, **fields: object) -> Run:
    return run.model_copy(update={"machine": run.machine.model_copy(update=fields)})


def settings(run: Run, **fields: object) -> Run:
    return run.model_copy(update={"settings": run.settings.model_copy(update=fields)})


def subject(run: Run, **fields: object) -> Run:
    changed: Subject = run.subjects[0].model_copy(update=fields)
    return run.model_copy(update={"subjects": [changed]})


@pytest.mark.parametrize("said", FACTS)
def test_what_differs_between_the_runs_is_named(said: str) -> None:
    report = diff(A, FACTS[said](B))
    assert said in notes(report)
    assert "secret" not in notes(report)
    assert [finding.code for finding in report.findings] == ["differs"]


def test_nothing_is_named_where_nothing_differs() -> None:
    assert not diff().findings


def test_benchmarks_that_were_timed_in_different_ways_are_named() -> None:
    (benchmark,) = A.benchmarks
    timed = A.model_copy(update={"benchmarks": [benchmark.model_copy(update={"clock": "process"})]})
    assert f"clock of {benchmark.name}" in notes(diff(timed, B))
    assert f"clock of {benchmark.name}" not in notes(diff(A, B))
    still = A.model_copy(update={"settings": A.settings.model_copy(update={"clock": "still"})})
    plain = B.model_copy(update={"benchmarks": [B.benchmarks[0].model_copy(update={"clock": "plain"})]})
    assert "one that stands still while it waits in A, the harness's own in B" in notes(diff(still, plain))
    assert f"clock of {benchmark.name}" not in notes(diff(A, plain))


def test_a_clock_that_is_too_coarse_for_the_margin_leaves_it_undecided() -> None:
    def ticking(number: int, spec: LaunchSpec) -> Measured:
        return replace(noisy()(number, spec), wall_ns=20_000_000, delay_ns=0)

    report = diff(measured(ticking), measured(ticking, created="2026-01-02T00:00:00+00:00"), margin=0.2)
    assert report.verdicts[0].verdict == "undecided"
    assert "coarse-clock: there are so few different values" in notes(report)


def test_short_and_tiny_runs_say_so() -> None:
    assert "short-run" in notes(diff(A, measured(scripted(13.2e6), 300)))
    tiny = diff(A, measured(scripted(13.2e6), 10))
    assert "cannot-tell" in notes(tiny)
    assert (tiny.verdicts[0].verdict, tiny.verdicts[0].interval) == ("undecided", None)
    assert tiny.verdicts[0].change == pytest.approx(0.1, abs=0.01)  # the estimate is shown all the same
    assert "short-run" not in notes(diff())


def two(run: Run, *names: str, every: int = 2) -> Run:
    """Return the launches of a run as those of two benchmarks, alternating, or one of so many of the second."""
    numbers = [int(place % every == 1) for place in range(len(run.launches))]
    launches = run.launches.model_copy(update={"benchmark": numbers})
    benchmarks = [Benchmark(name=name) for name in names]
    return run.model_copy(update={"benchmarks": benchmarks, "stop": run.stop * 2, "launches": launches})


def test_several_benchmarks_go_by_name_and_share_alpha() -> None:
    report = diff(two(A, "parse", "sort"), two(B, "sort", "parse"))
    assert [verdict.benchmark for verdict in report.verdicts] == ["parse", "sort"]
    assert report.alpha == 0.005
    assert len(diff(two(A, "parse", "sort"), two(B, "sort", "emit")).verdicts) == 1
    with pytest.raises(UsageError, match="in common"):
        diff(two(A, "parse", "sort"), two(B, "a", "b"))


def test_benchmarks_that_are_too_short_to_be_judged_take_no_share_of_alpha() -> None:
    report = diff(two(A, "parse", "sort", every=99), two(B, "parse", "sort", every=99))
    assert [verdict.verdict for verdict in report.verdicts] == ["slower", "undecided"]
    assert report.alpha == 0.01


def test_the_mean_of_several_benchmarks_is_no_surer_than_they_are() -> None:
    report = diff(two(A, "parse", "sort"), two(B, "parse", "sort"))
    [mean] = report.means
    parse, sort = report.verdicts
    assert parse.interval is not None
    assert sort.interval is not None
    ends = [np.expm1(np.mean(np.log1p(pair))) for pair in zip(parse.interval, sort.interval, strict=True)]
    assert (mean.metric, mean.benchmarks) == ("active", 2)
    assert mean.interval == pytest.approx(ends)
    assert diff(A, B).means == []


def test_a_benchmark_without_the_deciding_metric_is_left_out_of_several() -> None:
    def faults(number: int, spec: LaunchSpec) -> Measured:
        return replace(noisy()(number, spec), major_faults=(0, 1, 1, 1)[number % 4])

    one, other = (two(measured(faults, 100, created=day), "parse", "sort") for day in ("1", "2"))
    report = diff(one, other, metrics=["major_faults", "active"])
    assert [(verdict.benchmark, verdict.metric) for verdict in report.verdicts] == [
        ("sort", "major_faults"),
        ("sort", "active"),
    ]
    assert "not-compared: parse: major_faults was 0 in some launches" in notes(report)


def test_a_weighing_or_a_failed_run_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    save(weigh(noisy(), pairs=12)[0], path)
    with pytest.raises(UsageError, match="compares two sides by itself: look at it with steelyard show"):
        require_run(load_any(path), path)
    save(A.model_copy(update={"stop": ["failed"]}), path)
    with pytest.raises(UsageError, match="failed"):
        require_run(load_any(path), path)
    save(A, path)
    assert require_run(load_any(path), path).launches == A.launches


def fails(number: int, spec: LaunchSpec) -> Measured:
    return replace(noisy()(number, spec), exit_code=1)


def test_a_run_without_a_launch_is_refused() -> None:
    with pytest.raises(UsageError, match="no launch"):
        diff(measured(fails, 20), B)


def test_memory_that_may_be_the_launch_server_s_is_told() -> None:
    small = measured(scripted(max_rss_bytes=2 << 20), 20)
    assert "little-memory: " in notes(diff(small, B, metrics=["max_rss"]))
    large = [measured(scripted(max_rss_bytes=9 << 20, seed=seed), 20) for seed in (1, 2)]
    assert "little-memory: " not in notes(diff(*large, metrics=["max_rss"]))
