"""Without a driver, show that each benchmark works and roughly how long it takes."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import contextmanager, suppress

from steelyard.harness.faults import DONE, INTERRUPTED, RAISED, complain, fault, skipped
from steelyard.harness.find import FindError
from steelyard.harness.names import BadNameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.harness.entry import Entry
    from steelyard.harness.suite import Suite

# A sample of this length is exact to a percent or so even while others use the processor, and is soon over.
_LONG_ENOUGH_NS = 5_000_000
# A first call that is shorter is repeated, as it may have loaded or compiled something, or filled a cache.
_LONG_FIRST_CALL_NS = 2_000_000_000
_MOST_LOOPS = 2**30


def show(suite: Suite, arguments: list[str]) -> int:
    """Run each benchmark once, print a line for each, and return the exit status."""
    try:
        entries = suite.entries()
    except (FindError, BadNameError) as error:
        return complain(str(error))
    status = DONE
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        try:
            shown = _quick_look(suite, entry)
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException as error:  # raised by the user's code, which may also try to exit
            reason = skipped(error)
            status = status if reason else RAISED
            shown = " ".join((reason or f"failed: {fault(error, suite.files)}").splitlines())
        try:
            print(f"{entry.name:{width}}  {shown}", flush=True)
        except OSError as error:  # as with `| head`: nobody would see the rest
            return _report_write_error(error)
    if not entries:
        print("no benchmarks: put @steelyard.harness.bench above a function", file=sys.stderr)
    else:
        print(f"A quick look, no measurement. To measure, and to weigh {_how_to_weigh(arguments)}", file=sys.stderr)
    return status


def _report_write_error(error: OSError) -> int:
    """Say that nothing more can be written; return the exit status for that."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer would fail again at the end
    complain(f"cannot write what was found: {error.strerror}")
    return RAISED


def _how_to_weigh(arguments: list[str]) -> str:
    """Return what can be weighed against what, and the commands for it, which name this Python."""
    python = "python" if _is_this_python(shutil.which("python")) else sys.executable
    command = shlex.quote(shlex.join([python, "-m", "steelyard.harness", *arguments]))
    command += _python_path_option()
    run = f"  steelyard run --harness protocol {command}\n"
    if _is_in_repository(os.getcwd()):
        return f"what changed since the last commit:\n{run}  steelyard compare --base HEAD --harness protocol {command}"
    return f"it against another command:\n{run}  steelyard compare --harness protocol {command} COMMAND-OF-THE-OTHER"


def _python_path_option() -> str:
    """Return the option that lets launches find the same modules, as they inherit little of the environment."""
    path = os.environ.get("PYTHONPATH")
    if not path:
        return ""
    path = os.pathsep.join(map(_relative_if_below, path.split(os.pathsep)))
    return f" --env {shlex.quote(f'PYTHONPATH={path}')}"


def _relative_if_below(entry: str) -> str:
    """Return a folder below this one by its relative path, as each revision has its own; others unchanged."""
    here = os.path.join(os.getcwd(), "")
    return os.path.relpath(entry) if os.path.join(entry, "").startswith(here) else entry


def _is_this_python(found: str | None) -> bool:
    """Return whether a program is this Python, perhaps by another name in the same environment."""
    if found is None or os.path.dirname(found) != os.path.dirname(sys.executable):
        return False
    return os.path.samefile(found, sys.executable)


def _is_in_repository(folder: str) -> bool:
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
    return True


def _quick_look(suite: Suite, entry: Entry) -> str:
    from steelyard.harness.worker import samples_of

    with _discarding_output(), suite.prepared(entry, 0) as work:
        loops, ns = 1, samples_of(work, 1, 1)[0].ns
        if ns < _LONG_FIRST_CALL_NS:
            ns = samples_of(work, 1, 1)[0].ns
        while ns < _LONG_ENOUGH_NS and loops < _MOST_LOOPS:
            loops *= 2 if ns > _LONG_ENOUGH_NS // 20 else 10
            ns = samples_of(work, loops, 1)[0].ns
        return f"{readable(ns / loops)} an iteration ({loops:,} {'loop' if loops == 1 else 'loops'})"


@contextmanager
def _discarding_output() -> Iterator[None]:
    """Discard what benchmarks print, as when they are measured: thousands of iterations would bury our lines."""
    try:
        sys.stdout.flush()
        stdout_copy = os.dup(1)
    except (AttributeError, OSError):  # there is no stdout
        yield
        return
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)
    try:
        yield
    finally:
        with suppress(Exception):  # the user's code may have replaced or closed it
            sys.stdout.flush()
        os.dup2(stdout_copy, 1)
        os.close(stdout_copy)


def readable(ns: float) -> str:
    """Return a time with a suitable unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"
