"""Alpha among several weighings: how much each gets, and that all together err no more often than it allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.design import session
from steelyard.design.outcome import Outcome
from steelyard.design.request import Request
from steelyard.design.several import Part, measure_all, pass_on_alpha
from steelyard.model.derived import Derived, Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.findings import IDENTICAL, Finding
from steelyard.model.settings import Settings
from tests.report.records import verdict, weighing
from tests.world import ScriptedWorld

ALPHA = 0.01
SAME, SLOWER = verdict(verdict="same"), verdict(verdict="slower")


def alphas_of(
    patch: pytest.MonkeyPatch,
    folder: Path,
    *outcomes: Sequence[Verdict] | MeasurementError,
    settings: Settings | None = None,
    identical: int | None = None,
) -> list[float]:
    """Return the alpha that each of several weighings has when its turn comes, if they end like this."""
    seen: list[float] = []
    record = weighing(settings=settings or Settings())

    def measure(request: Request, *_: object) -> Outcome:
        seen.append(request.settings.alpha)
        found = outcomes[len(seen) - 1]
        if isinstance(found, MeasurementError):
            raise found
        benchmarks = [record.benchmarks[0]] * len({one.index for one in found})
        return Outcome(
            record.model_copy(update={"benchmarks": benchmarks, "derived": Derived(verdicts=[*found])}), None
        )

    patch.setattr(session, "measure", measure)
    own = record.settings.model_copy(update={"alpha": ALPHA / len(outcomes)})
    request = Request(record.subjects, own, record.benchmarks)
    same = Finding(code=IDENTICAL, message="")
    requests = [replace(request, findings=[same] if place == identical else []) for place in range(len(outcomes))]
    world = ScriptedWorld(folder, lambda *_: pytest.fail("nothing is launched")).outside()
    list(
        measure_all(
            [Part([f"{n}"], one) for n, one in enumerate(requests)], None, lambda _: None, world, lambda _: None
        )
    )
    return seen


def test_a_weighing_with_nothing_left_to_find_passes_its_alpha_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = alphas_of(monkeypatch, tmp_path, [SAME], [SLOWER], [SLOWER], [SAME])
    assert found == pytest.approx([ALPHA / 4, ALPHA / 4, ALPHA * 3 / 8, ALPHA * 3 / 4])


@pytest.mark.parametrize(
    ("first", "settings"),
    [
        ([SAME], Settings()),
        ([SLOWER, verdict(index=1, verdict="undecided")], Settings()),
        ([SLOWER, verdict(metric="max_rss", verdict="same")], Settings(metrics=["active", "max_rss"])),
        ([SLOWER], Settings(family="fdr")),
        (MeasurementError("it failed"), Settings()),
    ],
)
def test_any_other_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: Sequence[Verdict] | MeasurementError, settings: Settings
) -> None:
    assert alphas_of(monkeypatch, tmp_path, first, [SAME], settings=settings) == [ALPHA / 2] * 2


def test_one_that_is_not_measured_gets_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = alphas_of(monkeypatch, tmp_path, [SLOWER], [SAME], [SAME], identical=1)
    assert found == pytest.approx([ALPHA / 3, ALPHA / 3, ALPHA * 2 / 3])


def test_time_is_shared_by_those_that_take_any(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[float | None] = []

    def measure(request: Request, *_: object) -> Outcome:
        seen.append(request.settings.max_time_s)
        return Outcome(weighing())

    monkeypatch.setattr(session, "measure", measure)
    own, identical = (
        Request(weighing().subjects, Settings(), weighing().benchmarks, findings=found)
        for found in ([], [Finding(code=IDENTICAL, message="")])
    )
    parts = [Part([f"{n}"], one, shares_time=True) for n, one in enumerate([own, identical, own])]
    world = ScriptedWorld(tmp_path, lambda *_: pytest.fail("nothing is launched")).outside()
    list(measure_all(parts, 60.0, lambda _: None, world, lambda _: None))
    assert (seen[0], seen[2]) == (30.0, 60.0)


@pytest.mark.parametrize("alike", [0.0, 0.9])
@pytest.mark.parametrize("changed", [(0, 0, 0), (1, 0, 0), (2, 0, 1), (2, 3, 0)])
def test_no_more_projects_err_than_alpha_allows(changed: tuple[int, ...], alike: float) -> None:
    """Three targets have 2, 3 and 2 benchmarks; those that truly changed are always found.

    Within each target Holm's correction applies. The p-values of unchanged benchmarks are uniform, and may be
    correlated.
    """
    alpha, sizes, projects = 0.05, (2, 3, 2), 20_000
    generator = np.random.default_rng(7)
    shared = generator.standard_normal((projects, 1)) * np.sqrt(alike)
    normal = shared + np.sqrt(1 - alike) * generator.standard_normal((projects, sum(sizes)))
    drawn = np.argsort(np.argsort(normal, axis=0), axis=0) / projects  # each column is uniform
    wrong = sum(_errs(row, sizes, changed, alpha) for row in drawn)
    assert wrong / projects <= alpha + 3 * np.sqrt(alpha / projects)


def _errs(drawn: np.ndarray, sizes: tuple[int, ...], changed: tuple[int, ...], alpha: float) -> bool:
    alphas, start = [alpha / len(sizes)] * len(sizes), 0
    for place, (size, truly) in enumerate(zip(sizes, changed, strict=True)):
        found = _holm(sorted(drawn[start : start + size - truly]), alphas[place])
        if found:
            return True
        if truly == size:
            alphas = pass_on_alpha(alphas, place)
        start += size
    return False


def _holm(p_values: Sequence[float], alpha: float) -> int:
    """Return how many of these sorted p-values Holm's correction finds, once all others have been found."""
    found = 0
    while found < len(p_values) and p_values[found] <= alpha / (len(p_values) - found):
        found += 1
    return found
