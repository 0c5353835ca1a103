"""What controls mean for the verdicts beside them: none is given if one alarms, and what one leaves open is told."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

from steelyard.design.findings import COPIED_CONTROL
from steelyard.model.derived import Verdict
from steelyard.model.findings import CONTROL_ALARM, Finding
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.report.figures import change, interval
from steelyard.stats.verdict import CHANGED, log_ratio


def apply_controls(record: Weighing, found: Sequence[Verdict], controls: Sequence[Verdict]) -> list[Verdict]:
    """Return a record's verdicts as its controls leave them; counts have no noise that these could see.

    In a merged record each part has a control of its own, which knows nothing of other machines.
    """
    is_copied = any(finding.code == COPIED_CONTROL for finding in record.findings)

    def apply(verdict: Verdict) -> Verdict:
        if is_counted(verdict.metric):
            return verdict
        own_controls = _controls_of(record, verdict, controls)
        alarm = next((control for control in own_controls if control.verdict in CHANGED), None)
        if alarm is None:
            return _with_open_control(verdict, own_controls)
        return withhold(verdict, alarm, is_copied=is_copied)

    return [apply(verdict) for verdict in found]


def _controls_of(record: Weighing, verdict: Verdict, controls: Sequence[Verdict]) -> list[Verdict]:
    """Return the controls that were measured in the same rounds as a verdict's benchmark."""
    others = {number for part in record.parts if verdict.index not in part.benchmarks for number in part.benchmarks}
    return [control for control in controls if control.index not in others]


def withhold(verdict: Verdict, alarm: Verdict, *, is_copied: bool) -> Verdict:
    """Return a verdict as withheld, because the control found the baseline different from itself, or from a copy."""
    size, level = change(alarm.change or 0.0), f"p = {alarm.p_value:.2g}"
    other = "a copy of itself" if is_copied else "itself"
    message = f"the control found the baseline {alarm.verdict} than {other} ({size}, {level}), so no verdict is given"
    finding = Finding(
        code=CONTROL_ALARM,
        message=message,
        remedy="look for what favours one side: --prepare, files that launches leave behind, other programs' timers"
        + (", or where a file lies: make new copies of both programs, and weigh those" if is_copied else ""),
    )
    return verdict.model_copy(
        update={"verdict": "undecided", "is_change": False, "findings": [finding, *verdict.findings]}
    )


def _with_open_control(verdict: Verdict, controls: Sequence[Verdict]) -> Verdict:
    if verdict.verdict not in CHANGED or verdict.change is None:
        return verdict
    size = abs(log1p(verdict.change))
    control = next((one for one in controls if one.interval is None or _reaches(one.interval, size)), None)
    if control is None:
        return verdict
    bounds = control.interval
    known = "has too few pairs to tell" if bounds is None else f"is {control.verdict}, {interval(bounds)}"
    finding = Finding(
        code="control-open",
        message=f"the control {known}: whatever else favours one side may be as large as this change",
        remedy="weigh again with a larger budget (--max-time, --pairs): the control then goes on until it rules that "
        "out",
    )
    return verdict.model_copy(update={"findings": [finding, *verdict.findings]})


def _reaches(bounds: tuple[float, float], size: float) -> bool:
    return any(abs(log_ratio(bound)) >= size for bound in bounds)
