"""The measurements as findings: what noise costs, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from steelyard.design.noise.advice import Cost, pinned_costs, tandem_costs
from steelyard.design.noise.spreads import CHANGES, TOLD_MS, Kind, kinds
from steelyard.machine.conditions.contention import MUCH_STOLEN, STOLEN
from steelyard.machine.conditions.words import fine, serious, slight, unknown
from steelyard.model.conditions import Condition
from steelyard.model.noise import Beside, Expected, Noise, Way, Work

# The pairs that a change of 1 % takes: twice, and sixteen times, as many as on a quiet machine.
_MANY, _VERY_MANY = 25, 200
# A launch ten times as long varies a third as much if what disturbs comes and goes within either. If it varies by this
# part, longer launches gain next to nothing; with little noise (_WORTH_TELLING) nobody needs to care.
_PLATEAU, _SHORT_MS, _LONG_MS = 0.7, 30.0, 300.0
_WORTH_TELLING = 0.003
_SLOWED, _MUCH_SLOWED = 0.02, 0.2
_STEP_NS = 1_000.0

_Kinds = Mapping[tuple[Work, Way], Kind]
_NAMES: Mapping[Work, str] = {"loop": "loop", "memory": "walk through memory"}
_WORKS: Sequence[Work] = ("loop", "memory")


def findings(noise: Noise, before: Sequence[Condition]) -> list[Condition]:
    """Return all findings, in the order in which they are told; `before` was seen of the machine without measuring."""
    found = kinds(noise.spreads)
    return [
        *(_resolution(noise, found, work) for work in _WORKS),
        *(_phases(found, work) for work in _WORKS),
        _pairing(noise, found),
        _pinning(noise),
        _neighbours(noise.beside, is_busy=("pressure", "serious") in {(one.code, one.severity) for one in before}),
        _meanwhile(noise),
        _timer(noise),
    ]


def _resolution(noise: Noise, found: _Kinds, work: Work) -> Condition:
    code = f"noise-{work}"
    told = {one.change: one for one in noise.expected if (one.work, one.pairing, one.ms) == (work, "adjacent", TOLD_MS)}
    if not told:
        return unknown(code, "it was not measured")
    evidence = (
        f"{100 * CHANGES[0]:g} % changes of a {_NAMES[work]} of {TOLD_MS:.0f} ms need {_pairs(told[CHANGES[0]])}, "
        f"{100 * CHANGES[1]:g} % {_pairs(told[CHANGES[1]])}"
    )
    if found[work, "adjacent"].swing.is_clear:
        evidence += "; what disturbs came and went meanwhile, so that a weighing may well take another number"
    pairs = told[CHANGES[0]].pairs
    if pairs <= _MANY:
        return fine(code, evidence)
    make = slight if pairs <= _VERY_MANY else serious
    return make(
        code, evidence, "what helps against the other findings; or count (steelyard count), which no noise reaches"
    )


def _pairs(one: Expected) -> str:
    return f"about {one.pairs:,} pairs ({one.low:,} to {one.high:,})"


def _phases(found: _Kinds, work: Work) -> Condition:
    code = f"phases-{work}"
    kind = found.get((work, "adjacent"))
    # Launches may take less than was wanted, as when others slowed down the first ones, which told how long they take.
    if kind is None or max(one.wanted_ms for one in kind.spreads) < _LONG_MS:
        return unknown(code, "programs of such length were not measured")
    short, long = (kind.deviation(ms) for ms in (_SHORT_MS, _LONG_MS))
    evidence = f"pairs of {_SHORT_MS:.0f} ms differ by {100 * short:.2f} %, of {_LONG_MS:.0f} ms by {100 * long:.2f} %"
    if long < _PLATEAU * short:
        return fine(code, f"{evidence}: longer programs vary less")
    if long < _WORTH_TELLING:
        return fine(code, f"{evidence}: either is little")
    return slight(
        code,
        f"{evidence}: what disturbs lasts longer than a launch, and longer programs gain nothing",
        "shorter programs, and more pairs of them; of suites --pairing auto",
    )


def _pairing(noise: Noise, found: _Kinds) -> Condition:
    costs = tandem_costs(found)
    if not costs:
        return unknown("pairing", "pairs in tandem were not measured")
    told = ", ".join(f"{one.part:.2g} times as long for a {_NAMES[work]}" for work, one in costs.items())
    evidence = f"in tandem a verdict takes {told}"
    if "tandem" in noise.pairing.values():
        return fine("pairing", f"{evidence}; longer commands are weighed so by themselves where they gain by it")
    return fine("pairing", f"{evidence}; {no_gain_reason(costs.values())}")


def _pinning(noise: Noise) -> Condition:
    costs = pinned_costs(noise.spreads)
    if not costs:
        return unknown("pinning", "there is but one processor, or none may be chosen")
    told = ", ".join(f"{one.part:.2g} times as long on processor {cpu}" for cpu, one in sorted(costs.items()))
    evidence = f"pinned, a verdict takes {told}"
    if noise.cpu is not None:
        return slight("pinning", evidence, f"--cpu {noise.cpu}")
    return fine("pinning", f"{evidence}; {no_gain_reason(costs.values())}, so leave --cpu out")


def no_gain_reason(costs: Iterable[Cost]) -> str:
    """Say why none of these ways is advised."""
    if any(one.may_be_less for one in costs):
        return "so few pairs as were measured may show that by chance"
    return "that is no clear gain"


def _neighbours(beside: Sequence[Beside], *, is_busy: bool) -> Condition:
    if not beside:
        return unknown("neighbours", "there is but one processor, or none may be chosen")
    if is_busy:
        return unknown("neighbours", "tasks wait for processors here, so that no launch was without a neighbour")
    slowed = [(median(one.beside_ns) / median(one.alone_ns) - 1, one) for one in beside]
    told = ", ".join(
        f"a {_NAMES[one.work]} by {100 * max(by, 0):.1f} % (processors {one.cpus[0]} and {one.cpus[1]})"
        for by, one in slowed
    )
    evidence = f"its like on another processor slows down {told}"
    most = max(by for by, _ in slowed)
    if most < _SLOWED:
        return fine("neighbours", evidence)
    remedy = "leave the other processors idle while you measure; --pairing tandem has both sides share what disturbs"
    return (serious if most > _MUCH_SLOWED else slight)("neighbours", evidence, remedy)


def _meanwhile(noise: Noise) -> Condition:
    told = [f"processor {cpu} {rate:,.0f}" for cpu, rate in sorted(noise.interrupts_per_s.items())]
    parts = [f"interrupts a second: {', '.join(told[:8])}{', ...' if len(told) > 8 else ''}"] if told else []
    if noise.stolen is not None:
        parts.append(f"{100 * noise.stolen:.1f} % of the processors' time went to other machines of the host")
    if not parts:
        return unknown("meanwhile", "the system counts neither interrupts nor stolen time")
    evidence = "; ".join(parts)
    if noise.stolen is not None and noise.stolen > STOLEN:
        return (serious if noise.stolen > MUCH_STOLEN else slight)("meanwhile", evidence, "another hour, or machine")
    return fine("meanwhile", evidence)


def _timer(noise: Noise) -> Condition:
    timer = noise.timer
    if not timer.step_ns:
        return unknown("clock-step", "the clock did not move while it was read")
    evidence = f"the clock moves in steps of {timer.step_ns:,.0f} ns at most, and takes {timer.cost_ns:,.0f} ns to read"
    if max(timer.step_ns, timer.cost_ns) <= _STEP_NS:
        return fine("clock-step", evidence)
    remedy = "programs of 10 ms and more; see `clock` for its source"
    return slight("clock-step", evidence, remedy)
