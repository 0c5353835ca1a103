from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks import peers
from benchmarks.peers import Samples, hyperfine_samples, pyperf_values, pyperf_word, welch_word


def samples(shift: float, launches: int = 40) -> Samples:
    generator = np.random.default_rng(5)
    one, other = generator.normal(0.012, 0.0002, (2, launches))
    return list(one), list(other + shift)


def test_hyperfine_reports_the_commands_in_the_order_in_which_they_were_given() -> None:
    report = {"results": [{"command": "old", "times": [0.1, 0.2]}, {"command": "new", "times": [0.3]}]}
    assert hyperfine_samples(json.dumps(report)) == ([0.1, 0.2], [0.3])


def test_pyperf_values_are_those_of_all_processes_without_warm_ups_and_calibration() -> None:
    runs = [{"values": [0.5], "warmups": [[1, 9.0]]}, {"metadata": {}}, {"values": [0.25]}]
    assert pyperf_values(json.dumps({"benchmarks": [{"runs": runs}]})) == [0.5, 0.25]


@pytest.mark.parametrize(
    ("runs", "options"), [(30, ["-N", "--warmup", "1", "--runs", "30"]), (None, [])], ids=["so many", "its own"]
)
def test_hyperfine_is_told_how_many_runs_or_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: int | None, options: list[str]
) -> None:
    def record(command: Sequence[str], environment: Mapping[str, str]) -> None:  # noqa: ARG001
        assert list(command) == ["hyperfine", *options, "--style", "none", "--export-json", str(report), "old", "new"]
        report.write_text(json.dumps({"results": [{"times": [0.1]}, {"times": [0.2]}]}))

    report = tmp_path / "hyperfine.json"
    monkeypatch.setattr(peers, "run", record)
    measured = peers.measure_by_hyperfine("hyperfine", [Path("old"), Path("new")], runs, tmp_path, {})
    assert measured == ([0.1], [0.2])


@pytest.mark.parametrize(("launches", "told"), [(30, True), (None, False)])
def test_pyperf_is_told_how_many_launches_or_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, launches: int | None, told: bool
) -> None:
    class StoppedError(Exception):
        pass

    def stop(command: Sequence[str], environment: Mapping[str, str]) -> None:  # noqa: ARG001
        assert ("-p" in command, "-l" in command) == (told, told)
        raise StoppedError

    monkeypatch.setattr(peers, "run", stop)
    with pytest.raises(StoppedError):
        peers.measure_by_pyperf("pyperf", [Path("old"), Path("new")], launches, tmp_path, {})


@pytest.mark.parametrize(
    ("printed", "word"),
    [
        ("Mean +- std dev: [pa] 995 us +- 877 us -> [pc] 11.3 ms +- 0.5 ms: 11.32x slower\n", "slower"),
        ("Mean +- std dev: [pc] 11.3 ms +- 0.5 ms -> [pa] 995 us +- 877 us: 1.00x faster\n", "faster"),
        ("Benchmark hidden because not significant (1): work\n", "no difference"),
        ("Mean +- std dev: [a] 1.00 ms +- 0.01 ms -> [b] 1.00 ms +- 0.01 ms: no change\n", "no difference"),
    ],
)
def test_what_pyperf_prints_is_one_word(printed: str, word: str) -> None:
    assert pyperf_word(printed) == word


def test_what_pyperf_never_printed_before_is_not_taken_for_no_difference() -> None:
    with pytest.raises(ValueError, match="neither"):
        pyperf_word("ERROR: different metadata\n")


def test_welch_tells_the_direction_and_keeps_to_its_level() -> None:
    assert welch_word(samples(+0.0003), 0.01) == "slower"
    assert welch_word(samples(-0.0003), 0.01) == "faster"
    assert welch_word(samples(0.0), 0.01) == "no difference"


def test_a_smaller_alpha_is_stricter() -> None:
    between = samples(0.00004)
    assert [welch_word(between, alpha) for alpha in (0.05, 0.01)] == ["slower", "no difference"]


def test_welch_does_not_find_two_equal_constants_different() -> None:
    with pytest.warns(RuntimeWarning):
        assert welch_word(([1.0] * 5, [1.0] * 5), 0.05) == "no difference"
