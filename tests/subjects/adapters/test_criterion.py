"""criterion.rs, driven for real."""

from __future__ import annotations

import gc
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, VanishedError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.criterion import Criterion, check_unit, processed_in, samples_in, title_in
from steelyard.subjects.harness import Work
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import Driver, refused, spec, that_printed
from tests.subjects.adapters.rust import cargo_bench, slower

AWKWARD = '-dash a/b\\c "é" (x)+? [y].*|^$ : <日本>'
LONG = f"{'(é)+ ' * 16}(é)..."
ALIKE = f"{'x' * 100}..."
NAMES = [
    "work",
    "tiny",
    AWKWARD,
    "new",
    "base",
    "sum",
    "sum 2",
    LONG,
    ALIKE,
    f"{ALIKE} #2",
    "twice",
    "twice #2",
    "prints",
    "group/flat/1000",
    "group/flat/2000",
    "own settings/20 ms",
    "async",
    "inputs",
    "panics",
    "forgets",
    "zero",
    "exits",
    "steps",
]


@pytest.fixture(scope="module")
def program() -> Path:
    return cargo_bench("criterion")


@pytest.fixture
def driver(program: Path, launcher: Launcher) -> Driver:
    return Driver(Criterion(), spec(program), launcher)


def folder_of(harness: Criterion) -> Path:
    """Return the folder that the latest launch wrote to."""
    words = harness.running(spec("bench"), Work("a", 1, 1)).env
    return Path(words[-1].decode().removeprefix("CRITERION_HOME="))


# --- driven by hand


def test_it_lists_what_there_is(driver: Driver) -> None:
    assert driver.names() == NAMES


@pytest.mark.parametrize("words", [("-n", "-c", "always"), ("--noplot", "--color=always")])
def test_options_of_the_user_replace_ours_by_their_letters_too(words: tuple[str, ...]) -> None:
    launch = Criterion().running(spec("bench", *words), Work("a", 1, 1))
    assert [word for word in launch.argv if word.startswith((b"--noplot", b"--color"))] == [
        word.encode() for word in words if word.startswith("--")
    ]


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("work")


@pytest.mark.parametrize("name", ["work", AWKWARD, "new", "base", "sum", LONG, "prints", "async", "inputs"])
def test_exactly_the_one_that_is_asked_for_runs(driver: Driver, name: str) -> None:
    samples = driver.run(name)
    # In linear mode each sample has as many iterations more as the first one has.
    assert [sample.loops for sample in samples] == [samples[0].loops * times for times in range(1, 16)]
    assert samples[0].loops > 1
    assert sum(sample.ns for sample in samples) > 1_000_000


def test_samples_are_what_criterion_judges(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[dict[str, Any]] = []

    def kept(text: str) -> tuple[Sample, ...]:
        (file,) = vars(driver.harness)["_folder"].rglob("new/estimates.json")
        reports.append(json.loads(file.read_text()))
        return samples_in(text)

    monkeypatch.setattr("steelyard.subjects.adapters.criterion.samples_in", kept)
    samples = driver.run("work")
    times = [sample.ns / sample.loops for sample in samples]
    assert reports[0]["median"]["point_estimate"] == pytest.approx(median(times), rel=1e-3)


def test_flat_sampling_and_what_the_code_sets(driver: Driver) -> None:
    flat = driver.run("group/flat/2000")
    assert len(flat) == 15
    assert len({sample.loops for sample in flat}) == 1
    assert [sample.loops for sample in driver.run("own settings/20 ms")] == [1] * 12


def test_options_of_the_command_are_not_said_twice(driver: Driver, program: Path) -> None:
    driver.launch = spec(program, "--bench", "--sample-size=12", "--measurement-time", "0.02", "--noplot")
    assert driver.names() == NAMES
    assert len(driver.run("work")) == 12


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("zero", "has no results and says: At least one measurement of benchmark zero took zero time"),
        ("exits", 'began "exits" and ended before it wrote results'),
        ("twice", 'ran "twice", "twice #2" where only "twice" was asked for'),
        ("twice #2", 'ran no benchmark where "twice #2" was asked for'),
        (ALIKE, 'where only "xxx'),
        ("steps", 'measures in "steps", which is no time'),
        ("wor", 'ran no benchmark where "wor" was asked for'),
    ],
)
def test_what_has_no_samples(driver: Driver, name: str, sentence: str) -> None:
    driver.run("tiny")  # its results must not be found again
    with pytest.raises(LaunchError) as refused:
        driver.run(name)
    assert sentence in str(refused.value)
    assert isinstance(refused.value, VanishedError) == (name == "zero")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("panics", r"panicked at criterion/benches/cases.rs:.*: on purpose"),
        ("forgets", r"panicked at .*must call Bencher::iter"),
    ],
)
def test_panics_are_told(driver: Driver, name: str, complaint: str) -> None:
    measured = driver.launcher.launch(driver.harness.running(driver.launch, Work(name, 1, 15)))
    assert measured.exit_code == 101
    assert re.match(complaint, driver.harness.complaint(measured) or "")


def test_a_word_that_it_refuses_is_told(driver: Driver, program: Path) -> None:
    measured = driver.launcher.launch(driver.harness.listing(spec(program, "--unheard-of")))
    assert (driver.harness.complaint(measured) or "").startswith("says: error: unexpected argument")


