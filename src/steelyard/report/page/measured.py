"""What weighings and runs share on a page: their machine, samples and heap."""

from __future__ import annotations

import numpy as np

from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import USED, has_order, times_ns
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.report import counting, figures, heap, sentences
from steelyard.report.page import elements, sequences
from steelyard.report.page.budget import Budget
from steelyard.report.page.data import Figure, Role
from steelyard.report.page.elements import Content, Markup
from steelyard.report.page.parts import HOW, MACHINE, Facts
from steelyard.report.page.units import Quantity
from steelyard.stats.thinning import evenly_spaced

# Abilities of the launch server that a reader of the figures would miss.
_ABILITY_WORDS = {
    "schedstat": "how long a program waits for a processor",
    "pressure": "how long others waited",
    "steal": "what the host takes",
}


def machine(facts: MachineFacts, title: str = MACHINE) -> Facts:
    """Return the facts about the machine, as far as they are known."""
    cores = figures.count(facts.cores_logical, "logical core")
    physical = f", {facts.cores_physical:,} physical" if facts.cores_physical else ""
    facts_told: list[tuple[str, str | None]] = [
        ("processor", facts.cpu_model),
        ("cores", cores + physical),
        ("architecture", facts.architecture),
        ("caches", ", ".join(f"{level} {size}" for level, size in facts.caches.items())),
        ("memory", figures.size(facts.memory_bytes) if facts.memory_bytes else None),
        ("kernel", facts.kernel),
        ("C library", facts.libc),
        ("microcode", facts.microcode),
        ("virtualization", facts.virtualization),
        ("governor", facts.governor),
        ("clock source", facts.clock_source),
        ("address randomisation", None if facts.aslr is None else {0: "off"}.get(facts.aslr, "on")),
        (
            "the system does not tell",
            ", ".join(meaning for name, meaning in _ABILITY_WORDS.items() if facts.offers.get(name) is False),
        ),
        ("key, the same of like machines", facts.key),
    ]
    return Facts(title, [(term, elements.name(text, 4)) for term, text in facts_told if text])


def machines(record: Weighing) -> list[Facts]:
    """Return the facts about the machine of a weighing; of a merged one, about each kind of machine."""
    numbers: dict[str, list[int]] = {}
    for number, one in enumerate(record.machines, start=1):
        numbers.setdefault(one.key, []).append(number)
    if len(numbers) == 1:
        return [machine(record.machine)]
    return [
        machine(
            record.machines[of_parts[0] - 1],
            f"{MACHINE} of {'part' if len(of_parts) == 1 else 'parts'} {', '.join(map(str, of_parts))}",
        )
        for of_parts in numbers.values()
    ]


def facts(record: Weighing | Run, title: str = HOW) -> Facts:
    """Return when and how a record was measured."""
    settings, is_judged = record.settings, isinstance(record, Weighing)  # what judges a run is its diff's own
    texts: list[tuple[str, str | None]] = [
        ("begun", figures.moment(record.created)),
        ("took", _duration_text(record)),
        ("margin", sentences.all_margins(record) if is_judged else None),
        ("alpha", f"{settings.alpha:g}" if is_judged else None),
        ("driven by", _driver_text(settings)),
        ("pairing", _pairing_text(record) if isinstance(record, Weighing) else None),
        ("addresses", "equal for both of a pair, while one thread works" if _has_equal_addresses(record) else None),
        ("Steelyard", record.tool),
        ("counted by", _counted_by(record)),
    ]
    has_plan = len(record.launches) > 0 and not (record.kind == "weighing" and record.parts)  # each part had its own
    plan = [("plan", elements.sentence_markup(sentences.plan(settings)))] if has_plan else []
    commands: list[tuple[str, Content]] = [
        (_side_label(record, position), _subject(subject)) for position, subject in enumerate(record.subjects)
    ]
    terms = [(term, elements.name(text, 4)) for term, text in texts if text]
    return Facts(title, [*commands, *terms, *plan])


def _duration_text(record: Weighing | Run) -> str | None:
    """Say how long measuring took, if known (not for a journal); counts beside launches have a time of their own."""
    durations = [figures.seconds(record.seconds)] if record.seconds else []
    if (counts_s := counting.counting_s(record)) is not None:
        durations.append(f"{figures.seconds(counts_s)} for the counts, added up")
    return ", and ".join(durations) or None


def _driver_text(settings: Settings) -> str | None:
    if settings.starts == "shared":
        return f"{settings.harness}, one start a side for all benchmarks of a round, which each have a forked process"
    return settings.harness


def _pairing_text(record: Weighing) -> str | None:
    """Say how the launches of the judged pairs ran; None if none were timed."""
    launches = record.launches
    used = np.flatnonzero(launches.in_role(USED))
    if not len(used):
        return None
    tandem, how = launches.in_tandem()[used], "one after the other"
    if tandem.any():
        tandem_part = "" if tandem.all() else f" {tandem.sum() // 2:,} of {figures.count(len(used) // 2, 'pair')}"
        is_in_turn = launches.samples and has_order(launches.samples[used[tandem.argmax()]])
        how = f"in tandem{tandem_part}{', samples in turn' if is_in_turn else ''}"
    return f"{how}, chosen by auto" if record.settings.pairing == "auto" else how


def _has_equal_addresses(record: Weighing | Run) -> bool:
    """Return whether both launches of a pair had equal addresses; counts alone have no launches."""
    return record.settings.addresses is not None and len(record.launches) > 0


def _side_label(record: Weighing | Run, position: int) -> str:
    if isinstance(record, Run):
        return "subject"
    return "baseline" if position in record.baselines else "candidate"


def _subject(subject: Subject) -> Content:
    command = elements.element("code", elements.name(subject.command, elements.LONGER))
    if subject.name == subject.command:
        return command
    return elements.joined([elements.name(subject.name), ": ", command])


def _counted_by(record: Weighing | Run) -> str | None:
    return f"{record.counting.tool.tool} {record.counting.tool.version}" if record.counting else None


def inside(
    launches: Launches,
    positions: dict[str, tuple[Role, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]],
    metric: str,
    quantity: Quantity,
    budget: Budget,
) -> Figure | None:
    """Return the chart of the samples inside each side's launches; None for commands and metrics without samples."""
    if not launches.samples or metric not in PER_ITERATION:
        return None
    sides = []
    for label, (role, of_side) in positions.items():
        chosen = of_side[evenly_spaced(len(of_side), budget.launches)].tolist()
        times = (times_ns(launches.samples[position], metric) for position in chosen)
        # Where a sample of a launch does not tell its time, there are none of that launch.
        known = [np.array(of_launch, dtype=np.float64) for of_launch in times if of_launch]
        sides.append(sequences.LaunchSamples(label, role, known, len(of_side)))
    return sequences.inside_figure(sides, quantity, budget.points)


def heap_table(record: Weighing | Run, benchmark: int) -> list[Markup]:
    """Return a table of what a benchmark asks of the allocator; empty if that was not watched."""
    rows = heap.rows_of(record, benchmark)
    if not rows:
        return []
    sides = heap.SIDES if isinstance(record, Weighing) else ["a launch"]
    return [elements.table(f"Heap: {heap.TITLE}; {heap.CAUTION}", ["heap", *sides], rows, numbers=frozenset({1, 2, 3}))]
