from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.in_tandem import tandem_finding
from steelyard.design.judging.judgement import verdicts
from steelyard.model.findings import NOISY_ALONE, WRITING_ALONE, Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.rows import IN_TANDEM, LaunchRow
from tests.design.scripted import PLAIN, Script, weigh
from tests.model.samples import pairs

MS = 1_000_000


def lasting(row: LaunchRow, ms: float) -> LaunchRow:
    ns = int(ms * MS)
    return row._replace(
        wall_ns=ns, cpu_ns=ns, user_ns=ns, sys_ns=0, delay_ns=0, others_ns=0, voluntary_switches=int(ms)
    )


def of(alone: tuple[float, float], *beside: tuple[float, float], shown: str = "active") -> Finding:
    """Return the finding on a pair whose launches ran one after the other and pairs in tandem, given their ms."""
    rows = pairs(1 + len(beside))
    times = {row.pair: both for row, both in zip(rows[::2], [alone, *beside], strict=True)}
    first = rows[0].pair
    rows = [lasting(row, times[row.pair][row.side]) for row in rows]
    placed = [row if row.pair == first else row._replace(order=row.order + IN_TANDEM) for row in rows]
    found = tandem_finding(Launches.of_rows(placed), 0, shown)
    assert found is not None
    return found


def test_two_alike_are_each_beside_their_like() -> None:
    said = of((40, 42), (40, 42), (41, 43)).message
    assert said.startswith(
        "the launches of 2 of 3 pairs ran at the same time on one processor: each beside a neighbour"
    )


@pytest.mark.parametrize("times", [(8, 700), (700, 8)])
def test_of_two_that_are_not_the_longer_one_is_not_beside_its_like(times: tuple[float, float]) -> None:
    said = of(times, times, times).message
    assert said.endswith("each beside the other while both ran, as the times shown reflect")


def test_how_much_longer_it_takes_is_told_side_by_side() -> None:
    """If one side is far longer, a figure between the two would be true of neither."""
    said = of((10, 1000), (15, 1500), (15, 1500), (30, 1500)).message
    assert "where it takes 50 % longer than alone, as far as 2 launches alone can tell: the two share" in said


def test_where_all_pairs_ran_so_none_tells_how_much_longer_it_takes() -> None:
    tandem = [row._replace(order=row.order + IN_TANDEM) for row in pairs(3)]
    found = tandem_finding(Launches.of_rows(tandem), 0, "active")
    assert found is not None
    assert found.message.startswith("the launches of a pair ran at the same time on one processor")
    assert found.message.endswith("as the times shown reflect")
    assert tandem_finding(Launches.of_rows(pairs(3)), 0, "active") is None


def test_of_what_is_no_time_nothing_takes_longer() -> None:
    rows = (10, 1000), (15, 1500), (15, 1500)
    assert "longer" in of(*rows).message
    assert of(*rows, shown="voluntary_switches").message.endswith("as the times shown reflect")


def launches(ms: float = 45.0, noise: float = 0.03, **others: Any) -> Script:
    """Return a script: launches that compute all the time, but for what `others` say."""
    generator = np.random.default_rng(1)

    def script(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
        ns = int(1e6 * ms * np.exp(noise * generator.standard_normal()))
        return replace(PLAIN, **{"wall_ns": ns, "cpu_ns": ns, **others})

    return script


def weighed(script: Script, **settings: Any) -> Weighing:
    return weigh(script, **{"pairs": 30, "max_time_s": None, "margin": 0.001, **settings})[0]


def found(record: Weighing) -> list[Finding]:
    codes = (NOISY_ALONE, WRITING_ALONE)
    return [finding for finding in verdicts(record)[0].findings if finding.code in codes]


def test_what_stays_undecided_and_could_run_in_tandem_is_told_how() -> None:
    (finding,) = found(weighed(launches()))
    assert finding.message.startswith("pairs vary by ")
    assert finding.remedy is not None
    assert "--pairing auto" in finding.remedy


@pytest.mark.parametrize("pairing", ["auto", "adjacent"])
def test_what_writes_to_files_is_told_what_runs_it_in_tandem_all_the_same(pairing: str) -> None:
    (finding,) = found(weighed(launches(written_blocks=8), pairing=pairing))
    assert finding.code == WRITING_ALONE
    assert finding.remedy is not None
    assert "--pairing tandem" in finding.remedy


def test_what_only_the_warm_up_writes_is_none_of_the_launches() -> None:
    script = launches()
    filling = lambda number, spec: replace(script(number, spec), written_blocks=8 * (number < 2))  # noqa: E731
    assert not found(weighed(filling, pairing="auto", warm_up=1))


@pytest.mark.parametrize(("ms", "is_told"), [(45.0, True), (12.0, False)])
def test_short_turns_make_it_worth_a_try_for_long_launches_that_vary_little(ms: float, is_told: bool) -> None:
    record = weighed(launches(ms=ms, noise=0.005))
    offering = record.machine.model_copy(update={"offers": {"short_turns": True}})
    assert bool(found(record.model_copy(update={"machine": offering}))) is is_told


@pytest.mark.parametrize(
    ("script", "settings"),
    [
        (launches(noise=0.005), {}),
        (launches(ms=12), {}),
        (launches(others_ns=5_000_000), {}),
        (launches(cpu_ns=30_000_000), {}),
        (launches(), {"metrics": ["wall"]}),
        (launches(), {"pairing": "auto"}),
        (launches(), {"prepare": ["true"]}),
        (launches(), {"margin": 0.2}),
    ],
    ids=["calm", "short", "threads", "waits", "wall", "auto", "hooks", "same"],
)
def test_others_are_not(script: Script, settings: dict[str, Any]) -> None:
    assert not found(weighed(script, **settings))


def test_a_pair_behind_the_last_look_that_has_no_time_is_not_in_what_tandem_takes() -> None:
    """An interruption came before its look, so it was not judged, and the launches that were have a time."""
    record = weighed(launches(), pairs=18, warm_up=1)
    warm_up, used = record.launches.rows()[:2], record.launches.rows()[2:]
    last = used[-1].pair
    beside = [row._replace(order=row.order + IN_TANDEM, others_ns=5_000_000 * (row.pair == last)) for row in used]
    update = {"launches": Launches.of_rows([*warm_up, *beside]), "stop": ["interrupted"]}
    (verdict,) = verdicts(record.model_copy(update=update))
    assert (verdict.metric, verdict.pairs) == ("active", 17)
    (finding,) = [one for one in verdict.findings if one.code == "tandem"]
    assert finding.message.endswith("each beside a neighbour like itself, as the times shown reflect")
