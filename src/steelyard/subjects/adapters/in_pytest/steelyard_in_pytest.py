"""A plugin for the user's pytest, which lists the tests that use `benchmark`, or runs one of them and no other.

Or several, each in a process of its own that is forked where all are loaded and none has run.

It is loaded by `-p steelyard_in_pytest` into an environment that need not have Steelyard, and may have an older Python:
nothing but pytest is imported, and nothing but public hooks and methods of pytest-benchmark is used.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from functools import partial

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any, NoReturn

FIXTURE = "benchmark"
# {"run": the node id, "loops": N, "samples": K}; {"each": [such, ...]} for several, each with its "turn" where the
# other side's launch runs beside; or {} for the list.
_ORDER = "STEELYARD_BENCHMARK"
_RESULTS, _OTHER = 3, 4
# Plugins that would run tests in other processes, or trace the body, and the words that turn them off.
_QUIET = {"xdist": ["-n0", "--dist=no"], "pytest_cov": ["--no-cov"]}
# What would write files in each launch, compare with them, or profile the body.
_OFF: dict[str, object] = {
    "benchmark_save": None,
    "benchmark_autosave": None,
    "benchmark_compare": [],
    "benchmark_compare_fail": None,
    "benchmark_histogram": [],
    "benchmark_csv": [],
    "benchmark_cprofile": None,
}
_OF_PYTEST = {"benchmark", "filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}


# As in steelyard.harness.worker: other threads and children may work so much without being noticed.
_MOST_ELSEWHERE, _LEAST_ELSEWHERE_NS = 0.01, 1_000_000


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Turn off what would be in the way, and say what is missing."""
    if not early_config.pluginmanager.hasplugin(FIXTURE):
        raise pytest.UsageError(_said("pytest-benchmark is not installed for this Python, or is turned off"))
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = [
        word for name, words in _QUIET.items() if early_config.pluginmanager.hasplugin(name) for word in words
    ]
    early_config.known_args_namespace.no_cov = True  # pytest-cov looks there, before the words are read again


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start what this file does in this run of pytest."""
    for name, value in _OFF.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    config.pluginmanager.register(Run(config, json.loads(os.environ.get(_ORDER, "{}"))), "steelyard-run-benchmark")


# Time on a processor of this thread, of everything, and its time waiting for one, before and after each round.
_noted: list[tuple[int, int, int]] = []


def clock() -> float:
    """pytest-benchmark's clock; it notes what the scheduler says, as far outside of the round as can be.

    The wait is read next to the clock: where the kernel is asked for a processor's time it also looks whether others
    wait for the processor, and that wait would not be in the round.
    """
    if len(_noted) % 2:
        now, waited = time.perf_counter(), _waited()
        _noted.append((time.thread_time_ns(), _worked(), waited))
        return now
    everything, own = _worked(), time.thread_time_ns()
    _noted.append((own, everything, _waited()))
    return time.perf_counter()


def _worked() -> int:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + int(1e9 * (children.ru_utime + children.ru_stime))


def _waited() -> int:
    scheduled = _scheduled("/proc/thread-self/schedstat")
    return -1 if scheduled is None else scheduled[1]


def _scheduled(path: str) -> tuple[int, int, int] | None:
    """Time on a processor, waiting for one, and times put on one; None where the kernel does not tell."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as little as can be beside a round
            worked, waited, timeslices = map(int, file.read().split()[:3])
    except (OSError, ValueError):
        return None
    return (worked, waited, timeslices) if worked else None


def _rounds() -> list[tuple[int, int | None]]:
    """Of each round the time on a processor and waiting for one, in ns; nothing where other threads worked."""
    if not _noted or len(_noted) % 2:
        return []
    own, everything = (_noted[-1][place] - _noted[0][place] for place in (0, 1))
    if everything - own > max(_MOST_ELSEWHERE * own, _LEAST_ELSEWHERE_NS):
        return []
    return [
        (end[0] - start[0], end[2] - start[2] if start[2] >= 0 <= end[2] else None)
        for start, end in zip(_noted[::2], _noted[1::2])  # noqa: B905 - Python 3.9 has no `strict`
    ]


