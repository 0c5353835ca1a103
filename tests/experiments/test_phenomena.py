"""What each experiment concludes from what it measured, and how it ends."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from experiments import ending
from experiments.averages import run as averages
from experiments.busy_idle import run as busy_idle
from experiments.dead_code import run as dead_code
from experiments.directory import run as directory
from experiments.ending import Conditions
from experiments.environment import run as environment
from experiments.hash_seeds import run as hash_seeds
from experiments.heap_order import run as heap_order
from experiments.launching import Change
from experiments.linear_random import run as linear_random
from experiments.load_levels import run as load_levels
from experiments.pairing import run as pairing
from experiments.surroundings import slowest, told_of_scans

from steelyard.design.request import Request
from steelyard.model.calibration import Point
from steelyard.model.derived import Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.rows import Sample
from tests.world import measured


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for the figures."""
    monkeypatch.setattr(ending, "FOLDER", tmp_path)
    return tmp_path


QUIET, LOUD = Conditions(0.001, 0.0), Conditions(0.5, 0.01)


def verdict(word: str, change: float, low: float, high: float) -> Verdict:
    return Verdict.model_validate(
        {
            "benchmark": "work",
            "metric": "active",
            "verdict": word,
            "change": change,
            "interval": (low, high),
            "p_value": 0.5,
            "pairs": 20,
            "looks": 1,
            "seconds": 1.0,
            "resolution": None,
        }
    )


# --- busy and idle


def times(wall: list[float]) -> dict[str, list[float]]:
    return {"wall": wall, "active": [100.0] * len(wall), "cpu": [100.0] * len(wall)}


def test_busy_against_idle_is_by_the_clock_where_it_was_quiet_and_by_waits_where_it_was_not() -> None:
    found = {busy_idle.IDLE: times([100.0] * 4), busy_idle.BUSY: times([160.0] * 4)}
    waits = busy_idle.quarters(times([110.0, 400.0, 150.0, 220.0]), [0.1, 0.75, 0.3, 0.5])
    assert [quarter.medians["wall"] for quarter in waits] == [110.0, 150.0, 220.0, 400.0]
    quiet, loud = (busy_idle.sentence(found, waits, conditions) for conditions in (QUIET, LOUD))
    assert "+60.0 % by the clock on the wall, and 0.00 % of active time" in quiet
    assert "waited for 75 % of their time took +264 % by the clock" in loud
    assert "+62.4 %" in busy_idle.told(found)
    assert busy_idle.drawn(found).count("<circle") == 24


@pytest.mark.real
def test_busy_against_idle_runs_to_its_end(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_idle, "WORK", "sum(range(50_000))")
    monkeypatch.setattr(busy_idle, "LOOPS", 1)
    busy_idle.main(busy_idle.Effort(1, 4))
    assert "4 launches each" in capsys.readouterr().out
    assert (place / "busy_idle.svg").read_text().startswith("<svg")


# --- hash seeds


def test_a_hash_seed_counts_only_by_its_verdict() -> None:
    found = {str(seed): verdict("undecided", 0.001, -0.01, 0.01) for seed in (2, 3)}
    # Faster by its own interval, which says less for one of several.
    found["4"] = verdict("undecided", -0.008, -0.016, -0.001)
    none = found | {"5": verdict("undecided", 0.0, -0.01, 0.01), hash_seeds.AGAIN: verdict("slower", 0.02, 0.01, 0.03)}
    assert hash_seeds.sentence(none, {}).startswith("No hash seed makes")
    found |= {"5": verdict("faster", -0.05, -0.06, -0.04)}
    counted = {"1": 1000, "2": 1000, "3": 1000, "4": 1000, "5": 990}
    assert "up to 5.26 % slower (against seed 1 certainly: 5 -5.00 %)" in hash_seeds.sentence(found, counted)
    assert "| 5 | faster | -5.00 % | -6.00 % to -4.00 % | -1.00 % | 180 ms, -9.09 % |" in hash_seeds.told(
        found, counted
    )


# --- averages


