"""Catch2 (2.11.2 and later): its XML reporter, which tells the mean of every BENCHMARK that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ParseError, fromstring

from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.subjects.harness import Listed, Work
from steelyard.subjects.responses import (
    MOST_CHARACTERS,
    RESULTS_FILE,
    check_name,
    check_only,
    checked_list,
    end_of_stderr,
    escaped,
    file_holds,
    quoted,
    results_of,
    sample_of,
    shown,
    with_arguments,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

# In a program that has the library in it, and in one that loads it.
_SIGNS = (b"benchmark-no-analysis", b"Catch9Benchmark")

# What Catch2 says about a body that takes no time.
_VANISHED = "optimized away"
_SEPARATOR = " / "
_SPECIAL = re.compile(r'[\\,"]')

# A sample takes a thousand of the clock's ticks, about 30 us, or one iteration. Only their mean is told, and one
# interruption spoils it: with two and a half programs per processor, means of 3, 10, 30 and 100 samples of one body
# were more than 5 % off in 0, 3, 3 and 8 of 8 launches.
_SAMPLES = 5
_WARM_UP_MS = 1

# More than any test has, and more than a name has room for.
_MOST_SECTIONS = 250

# What we give; a second time, Catch2 says that it does not recognise it.
_GIVEN = ("--reporter", "--out", "--benchmark-samples", "--benchmark-warmup-time", "--benchmark-no-analysis")
_REFUSED = re.compile(r"^Error\(s\) in input:\s+(.+)$", re.MULTILINE)
_TAG = re.compile(r"\[([^][]+)\]")
_HIDDEN = (".", "!hide")


@dataclass(frozen=True)
class Result:
    """A BENCHMARK that ran: its test case, its name including that, all loops and their time, or an error; the tags."""

    test: str
    name: str
    loops: int = 0
    ns: float = 0.0
    error: str = ""
    tags: tuple[str, ...] = ()

    def sample(self) -> Sample:
        """Return its sample; raises LaunchError if there is none.

        It is listed even so, as a wait while Catch2 examines its clock can make the mean 0.
        """
        if self.error:
            raise (VanishedError if _VANISHED in self.error else LaunchError)(f"says: {self.error}")
        return sample_of(self.loops, self.ns)


class Catch2(StillHarness):
    """Drives test programs with Catch2's BENCHMARKs in them; a launch runs the test case of one and has one sample."""

    fixes_loops = False
    most_amounts = 4
    samples_a_launch = 1

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether Catch2 with its benchmarks is part of the program, or is loaded by it."""
        return any(file_holds(launch.program, sign) for sign in _SIGNS)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that runs every test of the command, as nothing else tells which BENCHMARKs they have."""
        return _with_catch2_arguments(launch, samples=1, warm_up_ms=0)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the benchmarks that ran, in their order; raises LaunchError if there are none.

        Several may have one name, such as those of a GENERATE's values. It is listed once, and is an error when run.
        """
        results = results_from(results_of(measured))
        if not results:
            raise LaunchError(
                "ran no BENCHMARK of Catch2: name the tests that have some in the command, as in './tests "
                "[!benchmark]' (tests that are hidden run only so), and define CATCH_CONFIG_ENABLE_BENCHMARKING for "
                "Catch2 2"
            )
        firsts: dict[str, Listed] = {}
        for result in results:
            firsts.setdefault(result.name, Listed(result.name, result.tags))
        return checked_list(firsts.values())

    def complaint(self, measured: Measured) -> str | None:
        """Return which test failed, or which of our arguments the command already has or the program does not know."""
        if refused := _REFUSED.search(end_of_stderr(measured)):
            is_ours = refused[1].endswith(_GIVEN)
            hint = " (steelyard gives it, too: leave it out; before 2.11.2 Catch2 lacks some)" if is_ours else ""
            return f"says: {refused[1][:MOST_CHARACTERS]}{hint}"
        try:
            return _failure(_parse_xml(measured.results or b""))
        except LaunchError:
            return None

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that runs the test case of a benchmark."""
        launch_of_test = _with_catch2_arguments(
            launch, _test_of(work.name), samples=work.loops * _SAMPLES, warm_up_ms=_WARM_UP_MS
        )
        return self.with_still_clock(launch_of_test, work)

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return the sample of the benchmark, whatever else its test case has; raises LaunchError if there is none."""
        results = results_from(results_of(measured))
        matching = [result for result in results if result.name == work.name]
        tests = [result.test for result in results]
        check_only([work.name] if matching else [result.name for result in results], work.name)
        check_only(tests, matching[0].test)
        if len(matching) > 1:
            raise SelectionError(
                f"ran {shown(work.name)} {len(matching)} times: each benchmark needs a name of its own"
            )
        return self.without_waits([matching[0].sample()], work)


def _with_catch2_arguments(launch: LaunchSpec, *tests: str, samples: int, warm_up_ms: int) -> LaunchSpec:
    return with_arguments(
        launch,
        *tests,
        *("--reporter", "xml", "--out", RESULTS_FILE),
        *("--benchmark-samples", str(samples), "--benchmark-no-analysis", "--benchmark-warmup-time", str(warm_up_ms)),
    )


def _test_of(name: str) -> str:
    """Return what selects a benchmark's test case: its name up to each separator, as test names may contain one too."""
    parts = name.split(_SEPARATOR)
    names = [_SEPARATOR.join(parts[:end]) for end in range(1, max(2, len(parts)))]
    # In quotes only these are special, not even a `[` or `-` at the beginning.
    return ",".join('"' + escaped(one, _SPECIAL) + '"' for one in names)