class Run:
    """The hooks that list, or choose one test and fix how much it runs."""

    def __init__(self, config: pytest.Config, order: dict[str, Any]) -> None:
        self._config = config
        self._each: list[dict[str, Any]] = order.get("each", [])
        self._names = [one["run"] for one in self._each or [order] if "run" in one]
        self._loops, self._samples = order.get("loops", 1), order.get("samples", 1)
        self._failed = False
        self._measured: Any = None

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave all other files of tests alone: importing them would cost time and memory in each launch."""
        if not self._names or collection_path.name == "__init__.py" or not collection_path.is_file():
            return None
        wanted = (os.path.normpath(self._config.rootpath / name.partition("::")[0]) for name in self._names)
        return str(collection_path) not in wanted or None

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
        """A file of tests that cannot be loaded, or a test that failed."""
        if call.excinfo is not None:
            error = call.excinfo.value
            cause = error.__cause__ if isinstance(error, pytest.Collector.CollectError) else None
            text = " ".join(str(cause or error).split())[:200]
            self._fail(f"{node.nodeid}: {type(cause or error).__name__}: {text}")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose the tests, out of those that the user's own words leave."""
        if not self._names:
            return
        chosen = [item for item in items if item.nodeid in self._names and _measures(item)]
        others = [item for item in items if item not in chosen]
        items[:] = chosen
        self._config.hook.pytest_deselected(items=others)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """List instead of running; run only what there is once."""
        if session.testsfailed:
            return None  # pytest itself says that some files cannot be loaded
        if not self._names:
            listed = [_entry(item) for item in sorted(session.items, key=_place) if _measures(item)]
            _write({"benchmarks": listed})
            return True
        for name in self._names:
            found = sum(item.nodeid == name for item in session.items)
            if found != 1:
                how_many = "more than one test is" if found else "no test that uses the benchmark fixture is"
                self._fail(f"{how_many} called {name}")
                raise pytest.UsageError(f"{how_many} called {name}")
        return self._run_each(session) if self._each else None

    def _run_each(self, session: pytest.Session) -> bool:
        """Run every test in a process of its own, one after the other, and say what came of each."""
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - as little as can be is imported
        if threads > 1:  # they are not in a process that is forked, and what they held is held there for ever
            self._fail(f"{threads} threads run when the tests are loaded")
            raise pytest.UsageError("threads run when the tests are loaded")
        items = {item.nodeid: item for item in session.items}
        turns = _Turns([one["turn"] for one in self._each if "turn" in one])
        for one in self._each:
            turns.wait()
            numbers = _forked(partial(self._run_alone, items[one["run"]], one))
            turns.hand_over()
            _write(numbers)
        turns.wait()
        return True

    def _run_alone(self, item: pytest.Item, order: dict[str, Any]) -> bool:
        """Run one test in this process, which ends after it; whether it went well."""
        item.session.items[:] = [item]
        self._loops, self._samples = order["loops"], order["samples"]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        told = getattr(self._measured, "stats", None)
        if not self._failed and told is not None:
            stats = {"iterations": told.iterations, "data": list(told.stats.data)}
            _write({"benchmarks": [{"fullname": item.nodeid, "stats": stats}], "steelyard": _rounds()})
        return not self._failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Have `benchmark(...)` take as many samples, of as many iterations, as were asked for."""
        self._measured = benchmark = getattr(item, "funcargs", {}).get(FIXTURE)
        if benchmark is None:
            return
        loops, samples, theirs = self._loops, self._samples, type(benchmark)

        def measure(self: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
            _noted.clear()
            return self.pedantic(function, args=args, kwargs=kwargs, rounds=samples, iterations=loops)

        # Python looks for __call__ in the type: this object gets a type of its own.
        benchmark.__class__ = type(theirs.__name__, (theirs,), {"__call__": measure})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that was skipped, or was expected to fail."""
        if hasattr(report, "wasxfail"):
            self._fail("the test is expected to fail: it cannot be a benchmark")
        elif report.skipped:
            reason = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else "no reason given"
            self._fail("the test was skipped: " + reason.replace("Skipped: ", "", 1))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """An empty list is one; a test that was skipped is no benchmark."""
        if self._failed and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not self._failed:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(optionalhook=True)
    def pytest_benchmark_update_json(self, output_json: dict[str, Any]) -> None:
        """Tell what pytest-benchmark does not."""
        output_json["steelyard"] = _rounds()

    # What is costly to find out, and not read.

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_benchmark_generate_machine_info(self) -> dict[str, Any]:
        """Nothing: the record of the weighing has the machine."""
        return {"cpu": {}}

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_benchmark_generate_commit_info(self) -> dict[str, Any]:
        """Nothing: it would start git."""
        return {"id": "unversioned", "dirty": False}

    def _fail(self, message: str) -> None:
        if not self._failed:
            _said(message)
        self._failed = True


