"""The protocol's calls: the list, one benchmark run, and several."""

from __future__ import annotations

from steelyard.harness.arguments import ArgumentError, Request, descriptor, request
from steelyard.harness.faults import DONE, INTERRUPTED, RAISED, complain, fault, skipped
from steelyard.harness.find import FindError
from steelyard.harness.names import BadNameError
from steelyard.harness.response import Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.harness.entry import Entry
    from steelyard.harness.suite import Suite
    from steelyard.harness.worker import Sample


def respond(arguments: dict[str, str], suite: Suite) -> int:
    """Do what the driver's arguments say, write the response, and return the exit status."""
    try:
        fd = descriptor(arguments)
    except ArgumentError as error:
        return complain(str(error))
    response = Response(fd, before=True)
    status = _run_for_status(suite, response, lambda: _fulfil(request(arguments), suite, response))
    try:
        response.send()
    except OSError as error:
        return complain(f"cannot answer on --steelyard-fd={fd}: {error.strerror}")
    return status


def _run_for_status(suite: Suite, response: Response, follow: Callable[[], None]) -> int:
    try:
        follow()
    except (ArgumentError, FindError, BadNameError) as error:
        response.error(str(error))
        return complain(str(error))
    except KeyboardInterrupt:
        response.error("interrupted")
        return INTERRUPTED
    except BaseException as error:  # raised by the user's code, which may also try to exit
        reason = skipped(error)
        response.error(reason or fault(error, suite.files), skipped=reason is not None)
        return RAISED
    return DONE


def _fulfil(wanted: Request, suite: Suite, response: Response) -> None:
    if wanted.each:
        from steelyard.harness.several import run_each

        entries = {name: suite.called(name) for name in wanted.names}
        run_each(wanted, response.fd, lambda one: _run_alone(one, entries[one.names[0]], suite, response.fd), response)
    elif not wanted.names:
        for entry in suite.entries():
            response.list(entry)
    else:
        for earlier, loops in wanted.before:
            _take_samples(Request(earlier, loops, 1, wanted.seed), suite.called(earlier), suite)
        _add_samples(_take_samples(wanted, suite.called(wanted.names[0]), suite), response)


def _run_alone(wanted: Request, entry: Entry, suite: Suite, fd: int) -> bool:
    """Run one benchmark in this process, which ends after it, and write its response; return whether it went well."""
    from steelyard.harness.several import check_alone, leave_shared_alone

    def run() -> None:
        if entry.declaration is None or not entry.declaration.gc:
            leave_shared_alone()
        samples = _take_samples(wanted, entry, suite)
        check_alone(samples)
        _add_samples(samples, response)

    response = Response(fd, before=True)
    status = _run_for_status(suite, response, run)
    response.send()
    return status == DONE


def _add_samples(samples: list[Sample], response: Response) -> None:
    for sample in samples:
        response.sample(sample)


def _take_samples(wanted: Request, entry: Entry, suite: Suite) -> list[Sample]:
    from steelyard.harness.worker import samples_of

    with suite.prepared(entry, wanted.seed) as work:
        return samples_of(work, wanted.loops, wanted.samples, wanted.partner)