def test_averages_repeat_or_drift_or_do_neither() -> None:
    drifting = [[100.0 + run + noise for noise in (-5.0, 0.0, 5.0)] * 5 for run in range(5)]
    known = averages.measures(drifting)
    assert known.averages == pytest.approx(0.04)
    assert known.dealt is not None
    assert known.dealt < known.singles
    close = averages.Apart(0.1, 0.005, 0.004)
    assert "they repeat within 1 %" in averages.sentence(close, close)
    assert "dealt to the runs in turn" in averages.sentence(averages.Apart(0.1, 0.03, 0.005), close)
    assert "do not repeat" in averages.sentence(averages.Apart(0.1, 0.03, 0.02), close)
    assert averages.there().averages == pytest.approx(0.00585, rel=0.01)


# --- the environment and the directory


def test_the_slowest_size_is_against_the_median() -> None:
    scan = {0: 100.0, 16: 101.0, 32: 99.0, 48: 440.0, 64: 100.0}
    size, more = slowest(scan)
    assert (size, round(more, 3)) == (48, 3.4)
    assert "| +340 % | 48 |" in told_of_scans({"environment": scan})


@pytest.mark.parametrize("of", [environment, directory])
def test_a_spike_and_its_absence_are_told(of: object) -> None:
    flat = dict.fromkeys(range(0, 96, 16), 100.0)
    still = Change(0.0, -0.01, 0.01)
    if of is environment:
        names = (environment.BY_ENVIRONMENT, environment.BY_ARGUMENT, environment.BY_CHANCE)
        kinds = {kind: {"1 argument": still} for kind in (environment.FIXED, environment.DRAWN)}
        tell = environment.sentence
    else:
        names = (directory.BY_NAME, directory.BY_DIRECTORY, directory.BY_PWD)
        kinds = {kind: {"above both": still} for kind in (directory.FIXED, directory.DRAWN)}
        tell = directory.sentence
    spiked = {name: flat | {32: 450.0} for name in names}
    assert "350 %" in tell(spiked, kinds)
    assert "nothing is beyond the noise here" in tell(spiked, kinds)
    assert tell(dict.fromkeys(names, flat), kinds).startswith("On this processor no")


@pytest.mark.real
def test_the_environment_is_scanned_and_varied_to_the_end(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "SIZES", range(0, 64, 16))
    environment.main(environment.Effort(1, 2, 10))
    assert "| environment, addresses fixed | 4 |" in (place / "environment.md").read_text()


# --- load levels


def taken(short_waits: bool) -> load_levels.Taken:
    samples = [Sample(2, 900, 900, 0)] + [
        Sample(
            2, 2000 if number % 4 or not short_waits else 12_000, 2000, 0 if number % 4 or not short_waits else 10_000
        )
        for number in range(20)
    ]
    return load_levels.Taken.of(measured(100, involuntary_switches=5), samples)


def test_samples_that_waited_are_in_the_mean_and_not_in_the_median_and_brackets_meet_or_do_not() -> None:
    one, four = taken(False), taken(True)
    assert one.switches == (50.0, 50.0)
    longer = load_levels.Taken([4000.0] * 4, [1000.0] * 4, (50.0, 50.0))
    levels = {level: {load_levels.SHORT: [one], load_levels.LONG: [one]} for level in (1, 2, 3)}
    levels[4] = {load_levels.SHORT: [four], load_levels.LONG: [longer]}
    told = load_levels.sentence(levels, QUIET)
    assert "median of short samples stands it (0.00 %), where their mean is +125 %" in told
    assert "median of long samples +300 %" in told
    assert told.endswith("the brackets of long samples are apart.")
    assert load_levels.sentence(levels, LOUD).endswith("; other work had the processor at every level, too.")
    assert ", apart" in load_levels.told_of_brackets(levels).splitlines()[-1]


# --- pairing


