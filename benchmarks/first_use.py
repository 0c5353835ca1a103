"""Thirty comparisons as a newcomer would make them: how many answers are right, and whether the hints are true.

    python benchmarks/first_use.py [--only PATTERN ...] [--quick] [--longest-hint SECONDS] [--json FILE]
                                  [--keep FOLDER]

It runs the `steelyard compare` installed beside this Python, at default settings, on ordinary programs of 1 ms to 10 s,
whose sources it writes to a temporary folder: equal pairs, and pairs that differ by a known amount of work. If there is
no verdict, what the output suggests (`--max-time`, `--pairs`, `--repeat`, `--margin`, `--shell`) is followed literally,
once, unless it would take longer than --longest-hint. A program that is not installed is left out, and named.

It prints a table in Markdown, then the bars: no answer without a figure, and every hint true, which means that it leads
to a verdict or, if it promises only that, to what a verdict needs. The exit status is 1 if one of them does not hold.
This takes some 15 to 20 minutes; with --quick, which gives each comparison 5 s, some four. With --keep, the records
stay for inspection.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.first_use_programs import Comparison, comparisons
from benchmarks.processes import STEELYARD, stoppable, with_own_store
from benchmarks.simulation import VERDICTS, table

QUICK_S = 5.0
HEADER = ("comparison", "truth", "seconds", "verdict", "change", "so it is", "shown", "hint", "after the hint")

# The options that the output may suggest: those with a value, and the one without.
_OPTION = re.compile(r"(--(?:max-time|pairs|repeat|margin)) ([0-9][0-9,.]*%?)|(--shell)\b")
# A row is a label and its text; indented lines belong to the row above.
_LABEL = re.compile(r"^([a-z][a-z ]{0,9}?) {2,}(.*)")
_NO_HINTS = ("plan", "metric", "stopped", "baseline", "candidate")
_CHANGE = re.compile(r"[+-][0-9][0-9,.e+]* ?%")
_MEDIAN = re.compile(r"\b[0-9][0-9,.]* (ns|µs|ms|s|min)\b")


@dataclass(frozen=True)
class Answer:
    """The result of one call of the tool."""

    status: int
    seconds: float
    verdicts: Mapping[str, str]
    """The verdicts by benchmark, where a command is one benchmark. Empty if nothing was recorded."""
    change: float | None
    text: str
    errors: str

    @property
    def verdict(self) -> str:
        """One word for all benchmarks: the first in `order` that any of them has."""
        if not self.verdicts:
            return f"status {self.status}"
        order = ("slower", "faster", "undecided", "same")
        return min(self.verdicts.values(), key=order.index)

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict on every benchmark."""
        return bool(self.verdicts) and "undecided" not in self.verdicts.values()

    def judged(self, truths: Mapping[str, int]) -> str:
        """Return whether it is right; `truths` says whether each benchmark is slower (1), faster (-1) or equal."""
        if not self.verdicts:
            return "no answer"
        names = {1: "slower", -1: "faster", 0: "same"}
        found = {_judged(word, names[truths.get(name, truths[""])]) for name, word in self.verdicts.items()}
        return next(word for word in ("false alarm", "missed", "right", "honest undecided") if word in found)

    @property
    def shown(self) -> str:
        """Which figures it printed."""
        rows = rows_of(self.text)
        changes = any(_CHANGE.search(text) for label, text in rows if label in VERDICTS or label not in _NO_HINTS)
        medians = any(_MEDIAN.search(text) for label, text in rows if label in ("baseline", "candidate"))
        return " and ".join([*["change"] * changes, *["medians"] * medians]) or "nothing"


def _judged(word: str, truth: str) -> str:
    if word == truth:
        return "right"
    if word == "undecided":
        return "honest undecided"
    return "missed" if word == "same" else "false alarm"


@dataclass
class Row:
    """One comparison: its result, and the result of following its hint."""

    name: str
    truth: str
    seconds: float
    verdict: str
    change: float | None
    judged: str
    shown: str
    hint: str = ""
    followed: str = ""
    """The verdict that the hint led to, and whether that is right; why it was not followed otherwise."""
    hint_is_true: bool | None = None
    """None where there was no hint, or it was not followed."""
    errors: str = field(default="", repr=False)

    def cells(self) -> list[str]:
        """Return the cells, in the order of HEADER."""
        change = "" if self.change is None else f"{self.change:+.1%}"
        judged = [self.judged, self.shown, self.hint, self.followed]
        return [self.name, self.truth, f"{self.seconds:.1f}", self.verdict, change, *judged]


def rows_of(text: str) -> list[tuple[str, str]]:
    """The rows of an output, as (label, text on one line)."""
    rows: list[tuple[str, str]] = []
    for line in text.splitlines():
        if labelled := _LABEL.match(line):
            rows.append((labelled[1], labelled[2].strip()))
        elif line.startswith(" ") and rows:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
        elif line.strip():
            rows.append(("", line.strip()))
    return rows


def hint_in(text: str) -> dict[str, str]:
    """The options that an output suggests, with their values: the largest of each in the first row that has any.

    A verdict's own row comes before notes.
    """
    rows = [(label, row) for label, row in rows_of(text) if label not in _NO_HINTS]
    rows.sort(key=lambda one: one[0] != "undecided")
    several = [options for label, row in rows if (options := _options(row))]
    undecided = [options for label, row in rows if label == "undecided" and (options := _options(row))]
    chosen = undecided or several[:1]
    found: dict[str, str] = {}
    for option, value in (pair for options in chosen for pair in options.items()):
        found[option] = max(found.get(option, ""), value, key=_number)
    return found


