"""What a look at the machine found, on a terminal: what disturbs in full, what is as it should be in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from steelyard.model.conditions import Condition, Examination
from steelyard.report import figures
from steelyard.report.noise import noise
from steelyard.report.sheet import Sheet

_UNTOLD = "the system does not tell"
_STYLES = {"serious": "bold red", "slight": "yellow", "fine": "green", "unknown": "dim"}


def examination(console: Console, found: Examination) -> None:
    """Print what disturbs with its remedy, then what does not, and what the system does not tell."""
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
        for command in commands:  # to be copied as they stand
            sheet.command("", command)
    if disturbing:
        sheet.blank()
    for place, one in enumerate(found.of("fine")):
        sheet.row("" if place else "fine", _told(sheet, one), style=_STYLES["fine"])
    _unknown(sheet, found.of("unknown"))
    sheet.blank()
    if found.noise is not None:
        noise(sheet, found.noise)
        sheet.blank()
    sheet.row("in all", _in_all(*(len(found.of(one)) for one in ("serious", "slight", "unknown"))))


def _unknown(sheet: Sheet, found: Sequence[Condition]) -> None:
    """In one line what the system does not tell; what is unknown for another reason with that."""
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
