"""Rules about how long things take: nothing at all, too short, too long; and a command's drift over its launches."""

from __future__ import annotations

from functools import partial

import numpy as np

from steelyard.design.check.evidence import EMPTY, PLAIN, Evidence
from steelyard.design.check.judged import LEVEL, Judged, Rule, State, judge_effect, percent
from steelyard.report.figures import count, duration
from steelyard.stats import growth

NOTHING_NS = 1.0
SHORT_NS = 3.0
LONGEST_S = 1.25
START_SHARE = 0.3
# From this share of a launch on, a smaller input helps less than a start that does less.
MOSTLY_START_SHARE = 0.5
MOST_TREND = 0.10

_MORE_TIME_REMEDY = "or give steelyard compare more --max-time"
_LESS_PYTEST_REMEDY = (
    "keep pytest from loading plugins that the benchmark does not need: --env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 (to "
    "steelyard) with -p steelyard (to pytest; of pytest-benchmark -p pytest_benchmark.plugin); have the file import "
    f"less; {_MORE_TIME_REMEDY}"
)
_LESS_START_REMEDY = (
    f"have the program do and load less before it measures: no smaller input shortens that; {_MORE_TIME_REMEDY}"
)

_BLOCKS = 10
_FEWEST_IN_BLOCK = 2
_SHORTEST_SPAN_S = 5.0


def judge_iteration(evidence: Evidence, from_ns: float, below_ns: float, meaning: str) -> Judged:
    """Whether an iteration takes a time that has this meaning: `from_ns` or more, and less than `below_ns`."""
    iteration_ns = float(np.median(evidence.values(PLAIN)))
    state: State = "trouble" if from_ns <= iteration_ns < below_ns else "sound"
    return Judged(state, f"an iteration takes {duration(iteration_ns)}: {meaning}", iteration_ns)


def judge_long(evidence: Evidence) -> Judged:
    """Whether a launch takes so long that few fit into a budget."""
    launches = evidence.of(PLAIN)
    launch_ns, start_ns = (
        float(np.median([getattr(one, what) for one in launches])) for what in ("wall_ns", "start_ns")
    )
    finding, remedy = f"a launch takes {duration(launch_ns)}", None
    if start_ns > MOSTLY_START_SHARE * launch_ns:
        finding += f", {duration(start_ns)} of it beside its samples: most of it is the start of the program"
        remedy = _LESS_PYTEST_REMEDY if evidence.is_pytest else _LESS_START_REMEDY
    return Judged("trouble" if launch_ns > LONGEST_S * 1e9 else "sound", finding, launch_ns / 1e9, remedy)


def judge_short_command(evidence: Evidence) -> Judged:
    """Judge which share of a command's time is the start of a process, whatever it does."""
    start, whole = (float(np.median(evidence.values(kind))) for kind in (EMPTY, PLAIN))
    share = start / whole
    finding = (
        f"{percent(min(share, 1.0))} of its {duration(whole)} is the start of a process ({duration(start)} for `true`)"
    )
    return Judged("trouble" if share > START_SHARE else "sound", finding, share)


def judge_trend(evidence: Evidence) -> Judged:
    """Judge whether a command's launches become slower or faster, while the empty ones between them do not."""
    launches = evidence.of(PLAIN)
    span = sum(one.wall_ns for one in evidence.launches) / 1e9
    fewest = _FEWEST_IN_BLOCK * _BLOCKS
    if len(launches) < fewest or span < _SHORTEST_SPAN_S:
        verb = "is" if len(launches) == 1 else "are"
        few, needed = f"{count(len(launches), 'launch')} {verb} too few", f"{fewest} of them"
        if len(launches) >= fewest:
            # Never rounded to what would be enough.
            few = f"launches of {min(span, _SHORTEST_SPAN_S - 0.1):.1f} s in all are too short"
            needed = f"{_SHORTEST_SPAN_S:.0f} s of them"
        return Judged(
            "lacking", f"{few} to tell it from drift of the machine, which takes {needed}: --max-time allows more"
        )
    found = growth.trend(evidence.values(PLAIN), _BLOCKS, MOST_TREND, LEVEL, beside=evidence.values(EMPTY))
    text = f"{percent(found.figure, sign=True)} from the first launches to the last of {len(launches)}"
    return judge_effect(found, text)


_TOO_LONG = Rule(
    "too-long",
    "launches are short enough for a verdict",
    LONGEST_S,
    "s",
    "most verdicts take 12 pairs or more, and 24 launches within the default of 30 s have 1.25 s each",
    f"a smaller input, or fewer repeats in the body; {_MORE_TIME_REMEDY}",
    judge_long,
)

BENCHMARK_RULES = (
    Rule(
        "optimised-away",
        "an iteration takes time",
        NOTHING_NS,
        "ns",
        "three times what an empty loop takes in any harness (0.28 ns: benchmarks/sdk_cpp_overhead.py)",
        "return the result, or give it to keep, black_box or DoNotOptimize; have inputs that the compiler cannot know",
        partial(judge_iteration, from_ns=0.0, below_ns=NOTHING_NS, meaning="no more than an empty loop"),
    ),
    Rule(
        "too-short",
        "an iteration is long against the loop",
        SHORT_NS,
        "ns",
        "ten times an empty loop (0.28 ns): below, more than a tenth of the time is the loop's",
        "do more in one iteration: a batch of inputs instead of one",
        partial(judge_iteration, from_ns=NOTHING_NS, below_ns=SHORT_NS, meaning="much of it is the loop"),
    ),
    _TOO_LONG,
)

COMMAND_RULES = (
    Rule(
        "too-short",
        "it takes long against the start of a process",
        START_SHARE,
        "",
        "then a change of 1 % of the program's own work is 0.7 % of what is measured",
        "give it more to do, or measure the work inside with a harness (steelyard docs harnesses)",
        judge_short_command,
    ),
    _TOO_LONG,
    Rule(
        "drift",
        "one launch takes as long as the next",
        MOST_TREND,
        "",
        "on the minima of ten blocks, which other work on the machine hardly moves",
        "look for what a launch leaves for the next: files that grow, caches; put it back with --prepare",
        judge_trend,
    ),
)
