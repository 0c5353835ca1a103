"""What a check found, on a terminal: troubles in full, sound benchmarks in one line each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from steelyard.model.grouping import grouped
from steelyard.model.soundness import Allocating, Checked, Looked, Soundness
from steelyard.report import figures, printable
from steelyard.report.sheet import Sheet

_MOST_NAMES = 10


def show_soundness(console: Console, record: Soundness) -> None:
    """Print each benchmark with its troubles, the rules not tried and why, and what all of it is based on."""
    sheet = Sheet(console)
    sheet.title("checked", record.command)
    sheet.blank()
    notes_said: set[str] = set()
    looked = grouped(record.looked, lambda one: one.benchmark)
    allocating = grouped(record.allocating, lambda one: one.benchmark)
    for names in _shown_together(record.benchmarks, looked):
        _print_benchmarks(sheet, names, looked.get(names[0], []))
        for one in (one for name in names for one in allocating.get(name, [])):
            sheet.row("", Text(sheet.name(heap_sentence(one, notes_said), 10 * sheet.text_width), "dim"))
            notes_said.add(one.note)
    sheet.blank()
    troubles = record.troubles()
    troubled_benchmarks = len({one.benchmark for one in troubles})
    checked = figures.count(len(record.benchmarks), "benchmark") if record.harness else "the command"
    effort = f"{figures.count(record.launches, 'launch')} in {figures.seconds(record.seconds)}"
    if record.interrupted:
        sheet.row("caution", "interrupted: only what was launched until then is judged", style="bold yellow")
    if not troubles:
        so_far = " so far" if record.interrupted else ""
        sheet.row("in all", f"no trouble{so_far} with {checked} ({effort})")
        return
    in_all = (
        f"{figures.count(len(troubles), 'trouble')} with {troubled_benchmarks} of {checked}"
        if record.harness
        else figures.count(len(troubles), "trouble")
    )
    sheet.row("in all", f"{in_all} ({effort}): steelyard docs check explains each rule")


@dataclass(frozen=True)
class TargetResult:
    """The result of one of several checks; no record if it could not be tried."""

    name: str
    record: Soundness | None


def show_summary(console: Console, results: Sequence[TargetResult], not_begun: int) -> None:
    """Print how many checks found trouble, which of them, which could not be tried, and how many had not begun."""
    sheet = Sheet(console)
    troubles = {one.name: len(one.record.troubles()) for one in results if one.record is not None}
    sheet.blank()
    checks = figures.count(len(troubles), "check")
    if troubled := sum(map(bool, troubles.values())):
        text = f"{figures.count(sum(troubles.values()), 'trouble')} in {troubled} of {checks}"
    else:
        text = f"no trouble in {checks}" if troubles else "nothing could be tried"
    sheet.row("in all", text, style="bold")
    for one in results:
        if one.record is None:
            sheet.row("failed", sheet.name(one.name, sheet.text_width), style="bold red")
        elif troubles[one.name]:
            codes = dict.fromkeys(trouble.code for trouble in one.record.troubles())
            sheet.row("trouble", f"{sheet.name(one.name, sheet.text_width)}: {', '.join(codes)}", style="bold red")
    if not_begun:
        sheet.row("left out", f"{figures.count(not_begun, 'check')} that had not begun")


def _shown_together(names: Sequence[str], looked: Mapping[str, Sequence[Looked]]) -> Iterable[list[str]]:
    """Return the names of benchmarks of which the same little was tried, as of hundreds after Ctrl-C, in one list."""

    def shown_by(name: str) -> object:
        results = looked.get(name, [])
        if 2 * sum(one.outcome == "untried" for one in results) <= len(results):
            return name
        told = tuple((one.code, one.outcome, one.finding) for one in results)
        return name if any(one.outcome == "trouble" for one in results) else told

    return grouped(names, shown_by).values()


def _print_benchmarks(sheet: Sheet, names: Sequence[str], results: Sequence[Looked]) -> None:
    """Print a benchmark with its results, or several that have the same."""
    shown_name = figures.first_few([sheet.name(name, 2 * sheet.text_width) for name in names], _MOST_NAMES)
    troubles = [result for result in results if result.outcome == "trouble"]
    tried = [result for result in results if result.outcome != "untried"]
    if not tried:
        sheet.row("untried", shown_name)
    elif not troubles:
        holding = figures.count(len(tried), "rule holds", "rules hold")
        untried = f", {len(results) - len(tried)} not tried" if len(tried) < len(results) else ""
        label, style = ("sound", "green") if 2 * len(tried) >= len(results) else ("untried", "dim")
        sheet.row(label, f"{shown_name}: {holding}{untried}", style=style)
    else:
        sheet.row("trouble", Text(shown_name, "bold"), style="bold red")
    for result in troubles:
        sheet.row(
            "",
            Text(f"{result.code}: ", "bold").append(sheet.name(result.finding, 10 * sheet.text_width)),
            *([f"threshold {threshold_text(result)}: {result.origin}"] if result.figure is not None else []),
            f"remedy: {result.remedy}",
        )
    _print_untried(sheet, [result for result in results if result.outcome == "untried"])


def _print_untried(sheet: Sheet, results: Sequence[Looked]) -> None:
    for reason, group in groupby(sorted(results, key=lambda one: one.finding), key=lambda one: one.finding):
        codes = ", ".join(result.code for result in group)
        sheet.row("", Text(f"not tried: {codes}: {sheet.name(reason, 10 * sheet.text_width)}", "dim"))


def heap_sentence(allocating: Allocating, notes_said: Collection[str] = ()) -> str:
    """Say what a benchmark asks of the allocator, and what of that is not seen unless `notes_said` has it already."""
    if allocating.allocations is None or allocating.bytes is None:
        return f"heap: not seen: {allocating.note}"
    number = f"{allocating.allocations:,.2f}".rstrip("0").rstrip(".")
    per = {"iteration": "an iteration", "launch": "a launch"}[allocating.each]
    noun = "allocation" if number == "1" else "allocations"
    text = f"heap: {per} makes {number} {noun} of {figures.size(round(allocating.bytes))} in all"
    if allocating.share is not None and allocating.allocations:
        text += f", about {figures.percent(allocating.share)} of its time"
    return f"{text} ({allocating.note})" if allocating.note and allocating.note not in notes_said else text


def threshold_text(result: Looked) -> str:
    """Write the threshold of a rule in its unit."""
    threshold = result.threshold or 0.0
    match result.unit:
        case "ns":
            return figures.duration(threshold)
        case "s":
            return figures.duration(threshold * 1e9)
        case "bytes":
            return figures.size(threshold)
        case "blocks":
            return f"{threshold:g} blocks"
        case _:
            return f"{100 * threshold:g} %"


def show_rules(console: Console, command: str, found: Sequence[Checked], *, interrupted: bool) -> None:
    """Print each rule of the protocol with what was seen, and whether all rules hold that were tried."""
    sheet = Sheet(console)
    sheet.title("checked", command)
    sheet.blank()
    for rule in found:
        if rule.trouble is None:
            sheet.row("holds", rule.rule, style="green")
        else:
            sheet.row("broken", rule.rule, *printable.lines(rule.trouble), style="bold red")
    sheet.blank()
    broken = sum(rule.trouble is not None for rule in found)
    if interrupted:
        tried = figures.count(len(found), "rule was", "rules were")
        sheet.row("in all", f"interrupted: {tried} tried until then, {broken or 'none'} of them broken")
    elif not broken:
        sheet.row("in all", f"all {len(found)} rules hold")
    else:
        sheet.row(
            "in all",
            f"{broken} of {figures.count(len(found), 'rule')} broken: steelyard docs protocol explains them",
        )
