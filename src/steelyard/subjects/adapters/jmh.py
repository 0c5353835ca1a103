"""JMH (Java): the jar that its Maven archetype or a Gradle plugin builds, run as `java -jar benchmarks.jar`."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError, SelectionError
from steelyard.model.placeholders import combinations
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import (
    RESULTS_FILE,
    arguments_of,
    check_count,
    check_only,
    checked_list,
    end_of_stderr,
    file_holds,
    folder_of,
    is_number,
    json_of,
    printed_by,
    quoted,
    results_of,
    sample_of,
    shown,
    with_arguments,
)

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

_MAIN = "org.openjdk.jmh.Main"
_LIST_IN_JAR = b"META-INF/BenchmarkList"
_MEASURE_NS = 10_000_000
# One fork: the host's JVM lacks the arguments of @Fork and the hints that keep the compiler from removing bodies, and
# JMH itself advises against it. A fork costs 0.3 s a launch. The user's own arguments take precedence.
_DEFAULTS = {"-f": "1", "-wi": "5", "-w": "100ms", "-r": f"{_MEASURE_NS // 1_000_000}ms"}
# All other options of JMH are followed by a value, unless that is in the same word.
_WITHOUT_VALUE = ("-h", "-l", "-lp", "-lprof", "-lrf")
# Options of one letter may have it in the same word, unless that begins the name of a longer option.
_OF_ONE_LETTER = ("-e", "-f", "-i", "-o", "-p", "-r", "-t", "-v", "-w")
_LONGER = ("-foe", "-opi", "-prof", "-rff", "-tg", "-to", "-tu", "-wbs", "-wf", "-wi", "-wmb")
# Parameters, which are in our names; and mode and unit, as JMH would run the user's besides ours, or refuse both.
_CHOSEN = ("-p", "-bm", "-tu")
_CONTRADICTING = frozenset({*_WITHOUT_VALUE, "-foe", "-i", "-o", "-rf", "-rff"})
_HEAD = "Benchmarks:"
_MOST_PRODUCTS = 10_000
_PARAMETER = re.compile(r'  param "([^"]+)" = \{(.*)\}')
_ERROR_MESSAGES = (
    re.compile(r"^[ \t]*Suppressed: (.+)", re.MULTILINE),
    re.compile(r"^Error parsing command line:\s+(.+)", re.MULTILINE),
    re.compile(r"^.*\bERROR: (.+)", re.MULTILINE),
    re.compile(r"^(No matching benchmarks)", re.MULTILINE),
)


class Jmh(Harness):
    """Drives JMH; each combination of a benchmark's @Param values is one: `pkg.Class.method:n=10,kind=small`."""

    fixes_loops = False
    tells_iterations = False

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the command starts JMH, or a jar with JMH's list of benchmarks."""
        arguments = arguments_of(launch)
        jar = arguments[arguments.index("-jar") + 1 :][:1] if "-jar" in arguments else []
        return _MAIN in arguments or any(file_holds(folder_of(launch) / path, _LIST_IN_JAR) for path in jar)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks that the user's patterns select, with their parameters.

        Raises UsageError for options that JMH would refuse beside ours, or with which it measures nothing.
        """
        check_options(launch, _CONTRADICTING, lambda word: _option(word)[0])
        return with_arguments(launch, "-lp", stdout=True)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list."""
        return checked_list(benchmarks_of(printed_by(measured)))

    def complaint(self, measured: Measured) -> str | None:
        """Return the exception of a benchmark, or what JMH does not understand."""
        stderr = end_of_stderr(measured)
        match = next(filter(None, (pattern.search(stderr) for pattern in _ERROR_MESSAGES)), None)
        return f"says: {match[1].strip()}" if match else None

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that runs one benchmark, in a JVM that JMH forks."""
        arguments = _without_choice(arguments_of(launch))
        benchmark, params = _parts(work.name)
        options_given = {_option(argument)[0] for argument in arguments}
        defaults = itertools.chain.from_iterable(item for item in _DEFAULTS.items() if item[0] not in options_given)
        chosen = itertools.chain.from_iterable(("-p", param) for param in params)
        return with_arguments(
            replace(launch, argv=tuple(map(os.fsencode, arguments))),
            *(rf"^\Q{benchmark}\E$", *chosen, *defaults, "-i", str(work.samples)),
            *("-bm", "avgt", "-tu", "ns", "-foe", "true", "-rf", "json", "-rff", RESULTS_FILE),
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return a sample for each iteration of JMH; raises LaunchError for anything else."""
        results = results_in(results_of(measured))
        check_only((result.name for result in results), work.name)
        if len(results) > 1:
            raise SelectionError(
                f"ran {shown(work.name)} {len(results)} times: JMH takes a comma in a value for two values"
            )
        return check_count(results[0].samples(), work.samples * results[0].forks)


