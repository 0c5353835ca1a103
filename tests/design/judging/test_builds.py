"""A suite's change may come from the build around a benchmark, and not from its code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.builds import equal_programs_finding, one_build_finding
from steelyard.design.judging.judgement import verdicts
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, RevisionFacts
from tests.model.samples import row, subject, weighing


def record(digests: tuple[str | None, str | None] = ("a", "b"), *, benchmarks: int = 2, **settings: Any) -> Weighing:
    """Return a suite whose first benchmark takes half as much again of everything; the others have not changed."""
    noise = np.random.default_rng(1).normal(1e7, 1e4, (12, 2, benchmarks))
    rows = []
    for pair, side, number in np.ndindex(noise.shape):
        more = 1 + side * (number == 0) / 2
        cpu_ns, faults = int(noise[pair, side, number] * more), int(300 * more)
        rows.append(row(pair, side, benchmark=number, cpu_ns=cpu_ns, minor_faults=faults))
    of = [
        subject(name).model_copy(update={"digest": digest, "program": f"/{name}/program"})
        for name, digest in zip("ab", digests, strict=True)
    ]
    named = [Benchmark(name=f"{number}") for number in range(benchmarks)]
    asked = Settings(**{"harness": "divan", "metrics": ["cpu"], **settings})
    return weighing(rows, subjects=of, benchmarks=named, stop=["pairs"] * benchmarks, settings=asked)


def in_revisions(of: Weighing) -> Weighing:
    revision = RevisionFacts(name="main", commit=None, tree="1" * 40, build="make")
    return of.model_copy(update={"subjects": [one.model_copy(update={"revision": revision}) for one in of.subjects]})


def said(of: Weighing) -> list[bool]:
    return [any(finding.code == "one-build" for finding in verdict.findings) for verdict in verdicts(of)]


def test_what_changed_in_a_suite_of_two_builds_may_be_due_to_what_else_did() -> None:
    assert said(record()) == [True, False]
    assert one_build_finding(record(), 0, "cpu", "slower")
    assert not one_build_finding(record(layouts=2), 0, "cpu", "slower")


@pytest.mark.parametrize(
    "other",
    [
        record(("a", "a")),
        record((None, "b")),
        record(harness="pyperf"),
        record(harness=None),
        record(benchmarks=1),
        record(metrics=["minor_faults"]),
    ],
)
def test_it_is_not_said_of_one_file_of_scripts_of_one_benchmark_or_of_counts(other: Weighing) -> None:
    assert verdicts(other)[0].verdict == "slower"
    assert not any(said(other))


def test_so_may_what_changed_in_a_suite_of_scripts_between_two_builds_of_what_they_load() -> None:
    def of(*libraries: str | None) -> Weighing:
        loading = in_revisions(record(harness="pyperf"))
        for place, (one, digest) in enumerate(zip(loading.subjects, libraries, strict=True)):
            assert one.revision is not None
            revision = one.revision.model_copy(update={"libraries": digest})
            loading.subjects[place] = one.model_copy(update={"revision": revision})
        return loading

    assert said(of("a", "b")) == [True, False]
    assert not any(said(of("a", "a")))
    assert not any(said(of(None, "b")))


@pytest.mark.parametrize("harness", ["divan", None])
def test_what_changed_between_two_copies_of_one_program_is_said_to_be_of_such(harness: str | None) -> None:
    copies = in_revisions(record(("a", "a"), harness=harness))
    assert any(finding.code == "equal-programs" for finding in verdicts(copies)[0].findings)
    assert not any(finding.code == "equal-programs" for finding in verdicts(copies)[1].findings)


def test_copies_that_wait_for_another_program_may_differ_in_what_that_one_does() -> None:
    copies = in_revisions(record(("a", "a"), harness=None))
    of_work = equal_programs_finding(copies, 0, "cpu", "slower")
    rows = [one._replace(wall_ns=5 * one.wall_ns) for one in copies.launches.rows()]
    clients = copies.model_copy(update={"launches": Launches.of_rows(rows)})
    of_clients = equal_programs_finding(clients, 0, "cpu", "slower")
    assert of_work is not None
    assert of_clients is not None
    assert "another program" not in of_work.message
    assert "in what another program, such as a server, does for them" in of_clients.message
    assert of_work.remedy == "--metric instructions tells whether they do the same work"
    assert of_clients.remedy is None


@pytest.mark.parametrize("harness", ["divan", "protocol", None])
def test_the_remedy_for_copies_is_given_where_they_can_be_counted(harness: str | None) -> None:
    found = equal_programs_finding(in_revisions(record(("a", "a"), harness=harness)), 0, "cpu", "slower")
    assert found is not None
    assert (found.remedy is not None) == (harness != "divan")


@pytest.mark.parametrize(
    ("harness", "name"), [("pytest-benchmark", "pytest"), ("protocol", "python3.11"), (None, "node")]
)
def test_what_is_interpreted_differs_in_its_files_and_not_in_the_program(harness: str | None, name: str) -> None:
    copies = in_revisions(record(("a", "a"), harness=harness))
    for place, one in enumerate(copies.subjects):
        copies.subjects[place] = one.model_copy(update={"program": f"/{place}/.venv/bin/{name}"})
    assert verdicts(copies)[0].verdict == "slower"
    assert not equal_programs_finding(copies, 0, "cpu", "slower")


def test_copies_that_env_starts_are_known_by_their_folders() -> None:
    record_of_env = in_revisions(record(("a", "a")))
    for place, one in enumerate(record_of_env.subjects):
        of = {"argv": ["env", "-C", "parse", "./p"], "program": "/usr/bin/env", "directory": f"/{place}"}
        record_of_env.subjects[place] = one.model_copy(update=of)
    assert equal_programs_finding(record_of_env, 0, "cpu", "slower")


def test_it_is_not_said_of_two_programs_of_a_single_file_of_two_commands_or_of_counts() -> None:
    one_file = in_revisions(record(("a", "a")))
    one_file.subjects[1] = one_file.subjects[1].model_copy(update={"program": one_file.subjects[0].program})
    for other in (in_revisions(record()), in_revisions(record((None, None))), one_file, record(("a", "a"))):
        assert not equal_programs_finding(other, 0, "cpu", "slower")
    assert not equal_programs_finding(in_revisions(record(("a", "a"))), 0, "minor_faults", "slower")
