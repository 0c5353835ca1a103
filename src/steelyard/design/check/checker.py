"""The check from beginning to end: what there is, how much of it to run, the launches, and each rule's finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path
from random import Random

from steelyard.design.check import allocating, clusters, growing, lengths, names
from steelyard.design.check.evidence import (
    AFTER,
    DOUBLE,
    EMPTY,
    LONGER,
    LONGEST,
    PLAIN,
    Amount,
    Evidence,
    sample_ns,
)
from steelyard.design.check.gather import ANY_DRAW, CheckedBenchmark, Gatherer, MakeSpec
from steelyard.design.check.judged import TOO_FEW, Judged, Rule, State, untried
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import Runner
from steelyard.design.suite.loops import choose_loops
from steelyard.model.errors import LaunchError, VanishedError
from steelyard.model.progress import Progress, Watch
from steelyard.model.rows import Sample
from steelyard.model.soundness import Allocating, Looked
from steelyard.subjects.harness import Harness
from steelyard.subjects.responses import arguments_of, runs_pytest

RULES = (*lengths.BENCHMARK_RULES, *growing.RULES, *clusters.RULES)
COMMAND_RULES = (*lengths.COMMAND_RULES, *clusters.RULES)

# What a rule that had too few launches lacks, by what it says of those that there were.
_WHAT_WAS_LACKING: Mapping[State, str] = {
    "lacking": "before it was tried",
    "perhaps": "before there were launches enough to tell",
}
INTERRUPTED = f"interrupted {_WHAT_WAS_LACKING['lacking']}"
UNSETTLED = f"interrupted {_WHAT_WAS_LACKING['perhaps']}"

# 14 pairs and 42 plain launches; then twice as many, and twice as many again, where something seems to be wrong.
_ROUNDS_BY_LOOK = (7, 14, 28)
# A command's launches have to span more time than other work on the machine comes and goes in.
_MANY_ROUNDS, _COMMAND_SECONDS = 10_000, (10.0, 20.0, 40.0)
_MOST_OTHERS = 20
# The time that is said to be enough, over what the launches so far suggest: a few of them may have been the short ones.
_AMPLE_TIME_FACTOR = 1.5
# Many samples in a launch are 60 ms of them: long enough to show what changes within it, and as long as a few starts.
_LONGEST_NS, _MOST_SAMPLES = 60_000_000, 40
# A launch takes one sample if it is this long, as in a weighing; another benchmark this long is not worth the wait
# before each of 14 launches.
_LONG_NS, _LONGEST_OTHER_NS = 100_000_000, 500_000_000


@dataclass
class Checker:
    """Checks one target; `seconds` is the time for the launches of each benchmark.

    If the user stops it, what was launched until then is judged, and the rules that lack launches are untried.
    """

    make: MakeSpec
    runner: Runner
    seconds: float
    watch: Watch
    seed: int
    clock: Callable[[], float]
    heap: Path | None = None
    """The program whose heap is to be watched, too."""
    remedy: str | None = None
    """What to do about a launch that fails, if more is known than that the program is to be fixed."""
    ignore_failure: bool = False
    allocating: list[Allocating] = field(default_factory=list, init=False)
    interrupted: bool = field(default=False, init=False)
    _harness: Harness = field(init=False)
    _all_names: Sequence[str] = field(init=False)
    _loops: dict[str, int] = field(default_factory=dict, init=False)
    _long: set[str] = field(default_factory=set, init=False)
    _broken: dict[str, list[Looked]] = field(default_factory=dict, init=False)
    """All that is to say of the benchmarks of which nothing else can be tried."""

    def command(self, name: str, empty: MakeSpec) -> list[Looked]:
        """Try the rules that make sense for a plain command; raises LaunchError if it fails."""
        evidence = Evidence(name, {PLAIN: Amount(1, 1), EMPTY: Amount(1, 1)})
        checked = CheckedBenchmark(
            name, self.make, self.runner, empty=empty, remedy=self.remedy, ignore_failure=self.ignore_failure
        )

        def tell(launches: int) -> None:
            self.watch(Progress(f"checking {name}", launches, None, noun="launch"))

        gatherer = Gatherer(checked, evidence, _random(self.seed), self.clock, tell=tell)
        with self._until_interrupted():
            tell(0)
            self._gather_for_command(gatherer)
            if self.heap is not None:
                self.allocating.append(allocating.measure_command(checked, self.heap))
        return self._judge_all(gatherer, COMMAND_RULES)

    def _gather_for_command(self, gatherer: Gatherer) -> None:
        started = self.clock()
        gatherer.gather(_ROUNDS_BY_LOOK[1], started + self.seconds)
        for seconds in _COMMAND_SECONDS:
            most = self.seconds if seconds == _COMMAND_SECONDS[0] else 2 * self.seconds
            gatherer.gather(_MANY_ROUNDS, started + min(most, seconds))
            if not _is_open(COMMAND_RULES, gatherer.evidence):
                break

    def benchmarks(self, harness: Harness, all_names: Sequence[str], chosen: Sequence[str]) -> list[Looked]:
        """Try every rule on every chosen benchmark."""
        self._harness, self._all_names = harness, all_names
        looked: list[Looked] = []
        for number, name in enumerate(chosen):
            self.watch(Progress(f"trying {name}", number, len(chosen), noun="benchmark"))
            looked += self._try_rules([names.RUNS, names.NAME], name, partial(self._select, name))
            if name not in self._broken:
                with self._until_interrupted():
                    if (error := self._choose_loops(name)) is not None:
                        self._broken[name] = _stopped_findings(name, error)
        for number, name in enumerate(chosen):
            self.watch(Progress(f"checking {name}", number, len(chosen), noun="benchmark"))
            if name in self._broken:
                looked += self._broken[name]
            else:
                looked += self._try_rules(RULES, name, partial(self._check_benchmark, name))
                if self.heap is not None:
                    looked += self._try_rules([allocating.RULE], name, partial(self._check_heap, name, self.heap))
        return _without_overruled(looked)

    def _select(self, name: str) -> list[Looked]:
        """Return what its answer to its name shows; note it if that ends its check."""
        answer = names.ask_for(name, self._all_names, self._checked_benchmark)
        if isinstance(answer.error, VanishedError):
            self._broken[name] = _stopped_findings(name, answer.error)
        elif answer.error is not None:
            self._broken[name] = _untried_findings(name, str(answer.error))
        return [_to_looked(names.RUNS, name, answer.runs), _to_looked(names.NAME, name, answer.name)]

    def _try_rules(self, rules: Sequence[Rule], name: str, look: Callable[[], list[Looked]]) -> list[Looked]:
        """Return what a look at a benchmark finds; if it fails, that none of its rules was tried, and why."""
        why = INTERRUPTED
        if not self.interrupted:
            try:
                return look()
            except LaunchError as error:
                why = str(error)
            except Interrupted:
                self.interrupted = True
        return [_to_looked(rule, name, untried(why)) for rule in rules]

    @contextmanager
    def _until_interrupted(self) -> Iterator[None]:
        try:
            yield
        except Interrupted:
            self.interrupted = True

    def _check_benchmark(self, name: str) -> list[Looked]:
        try:
            return self._launch_benchmark(name)
        except LaunchError as error:
            return _stopped_findings(name, error)

    def _launch_benchmark(self, name: str) -> list[Looked]:
        others, checked = self._other_benchmarks(name), self._checked_benchmark(name)
        is_pytest = runs_pytest(arguments_of(self.make(ANY_DRAW)))
        evidence = Evidence(name, self._amounts(checked, others), is_pytest=is_pytest)
        gatherer = Gatherer(checked, evidence, _random(self.seed, name), self.clock, others)
        with self._until_interrupted():
            until = self.clock() + self.seconds
            gatherer.gather(_ROUNDS_BY_LOOK[0], until)
            for rounds in _ROUNDS_BY_LOOK[1:]:
                if not _is_open(RULES, evidence):
                    break
                gatherer.gather(rounds, until + self.seconds)
        return self._judge_all(gatherer, RULES)

    def _check_heap(self, name: str, program: Path) -> list[Looked]:
        found = allocating.measure_benchmark(self._checked_benchmark(name), program, self._loops[name])
        self.allocating.append(found)
        return [_to_looked(allocating.RULE, name, allocating.judge_leak(found))]

    def _judge_all(self, gatherer: Gatherer, rules: Sequence[Rule]) -> list[Looked]:
        evidence = gatherer.evidence
        if evidence.failure is not None:
            rules = (names.RUNS, *rules)
        elif clusters.modes(evidence).state == "trouble":
            with self._until_interrupted():
                gatherer.gather_fixed()
        judged = [_judge_rule(rule, gatherer) for rule in rules]
        enough_s = ceil(_AMPLE_TIME_FACTOR * gatherer.seconds_of(_ROUNDS_BY_LOOK[0]))
        more = f"{TOO_FEW.finding}: --max-time {enough_s} allows enough"
        judged = [replace(one, finding=more) if one is TOO_FEW else one for one in judged]
        return [_to_looked(rule, evidence.benchmark, one) for rule, one in zip(rules, judged, strict=True)]

    def _checked_benchmark(self, name: str) -> CheckedBenchmark:
        return CheckedBenchmark(name, self.make, self.runner, self._harness, remedy=self.remedy)

    def _choose_loops(self, name: str) -> LaunchError | None:
        """Find out how many loops a sample takes; return the error if there is no such number."""
        if not self._harness.fixes_loops or name in self._loops:
            self._loops.setdefault(name, 1)
            return None
        checked = self._checked_benchmark(name)

        def take(loops: int, samples: int) -> Sequence[Sample]:
            taken = checked.run(ANY_DRAW, Amount(loops, samples)).samples
            if sample_ns(taken) > _LONGEST_OTHER_NS:
                self._long.add(name)
            return taken

        try:
            self._loops[name] = choose_loops(take)
        except LaunchError as error:
            return error
        return None

    def _other_benchmarks(self, name: str) -> list[tuple[str, int]]:
        """Return what runs before a benchmark to see if that matters: the other benchmarks, except long ones."""
        if not self._harness.runs_before:
            return []
        others = [other for other in self._all_names if other != name]
        others = _random(self.seed).sample(others, min(len(others), _MOST_OTHERS))
        for other in others:
            self._choose_loops(other)
        return [(other, self._loops[other]) for other in others if other in self._loops and other not in self._long]

    def _amounts(self, checked: CheckedBenchmark, others: Sequence[tuple[str, int]]) -> dict[str, Amount]:
        loops = self._loops[checked.name]
        fixed = self._harness.samples_a_launch
        first = checked.run(ANY_DRAW, Amount(loops, 1)).samples
        plain, least = (1, 6) if sample_ns(first) >= _LONG_NS else (5, 10)
        longest = max(least, min(_MOST_SAMPLES, int(_LONGEST_NS / sample_ns(first))))
        longer = round((plain * longest) ** 0.5)
        amounts = {PLAIN: Amount(loops, fixed or plain)}
        if self._harness.fixes_loops:
            amounts[DOUBLE] = Amount(2 * loops, fixed or plain)
        elif self._harness.most_amounts > 1:
            amounts[DOUBLE] = Amount(self._harness.most_amounts, fixed or plain)
        if others:
            amounts[AFTER] = Amount(loops, fixed or plain)
        if not fixed:
            amounts |= {LONGER: Amount(loops, longer), LONGEST: Amount(loops, longest)}
        return amounts


def _judge_rule(rule: Rule, gatherer: Gatherer) -> Judged:
    """Return what a rule says of the launches; it says less if there are fewer than there were to be."""
    evidence = gatherer.evidence
    if not gatherer.cut_short and evidence.failure is None:
        return rule.judge(evidence)
    if not evidence.of(PLAIN):
        return untried(INTERRUPTED)
    judged = rule.judge(evidence)
    if judged.state not in _WHAT_WAS_LACKING:
        return judged
    return untried(f"{'interrupted' if gatherer.cut_short else 'a launch failed'} {_WHAT_WAS_LACKING[judged.state]}")


def _without_overruled(looked: Sequence[Looked]) -> list[Looked]:
    """Return the findings without what seemed sound in a first launch, if later ones showed that it is not."""
    troubled = {(one.code, one.benchmark) for one in looked if one.outcome == "trouble"}
    return [one for one in looked if one.outcome == "trouble" or (one.code, one.benchmark) not in troubled]


def _is_open(rules: Sequence[Rule], evidence: Evidence) -> bool:
    return any(rule.judge(evidence).state == "perhaps" for rule in rules)


def _random(seed: int, name: str = "") -> Random:
    return Random(f"{seed}/{name}")  # noqa: S311 - it shall be repeatable


def _to_looked(rule: Rule, benchmark: str, judged: Judged) -> Looked:
    outcomes = {"trouble": "trouble", "untried": "untried", "lacking": "untried"}
    troubled = judged.state == "trouble"
    return Looked.model_validate(
        {
            "code": rule.code,
            "benchmark": benchmark,
            "outcome": outcomes.get(judged.state, "sound"),
            "finding": judged.finding if judged.state in outcomes else rule.sound,
            "figure": judged.figure,
            "threshold": rule.threshold,
            "unit": rule.unit,
            "origin": rule.origin,
            "remedy": (judged.remedy or rule.remedy) if troubled else "",
        }
    )


def _stopped_findings(name: str, error: LaunchError) -> list[Looked]:
    """Return the findings if no number of loops makes a sample long enough, or one fails that had run before."""
    if isinstance(error, VanishedError):
        _, *rest = _untried_findings(name, "it takes no time that could be judged")
        return [_to_looked(RULES[0], name, Judged("trouble", str(error))), *rest]
    return [_to_looked(names.RUNS, name, names.judge_failed_later(1, str(error))), *_untried_findings(name, str(error))]


def _untried_findings(name: str, why: str) -> list[Looked]:
    return [_to_looked(rule, name, untried(why)) for rule in RULES]
