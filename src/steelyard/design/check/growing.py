"""Rules about growth: of the time with the loops, of the time and the memory with the samples."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import numpy as np

from steelyard.design.check.evidence import AFTER, DOUBLE, LONGER, LONGEST, PLAIN, Evidence, late_log_ratios
from steelyard.design.check.judged import BLURRED, LEVEL, TOO_FEW, Judged, Rule, judge_effect, percent, untried
from steelyard.report.figures import count
from steelyard.stats import growth
from steelyard.stats.signed_rank import fewest_differences

CONSTANT_SHARE = 0.10
EXCESS = 0.25
DRIFT = 0.10
ORDER = 0.20
MEMORY_BYTES = 1 << 20

# For harnesses that choose the loops: with hardly more of them nothing grows. And a launch has to have three thirds
# beside its first sample.
_LEAST_STRETCH = 1.4
_FEWEST_SAMPLES = 4
_NOT_SUPPORTED = "this harness cannot be asked for it"
_LOOPS_DO_NOT_GROW = "the harness gives a sample no more iterations, however long it may take"

_FEWEST_LAUNCHES = fewest_differences(LEVEL)


def _judge_lacking(evidence: Evidence, kind: str, needed: int = _FEWEST_LAUNCHES) -> Judged | None:
    """Return why launches of a kind are not enough to judge by; None if they are."""
    if kind in evidence.untried:
        return untried(evidence.untried[kind])
    if kind not in evidence.amounts:
        return untried(_NOT_SUPPORTED)
    return TOO_FEW if len(evidence.of(kind)) < needed else None


def _judge_lacking_doubles(evidence: Evidence) -> Judged | None:
    """Return the same for twice the loops: they come later in a launch, and if that matters, nothing can be told."""
    if _judge_rise(evidence).state == "trouble" or (
        not _judge_lacking(evidence, LONGEST) and drift(evidence).state == "trouble"
    ):
        return untried("its time changes within a launch: see to that first")
    if lacking := _judge_lacking(evidence, DOUBLE):
        return lacking
    if evidence.loops(DOUBLE) < _LEAST_STRETCH * evidence.loops():
        return untried(_LOOPS_DO_NOT_GROW)
    if len(evidence.log_ratios(DOUBLE)) < _FEWEST_LAUNCHES:
        return BLURRED
    return None


def set_up(evidence: Evidence) -> Judged:
    """Whether a part of a sample's time does not depend on its loops."""
    if lacking := _judge_lacking_doubles(evidence):
        return lacking
    loops = evidence.loops()
    found = growth.constant_share(
        evidence.log_ratios(DOUBLE), CONSTANT_SHARE, LEVEL, times=evidence.loops(DOUBLE) / loops
    )
    return judge_effect(
        found,
        f"{percent(found.figure)} of the time of a sample of {count(round(loops), 'loop')} does not depend on the "
        f"loops: twice as many take {2 - found.figure:.2f} times as long",
    )


def slower_and_slower(evidence: Evidence) -> Judged:
    """Whether samples take longer one after the other, or twice the loops far more than twice the time."""
    rising = _judge_rise(evidence)
    if rising.state == "trouble":
        return rising
    if lacking := _judge_lacking_doubles(evidence):
        return rising if lacking.finding in (_NOT_SUPPORTED, _LOOPS_DO_NOT_GROW) else lacking
    times = evidence.loops(DOUBLE) / evidence.loops()
    found = growth.excess(evidence.log_ratios(DOUBLE), EXCESS, LEVEL, times=times)
    if found.shown == "within" and rising.state == "perhaps":
        return rising
    return judge_effect(
        found,
        f"twice the loops take {2 * (1 + found.figure):.2f} times as long: later iterations do more than earlier ones",
    )


def _judge_rise(evidence: Evidence) -> Judged:
    """Judge whether samples take longer one after the other, in the longest launches of which there are enough."""
    enough = [kind for kind in (LONGEST, LONGER, PLAIN) if not _judge_lacking(evidence, kind)]
    if not enough:
        return _judge_lacking(evidence, PLAIN) or untried(_NOT_SUPPORTED)
    with_thirds = [one for one in evidence.of(enough[0]) if len(one.times) >= _FEWEST_SAMPLES]
    if len(with_thirds) < _FEWEST_LAUNCHES:
        return untried(_NOT_SUPPORTED)
    # Later samples that are longer, as criterion's are, catch more waits.
    launches = [one for one in with_thirds if one.is_even or not one.is_blurred]
    if len(launches) < _FEWEST_LAUNCHES:
        return BLURRED
    found = growth.rise(np.array([one.thirds for one in launches]), EXCESS, LEVEL)
    samples = f"{median(len(one.times) for one in launches):.0f}"
    return judge_effect(
        found,
        f"the last third of the {samples} samples of a launch takes {1 + found.figure:.2f} times as long as the first, "
        "and they rise all the while: later iterations do more than earlier ones",
    )


