"""The frame of the command line: whatever ends it becomes an exit status and at most one sentence.

Only a mistake of the tool itself also shows a traceback. Next to nothing is imported before `main` runs, so that Ctrl-C
is handled from the start.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from steelyard.cli.refusals import check_memory, refusal
from steelyard.cli.say import say
from steelyard.cli.signals import ENDING, interrupted
from steelyard.cli.status import BROKEN_PIPE, FAILED, INTERRUPTED
from steelyard.cli.streams import open_streams
from steelyard.report.plain import plain


def main() -> None:
    """Run the command line and exit."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # set by nohup, or by a shell for its background jobs
            signal.signal(number, _quit)
    sys.unraisablehook = _quit_on_lost_interrupt
    _fail_if_ended()
    open_streams()
    _keep_arrays_on_one_thread()
    _collect_garbage_rarely()
    status = _run_to_status()
    _ignore_signals()  # the status is known, and no late Ctrl-C may change it
    _discard_unwritten()
    # Temporary folders are removed, but modules are not torn down as by `sys.exit`, which takes 10 ms of 250.
    atexit._run_exitfuncs()
    os._exit(status)


def _fail_if_ended() -> None:
    """Make the process end with FAILED whenever something calls C's `exit`, whatever status it passes.

    OpenBLAS calls it with 1 when it finds no memory, and so does Python when it has none for its last words; a status
    of 1 says `slower`.
    """
    with suppress(ImportError, OSError, AttributeError, MemoryError):
        import ctypes

        library = ctypes.CDLL(None)
        library.__cxa_atexit(ctypes.cast(library._exit, ctypes.c_void_p), ctypes.c_void_p(FAILED), None)


def _keep_arrays_on_one_thread() -> None:
    """Keep numpy's linear algebra from starting a thread per processor, which would spin beside what is measured.

    Set only in the C library's environment, which numpy reads: `--inherit-env` passes on what `os.environ` holds.
    """
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")


def _collect_garbage_rarely() -> None:
    """Collect garbage rarely: imports create some 100,000 lasting objects, and one search takes a tenth of a start."""
    gc.set_threshold(200_000)


def _quit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is signal's
    """Leave at once: nothing is measured yet, or all is kept. An exception could be lost in the middle of an import."""
    with suppress(OSError):
        os.write(2, os.fsencode(f"steelyard: {plain(interrupted())}\n"))
    os._exit(INTERRUPTED)


def _quit_on_lost_interrupt(lost: sys.UnraisableHookArgs) -> None:
    """Obey a second Ctrl-C whose exception came up where Python drops exceptions: in a weak reference."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _quit(signal.SIGINT, None)
    sys.__unraisablehook__(lost)


def _ignore_signals() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _run_to_status() -> int:
    try:
        check_memory()
        from steelyard.cli.app import run

        status = run(sys.argv[1:])
        sys.stdout.flush()
    except SystemExit as end:  # after answering a shell's request for completions
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt as insisted:  # a second Ctrl-C while measuring
        _ignore_signals()
        say("; ".join([interrupted(), *getattr(insisted, "__notes__", [])]))
        return INTERRUPTED
    except BrokenPipeError:
        status = BROKEN_PIPE  # the reader of our output is gone: there is nobody to tell
    except Exception as error:
        if _is_terminal_gone(error):
            return INTERRUPTED
        say(_error_sentence(error))
        return FAILED
    return status


def _is_terminal_gone(error: Exception) -> bool:
    """Whether the terminal that is printed to was closed, which has interrupted the command before (SIGHUP)."""
    if not isinstance(error, OSError) or error.errno != errno.EIO:
        return False
    try:
        os.get_terminal_size(1)
    except OSError as refused:  # with another number where it is no terminal
        return refused.errno == errno.EIO
    return False  # a disk that cannot be read fails with the same error


def _error_sentence(error: Exception) -> str:
    """Return a sentence for what the machine refused; for all else, first print the traceback for a bug report."""
    if (refused := refusal(error)) is not None:
        return refused
    import traceback

    traceback.print_exception(error)
    return "this is a mistake in steelyard: please report it, with the lines above"


def _discard_unwritten() -> None:
    """Keep Python from retrying at its end what could not be written, which would have a status of its own."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


if __name__ == "__main__":
    main()
