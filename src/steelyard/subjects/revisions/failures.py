"""How builds fail, in words."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from steelyard.measure.tools import Ended
from steelyard.report.endings import how_status_failed
from steelyard.report.figures import seconds
from steelyard.report.plain import one_line
from steelyard.subjects.responses import without_colours
from steelyard.subjects.revisions.checkout import NotBuiltError
from steelyard.subjects.revisions.recipe import Job, TargetBuild

ROOM_REMEDY = "steelyard cache --clear, or set XDG_CACHE_HOME"
"""How to make room for builds."""
_TAIL_LINES = 12
_TAIL_BYTES = 16 << 10
_LONGEST_LINE = 200
_LEAST_FREE_BYTES = 64 << 10


def how_it_failed(job: Job, folder: Path, ended: Ended) -> str | None:
    """Return how a command of a build failed; None if it ended well."""
    if ended.is_late:
        how: str | None = f"did not end within {seconds(job.recipe.timeout_s or 0.0)}; allow more with --build-timeout"
    else:
        how = how_status_failed(ended.status or 0)
    # The log may have had no room left to say so.
    is_disk_full = how is not None and shutil.disk_usage(folder).free < _LEAST_FREE_BYTES
    return f"{how}, as its disk is full ({ROOM_REMEDY})" if is_disk_full else how


def not_built(job: Job, how: str, log: Path, notes: Sequence[str]) -> NotBuiltError:
    """Return the error of a build, with the `notes` on its checkout: what that left out may be the reason."""
    return _error(job, job.revision.label, f"{shown_command(job.recipe.written)} {how}", log, notes)


def target_not_built(job: Job, target: TargetBuild, how: str, log: Path, notes: Sequence[str]) -> NotBuiltError:
    """Return the error of a target's own build."""
    subject = f"target {target.target} of {job.revision.label}"
    return _error(job, subject, f"{shown_command(job.recipe.written_for(target))} {how}", log, notes)


def _error(job: Job, subject: str, how: str, log: Path, notes: Sequence[str]) -> NotBuiltError:
    sentences = [f"{subject} does not build: {how}; its log is {log}", *notes]
    if job.recipe.may_be_new:  # it may have failed because there is nothing to weigh yet
        sentences.append("if it lacks what is weighed, let the command end well without that (steelyard docs ci)")
    return NotBuiltError("; ".join(sentences), tail(log))


def shown_command(command: str | None) -> str:
    """Return a command as an error names it: a script of several lines was shown, and would hide the message."""
    written = (command or "").strip()
    return "its command" if "\n" in written else one_line(written)


def tail(log: Path) -> tuple[str, ...]:
    """Return the last lines of a log without colours; of one that is too long its beginning and its end."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = without_colours(file.read().decode(errors="replace")).rstrip().splitlines()
    except OSError:
        return ()
    return tuple(_shortened(line.expandtabs()) for line in lines[-_TAIL_LINES:])


def _shortened(line: str) -> str:
    # What a tool says last is often the cause.
    part = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:part]} ... {line[-part:]}"
