"""The rules that decide whether a launch has failed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from signal import Signals

from steelyard.design.runner.survivors import some_processes
from steelyard.design.runner.target import (
    COMMAND_REMEDY,
    ENVIRONMENT,
    LEFT_BEHIND,
    LIST_REMEDY,
    Target,
    no_module_remedy,
)
from steelyard.model.errors import LaunchError, MeasurementError, SkippedError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.secrecy import without_secrets
from steelyard.report.endings import how_it_failed, signal_name
from steelyard.report.figures import seconds
from steelyard.subjects.command import command_line

_HOOK_REMEDY = "fix it, or have it exit with status 0 if its failure does not matter"
# The last words of a Python that lacks a module; with `-m` it leaves out the quotes.
_MODULE_NOT_FOUND = re.compile(rb"No module named '?([A-Za-z_][\w.]*)'?\s*\Z")
# What is said of something that is missing, and the variable by which it may be found in the user's shell.
_FOUND_BY = (
    (_MODULE_NOT_FOUND, "PYTHONPATH"),
    (re.compile(rb"error while loading shared libraries: [^\n]*cannot open shared object file"), "LD_LIBRARY_PATH"),
    (re.compile(rb"Can't locate \S+ in @INC"), "PERL5LIB"),
    (re.compile(rb"cannot load such file -- [^./]"), "RUBYLIB"),
    (re.compile(rb"Could not find or load main class"), "CLASSPATH"),
)

# What Node.js says of a package; one of the program's own files begins with a dot or a slash.
_PACKAGE_NOT_FOUND = re.compile(rb"Cannot find (?:module|package) '[^./]")
_PACKAGE_REMEDY = (
    "the folder where it runs has no node_modules: npm ci installs what it needs, and in the folder of a revision "
    "--build 'npm ci'"
)

# The last words of a Python that asked for a line of input.
_END_OF_INPUT = re.compile(rb"EOFError: EOF when reading a line\s*\Z")

# The last words of a program that asks for the size of its terminal, or opens it.
_TERMINAL_NEEDED = re.compile(rb"(?:Inappropriate ioctl for device|/dev/tty\b|not a tty|not a terminal)[^\n]*\s*\Z")
_TERMINAL_REMEDY = (
    "a launch has no terminal: run it in its batch mode, or by script -qec 'COMMAND' /dev/null, which gives it one and "
    "takes some time itself"
)

# What is said of a file that an earlier launch, or the user, has left where the program wants to write its own.
_IN_THE_WAY = re.compile(rb"(?i:already exists|file exists)")

_NOT_FOUND = 127
# What env says of a script whose first line ends in CR LF; GNU's writes the CR out, busybox's does not.
_CR_IN_NAME = re.compile(rb"^\S*\benv: [^\n]*(?:\\r|\r(?!\n))", re.MULTILINE)
_CR_REMEDY = (
    r"the first line of its script ends in CR LF, which env takes for a part of the interpreter's name: "
    r"sed -i 's/\r$//' FILE takes the CR away"
)

# The last words of a program with an address sanitizer, where another library was loaded before the sanitizer's.
_SANITIZER_COMPLAINT = b"ASan runtime does not come first"
_SANITIZER_REMEDY = (
    "a library was preloaded, as counts, --heap and --heap-shuffle need it, which address sanitizers do not bear: "
    "build it without -fsanitize=address for these"
)

_PROFILER_REMEDY = "gcc -pg has a program set such a timer, which counts under Valgrind may not bear: build it without"


class Interrupted(Exception):  # noqa: N818 - it is no error
    """The user asked to stop; what was measured stands."""


class TookTooLongError(LaunchError):
    """A launch did not end within its time limit."""

    def __init__(self, message: str, subject: int | None = None) -> None:
        super().__init__(message)
        self.subject = subject
        """The number of its subject in the record."""


def check_ended(measured: Measured, target: Target, when_late: str, *, is_first: bool = True) -> None:
    """Raise LaunchError if a launch did not end well, Interrupted if it was cut short.

    `is_first` tells that none of its launches has ended well yet.
    """
    if measured.cancelled:
        raise Interrupted
    if measured.timed_out:
        limit_ns = target.spec.timeout_ns or measured.wall_ns
        within = f"within {seconds(limit_ns / 1e9)} and was killed"
        if target.spec.repeat > 1:
            raise TookTooLongError(
                f"{target.name} did not end {target.spec.repeat:,} times {within}: ask for fewer with --repeat, or "
                "give them longer with --timeout",
                target.subject,
            )
        raise TookTooLongError(f"{target.name} did not end {within}: {when_late}", target.subject)
    if measured.stopped is not None:
        raise LaunchError(f"{target.name} {_how_it_stopped(measured.stopped)}")
    how = how_it_failed(measured.exit_code, measured.signal)
    if how is None:
        return
    if target.harness is not None and (complaint := target.harness.complaint(measured)):
        said = complaint.encode(errors="replace")
        environment_hint = f" {_environment(said, target.spec)}" if _MODULE_NOT_FOUND.search(said) else ""
        reason = f"{without_secrets(complaint, target.spec.env)}{environment_hint}"
        sentence = f"{target.name} {how} and {reason}"
        if target.harness.skips(measured):
            raise SkippedError(sentence, reason.removeprefix("says: "))
        raise LaunchError(sentence)
    if not target.ignore_failure:
        # A program that refuses to list may say so where the list would be; what others print is for their harness.
        printed = measured.stdout if target.remedy == LIST_REMEDY else None
        last_words = _last_words_clause(measured, target.spec, printed)
        raise LaunchError(f"{target.name} {how}{last_words}: {_remedy(measured, target, is_first=is_first)}")


def with_tandem_hint(error: LaunchError) -> LaunchError:
    """Return the error of a launch that ran at the same time as its partner, which may have been in its way."""
    return LaunchError(
        f"{error} (It ran at the same time as the other side: if two at once are in each other's way, choose "
        "--pairing adjacent.)"
    )


def with_prepare_hint(left: Sequence[str], error: LaunchError) -> LaunchError:
    """Return the error of a launch before which processes that --prepare had `left` ("PID name" each) were killed."""
    if isinstance(error, SkippedError):
        return error
    message = (
        f"{error} (What --prepare left running was killed when its command ended: {some_processes(left)}. If the "
        "launches need it, start it by --setup, whose processes go on until all is measured.)"
    )
    return TookTooLongError(message, error.subject) if isinstance(error, TookTooLongError) else type(error)(message)


def check_hook_ended(option: str, spec: LaunchSpec, measured: Measured) -> None:
    """Raise MeasurementError if a command that surrounds launches failed, Interrupted if it was cut short."""
    if measured.cancelled:
        raise Interrupted
    described = f"the {option} command {command_line(spec.argv)!r}"
    if measured.stopped is not None:
        raise MeasurementError(f"{described} {_how_it_stopped(measured.stopped)}")
    if how := how_it_failed(measured.exit_code, measured.signal):
        raise MeasurementError(f"{described} {how}{_last_words_clause(measured, spec)}: {_HOOK_REMEDY}")


def _remedy(measured: Measured, target: Target, *, is_first: bool) -> str:
    """Return what to do about a failure; of a list, a module that Python lacks says more than the general remedy."""
    said = measured.stderr or b""
    if target.spec.stdin is None and target.harness is None and _END_OF_INPUT.search(said):
        return "standard input is empty: --stdin FILE has each launch read a file"
    if target.harness is None and _TERMINAL_NEEDED.search(said):
        return _TERMINAL_REMEDY
    if target.spec.cwd and _PACKAGE_NOT_FOUND.search(said) and not _has_packages(target.spec.cwd):
        return _PACKAGE_REMEDY
    if measured.exit_code == _NOT_FOUND and _CR_IN_NAME.search(said):
        return _CR_REMEDY
    if _SANITIZER_COMPLAINT in said:
        return _SANITIZER_REMEDY
    if measured.signal == Signals.SIGPROF:
        return _PROFILER_REMEDY
    if target.remedy == COMMAND_REMEDY and (not is_first or _IN_THE_WAY.search(said)):
        return COMMAND_REMEDY.replace(ENVIRONMENT, LEFT_BEHIND)
    missing = _MODULE_NOT_FOUND.search(said) if target.remedy == LIST_REMEDY else None
    remedy = target.remedy if missing is None else no_module_remedy(missing[1].decode())
    return remedy.replace(ENVIRONMENT, _environment(said, target.spec))


def _environment(said: bytes, spec: LaunchSpec) -> str:
    """Return how a launch gets more of the environment, with the variable that what the program `said` is about."""
    name = next((name for complaint, name in _FOUND_BY if complaint.search(said)), None)
    if name is None or any(variable.startswith(f"{name}=".encode()) for variable in spec.env):
        return ENVIRONMENT
    return f"(A launch sees only a small environment: --env {name} passes yours on, --env {name}=FOLDER sets it.)"


def _has_packages(folder: bytes) -> bool:
    path = Path(os.fsdecode(folder))
    return any((place / "node_modules").exists() for place in (path, *path.parents))  # as Node.js looks for them


def _how_it_stopped(number: int) -> str:
    waits = number in (Signals.SIGTTIN, Signals.SIGTTOU)
    remedy = "it wants a terminal: run it in its batch mode" if waits else "take out what stops it"
    return f"stopped itself ({signal_name(number)}), did not go on and was killed: {remedy}"


def _last_words_clause(measured: Measured, spec: LaunchSpec, printed: bytes | None = None) -> str:
    from steelyard.design.runner.last_words import last_words

    last = last_words(measured.stderr or b"") or last_words(printed or b"")
    return f" (its last words: {without_secrets(last, spec.env)})" if last else ""