def _options(row: str) -> dict[str, str]:
    return {found[1] or found[3]: (found[2] or "").rstrip(",.") for found in _OPTION.finditer(row)}


def _number(value: str) -> float:
    return float(value.replace(",", "").rstrip("%") or 0)


def followed(words: Sequence[str], hint: Mapping[str, str]) -> list[str]:
    """The words of a command line with the options of a hint, which replace any of the same name."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in hint:
            if hint[word]:
                next(rest, None)
            continue
        kept.append(word)
    return kept + [part.replace(",", "") for option, value in hint.items() for part in (option, value) if part]


def ask(words: Sequence[str], folder: Path, record: Path) -> Answer:
    """Compare by this command line, and keep the record."""
    record.unlink(missing_ok=True)
    started = time.monotonic()
    command = [STEELYARD, "compare", *words, "--json", str(record)]
    environment = {**with_own_store(folder / "store"), "COLUMNS": "100"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder, env=environment)
    seconds = time.monotonic() - started
    found: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {}
    judged = found.get("derived", {}).get("verdicts", [])
    verdicts = {one["benchmark"]: one["verdict"] for one in judged if not one["control"]}
    return Answer(done.returncode, seconds, verdicts, found.get("change"), done.stdout, done.stderr)


def tried(comparison: Comparison, folder: Path, kept: Path, quick: bool, longest_s: float) -> Row:
    """Compare, and follow the hint if there is no verdict; both records are kept, under the comparison's name."""
    name = re.sub(r"[^\w+-]+", "-", comparison.name).strip("-")
    words = [*comparison.words, *(["--max-time", f"{QUICK_S:g}"] if quick and not comparison.is_long else [])]
    first = ask(words, folder, kept / f"{name}.json")
    row = Row(
        comparison.name,
        comparison.truth,
        first.seconds,
        first.verdict,
        first.change,
        first.judged(comparison.truths),
        first.shown,
        errors=first.errors.strip(),
    )
    if first.is_decided:
        return row
    hint = hint_in(first.text) or hint_in(first.errors)
    row.hint = " ".join(part for pair in hint.items() for part in pair if part)
    if not hint:
        row.followed = "no hint"
    elif _number(hint.get("--max-time", "")) > longest_s:
        row.followed = f"not followed: over {longest_s:g} s"
    else:
        again = ask(followed(words, hint), folder, kept / f"{name}-after-the-hint.json")
        row.hint_is_true = again.is_decided or (_only_tells(first.text) and bool(hint_in(again.text)))
        row.followed = f"{again.verdict}, {again.judged(comparison.truths)}, {again.seconds:.0f} s"
    return row


def _only_tells(text: str) -> bool:
    """Whether a hint, given after hardly any pairs, only promises to tell how many more are needed."""
    return "tell how many more a small one needs" in " ".join(text.split())


def summary(rows: Sequence[Row]) -> str:
    """The bars, and the number of each outcome."""
    counted = ", ".join(
        f"{sum(row.judged == word for row in rows)} {word}"
        for word in ("right", "honest undecided", "missed", "false alarm", "no answer")
    )
    bare = [row.name for row in rows if row.shown == "nothing"]
    untrue = [row.name for row in rows if row.hint_is_true is False]
    true = sum(row.hint_is_true is True for row in rows)
    left = sum(row.followed.startswith("not followed") for row in rows)
    hintless = sum(row.followed == "no hint" for row in rows)
    return (
        f"{len(rows)} comparisons in {sum(row.seconds for row in rows):.0f} s: {counted}.\n"
        f"None without a figure: {'holds' if not bare else 'broken by ' + '; '.join(bare)}.\n"
        f"Every hint true: {'holds' if not untrue else 'broken by ' + '; '.join(untrue)} "
        f"({true} led to a verdict, {left} would take longer than was followed, {hintless} undecided without a hint)."
    )


def holds(rows: Iterable[Row]) -> bool:
    """Whether both bars hold."""
    return all(row.shown != "nothing" and row.hint_is_true is not False for row in rows)


def main(words: argparse.Namespace) -> int:
    """Try all comparisons, and print the table."""
    rows: list[Row] = []
    longest_s = words.longest_hint if words.longest_hint is not None else 20.0 if words.quick else 90.0
    with tempfile.TemporaryDirectory(prefix="steelyard-") as name, stoppable():
        folder = Path(name)
        kept = words.keep.absolute() if words.keep else folder / "records"
        kept.mkdir(parents=True, exist_ok=True)
        found, missing = comparisons(folder)
        chosen = [one for one in found if any(fnmatch(one.name, f"*{pattern}*") for pattern in words.only or ["*"])]
        for one in missing:
            print(f"left out: {one}", file=sys.stderr)
        for comparison in chosen:
            row = tried(comparison, folder, kept, words.quick, longest_s)
            rows.append(row)
            print("; ".join(filter(None, row.cells())), file=sys.stderr, flush=True)
            if row.judged == "no answer":
                print(row.errors, file=sys.stderr, flush=True)
    print(table(HEADER, [row.cells() for row in rows]))
    print(summary(rows))
    if words.json:
        words.json.write_text(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False) + "\n")
    return 0 if rows and holds(rows) else 1


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Comparisons as a newcomer makes them.")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="those whose name has this in it")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_S:g} s each instead of the default")
    parser.add_argument("--longest-hint", type=float, metavar="SECONDS", help="default: 90, or 20 with --quick")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the rows of the table")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where each comparison's record is to stay")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(_words()))
