"""A suite while it is weighed, as a few lines on a terminal: what is done, what is open, what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from steelyard.model.progress import Member, Progress
from steelyard.report import figures, printable

_VERDICT_ORDER = ("slower", "faster", "undecided", "same", "failed")
_SHOWN_FIRST = ("slower", "faster", "failed")
_FEWEST_LINES, _MOST_LINES, _FEWEST_COLUMNS = 4, 14, 24
_WORD_COLUMNS = 11
_FEWEST_NAME_COLUMNS, _NAME_COLUMNS = 16, 40


def lines(progress: Progress, members: Sequence[Member], width: int, height: int, encoding: str) -> list[str]:
    """Return up to `height` lines of up to `width` columns; empty if there is no room for several.

    What has changed comes first, then what is open, including the benchmark that was measured last.
    """
    room = min(height, _MOST_LINES) - 2
    if room + 2 < _FEWEST_LINES or width < _FEWEST_COLUMNS:
        return []
    done, unfinished = [one for one in members if one.word], [one for one in members if not one.word]
    changed = sorted((one for one in done if one.word in _SHOWN_FIRST), key=_rank)
    shown = changed[: max(room // 2, room - len(unfinished))]
    if len(unfinished) > room - len(shown):
        unfinished.sort(key=lambda one: one.name != progress.benchmark)
    next_unfinished = unfinished[: room - len(shown)]
    names = printable.shorten_apart(
        [printable.plain(one.name, encoding) for one in [*shown, *next_unfinished]], _NAME_COLUMNS
    )
    widest = max(map(cell_len, names), default=0)
    next_name = next((one.name for one in members if one.is_next), "")
    shown_lines = [
        _tally_line(progress, done, len(members), width),
        *(
            _member_line(one, name, width, widest, is_now=one.name == progress.benchmark)
            for one, name in zip([*shown, *next_unfinished], names, strict=True)
        ),
        *([_next_line(next_name, width, encoding)] if next_name else []),
    ]
    return [printable.symbols(line, encoding) for line in shown_lines]


def _rank(member: Member) -> tuple[int, float]:
    return _VERDICT_ORDER.index(member.word or "failed"), -abs(member.change or 0.0)


def log_text(progress: Progress, members: Sequence[Member]) -> str:
    """Write in one line without a bar how many benchmarks are done, and with which verdicts, for a log."""
    return "  ".join(filter(None, _tally(progress, [one for one in members if one.word], len(members))))


def _tally_line(progress: Progress, done: Sequence[Member], number_of_members: int, width: int) -> str:
    head, tally, left = _tally(progress, done, number_of_members)
    share = bar(len(done) / number_of_members, 20)
    choices = ((share, head, tally, left), (head, tally, left), (head, left), (head,))
    return printable.first_that_fits(choices, width)


def _tally(progress: Progress, done: Sequence[Member], number_of_members: int) -> tuple[str, str, str]:
    """Return how many are done, their verdicts, and the time that is left, if any."""
    counts = [(sum(one.word == word for one in done), word) for word in _VERDICT_ORDER]
    tally = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    is_open = progress.seconds_left is not None and len(done) < number_of_members
    left = f"{figures.seconds(max(0.0, progress.seconds_left or 0.0))} left" if is_open else ""
    return f"{len(done):,} of {number_of_members:,} done", tally, left


def _member_line(member: Member, name: str, width: int, widest: int, *, is_now: bool) -> str:
    change = figures.change(member.change, unknown="")
    interval = figures.interval(member.interval, unknown="")
    pairs = figures.count(member.done, "pair")
    label = (member.word or ("now" if is_now else "open")).ljust(_WORD_COLUMNS)
    for parts in ((change, interval, pairs), (change, interval), (change,), ()):
        figures_text = "  ".join(filter(None, parts))
        room = min(widest, width - _WORD_COLUMNS - cell_len(figures_text) - 2)
        if room >= min(widest, _FEWEST_NAME_COLUMNS) or not parts:
            shown = printable.shorten(name, max(1, room))
            return f"{label}{shown}{' ' * (room - cell_len(shown))}  {figures_text}".rstrip()
    return label


def _next_line(name: str, width: int, encoding: str) -> str:
    room = max(1, width - _WORD_COLUMNS)
    return f"{'next'.ljust(_WORD_COLUMNS)}{printable.shown(name, room, encoding)}"


def bar(share: float, columns: int) -> str:
    """Draw a bar of `columns` columns, filled to a share from 0 to 1."""
    filled = round(min(max(share, 0.0), 1.0) * columns)
    return "━" * filled + "─" * (columns - filled)
