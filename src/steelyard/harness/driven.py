"""The protocol's two calls: the list, and one benchmark run."""

from __future__ import annotations

import sys

from steelyard.harness.answer import Answer
from steelyard.harness.faults import BodyError, told
from steelyard.harness.find import FindError
from steelyard.harness.names import BadNameError
from steelyard.harness.words import WordError, descriptor, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness.suite import Suite
    from steelyard.harness.words import Order

DONE, RAISED, USAGE, INTERRUPTED = 0, 1, 2, 130


def obey(words: dict[str, str], suite: Suite) -> int:
    """Do what the driver's words say, write the answer, and return the exit status."""
    try:
        fd = descriptor(words)
    except WordError as error:
        return complain(str(error))
    answer = Answer(fd, before=True)
    status = _status(words, suite, answer)
    try:
        answer.send()
    except OSError as error:
        return complain(f"cannot answer on --steelyard-fd={fd}: {error.strerror}")
    return status


def complain(message: str) -> int:
    """Say on stderr what is wrong with the command line; the exit status for that."""
    print(f"steelyard.harness: {message}", file=sys.stderr)
    return USAGE


def _status(words: dict[str, str], suite: Suite, answer: Answer) -> int:
    try:
        wanted = order(words)
        if wanted.name is None:
            for entry in suite.entries():
                answer.list(entry)
            return DONE
        _run(wanted, wanted.name, suite, answer)
    except (WordError, FindError, BadNameError) as error:
        answer.error(str(error))
        return complain(str(error))
    except KeyboardInterrupt:
        answer.error("interrupted")
        return INTERRUPTED
    except BaseException as error:  # of the user's code, which may also try to exit
        answer.error(fault(error, suite))
        return RAISED
    return DONE


def _run(wanted: Order, name: str, suite: Suite, answer: Answer) -> None:
    from steelyard.harness.worker import samples_of

    for earlier, loops in wanted.before:
        with suite.prepared(suite.called(earlier), wanted.seed) as work:
            samples_of(work, loops, 1)
    entry = suite.called(name)
    with suite.prepared(entry, wanted.seed) as work:
        taken = samples_of(work, wanted.loops, wanted.samples)
    for sample in taken:
        answer.sample(sample)


def fault(error: BaseException, suite: Suite) -> str:
    """What a benchmark did wrong, in a line; its traceback goes to stderr."""
    if isinstance(error, BodyError):
        return str(error)
    sys.__excepthook__(type(error), error, error.__traceback__)
    return told(error, suite.files)
