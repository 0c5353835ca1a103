"""One CPython program with the hash seeds 1 to 5: how its time and its instructions depend on the seed.

    python experiments/hash_seeds/run.py [--quick]

Ends in a table, a figure and a sentence; experiments/README.md says what they show. With Valgrind it counts
instructions, too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import CALLS, Change, Tool, calls, folder
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.counting import INSTRUCTIONS
from steelyard.model.derived import Verdict
from steelyard.model.errors import MeasurementError
from steelyard.report import figures
from steelyard.stats.verdict import CHANGED

SEEDS = (1, 2, 3, 4, 5)
AGAIN = "1, again"
# Seconds of the source's patched Python (https://vstinner.github.io/journey-to-stable-benchmark-average.html).
SOURCE = {1: 0.198, 2: 0.201, 3: 0.207, 4: 0.187, 5: 0.180}


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    pairs: int
    rounds: int
    counted_rounds: int


def main(effort: Effort) -> None:
    """Weigh the other seeds, and the first one again, against the first; count what each executes."""
    page = Page("hash_seeds")
    with folder() as place:
        tool = Tool(place)
        commands = [f"env PYTHONHASHSEED={seed} {calls(effort.rounds)}" for seed in SEEDS]
        weighed = tool.compare(*commands, commands[0], "--pairs", str(effort.pairs), "--max-time", "10m")
        counted = _counted(tool, effort.counted_rounds)
    verdicts = [] if weighed.derived is None else weighed.derived.verdicts
    found = dict(zip([*map(str, SEEDS[1:]), AGAIN], verdicts, strict=True))
    conditions = Conditions.of(weighed.launches.rows())
    page.tell(f"`{CALLS.name}` under each seed against seed 1, active time, {effort.pairs} random pairs each")
    page.tell(told(found, counted), conditions.told())
    page.end(drawn(found), sentence(found, counted))


def _counted(tool: Tool, rounds: int) -> dict[str, int]:
    """Return the instructions by seed; empty without Valgrind."""
    try:
        Valgrind.found(None)
    except MeasurementError:
        return {}
    found = {}
    for seed in SEEDS:
        words = ("--metric", "instructions", "--env", f"PYTHONHASHSEED={seed}")
        record = tool.run(calls(rounds), *words)
        if record.counting is not None:
            found[str(seed)] = record.counting.counts[0].events[INSTRUCTIONS]
    return found


def told(found: Mapping[str, Verdict], counted: Mapping[str, int]) -> str:
    """Return a table of the seeds, each against the first, beside the source's."""
    lines = [["1", "", "", "", "", _source(1)]]
    for name, verdict in found.items():
        seed = int(name[0])
        executed = "" if name not in counted else figures.change(counted[name] / counted["1"] - 1)
        source = "" if name == AGAIN else _source(seed)
        lines.append([name, verdict.verdict, *_change(verdict).told(), executed, source])
    header = ("seed", "verdict", "change", "interval, 99 % each", "instructions", "the source: time, change")
    return table(header, lines)


def _source(seed: int) -> str:
    return f"{SOURCE[seed] * 1e3:.0f} ms, {figures.change(SOURCE[seed] / SOURCE[1] - 1)}"


def _change(verdict: Verdict) -> Change:
    low, high = verdict.interval or (float("-inf"), float("inf"))
    return Change(verdict.change or 0.0, low, high)


def drawn(found: Mapping[str, Verdict]) -> str:
    """Return a figure of the change of each seed against the first, with its interval, beside the source's."""
    shown = []
    for name, verdict in found.items():
        change = _change(verdict)
        shown.append(
            Row(
                f"seed {name}",
                (),
                (100 * change.low, 100 * change.high),
                100 * change.change,
                1 if name == AGAIN else 0,
            )
        )
        if name != AGAIN:
            there = 100 * (SOURCE[int(name)] / SOURCE[1] - 1)
            shown.append(Row(f"seed {name}, the source", (), None, there, 5))
    return rows("The same program under other hash seeds", "% slower than with seed 1", shown, reference=0.0)


def sentence(found: Mapping[str, Verdict], counted: Mapping[str, int]) -> str:
    """Return the result in a sentence."""
    certain = {name: change.change for name, change in _certain(found).items()}
    executed = _extent(list(counted.values()))
    count = f"; they execute up to {figures.extent(executed)} more instructions than one another" if counted else ""
    if not certain:
        return f"No hash seed makes this program slower or faster than seed 1 beyond the noise of this machine{count}."
    spread = _extent([1.0, *(1 + change for change in certain.values())])
    which = ", ".join(f"{name} {figures.change(change)}" for name, change in certain.items())
    there = _extent(list(SOURCE.values()))
    return (
        f"The hash seed alone makes the same program up to {figures.extent(spread)} slower (against seed 1 certainly: "
        f"{which}){count}; in the source it was {figures.extent(there)}."
    )


def _certain(found: Mapping[str, Verdict]) -> dict[str, Change]:
    """Return the seeds whose verdict is a change: an interval is for its seed alone, and one of several may miss."""
    return {name: _change(verdict) for name, verdict in found.items() if name != AGAIN and verdict.verdict in CHANGED}


def _extent(values: Sequence[float]) -> float:
    """Return how much greater the greatest value is than the least."""
    return max(values) / min(values) - 1 if values else 0.0


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(60, 2000, 100), quick=Effort(20, 2000, 100))
