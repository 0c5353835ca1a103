"""Divan, driven for real."""

from __future__ import annotations

import re
import shlex
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.divan import Divan, Row, rows_in
from steelyard.subjects.harness import Work
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import Driver, refused, spec, that_printed
from tests.subjects.adapters.rust import cargo_bench, slower

AWKWARD = "cases::odd a/b  (x)+? [y].*|^$ │ é: <日本>"
NAMES = {
    "cases::plain",
    AWKWARD,
    "cases::argument::a::b",
    "cases::argument::with space",
    "cases::argument::-dash",
    "cases::generic::u8::4",
    "cases::generic::u8::8",
    "cases::generic::String::4",
    "cases::generic::String::8",
    "cases::inner::a group::leaf",
    "cases::allocates",
    "cases::own_settings",
    "cases::prints",
    "cases::looks_alike",
    "cases::sleeps",
    "cases::two_threads",
    "cases::threads",
    "cases::empty",
    "cases::panics",
    "cases::exits",
    "cases::forgets",
}


@pytest.fixture(scope="module")
def program() -> Path:
    return cargo_bench("divan")


@pytest.fixture
def driver(program: Path, launcher: Launcher) -> Driver:
    return Driver(Divan(), spec(program), launcher)


def printed(driver: Driver) -> str:
    assert driver.measured
    return (driver.measured.stdout or b"").decode()


# --- driven by hand


def test_it_lists_what_there_is(driver: Driver) -> None:
    names = driver.names()
    assert set(names) == NAMES
    assert len(names) == len(NAMES)


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("cases::plain")


@pytest.mark.parametrize(
    ("words", "stands_still"),
    [((), True), (("--timer=os",), True), (("--timer", "tsc"), False), (("--timer=tsc",), False)],
)
def test_the_processor_s_counter_does_not_stand_still(words: tuple[str, ...], *, stands_still: bool) -> None:
    asked = Divan().running(spec("./bench", *words), Work("cases::plain", 10, 1, still=True))
    assert any(one.startswith(b"LD_PRELOAD=") for one in asked.env) == stands_still


@pytest.mark.parametrize(
    "name",
    [
        "cases::plain",
        AWKWARD,
        "cases::argument::a::b",
        "cases::argument::with space",
        "cases::argument::-dash",
        "cases::generic::String::4",
        "cases::inner::a group::leaf",
        "cases::allocates",
        "cases::own_settings",
        "cases::prints",
        "cases::two_threads",
    ],
)
def test_exactly_the_one_that_is_asked_for_runs(driver: Driver, name: str) -> None:
    (sample,) = driver.run(name, loops=300)
    assert sample.loops == 300
    (row,) = rows_in(printed(driver))
    assert (row.name, row.loops) == (name, 300 * row.samples)
    assert row.samples == (16 if name == "cases::two_threads" else 15)
    assert sample.ns == pytest.approx(row.median_ns * sample.loops, abs=1)


def test_one_long_iteration_is_a_sample(driver: Driver) -> None:
    (sample,) = driver.run("cases::sleeps", loops=1)
    assert sample.loops == 1
    assert 60_000_000 < sample.ns < 600_000_000
    (row,) = rows_in(printed(driver))
    assert row.samples <= 5


def test_options_of_the_command_are_not_said_twice(driver: Driver, program: Path) -> None:
    driver.launch = spec(program, "--bench", "--threads=2", "--max-time", "0.5", "--include-ignored", "--timer=tsc")
    assert set(driver.names()) == {*NAMES, "cases::ignored"}
    assert driver.run("cases::ignored", loops=10)
    assert driver.run("cases::threads", loops=10)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cases::threads", r"with several numbers of threads (t=1, t=2): choose one with --threads N"),
        ("cases::looks_alike", r"each benchmark needs a name of its own"),
        ("cases::exits", 'gave no times of "cases::exits"'),
        ("cases::forgets", 'gave no times of "cases::forgets"'),
        ("cases::ignored", "put --include-ignored after the command"),
        ("cases::empty", "less than Divan can tell from an empty loop"),
        ("cases::argument", 'ran no benchmark where "cases::argument" was asked for'),
        ("cases::generic::u8", 'ran no benchmark where "cases::generic::u8" was asked for'),
    ],
)
def test_what_has_no_samples(driver: Driver, name: str, sentence: str) -> None:
    with refused(sentence):
        driver.run(name, loops=100_000 if name == "cases::empty" else 100)


def test_more_iterations_than_it_runs(driver: Driver) -> None:
    with pytest.raises(LaunchError, match=r"would need 4,294,967,296 iterations"):
        driver.harness.running(driver.launch, Work("cases::plain", 2**32, 1))


def test_a_panic_is_told(driver: Driver) -> None:
    measured = driver.launcher.launch(driver.harness.running(driver.launch, Work("cases::panics", 1, 1)))
    assert measured.exit_code == 101
    assert re.match(r"panicked at divan/benches/cases.rs:.*: on purpose$", driver.harness.complaint(measured) or "")


def test_a_version_that_cannot_be_asked_for_a_list(driver: Driver) -> None:
    """Without the variable it does not know the option, just as older versions do not."""
    launch = driver.harness.listing(driver.launch)
    measured = driver.launcher.launch(replace(launch, env=()))
    assert "from 0.1.19 on" in (driver.harness.complaint(measured) or "")


