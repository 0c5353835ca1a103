"""What both of Rust's harnesses have in common."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, UsageError
from steelyard.subjects.adapters.criterion import Criterion
from steelyard.subjects.adapters.divan import Divan
from steelyard.subjects.harness import Work, harness_named
from tests.subjects.adapters.driven import Driver, spec
from tests.subjects.adapters.rust import cannot_be_built, cargo_bench

CRITERION, DIVAN = pytest.param(Criterion, "criterion", id="criterion"), pytest.param(Divan, "divan", id="divan")
EACH = pytest.mark.parametrize(("harness", "crate"), [CRITERION, DIVAN])
Rust = type[Criterion] | type[Divan]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("rustc 1.80.0 is not supported by the following package:\n  criterion@0.8.2 requires rustc 1.86", "later"),
        ("cannot be built because it requires rustc 1.86 or newer, while the active rustc version is 1.80", "later"),
        ("lock file version `4` was found, but this version of Cargo does not understand this lock file", "later"),
        ("failed to download `clap`: `edition2024` is not stabilized in this version of Cargo (1.80.0)", "later"),
        ("failed to download `clap`: Could not resolve host: static.crates.io", "cannot be fetched"),
        ("error[E0425]: cannot find value `x` in this scope", None),
    ],
)
def test_what_cannot_be_built_here_is_skipped_with_the_reason(said: str, why: str | None) -> None:
    reason = cannot_be_built("criterion", said)
    assert reason is None if why is None else why in (reason or "")


@EACH
def test_a_run_that_only_tests_gives_no_samples(launcher: Launcher, harness: Rust, crate: str) -> None:
    """Without --bench, it only tests."""
    work = Work({"criterion": "work", "divan": "cases::plain"}[crate], 10, 15)
    driver = Driver(harness(), spec(cargo_bench(crate)), launcher)
    launch = driver.harness.running(driver.launch, work)
    measured = launcher.launch(replace(launch, argv=tuple(word for word in launch.argv if word != b"--bench")))
    assert not measured.has_failed()
    with pytest.raises(LaunchError, match="ran no benchmark"):
        driver.harness.samples(measured, work)


@EACH
@pytest.mark.real
def test_programs_are_recognised(harness: Rust, crate: str) -> None:
    program = cargo_bench(crate)
    assert [one().recognises(spec(program)) for one in (Criterion, Divan)] == [
        one is harness for one in (Criterion, Divan)
    ]
    assert harness_named(crate).recognises(spec(program))
    assert not any(harness().recognises(spec(other)) for other in ("/bin/sh", "/missing", "/"))


@EACH
def test_cargo_itself_is_no_executable_of_benchmarks(harness: Rust, crate: str) -> None:
    with pytest.raises(UsageError, match="give the executable that cargo bench --no-run names"):
        harness().listing(spec("/usr/bin/cargo", "bench", "--bench", crate))
