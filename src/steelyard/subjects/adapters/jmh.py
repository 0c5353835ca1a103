"""JMH (Java): the jar that its Maven archetype or a Gradle plugin builds, run as `java -jar benchmarks.jar`."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError, SelectionError
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import (
    RESULTS_FILE,
    arguments_of,
    asked,
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
)

if TYPE_CHECKING:
    from steelyard.model.launches import LaunchSpec, Measured, Sample

_MAIN = "org.openjdk.jmh.Main"
_LIST_IN_JAR = b"META-INF/BenchmarkList"
_MEASURE_NS = 10_000_000
# A fork: in the host's JVM the arguments of @Fork and the hints that keep the compiler from removing bodies are
# missing, and JMH itself advises against it. It costs 0.3 s a launch. The user's own words take precedence.
_DEFAULTS = {"-f": "1", "-wi": "5", "-w": "100ms", "-r": f"{_MEASURE_NS // 1_000_000}ms"}
# All other options of JMH are followed by a value, if it is not in the same word.
_WITHOUT_VALUE = ("-h", "-l", "-lp", "-lprof", "-lrf")
# Those of one letter may have it in the same word, where that is not the beginning of a longer one's name.
_OF_ONE_LETTER = ("-e", "-f", "-i", "-o", "-p", "-r", "-t", "-v", "-w")
_LONGER = ("-foe", "-opi", "-prof", "-rff", "-tg", "-to", "-tu", "-wbs", "-wf", "-wi", "-wmb")
# What is in the names, and a mode and a unit of its own, beside which JMH would run ours as well, or refuse both.
_CHOSEN = ("-p", "-bm", "-tu")
_HEAD = "Benchmarks:"
_MOST_PRODUCTS = 10_000
_PARAMETER = re.compile(r'  param "([^"]+)" = \{(.*)\}')
_SAID = (
    re.compile(r"^[ \t]*Suppressed: (.+)", re.MULTILINE),
    re.compile(r"^Error parsing command line:\s+(.+)", re.MULTILINE),
    re.compile(r"^.*\bERROR: (.+)", re.MULTILINE),
    re.compile(r"^(No matching benchmarks)", re.MULTILINE),
)


class Jmh(Harness):
    """Drives JMH; each product of a benchmark's @Param values is a benchmark: `pkg.Class.method:n=10,kind=small`."""

    fixes_loops = False
    tells_iterations = False

    def recognises(self, launch: LaunchSpec) -> bool:
        """Whether it starts JMH, or a jar with JMH's list of benchmarks."""
        arguments = arguments_of(launch)
        jar = arguments[arguments.index("-jar") + 1 :][:1] if "-jar" in arguments else []
        return _MAIN in arguments or any(file_holds(folder_of(launch) / path, _LIST_IN_JAR) for path in jar)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """The launch that lists the benchmarks and their parameters: all that the user's own patterns select."""
        return asked(launch, "-lp", stdout=True)

    def listed(self, measured: Measured) -> list[Listed]:
        """What it listed, in its order; raises LaunchError if that is no list."""
        return checked_list(benchmarks_of(printed_by(measured)))

    def complaint(self, measured: Measured) -> str | None:
        """The exception of a benchmark, or what JMH does not understand."""
        written = end_of_stderr(measured)
        found = next(filter(None, (pattern.search(written) for pattern in _SAID)), None)
        return f"says: {found[1].strip()}" if found else None

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """The launch that runs one benchmark, in a JVM that JMH forks."""
        arguments = _without_choice(arguments_of(launch))
        benchmark, params = _parts(work.name)
        given = {_option(argument)[0] for argument in arguments}
        defaults = itertools.chain.from_iterable(item for item in _DEFAULTS.items() if item[0] not in given)
        chosen = itertools.chain.from_iterable(("-p", param) for param in params)
        return asked(
            replace(launch, argv=tuple(map(os.fsencode, arguments))),
            *(rf"^\Q{benchmark}\E$", *chosen, *defaults, "-i", str(work.samples)),
            *("-bm", "avgt", "-tu", "ns", "-foe", "true", "-rf", "json", "-rff", RESULTS_FILE),
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """One sample for each iteration of JMH; raises LaunchError for anything else."""
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
    """How many processes they are of, each with as many: one, if the user does not say `-f 2`."""

    def samples(self) -> tuple[Sample, ...]:
        """Its times; raises LaunchError if they are no times of an operation in ns."""
        if (self.mode, self.unit) != ("avgt", "ns/op"):
            raise LaunchError(f"measured {shown(self.mode)} in {shown(self.unit)}, not the average time in ns/op")
        return tuple(map(_sample, self.raw))


def _sample(time: Any) -> Sample:
    """JMH tells the time of an operation, and not how many there were: about as many as the time allows."""
    if not is_number(time) or not isfinite(time) or time <= 0:
        return sample_of(1, time)  # which says what is wrong with it
    loops = max(1, int(min(_MEASURE_NS / time, 2.0**62)))
    return sample_of(loops, time * loops)


def benchmarks_of(text: str) -> list[Listed]:
    """The benchmarks in what -lp printed, one for each product of their parameters' values; raises LaunchError."""
    if not text.strip():
        raise LaunchError("printed nothing: do -o or -v in the command hide its list? Else it is no jar of benchmarks")
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.strip() == _HEAD), None)
    if start is None:
        raise LaunchError(f"printed no list of JMH's benchmarks, but {quoted(text)}: is it a jar of JMH benchmarks?")
    # JMH lists one of several modes once for each of them, and all are measured in the same mode here.
    found: dict[str, dict[str, list[str]]] = {}
    latest = ""
    for line in filter(str.strip, lines[start + 1 :]):
        parameter = _PARAMETER.fullmatch(line)
        if parameter and found:
            found[latest][parameter[1]] = parameter[2].split(", ")
        elif line[0].isspace() or " " in line.strip():
            raise LaunchError(f"listed what is no benchmark of JMH: {quoted(line)}")
        else:
            latest = line.strip()
            found.setdefault(latest, {})
    for name, values in found.items():
        if prod(map(len, values.values())) > _MOST_PRODUCTS:
            raise LaunchError(f"listed {shown(name)} with more than {_MOST_PRODUCTS:,} products of its parameters")
    products = ((name, params) for name, values in found.items() for params in _products(values))
    return [Listed(_name(name, params), params=params) for name, params in products]


