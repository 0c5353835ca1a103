"""What of two kept runs can be compared at all, and what differs between them beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from steelyard.design.findings import some_names
from steelyard.design.unpaired.differences import OTHER_MACHINE, difference_finding, left_out_findings
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from steelyard.model.typed import typed

_MACHINE_FIELDS = {
    "processor": "cpu_model",
    "microcode": "microcode",
    "memory": "memory_bytes",
    "kernel": "kernel",
    "C library": "libc",
    "virtualization": "virtualization",
    "governor": "governor",
    "clock source": "clock_source",
    "address randomisation": "aslr",
}
_SETTINGS_FIELDS = {
    "--cpu": "cpu",
    "--repeat": "repeat",
    "--stdin": "stdin",
    "--output": "output",
    "--setup": "setup",
    "--prepare": "prepare",
    "--conclude": "conclude",
    "--warmup": "warm_up",
    "--heap-shuffle": "heap_shuffle",
    "--isolate": "isolate",
    "--ignore-failure": "ignore_failure",
    "names passed on from the environment": "environment",
    "working directory": "directory",
}
# Counts do not depend on these.
_TIMING_SETTINGS = ("cpu", "repeat", "output", "warm_up", "heap_shuffle", "isolate")
_PROGRAM_PATH = "program's path"
_SUBJECT_FIELDS = {"command": "command", _PROGRAM_PATH: "program", "--shell": "shell"}


def require_run(record: Weighing | Run | ForeignResults, path: Path) -> Run:
    """Return the run in that file; raises UsageError, saying what to do, for what is none, failed, or is empty."""
    if isinstance(record, ForeignResults):
        raise UsageError(
            f"{path} was imported from {record.provenance.tool}, and the other was measured by steelyard: these do not "
            "measure the same, so compare two imports or two runs"
        )
    if not isinstance(record, Run):
        raise UsageError(
            f"{path} is a weighing, which compares two sides by itself: look at it with steelyard show {typed(path)}; "
            "diff takes two runs, kept by steelyard run COMMAND -o FILE"
        )
    if all(reason == "failed" for reason in record.stop) or ("failed" in record.stop and not record.settings.harness):
        raise UsageError(f"{path} is a run that failed: measure it again with steelyard run")
    return record


def check_two(baseline: Run, candidate: Run) -> None:
    """Raise UsageError for a run and itself, however it was measured."""
    if all(getattr(baseline, name) == getattr(candidate, name) for name in ("created", "launches", "counting")):
        raise UsageError("A and B are the same run: give two that were measured one after the other")


def check_comparable(baseline: Run, candidate: Run, *, force: bool) -> None:
    """Raise UsageError for a run and itself, and for runs of different machines (unless forced)."""
    check_two(baseline, candidate)
    if baseline.machine.key != candidate.machine.key and not force:
        models = (baseline.machine.cpu_model or "unknown", candidate.machine.cpu_model or "unknown")
        raise UsageError(
            f"A and B were measured on different machines ({models[0]}, {baseline.machine.key}; {models[1]}, "
            f"{candidate.machine.key}), which differ by more than most changes: measure both on one, or give --force"
        )


def shared_benchmarks(baseline: Run, candidate: Run) -> list[tuple[int, int]]:
    """Return the places of the benchmarks to compare, by name.

    A single command is compared with a single one whatever their names. Benchmarks of a harness that failed in either
    run are left out.
    """
    kinds = [run.settings.harness for run in (baseline, candidate)]
    if kinds[0] != kinds[1]:
        raise UsageError("one of A and B measured benchmarks in a harness, and the other did not: measure both alike")
    if kinds[0] is None and len(baseline.benchmarks) == len(candidate.benchmarks) == 1:
        return [(0, 0)]
    mine, theirs = map(_measured_places, (baseline, candidate))
    shared = [(place, theirs[name]) for name, place in mine.items() if name in theirs]
    if not shared:
        raise UsageError(
            f"A and B have no benchmark in common: A has {some_names(list(mine)) or 'none'}, and B "
            f"{some_names(list(theirs)) or 'none'}: measure the same benchmarks in both"
        )
    return shared


def _measured_places(run: Run) -> dict[str, int]:
    """Return the places of the benchmarks that did not fail, by their names."""
    places = enumerate(zip(run.benchmarks, run.stop, strict=True))
    return {benchmark.name: place for place, (benchmark, reason) in places if reason != "failed"}


def unshared_findings(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Iterator[Finding]:
    """Yield findings that name the benchmarks that only one of the two has measured."""
    unshared = []
    for side, run in enumerate((baseline, candidate)):
        compared = {places[side] for places in shared}
        unshared.append([name for name, place in _measured_places(run).items() if place not in compared])
    yield from left_out_findings(unshared)


def differences(baseline: Run, candidate: Run) -> Iterator[Finding]:
    """Yield what else differs between two runs."""
    if baseline.machine.key != candidate.machine.key:
        yield OTHER_MACHINE
    sources: tuple[tuple[dict[str, str], object, object], ...] = (
        (_MACHINE_FIELDS, baseline.machine, candidate.machine),
        (_SETTINGS_FIELDS, baseline.settings, candidate.settings),
        ({"Steelyard version": "tool"}, baseline, candidate),
    )
    yield from _subject_differences(baseline.subjects[0], candidate.subjects[0])
    for names, one, other in sources:
        yield from _field_differences(names, one, other)
    yield from _variable_differences(baseline, candidate)


def _subject_differences(one: Subject, other: Subject) -> Iterator[Finding]:
    names = dict(_SUBJECT_FIELDS)
    if one.revision is not None and other.revision is not None:
        del names[_PROGRAM_PATH]  # the folders that builds are kept in always differ, in paths of one length
        yield from _difference("--build", one.revision.build, other.revision.build)
    if all(subject.argv[:1] == [subject.program] for subject in (one, other)):
        names.pop(_PROGRAM_PATH, None)  # the command says it
    if one.shell != other.shell:
        names.pop(_PROGRAM_PATH, None)  # one is the shell's, whose digest says nothing of what it runs
    yield from _field_differences(names, one, other)
    if one.shell == other.shell and one.digest != other.digest:
        digests = ((subject.digest or "unknown")[:12] for subject in (one, other))
        yield from _difference("program's digest (SHA-256)", *digests)


def counting_conditions_findings(baseline: Run, candidate: Run) -> Iterator[Finding]:
    """Yield what differs, beside the programs, of what counts depend on: the work, and what libraries choose by."""
    yield from _field_differences({"processor": "cpu_model"}, baseline.machine, candidate.machine)
    yield from _field_differences({"--shell": "shell"}, baseline.subjects[0], candidate.subjects[0])
    names = {what: field for what, field in _SETTINGS_FIELDS.items() if field not in _TIMING_SETTINGS}
    yield from _field_differences(names, baseline.settings, candidate.settings)
    yield from _variable_differences(baseline, candidate)


def _field_differences(names: dict[str, str], one: object, other: object) -> Iterator[Finding]:
    for what, field in names.items():
        yield from _difference(what, getattr(one, field), getattr(other, field))


def _variable_differences(baseline: Run, candidate: Run) -> Iterator[Finding]:
    changed = _changed_variables(baseline.settings.variables, candidate.settings.variables)
    if changed:  # their values may be secrets
        yield Finding(code="differs", message=f"environment variables set differently: {', '.join(changed)}")


def clock_differences(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Iterator[Finding]:
    """Yield findings on benchmarks that were timed in different ways."""
    for mine, theirs in shared:
        name = candidate.benchmarks[theirs].name
        yield from _difference(f"clock of {name}", _clock(baseline, mine), _clock(candidate, theirs))


def _clock(run: Run, benchmark: int) -> str:
    own = run.benchmarks[benchmark].clock
    if own == "process":
        return own
    stands_still = run.settings.clock == "still" and own != "plain"
    return "one that stands still while it waits" if stands_still else "the harness's own"


def _difference(what: str, one: object, other: object) -> Iterator[Finding]:
    if one == other:
        return
    if isinstance(one, list) and isinstance(other, list):
        one, other = ([item for item in mine if item not in rest] for mine, rest in ((one, other), (other, one)))
        if not one and not other:
            one, other = "one order", "another order"
    yield difference_finding(what, _value_text(one), _value_text(other))


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none of these"
    return "none" if value is None or value == "" else str(value)


def _changed_variables(one: dict[str, str | None], other: dict[str, str | None]) -> list[str]:
    known = [{name: value for name, value in each.items() if value is not None} for each in (one, other)]
    differing = {name for name in known[0].keys() & known[1].keys() if known[0][name] != known[1][name]}
    return sorted(differing | (one.keys() ^ other.keys()))  # of a value that no record holds nothing can be said
