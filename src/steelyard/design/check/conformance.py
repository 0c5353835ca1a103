"""Whether a program speaks the harness protocol of docs/protocol.md: a list of rules, each tried on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from steelyard.design.check.unit import Timed, far_shorter, unit_trouble
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import HARNESS_REMEDY, Target
from steelyard.design.suite.loops import choose_loops
from steelyard.design.suite.processed import describe_no_amounts
from steelyard.design.world import World
from steelyard.model.errors import InterruptedBeforeStart, LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.model.settings import Settings
from steelyard.model.soundness import Checked
from steelyard.model.subject import Subject
from steelyard.subjects.command import launch_spec, shared_environment
from steelyard.subjects.harness import Listed, Work
from steelyard.subjects.protocol import VERSION, ProtocolHarness
from steelyard.subjects.responses import check_within

_NO_SUCH_NAME = "no benchmark is called like this"
_OTHER_VERSION = 1_000_000
_OTHERS_RULE = "its other benchmarks answer as the first does"
# The first benchmark is tried in full; of the others, as many as this time allows.
_OTHERS_S = 10.0
# The turns of two launches beside each other: each hands its turn over, and each keeps it once.
_TURNS = ("01101", "10010")

_Rule = tuple[str, Callable[[], None]]
"""What holds, and what tries it."""


class _BrokenRule(Exception):  # noqa: N818 - a finding
    """A rule does not hold; the message says what was seen."""


@dataclass(frozen=True)
class Conformance:
    """The rules that were tried."""

    rules: list[Checked]
    interrupted: bool = False
    """Whether the user stopped it before the last one."""


def try_protocol(subject: Subject, settings: Settings, world: World) -> Conformance:
    """Try the rules on one subject; raises InterruptedBeforeStart if the user stops it before the first was tried."""
    rules: list[Checked] = []
    with world.launcher() as launcher, Interrupt([launcher.cancel], world.clock) as interrupt:
        runner = Runner(launcher, interrupt.is_requested)
        try:
            rules.extend(_Trial(subject, settings, runner, world.environment, world.clock).rules())
        except Interrupted:
            if not rules:
                raise InterruptedBeforeStart("interrupted before the first rule was tried") from None
            return Conformance(rules, interrupted=True)
    return Conformance(rules)


@dataclass(frozen=True)
class _Trial:
    """Tries the rules on one subject."""

    subject: Subject
    settings: Settings
    runner: Runner
    source: Mapping[str, str]
    clock: Callable[[], float]
    _harness: ProtocolHarness = field(default_factory=ProtocolHarness, init=False)
    """Knows what the hello of the first list said, and so what to try; later lists are read by one of their own."""

    def rules(self) -> Iterator[Checked]:
        """Yield every rule that can be tried; without a list there is nothing to run, and no more of them."""
        first = self._try_rule("it lists its benchmarks", self._lists)
        yield first
        if first.trouble is not None:
            return
        for rule, check in self._number_rules():
            yield self._try_rule(rule, check)
        grows = self._try_rule("its times grow with the loops", self._grows)
        yield grows
        if grows.trouble is None:
            yield self._try_rule("its times are in ns, as far as its launches show", self._tells_ns)
            if self._listed[1:]:
                yield self._other_benchmarks()
        for rule, check in self._other_rules():
            yield self._try_rule(rule, check)

    def _number_rules(self) -> Iterator[_Rule]:
        yield "it lists the same benchmarks again", self._lists_the_same
        if any(one.processed or one.no_amounts for one in self._listed):
            yield "what an iteration processes is a number above 0", self._tells_amounts
        yield "it takes as many samples as it is asked for", self._takes_samples
        yield "a sample runs the loops that it is asked for", partial(self._check_loops, self._first_name)

    def _other_rules(self) -> Iterator[_Rule]:
        yield "it says where a benchmark is not known, and fails", self._refuses_unknown
        yield "it does not answer in another version of the protocol", self._refuses_version
        yield "it ignores words of later versions", self._ignores_words
        if self._harness.runs_before:
            yield "it runs others before a benchmark, as it says that it can", self._runs_before
        if self._harness.offers_lockstep:
            yield "it takes its samples in turn with another's, as it says that it can", self._takes_turns
        if self._harness.shares_starts:
            yield "it runs several in processes of their own, as it says that it can", self._runs_each

    @staticmethod
    def _try_rule(rule: str, check: Callable[[], None]) -> Checked:
        try:
            check()
        except (_BrokenRule, LaunchError) as trouble:
            return Checked(rule, str(trouble))
        return Checked(rule, None)

    def _lists(self) -> None:
        if not self._listed:
            raise _BrokenRule("it lists none: there is nothing to measure")

    def _lists_the_same(self) -> None:
        if self._listed != ProtocolHarness().listed(self.runner.trial(self._listing()).measured):
            raise _BrokenRule("two calls listed different benchmarks, or in another order")

    def _tells_amounts(self) -> None:
        if told := describe_no_amounts(self._listed):
            raise _BrokenRule(f"it told of {told}, of which there is no throughput")

    def _takes_samples(self) -> None:
        for samples in (1, 3):
            self._run(1, samples)

    def _check_loops(self, name: str) -> None:
        ran = {sample.loops for sample in self._run(7, 2, name)}
        if ran != {7}:
            raise _BrokenRule(f"asked for 7 loops, it ran {', '.join(map(str, sorted(ran)))}")

    def _grows(self) -> None:
        _ = self._loops  # not found if they do not grow

    def _tells_ns(self) -> None:
        if trouble := unit_trouble(self._timed, self._loops):
            raise _BrokenRule(trouble)

    def _other_benchmarks(self) -> Checked:
        """Try whether the others, as far as time allows, take samples and loops as the first does, with growing ns."""
        others, until, tried = self._listed[1:], self.clock() + _OTHERS_S, 0
        while tried < len(others) and (not tried or self.clock() < until):
            name = others[tried].name
            tried += 1
            checked = self._try_rule("", partial(self._answers_alike, name))
            if checked.trouble is not None:
                return Checked(_OTHERS_RULE, f"{name}: {checked.trouble}")
        which = "" if tried == len(others) else f" ({tried:,} of {len(others):,} were tried)"
        return Checked(f"{_OTHERS_RULE}{which}", None)

    def _answers_alike(self, name: str) -> None:
        self._check_loops(name)
        loops = choose_loops(lambda loops, _: self._run(loops, 1, name))
        if trouble := far_shorter(partial(self._timed, name=name), loops):
            raise _BrokenRule(trouble)

    def _refuses_unknown(self) -> None:
        work = Work(_NO_SUCH_NAME, 1, 1)
        measured = self.runner.run(self._harness.running(self._spec, work))
        if not measured.has_failed():
            raise _BrokenRule("it ended with exit status 0")
        if self._harness.complaint(measured) is None:
            raise _BrokenRule('it failed without a line {"error": ...} that says why')

    def _refuses_version(self) -> None:
        spec = self._harness.running(self._spec, Work(self._first_name, 1, 1))
        own, other = (f"--steelyard-protocol={version}".encode() for version in (VERSION, _OTHER_VERSION))
        asked = replace(spec, argv=tuple(other if word == own else word for word in spec.argv))
        if not self.runner.run(asked).has_failed():
            raise _BrokenRule(f"asked to speak version {_OTHER_VERSION}, it answered and ended with exit status 0")

    def _ignores_words(self) -> None:
        target = self._listing()
        argv = (*target.spec.argv, b"--steelyard-of-a-later-version=1")
        ProtocolHarness().listed(self.runner.trial(replace(target, spec=replace(target.spec, argv=argv))).measured)

    def _runs_before(self) -> None:
        """Try whether it runs others before a benchmark.

        A program that passes over the words has every order look sound: only an unknown name shows that.
        """
        unknown = Work(self._first_name, 1, 1, before=((_NO_SUCH_NAME, 1),))
        if not self.runner.run(self._harness.running(self._spec, unknown)).has_failed():
            raise _BrokenRule("it ended with exit status 0, where the one to run before is not known")
        others = tuple((one.name, 1) for one in self._listed[1:2])
        if not others:
            return
        work = Work(self._first_name, 3, 2, before=others)
        measured = self.runner.run(self._harness.running(self._spec, work))
        if measured.has_failed() and self._harness.complaint(measured) is not None:
            return  # one of the two may be one that fails
        if {sample.loops for sample in self._harness.samples(measured, work)} != {work.loops}:
            raise _BrokenRule(f"asked for {work.loops} loops behind one that ran before, it ran others")

    def _takes_turns(self) -> None:
        both = self.runner.launch_together(
            [self._running(Work(self._first_name, 1, len(orders), orders=orders)) for orders in _TURNS],
            lambda reading: ["alone" if sample.order is None else str(sample.order) for sample in reading.samples],
        )
        for asked, found in zip(_TURNS, both, strict=True):
            if found != [*asked]:
                raise _BrokenRule(
                    f"asked for samples in the orders {', '.join(asked)}, it took them {', '.join(found)}"
                )

    def _runs_each(self) -> None:
        works = [Work(self._first_name, 1, 2), Work(_NO_SUCH_NAME, 1, 1)]
        if not self.runner.run(self._harness.running_each(self._spec, works)).has_failed():
            raise _BrokenRule("it ended with exit status 0, where one of them is not known")
        works[1] = Work(self._first_name, 3, 1)
        measured = self.runner.run(self._harness.running_each(self._spec, works))
        for work, part in zip(works, self._harness.apart(measured, works), strict=True):
            if part.has_failed() and self._harness.complaint(part) is not None:
                continue  # it may be one that cannot run so
            if {sample.loops for sample in self._harness.samples(part, work)} != {work.loops}:
                raise _BrokenRule(f"asked for {work.loops} loops, one of several ran others")

    @property
    def _spec(self) -> LaunchSpec:
        shared = shared_environment(self.settings, self.source)
        return launch_spec(self.subject, self.settings, shared, draw_pair(self.settings.seed, 0, 0))

    @cached_property
    def _first_name(self) -> str:
        return self._listed[0].name

    @cached_property
    def _listed(self) -> list[Listed]:
        return self._harness.listed(self.runner.trial(self._listing()).measured)

    def _listing(self) -> Target:
        return Target("it", self._harness.listing(self._spec), harness=self._harness, remedy=HARNESS_REMEDY)

    def _running(self, work: Work) -> Target:
        spec = self._harness.running(self._spec, work)
        return Target("it", spec, harness=self._harness, work=work, remedy=HARNESS_REMEDY)

    @cached_property
    def _loops(self) -> int:
        """The loops of a usual sample. One sample a launch is enough to tell: in another unit it may take seconds."""
        return choose_loops(lambda loops, _: self._run(loops, 1))

    def _run(self, loops: int, samples: int, name: str | None = None) -> tuple[Sample, ...]:
        return self._launch(loops, samples, name)[1]

    def _timed(self, loops: int, name: str | None = None) -> Timed:
        measured, samples = self._launch(loops, 1, name)
        return Timed(samples[0].ns, measured.wall_ns)

    def _launch(self, loops: int, samples: int, name: str | None) -> tuple[Measured, tuple[Sample, ...]]:
        work = Work(name or self._first_name, loops, samples)
        # Samples are read here, as a rule speaks of them without a subject.
        target = Target("it", self._harness.running(self._spec, work), harness=self._harness, remedy=HARNESS_REMEDY)
        measured = self.runner.trial(target).measured
        found = self._harness.samples(measured, work)
        check_within(found, measured, self._harness, work)
        return measured, found
