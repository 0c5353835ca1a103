"""nanobench, driven for real if its header is in the folder that STEELYARD_NANOBENCH names, or among the system's."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from statistics import median

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.nanobench import Nanobench, results_from
from steelyard.subjects.harness import Listed, Work
from tests.in_process import InProcess
from tests.subjects.adapters.driven import SOURCES, Driver, built, folder_of, refused, spec, that_printed

# Written by version 4.6.0 itself: `suite --only=sum --json=FILE`.
RECORDED = SOURCES / "nanobench/recorded-4.6.0.json"
NAMES = ["sum", "a b, (c) [d] {e} .*+?^$|/ größe/日本 -~!", "--json=none", "fails alone"]
WORDS = ("--only={benchmark}", "--json={results}")


@pytest.fixture(scope="session")
def suite() -> Path:
    folder = folder_of("STEELYARD_NANOBENCH")
    words = (f"-I{folder}",) if folder else ()
    needs = "nanobench.h, and name its folder in STEELYARD_NANOBENCH"
    return built("suite", SOURCES / "nanobench/suite.cpp", *words, needs=needs)


@pytest.fixture
def driver(suite: Path, launcher: Launcher) -> Driver:
    return Driver(Nanobench(), spec(suite, *WORDS), launcher)


def test_it_lists_what_ran(driver: Driver) -> None:
    assert driver.names() == NAMES


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("sum")


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("words", [WORDS, WORDS[:1]], ids=["file", "printed"])
def test_exactly_the_one_that_is_asked_for_runs(
    suite: Path, launcher: Launcher, name: str, words: tuple[str, ...]
) -> None:
    driver = Driver(Nanobench(), spec(suite, *words), launcher)
    samples = driver.run(name)
    assert len(samples) == Nanobench.samples_a_launch
    assert median(sample.ns for sample in samples) > 50_000
    assert driver.measured
    assert bool(driver.measured.results) == (len(words) == 2)
    if driver.measured.results:
        (result,) = json.loads(driver.measured.results)["results"]
        assert sum(sample.ns for sample in samples) == pytest.approx(result["totalTime"] * 1e9, rel=1e-5)


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        (
            "--deaf",
            'ran "sum", "a b, (c) [d] {e} .*+?^$|/ größe/日本 -~!", "--json=none" where only "sum" was asked for',
        ),
        ("--quote", "quotation mark"),
        ("--twice", 'ran "sum" 2 times'),
        ("--silent", "rendered no results of nanobench"),
    ],
)
def test_programs_that_answer_otherwise(suite: Path, launcher: Launcher, way: str, sentence: str) -> None:
    driver = Driver(Nanobench(), spec(suite, "--only={benchmark}" if way != "--quote" else "--only=", way), launcher)
    with refused(sentence):
        driver.run("sum")


def test_programs_are_recognised(suite: Path) -> None:
    assert Nanobench().recognises(spec(suite))
    assert not Nanobench().recognises(spec("/bin/sh"))


# --- as the user drives it


def test_a_planted_change_is_seen_and_a_failure_stays_alone(here: InProcess, suite: Path) -> None:
    command = f"{shlex.quote(str(suite))} --only={{benchmark}} --json={{results}}"
    choice = ("-b", "sum", "-b", "fails*", "--pairs", "16", "--json", "record.json")
    done = here("compare", "--harness", "nanobench", command, f"{command} --slower", "--names", "old,new", *choice)
    assert done.status == 3
    assert "old (fails alone) was killed by SIGABRT" in done.err.decode()
    record = here.json()
    assert record["stop"][1] == "failed"
    assert record["benchmarks"][0]["loops"] is None
    assert record["derived"]["verdicts"][0]["change"] > 0.5
    assert all(len(samples) == 11 for samples in record["launches"]["samples"])


def test_a_command_without_a_place_for_the_name(here: InProcess) -> None:
    sentence = here.refuses("run", "--harness", "nanobench", "true")
    assert sentence.startswith('--harness nanobench: "true" has no place for a benchmark\'s name: write {benchmark}')
    with pytest.raises(UsageError):
        Nanobench().listing(spec("true", "{results}"))


# --- what else may be rendered


def epochs(*entries: str, name: str = '"a"') -> str:
    return f'{{"results": [{{"name": {name}, "measurements": [{", ".join(entries)}]}}]}}'


EPOCH = '{"iterations": 10, "elapsed": 2.5e-07}'


def answer(text: str) -> tuple[Sample, ...]:
    return Nanobench().samples(that_printed(text), Work("a", 1, 11))


def test_a_recorded_report() -> None:
    (result,) = results_from(RECORDED.read_text())
    entries = json.loads(RECORDED.read_text())["results"][0]["measurements"]
    assert result.name == "sum"
    assert [sample.loops for sample in result.samples] == [entry["iterations"] for entry in entries]
    for sample, entry in zip(result.samples, entries, strict=True):
        assert sample.ns == pytest.approx(entry["elapsed"] * entry["iterations"] * 1e9, abs=1)
    text = f"| ns/op |\n{RECORDED.read_text()}\ndone {{}}\n{epochs(EPOCH)}"
    assert [one.name for one in results_from(text)] == ["sum", "a"]


def test_a_name_that_stands_twice_keeps_no_other_from_being_listed() -> None:
    text = "\n".join(epochs(EPOCH, name=f'"{name}"') for name in "bab")
    assert Nanobench().listed(that_printed(text)) == [Listed("b"), Listed("a")]
    with pytest.raises(LaunchError, match='ran "a" 2 times'):
        answer(f"{epochs(EPOCH)}\n{epochs(EPOCH)}")


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        (epochs(EPOCH, EPOCH), (Sample(10, 2500),) * 2),
        (epochs('{"iterations": 1.5e+06, "elapsed": 3e-10}'), (Sample(1_500_000, 450_000),)),
        (epochs('{"iterations": 10000000, "elapsed": 3.1e-10}'), (Sample(10_000_000, 3_100_000),)),
    ],
)
def test_epochs(text: str, samples: tuple[Sample, ...]) -> None:
    assert answer(text) == samples


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "rendered no results"),
        ("| ns/op |", "rendered no results"),
        ('{"results": []}', "rendered no results"),
        (RECORDED.read_text()[:-40], "or was cut"),
        (epochs(EPOCH, name='"a "b""'), "quotation mark"),
        (epochs('{"iterations": 10, "elapsed": nan}'), "that is none"),
        ('{"results": [5]}', "a result that is no object"),
        (epochs(), "without its measurements"),
        (epochs("5"), "without its measurements"),
        (epochs(EPOCH, name="5"), "lists a benchmark called 5"),
        (epochs(EPOCH, name='"b"'), 'ran "b" where only "a"'),
        (epochs('{"iterations": 0, "elapsed": 1e-7}'), "a time has to be"),
        (epochs('{"iterations": 2.5, "elapsed": 1e-7}'), "2.5 loops"),
        (epochs('{"iterations": 5, "elapsed": 0}'), "optimised away"),
        (epochs('{"iterations": 5}'), "a time has to be"),
        (epochs('{"iterations": 5, "elapsed": Infinity}'), "a time has to be"),
    ],
)
def test_what_is_no_answer(text: str, sentence: str) -> None:
    with refused(sentence):
        answer(text)


@pytest.mark.parametrize(
    ("more", "processed"),
    [
        ({"batch": 4096, "unit": "byte"}, {"bytes": 4096.0}),
        ({"batch": 7, "unit": "op"}, {"items": 7.0}),
        ({"batch": 1, "unit": "byte"}, {}),
        ({}, {}),
        ({"batch": [2]}, {}),
    ],
)
def test_a_batch_is_what_an_iteration_processes(more: dict[str, object], processed: dict[str, float]) -> None:
    one = {"name": "x", "measurements": [{"iterations": 2, "elapsed": 0.5}], **more}
    (found,) = results_from(json.dumps({"results": [one]}))
    assert found.processed == processed