# --- as the user drives it


def test_a_planted_change_is_seen_and_failures_stay_alone(here: InProcess, program: Path) -> None:
    commands = (shlex.quote(str(one)) for one in (program, slower(program, "divan")))
    names = [word for name in ("plain", "panics", "empty") for word in ("-b", f"cases::{name}")]
    words = ("--names", "old,new", "--pairs", "14", "--json", "record.json")
    done = here("compare", "--harness", "divan", *commands, *names, *words)
    assert done.status == 3, done
    record = here.json()
    assert {one["benchmark"]: one["verdict"] for one in record["derived"]["verdicts"]}["cases::plain"] == "slower"
    (plain,) = (one for one in record["benchmarks"] if one["name"] == "cases::plain")
    assert plain["loops"] > 100
    assert plain["samples"] == 1
    failures = [one["message"] for one in record["findings"] if one["code"] == "failed"]
    assert any("old (cases::panics) failed with exit status 101 and panicked at " in message for message in failures)
    # An iteration takes next to nothing, or nothing, so no number of iterations makes a sample.
    (of_empty,) = (message for message in failures if "(cases::empty)" in message)
    assert re.search(r"old \(cases::empty\) (took 0|would need [\d,]+ ).*compiler remove its body", of_empty)


def test_a_program_of_another_kind(here: InProcess) -> None:
    assert "lists no benchmark" in here.refuses("run", "--harness", "divan", "true", status=3)


# --- what else it may print

TABLE = """\
cases                          fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ arg                                       │               │               │               │         │
│  ├─ 10                       5.728 ns      │ 42.82 ns      │ 6.728 ns      │ 18.42 ns      │ 3       │ 30
│  ╰─ 20                       8.728 ns      │ 15 ns         │ 9.7 µs        │ 1 m           │ 3       │ 30
├─ counted                     278.1 ns      │ 289.1 ns      │ 279.1 ns      │ 282.1 ns      │ 3       │ 30
│                              359.5 MB/s    │ 345.8 MB/s    │ 358.2 MB/s    │ 354.4 MB/s    │         │
│                              25.16 Mitem/s │ 24.21 Mitem/s │ 25.07 Mitem/s │ 24.81 Mitem/s │         │
├─ ignored                     (ignored)     │               │               │               │         │
├─ nothing                     
├─ prints                      a line of its own
and one │ more
1.711 µs      │ 28.6 µs       │ 15.15 \u03bcs      │ 15.15 µs      │ 2       │ 2
╰─ inner                                     │               │               │               │         │
   ╰─ a group                                │               │               │               │         │
      ╰─ leaf                  0.278 ns      │ 1.292 s       │ 2 h           │ 283.1 ns      │ 3       │ 30

"""  # noqa: W291


def test_a_table() -> None:
    expected = [
        Row("cases::arg::10", 6.728, 3, 30),
        Row("cases::arg::20", 9700.0, 3, 30),
        Row("cases::counted", 279.1, 3, 30, {"bytes": 100.0, "items": 7.0}),
        Row("cases::prints", 15150.0, 2, 2),
        Row("cases::inner::a group::leaf", 7200e9, 3, 30),
    ]
    for found, one in zip(rows_in(TABLE), expected, strict=True):
        assert astuple(found)[1:-1] == pytest.approx(astuple(one)[1:-1])
        assert (found.name, found.processed) == (one.name, one.processed)


def test_amounts_are_told_in_four_digits() -> None:
    assert Divan().amount_error(PLAIN) == 0.001


HEADER = "cases  fastest       │ slowest       │ median        │ mean          │ samples │ iters\n"


def answer(text: str, loops: int = 10, name: str = "cases::a") -> tuple[Sample, ...]:
    return Divan().samples(that_printed(text), Work(name, loops, 1))


def row(median: str, samples: str = "3", iterations: str = "30") -> str:
    columns = ("5 ns         ", "42 ns        ", median, "18.42 ns     ", f"{samples}      ", iterations)
    return f"{HEADER}╰─ a   {' │ '.join(columns)}\n"


@pytest.mark.parametrize(
    ("median", "loops", "ns"),
    [("6.728 ns", 10, 67), ("0.327 ns", 10**7, 3_270_000), ("573 ns", 1, 573), ("1.5 s", 1, 1_500_000_000)],
)
def test_a_sample_is_the_median_of_its_loops(median: str, loops: int, ns: int) -> None:
    assert answer(row(median, "3", str(3 * loops)), loops) == (Sample(loops, ns),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        HEADER,
        HEADER[:40],
        f"{HEADER}╰─ a   ",
        row("6.728 ns").replace("│ 30", ""),
        row("6.728 ns", iterations="31"),
        row("6.728 ns", samples="0"),
        row("6.728 ns") * 2,
        row("0 ns"),
        row("1.2.3 ns"),
        row(". ns"),
        row("NaN ns"),
        row("6.728 parsecs"),
        row("-6.728 ns"),
        row("6.728 ns").replace("╰─ a ", "╰─ b "),
        row("6.728 ns").replace("cases", "other"),
        row("\x1b[1m6.728 ns\x1b[0m"),
        TABLE,
        "nothing of the kind",
    ],
)
def test_what_is_no_sample(text: str) -> None:
    with refused():
        answer(text)
