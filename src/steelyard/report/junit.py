"""A gate or a check as JUnit XML, which most CI systems show: a suite per record, a case for each thing judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    lines = [line for source, judged in cases.items() for line in _gate_suite(source, judged, report)]
    if number := len(report.problems):
        errors = [_case("gate", problem, _outcome_element("error", problem)) for problem in report.problems]
        lines += _suite("gate", errors, tests=number, failures=0, errors=number)
    return _document(lines)


def of_check(record: Soundness) -> str:
    """Return a check as XML: a case for each rule and benchmark; trouble is a failure, an untried rule is skipped."""
    trouble = len(record.troubles())
    untried = sum(result.outcome == "untried" for result in record.looked)
    cases = []
    for result in record.looked:
        kind = {"trouble": "failure", "untried": "skipped"}.get(result.outcome)
        message = f"{result.finding}; {result.remedy}" if result.remedy else result.finding
        cases.append(_case(result.benchmark, result.code, None if kind is None else _outcome_element(kind, message)))
    counts = {"tests": len(cases), "failures": trouble, "errors": 0, "skipped": untried}
    return _document(_suite(record.command, cases, **counts, time=f"{record.seconds:.3f}"))


def _document(suites: Iterable[str]) -> str:
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>", ""])


def _suite(name: str, cases: Sequence[str], **attributes: object) -> list[str]:
    counts = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return [f"  <testsuite name={_quoted(name)}{counts}>", *cases, "  </testsuite>"]


def _gate_suite(name: str, judged: Sequence[Judged], report: GateReport) -> list[str]:
    strict = report.limits.strict
    slower = sum(one.standing == "above" for one in judged)
    undecided = sum(one.standing == "open" for one in judged)
    failures, skipped = (slower + undecided, 0) if strict else (slower, undecided)
    timed = set[int]()
    cases = [
        _case(one.verdict.benchmark, one.verdict.metric, _outcome(one, strict=strict), _seconds(one, timed))
        for one in judged
    ]
    return _suite(name, cases, tests=len(cases), failures=failures, errors=0, skipped=skipped)


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


def _case(classname: str, name: str, outcome: str | None, seconds: float = 0.0) -> str:
    head = f"    <testcase classname={_quoted(classname)} name={_quoted(name)} time={_quoted(f'{seconds:.3f}')}"
    return f"{head}/>" if outcome is None else f"{head}>{outcome}</testcase>"


def _quoted(text: str) -> str:
    return quoteattr(plain(text))
