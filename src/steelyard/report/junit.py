"""A gate as JUnit's XML, which most CI systems show: a suite a weighing, a case for each benchmark and metric."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from steelyard.model.gate import GateReport, Judged
from steelyard.report import gate_words
from steelyard.report.printable import plain


def xml(report: GateReport) -> str:
    """The report as XML: above its limit is a failure, without data an error, undecided is skipped if not strict."""
    cases: dict[str, list[Judged]] = {source: [] for source in report.sources}
    for one in report.deciding:
        cases[one.source].append(one)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for source, some in cases.items():
        lines += _suite(source, some, report)
    if report.problems:
        lines += [
            f'  <testsuite name="gate" tests="{len(report.problems)}" failures="0" errors="{len(report.problems)}">'
        ]
        lines += [line for problem in report.problems for line in _case("gate", problem, _node("error", problem, ""))]
        lines += ["  </testsuite>"]
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(name: str, cases: list[Judged], report: GateReport) -> Iterator[str]:
    strict = report.limits.strict
    slower = sum(one.standing == "above" for one in cases)
    undecided = sum(one.standing == "open" for one in cases)
    failures, skipped = (slower + undecided, 0) if strict else (slower, undecided)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f"  <testsuite name={_quoted(name)} {counts}>"
    for one in cases:
        verdict = one.verdict
        yield from _case(verdict.benchmark, verdict.metric, _outcome(one, strict=strict), verdict.seconds)
    yield "  </testsuite>"


def _outcome(one: Judged, *, strict: bool) -> str | None:
    change = gate_words.change(one.verdict)
    if one.standing == "above":
        return _node("failure", f"{change} is above the limit of {gate_words.limit(one)}", "slower")
    if one.standing == "open":
        return _node("failure" if strict else "skipped", gate_words.why_open(one), "undecided" if strict else "")
    return None


def _node(kind: str, message: str, named: str) -> str:
    of = f" type={_quoted(named)}" if named else ""
    return f"<{kind} message={_quoted(message)}{of}/>"


def _case(of: str, name: str, outcome: str | None, seconds: float = 0.0) -> Iterator[str]:
    head = f"    <testcase classname={_quoted(of)} name={_quoted(name)} time={_quoted(f'{seconds:.3f}')}"
    yield f"{head}/>" if outcome is None else f"{head}>{outcome}</testcase>"


def _quoted(text: str) -> str:
    return quoteattr(plain(text))
