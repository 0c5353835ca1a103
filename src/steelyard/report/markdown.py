"""A weighing or a run as a GitHub table, fit for a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.model.derived import deciding_of
from steelyard.model.metrics import is_counted
from steelyard.report import (
    budgets,
    counting,
    disturbances,
    figures,
    heap,
    layouts,
    levels,
    notes,
    ranking,
    sentences,
    suite_mean,
    words,
)
from steelyard.report.markup import code, document, escape, items, table

if TYPE_CHECKING:
    from steelyard.model.derived import Summary, Verdict
    from steelyard.model.records import Run, Weighing


def weighing(
    record: Weighing,
    verdicts: list[Verdict],
    *,
    functions: int = 10,
    running: bool = False,
    told: notes.Told | None = None,
) -> str:
    """Write a weighing: the verdict in bold, a table of all verdicts, what is undecided, and the notes.

    For counted benchmarks, list up to `functions` functions that a change comes from. `told` has the notes of other
    weighings above it.
    """
    told, unmeasured = told or notes.Told(), record.unmeasured
    all_notes = notes.of_weighing(record, verdicts) if unmeasured is None else notes.of_unmeasured(record, unmeasured)
    notes_at_verdict, notes_below = notes.split_by_place(told.anew(all_notes))
    lines = [_heading(record, verdicts, running=running), "", *_list_lines(notes.markdown(notes_at_verdict))]
    baselines, candidates = ([code(name) for name in names] for names in record.sides())
    sides = f"{_labelled('baseline', baselines)}, {_labelled('candidate', candidates)}"
    lines += [f"{sides}{_built_text(record)}{_part_text(record)}", ""]
    if unmeasured is not None:
        return document([*lines, *_list_lines(notes.markdown(notes_below)), _origin(record)])
    interval = f"interval at {figures.confidence(record.settings.alpha)}"
    pairs = sentences.title_of_pairs(record.settings.metrics)
    titles = ["benchmark", "metric", "verdict", "change", interval, pairs, "baseline", "candidate", "resolution"]
    if verdicts:
        lines += [*table(titles, map(_row, verdicts)), ""]
    deciding = deciding_of(verdicts)
    means = map(escape, suite_mean.of_each_metric(record))
    lines += _list_lines(
        [*means, *ranking.markdown(record, deciding), *_explanations(record, deciding), *_margins(record)]
    )
    lines += counting.markdown(record, verdicts, functions)
    lines += heap.markdown(record)
    lines += _list_lines(layouts.markdown(verdicts))
    lines += _list_lines(notes.markdown(notes_below))
    lines.append(_origin(record))
    return document(lines)


def run(record: Run, summaries: list[Summary], *, functions: int = 10, running: bool = False) -> str:
    """Write a run: a table of levels and spreads, the largest `functions` of what was counted, and the notes."""
    stopped = (None if summaries else sentences.failed(record.stop)) or sentences.stopped(record.stop, running=running)
    lines = [f"subject {code(record.subjects[0].name)}{_built_text(record)}" + (f" ({stopped})" if stopped else ""), ""]
    interval = f"interval at {figures.confidence(record.settings.alpha)}"
    titles = ["benchmark", "metric", "median", interval, "varies by", "range", "launches", "machine was"]
    if summaries:
        lines += [*table(titles, map(_summary_row, summaries)), ""]
    lines += counting.markdown_largest(record, summaries, functions)
    lines += heap.markdown(record)
    lines += _list_lines(notes.markdown(notes.of_run(record, summaries)))
    lines.append(_origin(record))
    return document(lines)


def _built_text(record: Weighing | Run) -> str:
    return f"; {code(built)}" if (built := sentences.built(record)) else ""


def _part_text(record: Weighing) -> str:
    return f"; part {part}" if (part := sentences.part(record)) else ""


def _labelled(label: str, names: list[str]) -> str:
    return f"{label}{'' if len(names) == 1 else 's'} {', '.join(names)}"


def _heading(record: Weighing, verdicts: list[Verdict], *, running: bool) -> str:
    stopped = sentences.stopped(record.stop, running=running)
    stopped_text = f" ({stopped})" if stopped else ""
    if record.unmeasured is not None:
        return f"**{'no verdict' if record.identical is None else 'same'}**: {escape(record.unmeasured.message)}"
    if not verdicts:
        return (
            f"**no result**: {sentences.without_verdict(record.stop)}{'' if 'failed' in record.stop else stopped_text}"
        )
    if len(record.benchmarks) > 1:
        deciding = deciding_of(verdicts)
        return f"**{sentences.tally_in(record, deciding)}**{stopped_text}"
    return f"**{verdicts[0].verdict}** {sentences.evidence(verdicts[0], record.settings)}{stopped_text}"


def _row(verdict: Verdict) -> list[str]:
    return [
        code(verdict.benchmark),
        escape(verdict.metric),
        _verdict_word(verdict),
        figures.change(verdict.change),
        figures.interval(verdict.interval),
        f"{verdict.pairs:,}",
        *(
            figures.NOT_KNOWN if side is None else sentences.level(side, verdict.metric)
            for side in (verdict.baseline, verdict.candidate)
        ),
        figures.extent(verdict.resolution) if verdict.resolution is not None else figures.NOT_KNOWN,
    ]


def _verdict_word(verdict: Verdict) -> str:
    """Return the verdict, and for a change how fast it makes the candidate."""
    if quiet := sentences.without_alarm(verdict):
        return quiet
    speed = words.speed_of(verdict)
    return f"**{verdict.verdict}**" + (f", {speed}" if speed else "")


def _summary_row(summary: Summary) -> list[str]:
    median, lowest, highest = (
        figures.quantity(value, summary.metric) for value in (summary.median, summary.lowest, summary.highest)
    )
    return [
        code(summary.benchmark),
        escape(summary.metric),
        ", ".join([median, *sentences.rates(summary)]),
        levels.interval(summary) or figures.NOT_KNOWN,
        levels.spread(summary),
        f"{lowest} to {highest}",
        f"{summary.launches:,}",
        figures.NOT_KNOWN if is_counted(summary.metric) else disturbances.quality(summary),
    ]


def _explanations(record: Weighing, deciding: list[Verdict]) -> list[str]:
    """Explain the deciding metric's verdicts where a table row does not suffice."""
    undecided = [verdict for verdict in deciding if verdict.verdict == "undecided"]
    is_alone = len(undecided) == 1
    explained = []
    for verdict in deciding:
        if verdict.verdict == "same" or (verdict.verdict == "undecided" and is_alone):
            text = "; ".join(sentences.explanation(verdict, record))
        elif verdict.verdict == "undecided":
            text = sentences.what_is_ruled_out(verdict, record.settings) or "nothing is known"
        else:
            continue
        explained.append(f"{code(verdict.benchmark)} is {verdict.verdict}: {text}")
    deciders = [] if is_alone else budgets.budget_of_all(undecided, record, code)
    return [*explained, *(f"undecided: {decider}" for decider in deciders)]


def _margins(record: Weighing) -> list[str]:
    margins = sentences.margins(record)
    return [f"margin: {escape(margins)}"] if margins else []


def _list_lines(texts: list[str]) -> list[str]:
    return [*items(texts), ""] if texts else []


def _origin(record: Weighing | Run) -> str:
    where = "; ".join(dict.fromkeys(map(sentences.processor, record.machines)))
    return f"<sub>Steelyard {escape(record.tool)}, {escape(record.created)}, on {escape(where)}</sub>"
