"""Single processes, and averages over 25 processes with different layouts and hash seeds, each repeated several times.

    python experiments/averages/run.py [--quick]

Ends in a table, a figure and a sentence; experiments/README.md says what they show.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from experiments.ending import Conditions, Page, begin, table
from experiments.figure import Row, rows
from experiments.launching import Tool, calls, folder, judged
from steelyard.report import figures

PROCESSES = 25
RUNS = 5
CLOSE = 0.01
METRICS = ("active", "wall")
# Average, standard deviation, least and greatest of each run, in ns
# (https://vstinner.github.io/journey-to-stable-benchmark-average.html).
SOURCE = (
    (205.2e6, 3.0e6, 201.1e6, 214.9e6),
    (205.6e6, 3.3e6, 201.4e6, 216.5e6),
    (206.0e6, 3.9e6, 201.1e6, 215.3e6),
    (205.7e6, 3.6e6, 201.5e6, 217.8e6),
    (206.4e6, 3.5e6, 201.9e6, 214.9e6),
)

Runs = Sequence[Sequence[float]]
"""The times of each run's processes, in ns."""


@dataclass(frozen=True)
class Effort:
    """How much each process does."""

    rounds: int


def main(effort: Effort) -> None:
    """Measure the runs one after the other, and tell the results."""
    page = Page("averages")
    with folder() as place:
        tool = Tool(place)
        words = ("--launches", str(PROCESSES), "--metric", ",".join(METRICS), "--max-time", "10m")
        runs = [tool.run(calls(effort.rounds), *words).launches for _ in range(RUNS)]
    times = {metric: [judged(run, run.metric(metric)) for run in runs] for metric in METRICS}
    conditions = Conditions.of(row for run in runs for row in run.rows())
    page.tell(f"{RUNS} runs of {PROCESSES} processes each, by `steelyard run --launches {PROCESSES}`")
    page.tell(told(times["active"]))
    apart = {"active, here": measures(times["active"]), "wall, here": measures(times["wall"]), "the source": there()}
    page.tell("How far they are apart, the greatest against the least", told_apart(apart), conditions.told())
    page.end(drawn(times["active"]), sentence(measures(times["active"]), measures(times["wall"])))


@dataclass(frozen=True)
class Apart:
    """How much greater the greatest value is than the least."""

    singles: float
    averages: float
    dealt: float | None = None
    """The same of averages whose processes are dealt to the runs in turn, so that drift affects all runs alike."""


def measures(runs: Runs) -> Apart:
    """Return this for single processes, and for the averages of the runs."""
    singles = [time for run in runs for time in run]
    dealt = [singles[number :: len(runs)] for number in range(len(runs))]
    return Apart(_apart(singles), *(_apart([mean(run) for run in kind]) for kind in (runs, dealt)))


def there() -> Apart:
    """Return the source's figures."""
    least, greatest = min(low for _, _, low, _ in SOURCE), max(high for *_, high in SOURCE)
    return Apart(greatest / least - 1, _apart([average for average, *_ in SOURCE]))


def _apart(values: Sequence[float]) -> float:
    return max(values) / min(values) - 1


def told(runs: Runs) -> str:
    """Return a table of the runs in active time, beside the source's."""
    lines = []
    for number, (run, source) in enumerate(zip(runs, SOURCE, strict=True), start=1):
        here = (mean(run), stdev(run), min(run), max(run))
        lines.append([str(number), *map(figures.duration, here), *map(figures.duration, source)])
    names = ("average", "deviation", "least", "greatest")
    return table(("run", *names, *(f"the source: {name}" for name in names)), lines)


def told_apart(known: dict[str, Apart]) -> str:
    """Return a table of how far apart single processes and averages are."""
    lines = [
        [
            name,
            *map(figures.percent, (apart.singles, apart.averages)),
            "" if apart.dealt is None else figures.percent(apart.dealt),
        ]
        for name, apart in known.items()
    ]
    return table(("", "single processes", f"averages of {PROCESSES}", "the same processes, dealt in turn"), lines)


def drawn(runs: Runs) -> str:
    """Return a figure of single processes and the averages."""
    shown = [
        Row(f"run {number}", [time / 1e6 for time in run], None, mean(run) / 1e6) for number, run in enumerate(runs, 1)
    ]
    averages = [mean(run) / 1e6 for run in runs]
    shown.append(Row("averages", averages, (min(averages), max(averages)), None, 1))
    return rows(f"Single processes, and averages over {PROCESSES}", "ms of active time", shown, told=told(runs))


def sentence(active: Apart, wall: Apart) -> str:
    """Return the result in a sentence."""
    single, averages, dealt, clock = map(
        figures.percent, (active.singles, active.averages, active.dealt or 0.0, wall.averages)
    )
    close = figures.percent(CLOSE)
    if active.averages <= CLOSE:
        return (
            f"Single processes are up to {single} apart, averages over {PROCESSES} of them {averages}: they repeat "
            f"within {close} of active time (by the clock on the wall {clock})."
        )
    if (active.dealt or 0.0) <= CLOSE:
        return (
            f"Single processes are up to {single} apart, and averages over {PROCESSES}, one run after the other, "
            f"{averages}, as the machine changed meanwhile; of the same processes dealt to the runs in turn they are "
            f"{dealt} apart, and so repeat within {close} (by the clock on the wall, one after the other, {clock})."
        )
    return (
        f"Single processes are up to {single} apart, averages over {PROCESSES} of them still {averages}, and {dealt} "
        f"where they are dealt in turn: on a machine as disturbed as this they do not repeat within {close} (by the "
        f"clock on the wall {clock})."
    )


if __name__ == "__main__":
    begin(main, __doc__, long=Effort(8000), quick=Effort(1500))
