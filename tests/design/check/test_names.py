"""The rules about names: what a failed launch says about a benchmark, and by which rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from steelyard.design.check import names
from steelyard.design.check.checker import Checker
from steelyard.design.check.gather import CheckedBenchmark
from steelyard.design.check.names import Answer
from steelyard.design.runner.runner import Runner
from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.model.soundness import Looked
from steelyard.subjects.harness import Harness, Listed, Work
from tests.design.scripted import PLAIN, Machine

NO_SUCH = SelectionError('ran no benchmark where "sor" was asked for')


def answer(name: str, errors: Mapping[str, LaunchError | None]) -> Answer:
    """Return the answer of a program that ends like this under these names, and knows no others."""

    class Stub:
        def __init__(self, name: str) -> None:
            self.name = name

        def run(self, *_: object) -> None:
            error = errors.get(self.name, NO_SUCH)
            if error is not None:
                raise error

    return names.ask_for(name, [name, "other"], lambda name: cast("CheckedBenchmark", Stub(name)))


def states(found: Answer) -> tuple[str, str, bool]:
    return found.runs.state, found.name.state, found.error is None


def test_what_runs_is_sound() -> None:
    assert states(answer("sort", {"sort": None})) == ("sound", "sound", True)
    # It may refuse in any way a name that it does not list.
    assert states(answer("sort", {"sort": None, "sor": LaunchError("no such benchmark")})) == ("sound", "sound", True)
    assert states(answer("sort", {"sort": None, "sor": None})) == ("sound", "trouble", True)


def test_a_body_that_vanished_has_answered_to_its_name() -> None:
    gone = VanishedError("sort took 0 ns")
    found = answer("sort", {"sort": gone})
    assert states(found) == ("sound", "sound", False)
    assert found.error is gone
    assert answer("sort", {"sort": gone, "sor": gone}).name.state == "trouble"


def test_what_fails_has_no_wrong_name() -> None:
    found = answer("sort", {"sort": LaunchError("sort says: the file is not there")})
    assert states(found) == ("trouble", "untried", False)
    assert found.runs.finding == "asked for alone, sort says: the file is not there"


def test_what_another_answers_to_has_one() -> None:
    found = answer("sort", {"sort": SelectionError('sort ran "x" where only "sort" was asked for')})
    assert states(found) == ("untried", "trouble", False)
    assert found.name.finding == 'asked for by its name, the program ran "x" where only "sort" was asked for'


class Failing(Harness):
    """Lists one benchmark, whose samples fail from the n-th launch on."""

    fixes_loops = False

    def __init__(self, error: LaunchError, since: int) -> None:
        self.error, self.left = error, since

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        return launch

    def listed(self, measured: Measured) -> list[Listed]:  # noqa: ARG002
        return [Listed("sort")]

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:  # noqa: ARG002
        return launch

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:  # noqa: ARG002
        if work.name != "sort":
            raise NO_SUCH
        self.left -= 1
        if self.left < 0:
            raise self.error
        return (Sample(100, 100_000),) * work.samples


def looked(error: LaunchError, since: int) -> dict[str, Looked]:
    machine = Machine(lambda *_: PLAIN)
    make: Any = lambda _: LaunchSpec(b"it", (b"it",), ())  # noqa: E731
    checker = Checker(make, Runner(machine), 20.0, lambda _: None, 1, machine.clock)
    return {one.code: one for one in checker.benchmarks(Failing(error, since), ["sort"], ["sort"])}


@pytest.mark.parametrize("since", [0, 1, 2, 30])
def test_a_body_that_vanishes_is_optimised_away_whenever_it_is_seen(since: int) -> None:
    found = looked(VanishedError("took 230 ns for 1,000,000,000 iterations"), since)
    assert {code for code, one in found.items() if one.outcome == "trouble"} == {"optimised-away"}
    assert "sort took 230 ns for 1,000,000,000 iterations" in found["optimised-away"].finding
    assert (found["name"].outcome, found["does-not-run"].outcome) == ("sound", "sound")
    assert found["drift"].finding == "it takes no time that could be judged"


@pytest.mark.parametrize("since", [0, 1, 2, 30])
def test_a_benchmark_that_fails_does_not_run_and_says_why(since: int) -> None:
    found = looked(LaunchError("says: no input"), since)
    assert [code for code, one in found.items() if one.outcome == "trouble"] == ["does-not-run"]
    assert "name" not in found["does-not-run"].remedy
    assert found["does-not-run"].finding.startswith("after" if since else "asked for alone")
    assert "sort says: no input" in found["does-not-run"].finding
    assert found["drift"].outcome == "untried"
