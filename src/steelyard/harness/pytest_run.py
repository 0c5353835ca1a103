"""What pytest does with the protocol's arguments: list the tests that use `weigh`, or run exactly one of them.

It can also run several, each in a process of its own.
"""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.harness.arguments import ArgumentError, Request, descriptor, request, split_arguments
from steelyard.harness.bodies import prepared_call
from steelyard.harness.choosing import Choosing
from steelyard.harness.entry import Entry
from steelyard.harness.faults import describe_error
from steelyard.harness.names import BadNameError, check_names, value_text
from steelyard.harness.response import Response
from steelyard.harness.several import check_alone, leave_shared_alone, run_each
from steelyard.harness.worker import samples_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FIXTURE = "weigh"
# Marks that say how a test is run, not what it is about.
_PYTEST_MARKS = {"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}
# Plugins that would run tests in other processes or trace the body, and the arguments that turn them off.
_DISABLING_ARGUMENTS = {"xdist": "-n0", "pytest_cov": "--no-cov"}


def start_run(config: pytest.Config, args: list[str]) -> Run:
    """Take the protocol's arguments out of `args` and follow them; raises pytest.UsageError if that is impossible."""
    arguments, user_arguments = split_arguments(args)
    end = user_arguments.index("--") if "--" in user_arguments else len(user_arguments)
    quiet = [argument for name, argument in _DISABLING_ARGUMENTS.items() if config.pluginmanager.hasplugin(name)]
    args[:] = user_arguments[:end] + quiet + user_arguments[end:]
    config.known_args_namespace.no_cov = True  # pytest-cov looks there before the arguments are parsed again
    try:
        response = _response(descriptor(arguments))
    except ArgumentError as error:
        raise pytest.UsageError(str(error)) from error
    run = Run(config, response)
    config.add_cleanup(run.finish)  # whatever happens from here on, the driver gets a response
    run.follow(arguments)
    return run


def _response(fd: int) -> Response:
    return Response(fd, inside=f" in pytest {pytest.__version__}")


class Run(Choosing):
    """A pytest plugin that is registered only if there are arguments of the protocol."""

    def __init__(self, config: pytest.Config, response: Response) -> None:
        super().__init__(config, FIXTURE)
        self._response = response
        self._request: Request | None = None
        self._done = self._is_forked = False
        self._missing = f"the test never called {FIXTURE}(), so there is nothing to measure"

    @property
    def seed(self) -> int:
        """The seed that inputs are drawn from."""
        return self._request.seed if self._request else 0

    def follow(self, arguments: dict[str, str]) -> None:
        """Read the arguments; raises pytest.UsageError."""
        try:
            self._request = request(arguments)
        except ArgumentError as error:
            raise self._refused(str(error)) from error

    def measure(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take the samples."""
        if self._request is None:
            return
        try:
            with prepared_call(function, args, kwargs) as work:
                samples = samples_of(work, self._request.loops, self._request.samples, self._request.partner)
        except Exception as error:  # which the test may expect, as by pytest.raises()
            self._missing = f"what {FIXTURE}() calls raises {describe_error(error, {})}: catch that within the function"
            raise
        if self._is_forked:
            try:
                check_alone(samples)
            except ArgumentError as error:
                self._response.error(str(error))
        for sample in samples:
            self._response.sample(sample)
        self._done = True

    def broken(self, error: BaseException) -> None:
        """Report an exception that ended pytest before there was a session."""
        if not self._response.failed:
            self._response.error(f"pytest could not start: {describe_error(_cause(error), {})}")

    def finish(self) -> None:
        """Send the response, after everything else."""
        if not self._done and not self._response.failed:
            self._response.error("pytest ended before it came to this: see what it printed")
        self._response.send()

    def _refused(self, message: str) -> pytest.UsageError:
        self._response.error(message)
        return pytest.UsageError(message)

    # The hooks, in the order in which pytest calls them.

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
        """Report a file of tests that cannot be loaded, or a test that failed."""
        if call.excinfo is not None:
            label = node.nodeid.partition("::")[0]
            self._response.error(describe_error(_cause(call.excinfo.value), {str(node.path): label}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """List tests instead of running them; or run those asked for, each of which has to exist exactly once."""
        if self._response.failed:
            return None  # pytest itself says which files cannot be loaded
        times = Counter(item.nodeid for item in session.items)
        for name in self._names:
            if times[name] != 1:
                how_many = "two tests are" if times[name] else "no test that uses weigh() is"
                raise self._refused(f"{how_many} called {name!r}")
        if self._request is not None and self._request.each:
            self._run_each(self._request, session)
            return True
        if self._names:
            return None
        try:
            self._list(session)
        except BadNameError as error:
            raise self._refused(str(error)) from error
        return True

    def _run_each(self, wanted: Request, session: pytest.Session) -> None:
        """Run every test in a process of its own, one after the other."""
        items = {item.nodeid: item for item in session.items}
        try:
            run_each(wanted, self._response.fd, lambda one: self._run_alone(one, items[one.names[0]]), self._response)
        except ArgumentError as error:
            raise self._refused(str(error)) from error
        self._done = True

    def _run_alone(self, wanted: Request, item: pytest.Item) -> bool:
        """Run one test in this process, which ends after it, and write its response; return whether it went well."""
        leave_shared_alone()
        self._request, self._response, self._is_forked = wanted, _response(self._response.fd), True
        item.session.items[:] = [item]
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except BaseException as error:  # pytest.exit(), whatever a test does
            if not self._response.failed:
                self._response.error(describe_error(error, {}))
        self._report_what_is_missing(has_failed=item.session.testsfailed > 0)
        self._response.send()
        return not self._response.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a test that was skipped."""
        if not report.skipped:
            return
        if hasattr(report, "wasxfail"):
            self._response.error("the test fails, as it was expected to: it cannot be a benchmark", skipped=True)
        else:
            reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else ""
            self._response.error(f"the test was skipped: {reason.removeprefix('Skipped: ')}", skipped=True)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Report Ctrl-C, or a test that ended pytest."""
        if not self._response.failed:
            self._response.error(f"interrupted: {excinfo.exconly()}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Report what pytest does not consider an error, and set the exit status accordingly."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._done:
            session.exitstatus = pytest.ExitCode.OK  # an empty list is a list
        elif exitstatus in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK):
            self._report_what_is_missing(has_failed=exitstatus == pytest.ExitCode.TESTS_FAILED)
            if self._response.failed:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _report_what_is_missing(self, *, has_failed: bool) -> None:
        """Report what is wrong with a test that was run, unless something has been reported already."""
        if self._response.failed:
            return
        if has_failed:
            self._response.error("the test failed: see what pytest printed")
        elif self._names and not self._done:
            self._response.error(self._missing)

    @property
    def _names(self) -> list[str]:
        return self._request.names if self._request else []

    def _list(self, session: pytest.Session) -> None:
        entries = [*map(_entry, self._listed(session))]
        check_names(entry.name for entry in entries)
        for entry in entries:
            self._response.list(entry)
        self._done = True


def _entry(item: pytest.Item) -> Entry:
    file, line, _ = item.location
    return Entry(item.nodeid, f"{file}:{(line or 0) + 1}", dict(_params(item)), tuple(_tags(item)))


def _params(item: pytest.Item) -> Iterator[tuple[str, str]]:
    callspec = getattr(item, "callspec", None)
    for name, value in getattr(callspec, "params", {}).items():
        yield name, value_text(name, getattr(callspec, "indices", {}).get(name, 0), value)


def _tags(item: pytest.Item) -> list[str]:
    return list(dict.fromkeys(mark.name for mark in item.iter_markers() if mark.name not in _PYTEST_MARKS))


def _cause(error: BaseException) -> BaseException:
    """Return the exception that pytest wrapped into one of its own, whose text is a page long."""
    wrapped = isinstance(error, pytest.Collector.CollectError) or type(error).__name__ == "ConftestImportFailure"
    return error.__cause__ if wrapped and error.__cause__ is not None else error