def drift(evidence: Evidence) -> Judged:
    """Whether samples late in a launch are slower or faster than those that a launch is judged by."""
    if _judge_rise(evidence).state == "trouble":
        return untried("its samples take longer one after the other: see to slower-and-slower first")
    if lacking := _judge_lacking(evidence, LONGEST):
        return lacking
    samples = evidence.amounts[LONGEST].samples
    clear = [one for one in evidence.of(LONGEST) if not one.is_blurred]
    if len(clear) < _FEWEST_LAUNCHES:
        return BLURRED
    found = growth.shift(late_log_ratios(clear, evidence.amounts[PLAIN].samples), DRIFT, LEVEL)
    return judge_effect(
        found,
        f"the last quarter of {samples} samples takes {percent(found.figure, sign=True)} against those by which a "
        "launch is judged: the longer the launch, the more its time is another",
    )


def order(evidence: Evidence) -> Judged:
    """Whether it is slower or faster in a process in which the others ran before."""
    if lacking := _judge_lacking(evidence, AFTER):
        return lacking
    found = growth.shift(evidence.log_ratios(AFTER), ORDER, LEVEL)
    return judge_effect(
        found,
        f"{percent(found.figure, sign=True)} where the other benchmarks ran before it in the same process",
    )


def memory(evidence: Evidence) -> Judged:
    """Judge whether memory grows with the samples, for as long as there are any."""
    for kind in (LONGER, LONGEST):
        if lacking := _judge_lacking(evidence, kind, _FEWEST_LAUNCHES // 2):
            return lacking
    few, more, most = (_memory_of(evidence, kind) for kind in (PLAIN, LONGER, LONGEST))
    found = growth.memory(few, more, most, MEMORY_BYTES, LEVEL)
    each = found.figure / evidence.loops()
    grown = float(np.median(most.bytes) - np.median(few.bytes))
    return judge_effect(
        replace(found, figure=grown),
        f"{grown / 2**20:.1f} MiB more after {most.samples} samples than after {few.samples}, and no end of it: "
        f"{each:,.0f} bytes an iteration",
    )


def _memory_of(evidence: Evidence, kind: str) -> growth.Memory:
    samples = evidence.amounts[kind].samples
    return growth.Memory(samples, np.array([float(one.rss_bytes) for one in evidence.of(kind)]))


RULES = (
    Rule(
        "set-up-in-clock",
        "a sample's time doubles with its loops",
        CONSTANT_SHARE,
        "",
        "33 sound benchmarks on a busy machine reached 6 % (steelyard docs check)",
        "take what is done once out of the timed part; a body that uses its input up (sorting in place) needs a "
        "fresh one in each iteration: copy it inside, or use run_each (C++)",
        set_up,
    ),
    Rule(
        "slower-and-slower",
        "iterations do not get slower one by one",
        EXCESS,
        "",
        "33 sound benchmarks reached 2 % (steelyard docs check), and a working set that leaves a cache is nobody's "
        "mistake",
        "begin each iteration from the same state: what it fills or appends to has to be emptied, or made afresh",
        slower_and_slower,
    ),
    Rule(
        "drift",
        "samples late in a launch are like early ones",
        DRIFT,
        "",
        "33 sound benchmarks on a busy machine reached 5 % (steelyard docs check)",
        "warm up in the set-up, until the time is steady (JIT, lazy loading, caches); if it rises, look for state "
        "that piles up",
        drift,
    ),
    Rule(
        "order",
        "it is the same after the others have run",
        ORDER,
        "",
        "33 sound C++ benchmarks reached 12 %, the heap trap 100 % and more (steelyard docs check)",
        "Steelyard gives each benchmark a process of its own, so its figures hold; in any runner that shares a process "
        "they hang on the order: run it alone there, too, and look at the heap and at global state",
        order,
    ),
    Rule(
        "memory",
        "memory does not grow with the samples",
        MEMORY_BYTES,
        "bytes",
        "one arena of CPython's allocator, the largest step of the common allocators",
        "free what an iteration allocates; garbage that a collector has yet to come for looks the same: collect it "
        "within the launch (in Python it is off: @bench(gc=True))",
        memory,
    ),
)