def test_judges_of_blocks_see_a_shift_between_them_that_judges_of_pairs_do_not() -> None:
    random = Random(1)
    level = [1.0] * 25 + [1.2] * 25
    noisy = [100.0 * random.gauss(1, 0.01) * at for at in level]
    blocks = noisy[:25], noisy[25:]
    pairs = noisy[0::2], noisy[1::2]
    assert pairing.by_welch(blocks)
    assert pairing.by_rank_sum(blocks)
    assert not pairing.by_signed_rank(pairs)
    assert not pairing.by_verdict(pairs)
    assert pairing.of_medians(blocks) == pytest.approx(0.2, abs=0.02)
    assert pairing.of_pairs(pairs) == pytest.approx(0.0, abs=0.02)
    slower = [1.1 * time for time in pairs[0]]
    assert pairing.by_verdict((pairs[0], slower))


def test_the_false_alarms_are_told_by_the_way_they_were_launched() -> None:
    shares = {judge: [judge.way == pairing.BLOCKS, False] for judge in pairing.JUDGES}
    sizes = {judge: [0.1, -0.2] if judge.way == pairing.BLOCKS else [0.01, -0.01] for judge in pairing.JUDGES}
    told = pairing.sentence(shares, sizes)
    assert "different 1 of 2 times" in told
    assert "as `steelyard compare` does 0 of 2" in told
    assert "15 %, 1 % and 1 %" in told


# --- those of the heap, of layouts and of walks


def test_the_heap_trap_is_told_with_its_interval() -> None:
    found = {heap_order.TOGETHER: [(1.0, 4.0)] * 12, heap_order.APART: [(1.0, 1.0)] * 12}
    assert "takes +300 % and by itself 0.00 % (0.00 % to 0.00 %)" in heap_order.sentence(found)
    assert heap_order.drawn(found).count("<circle") == 24


def test_dead_code_is_told_only_where_it_moved_something() -> None:
    moved, averaged = verdict("slower", 0.05, 0.01, 0.08), verdict("same", 0.01, -0.01, 0.03)
    assert "slower by 5.00 % (the first such of 3 layouts)" in dead_code.sentence(moved, 3, averaged)
    assert "does not show it: in none of 30" in dead_code.sentence(averaged, 30, averaged)
    assert "| +6.00 % |" in dead_code.told({"one": moved, "averaged": averaged})


def test_one_layout_is_weighed_by_the_margin_that_its_sentence_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(request: Request, *_: object) -> None:
        raise MeasurementError(f"a margin of {request.settings.margin}")

    monkeypatch.setattr(dead_code, "build", lambda program, _: program.touch(0o755))
    monkeypatch.setattr(dead_code, "measure", refused)
    with pytest.raises(MeasurementError, match=f"a margin of {dead_code.MOVED}"):
        dead_code.main(dead_code.Effort(1, 1))


@pytest.mark.real
def test_without_a_compiler_dead_code_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dead_code, "COMPILER", (str(tmp_path / "gcc"),))
    with pytest.raises(MeasurementError, match="install gcc"):
        dead_code.build(tmp_path / "program", [])


def test_the_caches_that_explain_the_times_best_are_named() -> None:
    def points(ram: list[int]) -> list[Point]:
        return [
            Point.model_validate(
                {
                    "pattern": "random-i32",
                    "elements": 1000 * (number + 1),
                    "size_bytes": 16_000 * (number + 1),
                    "ns": ns,
                    "timed_iterations": 100,
                    "counted_iterations": 100,
                    "events": {"Ir": 1900, "Dr": 400, "Dw": 100, "I1mr": 0, "D1mr": misses, "D1mw": 0}
                    | {"ILmr": 0, "DLmr": misses, "DLmw": 0},
                    "before": 0,
                    "cpu_before_ns": [1],
                    "cpu_with_ns": [2],
                    "l1": 4.0,
                    "ll": 0.0,
                    "ram": misses / 100,
                }
            )
            for number, (ns, misses) in enumerate(zip((1.0, 1.1, 5.0), ram, strict=True))
        ]

    name, closely = linear_random.best({"own": points([0, 0, 1]), "the article": points([0, 10, 400])})
    assert name == "the article"
    assert closely > 0.99
