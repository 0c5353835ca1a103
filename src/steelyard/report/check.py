"""What a check found, on a terminal: troubles in full, sound benchmarks in one line each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from steelyard.model.soundness import Allocating, Checked, Looked, Soundness
from steelyard.report import figures, printable
from steelyard.report.sheet import Sheet

_NEVER_TRIED = "not tried"


def soundness(console: Console, found: Soundness) -> None:
    """Print each benchmark with its troubles, the rules not tried and why, and what all of it is based on."""
    sheet = Sheet(console)
    sheet.row("checked", Text(sheet.name(found.command, 3 * sheet.text_width), "bold"))
    sheet.blank()
    noted: set[str] = set()
    for name in found.benchmarks:
        _benchmark(sheet, name, [one for one in found.looked if one.benchmark == name])
        for one in found.allocating:
            if one.benchmark == name:
                sheet.row("", Text(sheet.name(heap(one, noted), 10 * sheet.text_width), "dim"))
                noted.add(one.note)
    sheet.blank()
    troubles = found.troubles()
    bad = len({one.benchmark for one in troubles})
    many = figures.count(len(found.benchmarks), "benchmark") if found.harness else "the command"
    looked = f"{figures.count(found.launches, 'launch')} in {figures.seconds(found.seconds)}"
    if found.interrupted:
        sheet.row("caution", "interrupted: only what was launched until then is judged", style="bold yellow")
    if not troubles:
        so_far = " so far" if found.interrupted else ""
        sheet.row("in all", f"no trouble{so_far} with {many} ({looked})")
        return
    in_all = (
        f"{figures.count(len(troubles), 'trouble')} with {bad} of {many}"
        if found.harness
        else figures.count(len(troubles), "trouble")
    )
    sheet.row("in all", f"{in_all} ({looked}): steelyard docs check explains each rule")


def _benchmark(sheet: Sheet, name: str, looked: Sequence[Looked]) -> None:
    shown = sheet.name(name, 2 * sheet.text_width)
    troubles = [one for one in looked if one.outcome == "trouble"]
    tried = [one for one in looked if one.outcome != "untried"]
    if not tried:
        sheet.row("untried", shown)
    elif not troubles:
        held = figures.count(len(tried), "rule holds", "rules hold")
        left = f", {len(looked) - len(tried)} not tried" if len(tried) < len(looked) else ""
        label, style = ("sound", "green") if 2 * len(tried) >= len(looked) else ("untried", "dim")
        sheet.row(label, f"{shown}: {held}{left}", style=style)
    else:
        sheet.row("trouble", Text(shown, "bold"), style="bold red")
    for one in troubles:
        sheet.row(
            "",
            Text(f"{one.code}: ", "bold").append(sheet.name(one.finding, 10 * sheet.text_width)),
            *([f"threshold {in_unit(one)}: {one.origin}"] if one.figure is not None else []),
            f"remedy: {one.remedy}",
        )
    _untried(sheet, [one for one in looked if one.outcome == "untried"])


def _untried(sheet: Sheet, looked: Sequence[Looked]) -> None:
    for why, ones in groupby(sorted(looked, key=lambda one: one.finding), key=lambda one: one.finding):
        codes = ", ".join(one.code for one in ones)
        sheet.row("", Text(f"{_NEVER_TRIED}: {codes}: {sheet.name(why, 10 * sheet.text_width)}", "dim"))


def heap(one: Allocating, noted: Collection[str] = ()) -> str:
    """Say what a benchmark asks of the allocator, and what of that is not seen unless `noted` has it already."""
    if one.allocations is None or one.bytes is None:
        return f"heap: not seen: {one.note}"
    many = f"{one.allocations:,.2f}".rstrip("0").rstrip(".")
    each = {"iteration": "an iteration", "launch": "a launch"}[one.each]
    allocations = "allocation" if many == "1" else "allocations"
    text = f"heap: {each} makes {many} {allocations} of {figures.size(round(one.bytes))} in all"
    if one.share is not None and one.allocations:
        text += f", about {figures.percent(one.share)} of its time"
    return f"{text} ({one.note})" if one.note and one.note not in noted else text


def in_unit(one: Looked) -> str:
    """Write the threshold of a rule in its unit."""
    threshold = one.threshold or 0.0
    match one.unit:
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


def rules(console: Console, command: str, found: Sequence[Checked], *, interrupted: bool = False) -> None:
    """Print each rule of the protocol with what was seen, and whether all rules hold that were tried."""
    sheet = Sheet(console)
    sheet.row("checked", Text(sheet.name(command, 3 * sheet.text_width), "bold"))
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