def results_from(text: bytes | str) -> list[Result]:
    """Return all BENCHMARKs in a report of Catch2's XML reporter; raises LaunchError for anything else."""
    return [
        replace(result, tags=tuple(tag for tag in _TAG.findall(test.get("tags", "")) if tag not in _HIDDEN))
        for test in _parse_xml(text).iter("TestCase")
        for result in _results_within(test, test.get("name"), ())
    ]


def _parse_xml(text: bytes | str) -> Element:
    if not text.strip():
        raise LaunchError("wrote no XML report: is it a test program with Catch2, and did it run to its end?")
    if (b"<!DOCTYPE" if isinstance(text, bytes) else "<!DOCTYPE") in text:  # type: ignore[operator] # it is of one kind
        raise LaunchError(f"wrote an XML report with declarations of its own, as Catch2 writes none: {quoted(text)}")
    try:
        report = fromstring(text)  # noqa: S314 (written by the program that the user has us run)
    except (ParseError, ValueError, LookupError) as error:
        raise LaunchError(f"wrote an XML report that is none, or was cut: {quoted(text)}") from error
    if not report.tag.startswith("Catch"):
        raise LaunchError(f"wrote XML that is no report of Catch2: {quoted(text)}")
    return report


def _results_within(element: Element, test: str | None, sections: tuple[str, ...]) -> Iterator[Result]:
    if len(sections) > _MOST_SECTIONS:
        raise LaunchError(f"wrote a report with more than {_MOST_SECTIONS} sections within each other: {shown(test)}")
    for inner in element:
        if inner.tag == "Section":
            yield from _results_within(inner, test, (*sections, inner.get("name", "")))
        elif inner.tag == "BenchmarkResults":
            name = check_name(test)  # checked only here, as the name of a test without benchmarks may be anything
            yield _result(inner, name, _SEPARATOR.join((name, *sections, check_name(inner.get("name")))))


def _result(element: Element, test: str, name: str) -> Result:
    failed, mean = element.find("failed"), element.find("mean")
    if failed is not None or mean is None:
        message = None if failed is None else failed.get("message")
        return Result(test, name, error=(message or "the benchmark has no mean")[:MOST_CHARACTERS])
    try:
        loops = int(element.get("samples", "")) * int(element.get("iterations", ""))
        ns = float(mean.get("value", "")) * loops
    except (ValueError, OverflowError) as error:
        raise LaunchError(f"gave {shown(name)} samples, iterations or a mean that are no numbers") from error
    return Result(test, name, loops, ns)


def _failure(report: Element) -> str | None:
    """Return what the first test case that failed says."""
    for test in report.iter("TestCase"):
        outcome = test.find("OverallResult")
        if outcome is None or outcome.get("success") == "true":
            continue
        message = next(
            (element.text for element in test.iter() if element.tag in ("Exception", "Failure", "Info")), None
        )
        expanded = next((element.text for element in test.iter("Expanded")), None)
        reason = " ".join((message or expanded or "").split())
        return f"says: the test case {shown(test.get('name'))} fails{': ' if reason else ''}{reason[:MOST_CHARACTERS]}"
    return None
