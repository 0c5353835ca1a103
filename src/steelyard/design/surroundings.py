"""What the machine gave the launches beyond the usual, as a record says it: a control group, a tuned machine."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.report import figures

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.machine.isolation.isolation import Isolated
    from steelyard.model.isolation import Isolation

_ISOLATED, _NOT_ISOLATED = "isolated", "not-isolated"
_TUNED = "tuned"


def with_isolation(record: Weighing | Run, isolated: Isolated | None) -> Weighing | Run:
    """Return the record with the facts of its launches' control group; if it was carried on, the latest."""
    if isolated is None:
        return record
    facts = isolated.facts()
    with_facts = record.model_copy(update={"isolation": facts})
    found = _isolation_findings(facts, in_tandem=bool(record.launches.in_tandem().any()))
    return with_facts.with_findings(found, replacing=(_ISOLATED, _NOT_ISOLATED))


def _isolation_findings(isolation: Isolation, *, in_tandem: bool) -> list[Finding]:
    """Return the findings on how far the launches ran apart from everything else."""
    from steelyard.machine.conditions.words import processors  # whoever only reads results has no use for it

    found = []
    if isolation.group is not None:
        where = "in a control group of their own"
        if isolation.processors:
            where += f", confined to {processors(isolation.processors)}"
            where += ", taken from all others" if isolation.alone else ""
        waited = ""
        if isolation.waited_us is not None and isolation.seconds > 0:
            share = min(1.0, isolation.waited_us / 1e6 / isolation.seconds)
            waited = f"; some task in it waited for a processor for {figures.percent(share)} of the time"
            waited += ", as of two in tandem one always does" if in_tandem else ""
        found.append(Finding(code=_ISOLATED, message=f"the launches ran {where}{waited}"))
    if isolation.missing is not None:
        found.append(Finding(code=_NOT_ISOLATED, message=f"--isolate: {isolation.missing}"))
    return found


def with_tuning(record: Weighing | Run, world: World) -> Weighing | Run:
    """Return the record, before its next launch, with what is tuned on the machine, by this command or before.

    If it is carried on, its first launches may have run on a machine that was tuned otherwise.
    """
    changes = world.tuner().in_force()
    earlier = [one for one in record.findings if one.code == _TUNED]
    found = _tuned_findings(dict.fromkeys(change.code for change in changes), _ALL)
    if not record.is_empty() and found != earlier:
        told = [name for one in [*earlier, *found] for name in one.message.partition(": ")[2].split(", ")]
        found = _tuned_findings(dict.fromkeys(told), _SOME)
    return record.with_findings(found, replacing=(_TUNED,))


_ALL, _SOME = "the machine was tuned", "the machine was not tuned alike for all launches; for some"


def _tuned_findings(names: Collection[str], which: str) -> list[Finding]:
    """Return a finding on what was tuned for which launches, by the names of `steelyard tune`, if anything was."""
    if not names:
        return []
    remedy = "what that does: steelyard docs tune"
    return [Finding(code=_TUNED, message=f"{which}: {', '.join(names)}", remedy=remedy)]
