"""Weighings cut short at any place: what is shown live is what their record and their journal say."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from steelyard.design import session
from steelyard.design.keeping import keep_in_place
from steelyard.design.outcome import Outcome
from steelyard.design.runner.draws import draw_places
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.rows import IN_TANDEM, USED
from tests.loaded import weighing_in
from tests.world import Killed, LaunchScript, ScriptedWorld, ctrl_c, kill, measured, program_of


def noisy(random: Random) -> LaunchScript:
    """Return a script of launches of a random length and noise, some of them disturbed."""
    ms, noise, change = random.choice([2, 12, 60]), random.choice([0.002, 0.02]), random.choice([0, 0.01, 0.05])
    seed, stolen, waiting = random.getrandbits(32), random.choice([0, 0.1, 0.5]), random.choice([0, 0.3])

    def script(spec: LaunchSpec, number: int) -> Measured:
        drawn = np.random.default_rng([seed, number])
        took = ms * (1 + change * (program_of(spec) == "new")) * float(np.exp(noise * drawn.standard_normal()))
        waited = took * float(drawn.random() < waiting)
        others = {"steal_ns": 30_000_000 * int(drawn.random() < stolen), "delay_ns": round(waited * 1e6)}
        return measured(took, wall_ns=round((took + waited) * 1e6), **others)

    return script


def words_of(random: Random) -> list[str]:
    """Return random options for a weighing of few pairs."""
    words = ["--pairs", random.choice(["12", "16", "40"]), "--max-time", random.choice(["1", "5", "60"])]
    words += random.choice([[], ["--pairing", "auto"], ["--pairing", "tandem"]])
    words += random.choice([[], ["--control"], ["--family", "fdr"], ["--metric", "active,max_rss"]])
    return words + random.choice([[], ["-L", "n", "1,2,3"]])


def cut_short(script: LaunchScript, random: Random) -> LaunchScript:
    """Return the same script, except that one of the next launches is interrupted or killed."""
    end, left = random.choice([ctrl_c, kill]), [random.choice([3, 4, 5, 7, 20, 31])]

    def ended(spec: LaunchSpec, number: int) -> Measured:
        left[0] -= 1
        if left[0] == 0:
            end()
        return script(spec, number)

    return ended


def check_launches(record: Weighing) -> None:
    """Check that each launch is at its place in the plan."""
    for row in record.launches.rows():
        is_tandem = row.order >= IN_TANDEM
        places = draw_places(record.settings.seed, row.benchmark, row.pair, USED, tandem=is_tandem)
        assert row[:4] in [place[:4] for place in places]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_said_is_what_is_kept_however_often_it_is_cut_short(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random, keep = Random(seed), keep_in_place

    def checked(outcome: Outcome, journal: Path, *place: Any) -> Outcome:
        assert load(journal).launches == outcome.record.launches
        return keep(outcome, journal, *place)

    monkeypatch.setattr(session, "keep_in_place", checked)
    words, script = words_of(random), noisy(random)
    commands = ["./old {n}", "./new {n}"] if "-L" in words else ["./old", "./new"]
    scripted.script, asked = cut_short(script, random), ["compare", *commands, *words]
    for left in (1, 0, 0):
        try:
            with scripted.printed():
                scripted.status_of([*asked, "--json", "live.json"])
        except Killed:
            scripted("show", "--json", "live.json")
        live = json.loads(Path("live.json").read_text())
        scripted("show", "live.json", "--json", "shown.json")
        assert json.loads(Path("shown.json").read_text()) == live
        record = weighing_in("live.json")
        check_launches(record)
        if "interrupted" not in record.stop:
            break
        scripted.script = cut_short(script, random) if left else script
        asked = ["compare", "--resume", str(scripted.kept()[-1])]
    assert "interrupted" not in record.stop