@dataclass(frozen=True)
class Result:
    """One benchmark of JMH's results, with the times of its iterations as JMH wrote them."""

    name: str
    mode: str
    unit: str
    raw: tuple[Any, ...]
    forks: int
    """How many processes the times are from, each with as many: one, unless the user says otherwise, as by `-f 2`."""

    def samples(self) -> tuple[Sample, ...]:
        """Return its times as samples; raises LaunchError if they are not average times in ns."""
        if (self.mode, self.unit) != ("avgt", "ns/op"):
            raise LaunchError(f"measured {shown(self.mode)} in {shown(self.unit)}, not the average time in ns/op")
        return tuple(map(_sample, self.raw))


def _sample(time: Any) -> Sample:
    """Return the sample of an iteration, of as many operations as its time allows: JMH tells only the time of one."""
    if not is_number(time) or not isfinite(time) or time <= 0:
        return sample_of(1, time)  # which raises the proper error
    loops = max(1, int(min(_MEASURE_NS / time, 2.0**62)))
    return sample_of(loops, time * loops)


def benchmarks_of(text: str) -> list[Listed]:
    """Return the benchmarks in what -lp printed, one for each combination of parameter values; raises LaunchError."""
    if not text.strip():
        raise LaunchError("printed nothing: does -v in the command hide its list? Else it is no jar of benchmarks")
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.strip() == _HEAD), None)
    if start is None:
        raise LaunchError(f"printed no list of JMH's benchmarks, but {quoted(text)}: is it a jar of JMH benchmarks?")
    # JMH lists a benchmark once for each of its modes, but here all are measured in the same mode.
    values_by_benchmark: dict[str, dict[str, list[str]]] = {}
    latest = ""
    for line in filter(str.strip, lines[start + 1 :]):
        parameter = _PARAMETER.fullmatch(line)
        if parameter and values_by_benchmark:
            values_by_benchmark[latest][parameter[1]] = parameter[2].split(", ")
        elif line[0].isspace() or " " in line.strip():
            raise LaunchError(f"listed what is no benchmark of JMH: {quoted(line)}")
        else:
            latest = line.strip()
            values_by_benchmark.setdefault(latest, {})
    for name, values in values_by_benchmark.items():
        if prod(map(len, values.values())) > _MOST_PRODUCTS:
            raise LaunchError(f"listed {shown(name)} with more than {_MOST_PRODUCTS:,} products of its parameters")
    products = (
        (name, params) for name, values in values_by_benchmark.items() for params in combinations(values.items())
    )
    return [Listed(_name(name, params), params=params) for name, params in products]


def results_in(text: bytes | str) -> list[Result]:
    """Return the results in JMH's JSON; raises LaunchError for anything else."""
    return results_of_json(json_of(text, "file of JMH's results"), lambda: text)


def results_of_json(report: Any, text: Callable[[], bytes | str]) -> list[Result]:
    """Return the results in JMH's parsed JSON; raises LaunchError, which quotes its `text`, for other JSON."""
    try:
        return [_result(result) for result in (report if isinstance(report, list) else [report])]
    except (AttributeError, KeyError, TypeError) as error:
        raise LaunchError(f"wrote JSON that is no file of JMH's results: {quoted(text())}") from error


def _result(result: dict[str, Any]) -> Result:
    metric = result["primaryMetric"]
    raw = tuple(itertools.chain.from_iterable(metric["rawData"]))
    params = {str(key): str(value) for key, value in (result.get("params") or {}).items()}
    forks = max(1, len(metric["rawData"]))
    return Result(_name(str(result["benchmark"]), params), result["mode"], metric["scoreUnit"], raw, forks)


def _name(benchmark: str, params: dict[str, str]) -> str:
    """Return a name with sorted parameters, as their order in JMH's results differs from that in its list."""
    return f"{benchmark}:{','.join(f'{key}={params[key]}' for key in sorted(params))}" if params else benchmark


def _parts(name: str) -> tuple[str, list[str]]:
    """Split a name into JMH's own and the parameters; no value has a comma, which JMH would take for two values."""
    benchmark, colon, params = name.partition(":")
    return benchmark, params.split(",") if colon else []


def _without_choice(arguments: list[str]) -> list[str]:
    """Return the user's arguments, but no patterns and parameter values, which chose the list, and no mode or unit."""
    start = (
        arguments.index(_MAIN) + 1
        if _MAIN in arguments
        else arguments.index("-jar") + 2
        if "-jar" in arguments
        else len(arguments)
    )
    remaining, words_left = arguments[:start], arguments[start:]
    while words_left:
        words = [words_left.pop(0)]
        name, value = _option(words[0])
        if not name.startswith("-"):
            continue
        if words_left and value is None and name not in _WITHOUT_VALUE:
            words.append(words_left.pop(0))
        remaining += [] if name in _CHOSEN else words
    return remaining


def _option(word: str) -> tuple[str, str | None]:
    """Split a word into an option's name and its value, if it has one: JMH's parser takes `-f=1` and `-f1`."""
    name, equals, value = word.partition("=")
    if name[:2] in _OF_ONE_LETTER and len(name) > 2 and not any(longer.startswith(name) for longer in _LONGER):
        return word[:2], word[2:]
    return name, value if equals else None
