"""The protocol's two calls: the list, and one benchmark run."""

from __future__ import annotations

from steelyard.harness.arguments import ArgumentError, descriptor, request
from steelyard.harness.faults import DONE, INTERRUPTED, RAISED, complain, fault
from steelyard.harness.find import FindError
from steelyard.harness.names import BadNameError
from steelyard.harness.response import Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness.arguments import Request
    from steelyard.harness.suite import Suite


def respond(arguments: dict[str, str], suite: Suite) -> int:
    """Do what the driver's arguments say, write the response, and return the exit status."""
    try:
        fd = descriptor(arguments)
    except ArgumentError as error:
        return complain(str(error))
    response = Response(fd, before=True)
    status = _status(arguments, suite, response)
    try:
        response.send()
    except OSError as error:
        return complain(f"cannot answer on --steelyard-fd={fd}: {error.strerror}")
    return status


def _status(arguments: dict[str, str], suite: Suite, response: Response) -> int:
    try:
        wanted = request(arguments)
        if wanted.name is None:
            for entry in suite.entries():
                response.list(entry)
            return DONE
        _run(wanted, wanted.name, suite, response)
    except (ArgumentError, FindError, BadNameError) as error:
        response.error(str(error))
        return complain(str(error))
    except KeyboardInterrupt:
        response.error("interrupted")
        return INTERRUPTED
    except BaseException as error:  # of the user's code, which may also try to exit
        response.error(fault(error, suite.files))
        return RAISED
    return DONE


def _run(wanted: Request, name: str, suite: Suite, response: Response) -> None:
    from steelyard.harness.worker import samples_of

    for earlier, loops in wanted.before:
        with suite.prepared(suite.called(earlier), wanted.seed) as work:
            samples_of(work, loops, 1)
    entry = suite.called(name)
    with suite.prepared(entry, wanted.seed) as work:
        taken = samples_of(work, wanted.loops, wanted.samples, wanted.partner)
    for sample in taken:
        response.sample(sample)
