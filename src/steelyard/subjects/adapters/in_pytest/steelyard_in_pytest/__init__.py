"""A plugin for the user's pytest that lists the tests that use `benchmark`, or runs exactly one of them.

It can also run several, each in a process of its own, forked when all are loaded and none has run.

`-p steelyard_in_pytest` loads it into an environment that may lack Steelyard and have an older Python. So it imports
nothing but pytest, and uses only public hooks and methods of pytest-benchmark.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from functools import cached_property, partial

import pytest

from . import rounds
from .rounds import clock
from .shared import FIRST, Beside, Choosing, Partner, forked, threads_that_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FIXTURE", "Run", "clock"]

FIXTURE = "benchmark"
RESULTS, OTHER = 3, 4
# {"run": the node id, "loops": N, "samples": K}; {"each": [such, ...]} for several; or {} for the list. If the other
# side's launch runs at the same time, each has "turns", a digit for each sample.
_ORDER = "STEELYARD_BENCHMARK"
# The names of pytest-benchmark's plugin: by its entry point, and if `-p` loads it.
_THEIR_PLUGIN = ("benchmark", "pytest_benchmark.plugin")
# Plugins that would run tests in other processes or trace the body, and the options that turn them off.
_QUIET = {"xdist": ["-n0", "--dist=no"], "pytest_cov": ["--no-cov"]}
# Options that would skip all benchmarks, write files in each launch, compare with them, or profile the body.
_OFF: dict[str, object] = {
    "benchmark_skip": False,
    "benchmark_save": None,
    "benchmark_autosave": None,
    "benchmark_compare": [],
    "benchmark_compare_fail": None,
    "benchmark_histogram": [],
    "benchmark_csv": [],
    "benchmark_cprofile": None,
}
_OF_PYTEST = {"benchmark", "filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Turn off what would interfere, and say what is missing."""
    if not any(map(early_config.pluginmanager.hasplugin, _THEIR_PLUGIN)):
        raise pytest.UsageError(
            _said(
                f"pytest-benchmark is not installed for {sys.executable}, or is turned off: activate the environment "
                "that has it, or give the path of its Python in the command"
            )
        )
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = [
        word for name, words in _QUIET.items() if early_config.pluginmanager.hasplugin(name) for word in words
    ]
    early_config.known_args_namespace.no_cov = True  # pytest-cov looks there before the arguments are parsed again


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the hooks of this run."""
    for name, value in _OFF.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    config.pluginmanager.register(Run(config, json.loads(os.environ.get(_ORDER, "{}"))), "steelyard-run-benchmark")


class Run(Choosing):
    """The hooks that list tests, or choose one and fix how much it runs."""

    def __init__(self, config: pytest.Config, order: dict[str, Any]) -> None:
        super().__init__(config, FIXTURE)
        self._order = order
        self._each: list[dict[str, Any]] = order.get("each", [])
        self._loops, self._samples = order.get("loops", 1), order.get("samples", 1)
        self._turns: str = order.get("turns", "")
        self._other = OTHER if self._turns else -1
        self._is_forked = self._failed = False
        self._measured: Any = None

    @cached_property
    def _names(self) -> list[str]:
        return [one["run"] for one in self._each or [self._order] if "run" in one]

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
        """Report a file of tests that cannot be loaded, or a test that failed."""
        if call.excinfo is not None:
            error = call.excinfo.value
            cause = error.__cause__ if isinstance(error, pytest.Collector.CollectError) else None
            text = " ".join(str(cause or error).split())[:200]
            self._fail(f"{node.nodeid}: {type(cause or error).__name__}: {text}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """List tests instead of running them; or run those asked for, each of which has to exist exactly once."""
        if session.testsfailed:
            return None  # pytest itself says which files cannot be loaded
        if not self._names:
            _write({"benchmarks": [*map(_entry, self._listed(session))]})
            return True
        times = Counter(item.nodeid for item in session.items)
        for name in self._names:
            if times[name] != 1:
                how_many = "more than one test is" if times[name] else "no test that uses the benchmark fixture is"
                self._fail(f"{how_many} called {name}")
                raise pytest.UsageError(f"{how_many} called {name}")
        return self._run_each(session) if self._each else None

    def _run_each(self, session: pytest.Session) -> bool:
        """Run every test in a process of its own, one after the other, and write the outcome of each."""
        if why_not := threads_that_run("the tests are"):
            self._fail(why_not)
            raise pytest.UsageError(why_not)
        items = {item.nodeid: item for item in session.items}
        beside = Beside(OTHER) if any("turns" in one for one in self._each) else None
        for one in self._each:
            fd, processor = beside.meet(one["turns"][0]) if beside else (-1, None)
            _write(forked(partial(self._run_alone, items[one["run"]], one, fd), RESULTS, processor, fd))
        return True

    def _run_alone(self, item: pytest.Item, order: dict[str, Any], fd: int) -> bool:
        """Run one test in this process, which ends after it; return whether it went well."""
        item.session.items[:] = [item]
        self._loops, self._samples, self._turns = order["loops"], order["samples"], order.get("turns", "")
        self._is_forked, self._other = True, fd
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except BaseException as error:  # pytest.exit(), whatever a test does
            self._fail(f"{type(error).__name__}: {error}"[:200])
        if item.session.testsfailed:  # without an exception, for example one that was expected to fail and passed
            self._fail(f"{item.nodeid}: the test failed: see what pytest printed")
        told = getattr(self._measured, "stats", None)
        if not self._failed and told is not None:
            stats = {"iterations": told.iterations, "data": list(told.stats.data)}
            _write({"benchmarks": [{"fullname": item.nodeid, "stats": stats}], "steelyard": rounds.told()})
        return not self._failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Make `benchmark(...)` take as many samples, of as many iterations, as were asked for."""
        self._measured = benchmark = getattr(item, "funcargs", {}).get(FIXTURE)
        if benchmark is None:
            return
        run, theirs = self, type(benchmark)

        def measure(self: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
            partner = run._partner(run._samples)
            rounds.begin(partner)
            amount = {"rounds": run._samples, "iterations": run._loops}
            value = theirs.pedantic(self, function, args=args, kwargs=kwargs, **amount)
            partner.part()
            if run._is_forked and not rounds.are_told():
                run._fail("others do some of its work, or it has a timer of its own")
            return value

        def pedantic(self: Any, *args: Any, **kwargs: Any) -> Any:
            # Its set-up before each round would run at the same time as the other side's, so all of it is one turn.
            partner = run._partner(1)
            rounds.begin()
            partner.await_turn()
            value = theirs.pedantic(self, *args, **kwargs)
            partner.hand_over()
            partner.part()
            return value

        # Python looks up __call__ in the type, so this object gets a type of its own.
        benchmark.__class__ = type(theirs.__name__, (theirs,), {"__call__": measure, "pedantic": pedantic})

    def _partner(self, samples: int) -> Partner:
        """Return the other side's launch, with which as many samples are taken in turn; nobody if there is none."""
        return Partner(self._other, self._turns[:samples] or FIRST * samples)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a test that was skipped, was expected to fail, or expects that what it measures fails."""
        if hasattr(report, "wasxfail"):
            self._fail("the test is expected to fail: it cannot be a benchmark", skipped=True)
        elif report.skipped:
            reason = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else "no reason given"
            self._fail("the test was skipped: " + reason.replace("Skipped: ", "", 1), skipped=True)
        elif report.passed and getattr(self._measured, "has_error", False):
            self._fail("what it measures raised an exception, which the test expects: such a body has no time")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Set the exit status: an empty list is fine, a skipped test is an error."""
        if self._failed and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not self._failed:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(optionalhook=True)
    def pytest_benchmark_update_json(self, output_json: dict[str, Any]) -> None:
        """Add what pytest-benchmark does not tell."""
        output_json["steelyard"] = rounds.told()

    # The following would be costly to find out, and nobody reads it.

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_benchmark_generate_machine_info(self) -> dict[str, Any]:
        """Return nothing: the weighing's record describes the machine."""
        return {"cpu": {}}

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_benchmark_generate_commit_info(self) -> dict[str, Any]:
        """Return nothing: finding out would start git."""
        return {"id": "unversioned", "dirty": False}

    def _fail(self, message: str, *, skipped: bool = False) -> None:
        if not self._failed:
            _write({"error": message, **({"skipped": True} if skipped else {})})
        self._failed = True


def _entry(item: pytest.Item) -> dict[str, Any]:
    params = getattr(getattr(item, "callspec", None), "params", {})
    texts = {name: _text(value) for name, value in params.items()}
    tags = dict.fromkeys(mark.name for mark in item.iter_markers() if mark.name not in _OF_PYTEST)
    return {"name": item.nodeid, "params": texts, "tags": list(tags)}


def _text(value: Any) -> str:
    """Return a plain value as text, else its type: the text of other objects differs between processes."""
    return str(value)[:80] if isinstance(value, (str, int, float, bool)) or value is None else type(value).__name__


def _said(message: str) -> str:
    _write({"error": message})
    return message


def _write(line: dict[str, Any]) -> None:
    """Write one line, in several calls if need be, as a pipe may accept only a part at once."""
    text = (json.dumps(line) + "\n").encode()
    while text:
        text = text[os.write(RESULTS, text) :]
