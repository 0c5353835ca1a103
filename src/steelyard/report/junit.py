"""A gate or a check as JUnit XML, which most CI systems show: a suite per record, a case for each thing judged."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from steelyard.model.gate import GateReport, Judged
from steelyard.model.metrics import is_counted
from steelyard.model.soundness import Soundness
from steelyard.report import gate_words
from steelyard.report.printable import plain


def xml(report: GateReport) -> str:
    """Return the report as XML: above its limit is a failure, no data an error, undecided skipped unless strict.

    What is accepted passes, and its output says why.
    """
    cases: dict[str, list[Judged]] = {source: [] for source in report.sources}
    for one in report.deciding:
        cases[one.source].append(one)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for source, judged in cases.items():
        lines += _suite_lines(source, judged, report)
    if report.problems:
        lines += [
            f'  <testsuite name="gate" tests="{len(report.problems)}" failures="0" errors="{len(report.problems)}">'
        ]
        lines += [
            line
            for problem in report.problems
            for line in _case_lines("gate", problem, _outcome_element("error", problem))
        ]
        lines += ["  </testsuite>"]
    return "\n".join([*lines, "</testsuites>", ""])


def of_check(record: Soundness) -> str:
    """Return a check as XML: a case for each rule and benchmark; trouble is a failure, an untried rule is skipped."""
    trouble = len(record.troubles())
    untried = sum(result.outcome == "untried" for result in record.looked)
    counts = f'tests="{len(record.looked)}" failures="{trouble}" errors="0" skipped="{untried}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    lines += [f"  <testsuite name={_quoted(record.command)} {counts} time={_quoted(f'{record.seconds:.3f}')}>"]
    for result in record.looked:
        kind = {"trouble": "failure", "untried": "skipped"}.get(result.outcome)
        message = f"{result.finding}; {result.remedy}" if result.remedy else result.finding
        lines += _case_lines(result.benchmark, result.code, None if kind is None else _outcome_element(kind, message))
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _suite_lines(name: str, cases: list[Judged], report: GateReport) -> Iterator[str]:
    strict = report.limits.strict
    slower = sum(one.standing == "above" for one in cases)
    undecided = sum(one.standing == "open" for one in cases)
    failures, skipped = (slower + undecided, 0) if strict else (slower, undecided)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f"  <testsuite name={_quoted(name)} {counts}>"
    timed = set[int]()
    for one in cases:
        verdict = one.verdict
        yield from _case_lines(verdict.benchmark, verdict.metric, _outcome(one, strict=strict), _seconds(one, timed))
    yield "  </testsuite>"


def _seconds(one: Judged, timed: set[int]) -> float:
    """Return the seconds of a case: the time of its benchmark's launches, in only one metric so that they add up.

    The span from its first launch to its last would include the turns of other benchmarks.
    """
    if is_counted(one.verdict.metric):
        return one.verdict.seconds
    if one.verdict.index in timed:
        return 0.0
    timed.add(one.verdict.index)
    launches = one.weighing.launches.by_benchmark(len(one.weighing.benchmarks))[one.verdict.index]
    return float(launches.taken_ns().sum()) / 1e9


def _outcome(one: Judged, *, strict: bool) -> str | None:
    if one.standing == "above":
        return _outcome_element("failure", gate_words.above_limit(one), "slower")
    if one.standing == "accepted":
        return f"<system-out>{escape(plain(gate_words.above_limit(one)))}</system-out>"
    if one.standing == "open":
        why = gate_words.why_open_by_itself(one)
        return _outcome_element("failure", why, "undecided") if strict else _outcome_element("skipped", why)
    return None


def _outcome_element(kind: str, message: str, type_name: str = "") -> str:
    type_attribute = f" type={_quoted(type_name)}" if type_name else ""
    return f"<{kind} message={_quoted(message)}{type_attribute}/>"


def _case_lines(classname: str, name: str, outcome: str | None, seconds: float = 0.0) -> Iterator[str]:
    head = f"    <testcase classname={_quoted(classname)} name={_quoted(name)} time={_quoted(f'{seconds:.3f}')}"
    yield f"{head}/>" if outcome is None else f"{head}>{outcome}</testcase>"


def _quoted(text: str) -> str:
    return quoteattr(plain(text))