@pytest.mark.parametrize("said", ["unexpected argument '^a$' found", "Found argument '^a$' which wasn't expected"])
def test_a_filter_in_the_command_is_told_its_place(said: str) -> None:
    measured = replace(PLAIN, stderr=f"error: {said}\n\nUsage: ...\n".encode(), exit_code=2)
    assert Criterion().complaint(measured) == (
        f"says: error: {said} (is there a filter in the command? choose with --benchmark)"
    )


def test_its_folder_goes_with_it() -> None:
    harness = Criterion()
    folder = folder_of(harness)
    (folder / "file").touch()
    assert folder_of(harness) == folder
    assert list(folder.iterdir()) == []
    del harness
    gc.collect()
    assert not folder.exists()


# --- as the user drives it


def test_a_planted_change_is_seen_and_failures_stay_alone(here: InProcess, program: Path) -> None:
    commands = (shlex.quote(str(one)) for one in (program, slower(program, "criterion")))
    names = [word for name in ("work", "panics", "zero") for word in ("-b", name)]
    words = ("--names", "old,new", "--pairs", "14", "--json", "record.json")
    done = here("compare", "--harness", "criterion", *commands, *names, *words)
    assert done.status == 3, done
    record = here.json()
    assert {one["benchmark"]: one["verdict"] for one in record["derived"]["verdicts"]}["work"] == "slower"
    assert dict(zip([one["name"] for one in record["benchmarks"]], record["stop"], strict=True)).items() >= {
        ("panics", "failed"),
        ("zero", "failed"),
    }
    failures = [one["message"] for one in record["findings"] if one["code"] == "failed"]
    assert any("old (panics) failed with exit status 101 and panicked at " in message for message in failures)
    assert any("old (zero) has no results and says: " in message for message in failures)
    assert not list(here.folder.glob("steelyard-criterion-*"))


@pytest.mark.parametrize(
    ("command", "sentence"), [("true", "lists no benchmark"), ("echo", "did not list its benchmarks")]
)
def test_a_program_of_another_kind(here: InProcess, command: str, sentence: str) -> None:
    assert sentence in here.refuses("run", "--harness", "criterion", command, status=3)


# --- what else its files may hold


def test_a_file_of_samples() -> None:
    text = '{"sampling_mode":"Linear","iters":[1777.0,3554.0],"times":[921836.0,1878884.5]}'
    assert samples_in(text) == (Sample(1777, 921836), Sample(3554, 1878884))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "{}",
        '{"iters":[],"times":[]}',
        '{"iters":[1.0],"times":[1.0,2.0]}',
        '{"iters":{"0":1.0},"times":[1.0]}',
        '{"iters":[1.0],"times":[0.0]}',
        '{"iters":[1.0],"times":[-1.0]}',
        '{"iters":[1.0],"times":[null]}',
        '{"iters":[1.0],"times":[NaN]}',
        '{"iters":[1.0],"times":["1"]}',
        '{"iters":[1.5],"times":[1.0]}',
        '{"iters":[0.0],"times":[1.0]}',
        '{"iters":[Infinity],"times":[1.0]}',
        '{"iters":[true],"times":[1.0]}',
        '{"iters":[1.0],"times":[1.0]',
    ],
)
def test_a_file_without_samples(text: str) -> None:
    with refused():
        samples_in(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"title": 5}', '{"title": "a'])
def test_a_file_without_a_title(text: str) -> None:
    with pytest.raises(LaunchError):
        title_in(text)


@pytest.mark.parametrize("unit", ["ps", "ns", "µs", "us", "ms", "s"])
def test_units_of_time(unit: str) -> None:
    check_unit(f"time:   [1 cycles 2 cycles 3 cycles]\nwork     time:   [1.2 {unit} 1.3 {unit} 1.4 {unit}]\n")


def test_a_unit_in_colour() -> None:
    """As with `--color always` in the command."""
    time = "time:   [\x1b[2m1.2 {0}\x1b[0m \x1b[1m1.3 {0}\x1b[0m \x1b[2m1.4 {0}\x1b[0m]\n"
    check_unit(f"\x1b[38;5;2mwork\x1b[0m     {time.format('µs')}")
    with pytest.raises(LaunchError, match='measures in "cycles"'):
        check_unit(f"\x1b[38;5;2mwork\x1b[0m     {time.format('cycles')}")


def listed(text: str) -> list[str]:
    return [one.name for one in Criterion().listed(that_printed(text))]


def test_a_list() -> None:
    assert listed("set up\na: b: benchmark\n\nold: bench\nx: test\n") == ["a: b", "old"]
    assert listed("\n") == []


@pytest.mark.parametrize("text", ["a: test\n", "a: benchmark\na: benchmark\n", "\x1b[1ma: benchmark\n", "work\n"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(LaunchError):
        listed(text)


@pytest.mark.parametrize(
    ("told", "processed"),
    [
        ({"Bytes": 1024}, {"bytes": 1024.0}),
        ({"BytesDecimal": 1000}, {"bytes": 1000.0}),
        ({"Elements": 7}, {"items": 7.0}),
        ({"ElementsAndBytes": {"elements": 7, "bytes": 56}}, {"bytes": 56.0, "items": 7.0}),
        ({"Bits": 20}, {"bytes": 2.5}),
        ({"Bits": "many"}, {}),
        ({"Bytes": "many"}, {}),
        (None, {}),
        ([1], {}),
    ],
)
def test_what_its_code_says_is_processed(told: object, processed: dict[str, float]) -> None:
    assert processed_in(json.dumps({"title": "x", "throughput": told})) == processed
