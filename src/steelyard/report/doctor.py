"""What an examination of the machine found, on a terminal: disturbances in full, what is fine in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from steelyard.model.conditions import Condition, Examination
from steelyard.model.noise import Expected, Noise, Spread, Way, Work
from steelyard.report import figures
from steelyard.report.sheet import Sheet

_KINDS: Final[Sequence[tuple[Work, Way, str]]] = (
    ("loop", "adjacent", "loop"),
    ("loop", "tandem", "in tandem"),
    ("memory", "adjacent", "memory"),
    ("memory", "tandem", "in tandem"),
)
_MOST = 100_000
_FEWEST_COLUMNS = 3
_RIGHT: Final = frozenset(range(1, 8))
_UNTOLD = "the system does not tell"
_STYLES = {"serious": "bold red", "slight": "yellow", "fine": "green", "unknown": "dim"}


def examination(console: Console, found: Examination) -> None:
    """Print what disturbs with its remedy, then what is fine, and what the system does not tell."""
    sheet = Sheet(console)
    machine = found.machine
    facts = [machine.cpu_model or machine.architecture, figures.count(machine.cores_logical, "processor")]
    facts += [machine.virtualization] if machine.virtualization else []
    sheet.row("machine", Text(sheet.name(", ".join(facts), 3 * sheet.text_width), "bold"), machine.kernel)
    sheet.blank()
    disturbing = [*found.of("serious"), *found.of("slight")]
    for one in disturbing:
        remedy, *commands = one.remedy.split("\n")
        sheet.row(one.severity, _told(sheet, one), f"remedy: {remedy}", style=_STYLES[one.severity])
        for command in commands:  # to be copied verbatim
            sheet.command("", command)
    if disturbing:
        sheet.blank()
    for place, one in enumerate(found.of("fine")):
        sheet.row("" if place else "fine", _told(sheet, one), style=_STYLES["fine"])
    _unknown(sheet, found.of("unknown"))
    sheet.blank()
    if found.noise is not None:
        _noise(sheet, found.noise)
        sheet.blank()
    sheet.row("in all", _in_all(*(len(found.of(one)) for one in ("serious", "slight", "unknown"))))


def _unknown(sheet: Sheet, found: Sequence[Condition]) -> None:
    """Print what the system does not tell on one line, and what is unknown for other reasons below it."""
    untold = [one.code for one in found if one.evidence.startswith(_UNTOLD)]
    lines = [Text(f"{', '.join(untold)}: {_UNTOLD}", "dim")] if untold else []
    lines += [_told(sheet, one) for one in found if one.code not in untold]
    for place, line in enumerate(lines):
        sheet.row("" if place else "unknown", line, style=_STYLES["unknown"])


def _told(sheet: Sheet, one: Condition) -> Text:
    return Text(f"{one.code}: ", "bold").append(sheet.name(one.evidence, 10 * sheet.text_width))


def _in_all(serious: int, slight: int, unknown: int) -> str:
    if not (serious or slight):
        return "nothing that disturbs measurements" + (", as far as the system tells" if unknown else "")
    told = [f"{number} {word}" for number, word in ((serious, "serious"), (slight, "slight")) if number]
    return f"{' and '.join(told)}: verdicts stay right, but take more pairs (steelyard docs doctor)"


def _noise(sheet: Sheet, found: Noise) -> None:
    """Print a table: for each kind and length of launch, the spread of a pair and the pairs that find 1 % and 0.1 %."""
    told = f"identical programs for {figures.seconds(found.seconds)}{', interrupted' if found.interrupted else ''}"
    sheet.row("measured", f"{told}; of a change, how many pairs find it:")
    changes = sorted({one.change for one in found.expected}, reverse=True)
    heads = ["", "launch", "differ by", *(f"{100 * change:g} %" for change in changes for _ in range(2))]
    heads[4::2] = ["takes" for _ in changes]
    rows = [[Text(head, "dim") for head in heads]]
    for work, pairing, name in _KINDS:
        label = name
        for one in found.spreads:
            if (one.work, one.pairing, one.cpu) == (work, pairing, None):
                rows.append([Text(cell) for cell in (label, *_cells(one, found.expected))])
                label = ""
    while len(rows[0]) > _FEWEST_COLUMNS and _width(rows) > sheet.width:
        rows = [row[:-1] for row in rows]
    sheet.grid(rows, _RIGHT)


def _width(rows: Sequence[Sequence[Text]]) -> int:
    widths: list[int] = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def _cells(one: Spread, expected: Iterable[Expected]) -> Iterable[str]:
    place = (one.work, one.pairing, one.median_ns / 1e6)
    mine = [found for found in expected if (found.work, found.pairing, found.ms) == place]
    yield figures.duration(one.median_ns)
    yield f"{100 * mine[0].deviation:.2f} %"
    for found in mine:
        if found.pairs > _MOST:
            yield from (f"> {_MOST:,}", "")
        else:
            yield from (f"{found.pairs:,}", figures.seconds(found.seconds))
