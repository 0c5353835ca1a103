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
_MOST_PAIRS = 100_000
_FEWEST_TABLE_COLUMNS = 3
_RIGHT_ALIGNED_COLUMNS: Final = frozenset(range(1, 8))
_NOT_TOLD = "the system does not tell"
_STYLES = {"serious": "bold red", "slight": "yellow", "fine": "green", "unknown": "dim"}


def show_examination(console: Console, examination: Examination) -> None:
    """Print what disturbs with its remedy, then what is fine, and what the system does not tell."""
    sheet = Sheet(console)
    machine = examination.machine
    facts = [machine.cpu_model or machine.architecture, figures.count(machine.cores_logical, "processor")]
    facts += [machine.virtualization] if machine.virtualization else []
    sheet.title("machine", ", ".join(facts), machine.kernel)
    sheet.blank()
    disturbing = [*examination.of("serious"), *examination.of("slight")]
    for one in disturbing:
        remedy, *commands = one.remedy.split("\n")
        sheet.row(one.severity, _condition_text(sheet, one), f"remedy: {remedy}", style=_STYLES[one.severity])
        for command in commands:  # to be copied verbatim
            sheet.command("", command)
    if disturbing:
        sheet.blank()
    for place, one in enumerate(examination.of("fine")):
        sheet.row("" if place else "fine", _condition_text(sheet, one), style=_STYLES["fine"])
    _print_unknown(sheet, examination.of("unknown"))
    sheet.blank()
    if examination.noise is not None:
        _print_noise(sheet, examination.noise)
        sheet.blank()
    sheet.row("in all", _summary(*(len(examination.of(one)) for one in ("serious", "slight", "unknown"))))


def _print_unknown(sheet: Sheet, conditions: Sequence[Condition]) -> None:
    """Print what the system does not tell on one line, and what is unknown for other reasons below it."""
    codes_not_told = [condition.code for condition in conditions if condition.evidence.startswith(_NOT_TOLD)]
    lines = [Text(f"{', '.join(codes_not_told)}: {_NOT_TOLD}", "dim")] if codes_not_told else []
    lines += [_condition_text(sheet, condition) for condition in conditions if condition.code not in codes_not_told]
    for position, line in enumerate(lines):
        sheet.row("" if position else "unknown", line, style=_STYLES["unknown"])


def _condition_text(sheet: Sheet, condition: Condition) -> Text:
    return Text(f"{condition.code}: ", "bold").append(sheet.name(condition.evidence, 10 * sheet.text_width))


def _summary(serious: int, slight: int, unknown: int) -> str:
    if not (serious or slight):
        return "nothing that disturbs measurements" + (", as far as the system tells" if unknown else "")
    counts = [f"{number} {word}" for number, word in ((serious, "serious"), (slight, "slight")) if number]
    return f"{' and '.join(counts)}: verdicts stay right, but take more pairs (steelyard docs doctor)"


def _print_noise(sheet: Sheet, noise: Noise) -> None:
    """Print a table: for each kind and length of launch, the spread of a pair and the pairs that find 1 % and 0.1 %."""
    duration = f"identical programs for {figures.seconds(noise.seconds)}{', interrupted' if noise.interrupted else ''}"
    sheet.row("measured", f"{duration}; of a change, how many pairs find it:")
    changes = sorted({expectation.change for expectation in noise.expected}, reverse=True)
    titles = ["", "launch", "differ by", *(f"{100 * change:g} %" for change in changes for _ in range(2))]
    titles[4::2] = ["takes" for _ in changes]
    rows = [[Text(title, "dim") for title in titles]]
    for work, pairing, name in _KINDS:
        label = name
        for spread in noise.spreads:
            if (spread.work, spread.pairing, spread.cpu) == (work, pairing, None):
                rows.append([Text(cell) for cell in (label, *_spread_cells(spread, noise.expected))])
                label = ""
    sheet.grid(rows, _RIGHT_ALIGNED_COLUMNS, optional=len(titles) - _FEWEST_TABLE_COLUMNS)


def _spread_cells(spread: Spread, expected: Iterable[Expected]) -> Iterable[str]:
    key = (spread.work, spread.pairing, spread.median_ns / 1e6)
    matching = [
        expectation for expectation in expected if (expectation.work, expectation.pairing, expectation.ms) == key
    ]
    yield figures.duration(spread.median_ns)
    yield f"{100 * matching[0].deviation:.2f} %"
    for expectation in matching:
        if expectation.pairs > _MOST_PAIRS:
            yield from (f"> {_MOST_PAIRS:,}", "")
        else:
            yield from (f"{expectation.pairs:,}", figures.seconds(expectation.seconds))
