"""What `go test -bench` prints: the lines of -count are samples of one process; a file may have several processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.model.errors import LaunchError
from steelyard.model.findings import Finding
from steelyard.model.foreign import PROCESSOR
from steelyard.model.grouping import grouped
from steelyard.report.figures import first_few
from steelyard.subjects.adapters.go import PANIC, GoResult, processed_in, results_in, untimed_in
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, facts
from steelyard.subjects.responses import quoted

_TIME = "ns/op"
_RESULT = re.compile(r"^Benchmark\S*[ \t]+[0-9]+\s.*\sns/op", re.MULTILINE)
_KEY = re.compile(r"(goos|goarch|pkg|cpu): (.+)")
_END = re.compile(r"(PASS|FAIL|ok)(\s.*)?")
_FAILED = re.compile(r"^[ \t]*--- FAIL: (Benchmark\S*)", re.MULTILINE)
_MOST_CHARACTERS = 200
_FAIL, _UNTIMED = "it says FAIL", "it tells no time (ns/op), or none that is a number"


@dataclass
class _Process:
    """What one test binary printed, including what it says about itself."""

    keys: dict[str, str]
    lines: list[str] = field(default_factory=list)
    says_what_it_is: bool = False
    """Whether it begins with its keys; what a TestMain prints before them, or after PASS, belongs to no process."""
    has_ended: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def named(self, name: str) -> str:
        """Return a benchmark's name with its package, as another package may have one of the same name."""
        return f"{self.keys['pkg']}.{name}" if "pkg" in self.keys else name


def _recognises(opened: Opened) -> bool:
    return opened.json is None and _RESULT.search(opened.text) is not None


def _read(opened: Opened) -> Contents:
    _check_complete(opened.text)
    processes = list(_processes(opened.text))
    results = ((process, result) for process in processes for result in results_in(process.text))
    timed = grouped(results, lambda pair: pair[0].named(pair[1].name))
    failed = {process.named(name) for process in processes for name in _FAILED.findall(process.text)}
    untimed = {process.named(name) for process in processes for name in untimed_in(process.text)}
    without_times = {**dict.fromkeys(sorted(failed), _FAIL), **dict.fromkeys(sorted(untimed - failed), _UNTIMED)}
    benchmarks = [_benchmark(name, group, _FAIL if name in failed else "") for name, group in timed.items()]
    benchmarks += [
        FoundBenchmark(name, _TIME, [], error=error) for name, error in without_times.items() if name not in timed
    ]
    return Contents(benchmarks, machine=_machine(processes), findings=_cut_findings(processes))


def _processes(text: str) -> Iterator[_Process]:
    """Split a text into processes: each begins with its keys (goos, pkg, ...), and ends with PASS."""
    current = _Process({})
    for line in text.splitlines():
        key = _KEY.fullmatch(line.strip())
        if current.lines and (key or current.has_ended):
            yield current
            current = _Process(dict(current.keys))
        if key:
            current.keys[key[1]] = key[2]
            current.says_what_it_is = True
        elif _END.fullmatch(line):
            current.has_ended = bool(current.lines)
        else:
            current.lines.append(line)
    if current.lines:
        yield current


def _check_complete(text: str) -> None:
    if panic := PANIC.search(text):
        raise LaunchError(f"ended before its time: {panic[0][:_MOST_CHARACTERS]}")
    last = text[text.rfind("\n") + 1 :]
    if last.startswith("Benchmark") and not results_in(last):
        raise LaunchError(f"wrote a last line that was cut: {quoted(last)}")


def _benchmark(name: str, results: list[tuple[_Process, GoResult]], error: str) -> FoundBenchmark:
    by_process = grouped(results, lambda pair: id(pair[0]))
    values = [[result.values[_TIME] for _, result in group] for group in by_process.values()]
    seconds = sum(result.loops * result.values[_TIME] for _, result in results) / 1e9
    processed = processed_in(result for _, result in results)
    return FoundBenchmark(name, _TIME, values, seconds=seconds, error=error, processed=processed)


def _machine(processes: list[_Process]) -> dict[str, str]:
    processors = list(dict.fromkeys(process.keys["cpu"] for process in processes if "cpu" in process.keys))
    if len(processors) > 1:
        raise LaunchError(
            f"was run on different machines ({', '.join(processors[:2])}): import each one's results alone"
        )
    keys = processes[0].keys if processes else {}
    system = "/".join(keys[key] for key in ("goos", "goarch") if key in keys)
    return facts(system=system, **{PROCESSOR: keys.get("cpu")})


def _cut_findings(processes: list[_Process]) -> list[Finding]:
    cut = [
        process
        for process in processes
        if not process.has_ended and (process.says_what_it_is or _RESULT.search(process.text))
    ]
    if not cut:
        return []
    message = (
        f"no PASS stands after {first_few([*map(_last_of, cut)], 3)}: it is not told whether others are missing there"
    )
    return [Finding(code="no-end", message=message)]


def _last_of(process: _Process) -> str:
    """Return the last benchmark with a result of a process, or else its package."""
    results = results_in(process.text)
    return process.named(results[-1].name) if results else f"the beginning of {process.keys.get('pkg', 'a package')}"


GO = Format("go", "go test", _recognises, _read)
