"""Findings about the machine, as the launch server sees it."""

from __future__ import annotations

import pytest

from tests.world import OFFERS, ScriptedServer, ScriptedWorld


@pytest.mark.parametrize("are_handed_over", [True, False])
def test_where_orphans_are_not_handed_over_it_is_said_once(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, are_handed_over: bool
) -> None:
    monkeypatch.setattr(ScriptedServer, "offers", {**OFFERS, "orphans": are_handed_over})
    done = scripted("compare", "./old {n}", "./new {n}", "-L", "n", "1,2", "--pairs", "10")
    assert done.status == 1
    said = " ".join(done.out.decode().split()).count("the system does not hand over orphans")
    assert said == (0 if are_handed_over else 1)