def _measures(item: pytest.Item) -> bool:
    """Whether a test is a benchmark, and not one that is skipped whatever happens."""
    conditions = (condition for mark in item.iter_markers("skipif") for condition in mark.args)
    skipped = item.get_closest_marker("skip") is not None or any(condition is True for condition in conditions)
    return FIXTURE in getattr(item, "fixturenames", ()) and not skipped


def _place(item: pytest.Item) -> tuple[str, int, tuple[int, ...], str]:
    """Where a test stands, for a list that is the same where a plugin shuffles the tests."""
    file, line, _ = item.location
    return file, line or 0, tuple(getattr(getattr(item, "callspec", None), "indices", {}).values()), item.nodeid


def _entry(item: pytest.Item) -> dict[str, Any]:
    params = getattr(getattr(item, "callspec", None), "params", {})
    texts = {name: _text(value) for name, value in params.items()}
    tags = dict.fromkeys(mark.name for mark in item.iter_markers() if mark.name not in _OF_PYTEST)
    return {"name": item.nodeid, "params": texts, "tags": list(tags)}


def _text(value: Any) -> str:
    """A value if it is plain, else its type: the text of other objects differs between processes."""
    return str(value)[:80] if isinstance(value, (str, int, float, bool)) or value is None else type(value).__name__


class _Turns:
    """Turns with the other side's launch: in each the one with 0 runs its test first, then the one with 1.

    Both begin when both have loaded the tests, and end when both have run them. If the other one goes, this one goes on
    alone. A byte through the socket says that the other one is ready, or has run another test.
    """

    def __init__(self, turns: list[int]) -> None:
        self._turns = turns
        self._is_alone = not turns
        self._run = self._told = 0
        self.hand_over()

    def wait(self) -> None:
        """Before the next test, and behind the last one."""
        turn = self._turns[self._run - 1] if self._run <= len(self._turns) else 0
        while not self._is_alone and self._told < self._run + turn:
            try:
                told = len(os.read(_OTHER, 1))
            except OSError:
                told = 0
            self._is_alone = not told
            self._told += told

    def hand_over(self) -> None:
        """Behind a test."""
        self._run += 1
        try:
            if not self._is_alone:
                os.write(_OTHER, b".")
        except OSError:
            self._is_alone = True


def _forked(run: Callable[[], bool]) -> dict[str, Any]:
    """Run something in a process of its own, and what that took; what it writes as results is `results`."""
    sys.stdout.flush()
    sys.stderr.flush()
    written = os.memfd_create("results")
    begun = time.monotonic_ns()
    child = os.fork()
    if child == 0:
        os.dup2(written, _RESULTS)
        _end_with(run)
    spawned = time.monotonic_ns()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    ended = time.monotonic_ns()
    scheduled = _scheduled(f"/proc/{child}/schedstat")  # while it is there
    _, status, used = os.wait4(child, 0)
    with os.fdopen(written, "rb") as file:
        file.seek(0)
        results = file.read().decode(errors="replace")
    cpu, delay, timeslices = scheduled or (None, None, None)
    user, system = (round(1e9 * seconds) for seconds in (used.ru_utime, used.ru_stime))
    numbers = {
        "start_ns": begun,
        "wall_ns": ended - begun,
        "spawn_ns": spawned - begun,
        "cpu_ns": cpu,
        "delay_ns": delay,
        "timeslices": timeslices,
        "user_ns": user,
        "sys_ns": system,
        "max_rss_bytes": 1024 * used.ru_maxrss,
        "minor_faults": used.ru_minflt,
        "major_faults": used.ru_majflt,
        "voluntary_switches": used.ru_nvcsw,
        "involuntary_switches": used.ru_nivcsw,
        "others_ns": None if cpu is None else max(0, user + system - cpu),
        "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
    }
    return {"numbers": numbers, "results": results}


def _end_with(run: Callable[[], bool]) -> NoReturn:
    """Run something, and end this process, without what the one that it was forked from does at its end."""
    status = 1
    try:
        status = 0 if run() else 1
    except BaseException as error:  # pytest.exit(), a signal, whatever a test does
        _said(f"{type(error).__name__}: {error}"[:200])
    finally:
        os._exit(status)


def _said(message: str) -> str:
    _write({"error": message})
    return message


def _write(line: dict[str, Any]) -> None:
    """One line, whole: a pipe takes as much as it likes."""
    text = (json.dumps(line) + "\n").encode()
    while text:
        text = text[os.write(_RESULTS, text) :]
