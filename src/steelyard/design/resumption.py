"""Carrying on a weighing: whose it is, whether it can be, and where its programs are."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from steelyard.design.extra_budget import ExtraBudget, with_extra_budget
from steelyard.design.findings import some_names
from steelyard.design.folders import enter_folder
from steelyard.design.layouts import digest_of, values_given
from steelyard.design.runner.targets import layouts_of
from steelyard.model.errors import UsageError
from steelyard.model.files import load
from steelyard.model.findings import Finding
from steelyard.model.metrics import timed
from steelyard.model.records import Run, Weighing
from steelyard.model.typed import typed
from steelyard.subjects.command import subject_in_layout
from steelyard.subjects.programs import weighed_file


def load_resumable(path: Path, *, trusted: bool, more: ExtraBudget | None = None) -> Weighing:
    """Return the weighing to carry on; raises UsageError for others, and for what others wrote unless `trusted`.

    A record says what is run: if it is a stranger's, the stranger may do whatever the user may. With `more`, it is one
    whose budget has ended, and its undecided benchmarks are open again.
    """
    if not trusted:
        _check_owner(path)
    record = load(path)
    if isinstance(record, Run):
        raise UsageError(f"{path} is a run of one subject: only a weighing can be resumed")
    if record.parts:
        raise UsageError(f"{path} was merged from several weighings: carry each of them on, and merge them again")
    if record.unmeasured is not None:
        raise UsageError(f"{path} has nothing to go on with: {record.unmeasured.message}")
    if more is None and {*record.stop} <= {"failed"}:
        raise UsageError(
            f"{path} was not interrupted, a launch failed: fix that and weigh again; steelyard report "
            f"{typed(path)} has what was measured"
        )
    if more is None and "interrupted" not in record.stop:
        goes_on = bool(timed(record.settings.metrics))  # more counts of the same programs would say the same
        raise UsageError(
            f"{path} was not interrupted, it ran to its end: look at it with steelyard show"
            + ("; what is undecided goes on with another budget, such as --max-time 60" if goes_on else "")
        )
    impossible = [text for text in _passed_texts(record) if not _can_be_passed(text)]
    if impossible or not all(subject.argv for subject in record.subjects):
        raise UsageError(f"{path} is damaged: no command can be made of {impossible[0] if impossible else ''!r}")
    return record if more is None else with_extra_budget(record, path, more)


def lacking_variables_finding(record: Weighing, environment: Mapping[str, str]) -> list[Finding]:
    """Return a finding on variables that were passed on to the first launches and are no longer set, if there are any.

    No record holds their values.
    """
    lacking = [name for name in record.settings.environment if name not in environment]
    if not lacking:
        return []
    return [
        Finding(
            code="lacking-variables",
            message="not all launches had the same environment, as some of it was set when the weighing began and not "
            f"when it was carried on: {some_names(lacking)}",
            remedy="set it again, and weigh again",
        )
    ]


@contextmanager
def in_launch_folder(record: Weighing, path: Path) -> Iterator[None]:
    """Enter the folder that the launches run in, to which all relative paths refer.

    Raises UsageError if that folder cannot be entered, or lacks the programs that the weighing began with; programs
    that set-up commands make are not looked at before these have run.
    """
    from steelyard.subjects.revisions.cache import in_use

    with ExitStack() as inside:
        try:
            inside.enter_context(enter_folder(record.settings.directory))
        except OSError as error:
            raise UsageError(
                f"{path} was begun in {record.settings.directory}: {error.strerror}; weigh again"
            ) from error
        with in_use(_subject_folders(record)):
            for folder in _subject_folders(record):
                if not os.path.isdir(folder):  # noqa: PTH112 - never raises
                    raise UsageError(f"what {path} weighs in {folder} is not kept any more: weigh again")
            if not record.settings.setup:
                check_programs(record, path)
            yield


def _subject_folders(record: Weighing) -> Iterator[str]:
    """Yield the folder of each subject, in each of its layouts, that has one of its own."""
    for subject in record.subjects:
        for layout in layouts_of(record.settings):
            if (folder := subject_in_layout(subject, layout).directory) is not None:
                yield folder


def check_programs(record: Weighing, path: Path) -> None:
    """Raise UsageError for a program that is not the one that the weighing began with."""
    for number, subject in enumerate(record.subjects):
        values = values_given(record.benchmarks, number)
        if subject.digest is not None and digest_of(subject, record.settings, values) != subject.digest:
            raise UsageError(f"{weighed_file(subject)} is not the program that {path} began with: weigh again")


def _passed_texts(record: Weighing) -> Iterator[str]:
    """Yield every text that is passed on to the system."""
    settings = record.settings
    for subject in record.subjects:
        yield from (subject.program, *subject.argv, subject.directory or "/")
    for benchmark in record.benchmarks:
        yield from (benchmark.entry or benchmark.name, *benchmark.in_command().values())
    yield from (settings.directory, settings.stdin or "/", settings.output or "/")
    for commands in settings.hooks().values():
        yield from commands
    yield from (*settings.environment, *settings.variables)
    yield from filter(None, settings.variables.values())


def _can_be_passed(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return False


def _check_owner(path: Path) -> None:
    try:
        status, link_status = path.stat(), path.lstat()
    except OSError:
        return  # reading it says so
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        return  # it is not read either
    remedy = "look at it with steelyard show, and add --trust-journal if you want to run that"
    for owner in (link_status.st_uid, status.st_uid):  # whoever owns a link can have it lead elsewhere in a moment
        if owner != os.geteuid():
            raise UsageError(f"{path} belongs to {_user_name(owner)}, who decides what it runs: {remedy}")
    if status.st_mode & stat.S_IWOTH:
        raise UsageError(f"every user may write to {path}, and so decides what it runs: {remedy}")


def _user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