def _products(values: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    for chosen in itertools.product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def results_in(text: bytes | str) -> list[Result]:
    """The results in JMH's JSON; raises LaunchError if that is none."""
    found = json_of(text, "file of JMH's results")
    try:
        return [_result(one) for one in (found if isinstance(found, list) else [found])]
    except (AttributeError, KeyError, TypeError) as error:
        raise LaunchError(f"wrote JSON that is no file of JMH's results: {quoted(text)}") from error


def _result(one: dict[str, Any]) -> Result:
    metric = one["primaryMetric"]
    raw = tuple(itertools.chain.from_iterable(metric["rawData"]))
    params = {str(key): str(value) for key, value in (one.get("params") or {}).items()}
    forks = max(1, len(metric["rawData"]))
    return Result(_name(str(one["benchmark"]), params), one["mode"], metric["scoreUnit"], raw, forks)


def _name(benchmark: str, params: dict[str, str]) -> str:
    """In an order of its own: that of JMH's results is another one than that of its list."""
    return f"{benchmark}:{','.join(f'{key}={params[key]}' for key in sorted(params))}" if params else benchmark


def _parts(name: str) -> tuple[str, list[str]]:
    """A benchmark's name for JMH, and its parameters: no value has a comma, as JMH would take it for two values."""
    benchmark, colon, params = name.partition(":")
    return benchmark, params.split(",") if colon else []


def _without_choice(arguments: list[str]) -> list[str]:
    """The user's arguments without patterns and values of parameters, which chose the list, and without other times."""
    start = (
        arguments.index(_MAIN) + 1
        if _MAIN in arguments
        else arguments.index("-jar") + 2
        if "-jar" in arguments
        else len(arguments)
    )
    kept, rest = arguments[:start], arguments[start:]
    while rest:
        words = [rest.pop(0)]
        name, value = _option(words[0])
        if not name.startswith("-"):
            continue
        if rest and value is None and name not in _WITHOUT_VALUE:
            words.append(rest.pop(0))
        kept += [] if name in _CHOSEN else words
    return kept


def _option(word: str) -> tuple[str, str | None]:
    """An option's name, and its value where that is in the same word: `-f=1` and `-f1`, as JMH's parser takes them."""
    name, equals, value = word.partition("=")
    if name[:2] in _OF_ONE_LETTER and len(name) > 2 and not any(longer.startswith(name) for longer in _LONGER):
        return word[:2], word[2:]
    return name, value if equals else None
