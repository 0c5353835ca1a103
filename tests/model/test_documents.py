from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.bisection import Bisection, Commit, Compared, Step
from steelyard.model.documents import load_document
from steelyard.model.errors import UsageError
from tests.calibrations import calibration


def bisection() -> Bisection:
    commit = Commit(hash="a" * 40, parents=["b" * 40], tree="t", author="A", date="2026-01-01", subject="s")
    compared = Compared(baseline="b", candidate="a", verdict="slower", change=0.1, metric="active", pairs=12)
    return Bisection(
        tool="0", repository="r", command="x", build=None, metric="active", margin=0.01, alpha=0.01, end="found",
        good=commit, bad=commit, found=commit, commits=2, several=True, seconds=1.0,
        steps=[Step(kind="ends", commit="a", low="b", high="a", left=1, compared=[compared])],
    )  # fmt: skip


Damage = tuple[tuple[str | int, ...], Any]
"""A place in a record, and the value that is put there."""


def replace(record: Any, damage: Damage) -> None:
    (*above, last), value = damage
    for step in above:
        record = record[step]
    record[last] = value


@pytest.mark.parametrize(
    ("sound", "damage", "about"),
    [
        (bisection, (("steps",), []), "`several` commits changed it"),
        (bisection, (("steps", 0, "compared"), []), "`several` commits changed it"),
        (bisection, (("steps", 0, "compared", 0, "change"), -1), "steps.0.compared.0.change: "),
        (bisection, (("steps", 0, "compared", 0, "pairs"), 2**63), "steps.0.compared.0.pairs: "),
        (bisection, (("steps", 0, "left"), 2**63), "steps.0.left: "),
        (bisection, (("found", "parents"), []), "`found` has no parent"),
        (calibration, (("points", 0, "size_bytes"), 10**400), "points.0.size_bytes: "),
    ],
)
def test_what_no_page_could_show_is_damaged(
    tmp_path: Path, sound: Callable[[], Any], damage: Damage, about: str
) -> None:
    record = sound().model_dump(mode="json")
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(record))
    assert load_document(path)
    replace(record, damage)
    path.write_text(json.dumps(record))
    with pytest.raises(UsageError, match="is damaged") as caught:
        load_document(path)
    assert about in str(caught.value)
