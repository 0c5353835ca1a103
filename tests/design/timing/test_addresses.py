"""The addresses of launches: the same for both launches of a pair, as long as one thread does all the work."""

from __future__ import annotations

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.world import OFFERS, ScriptedServer, ScriptedWorld, ctrl_c, measured

Places = list[int | None]


@pytest.fixture
def places(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Places:
    """The places of all launches in memory, on a machine where they can be chosen."""
    monkeypatch.setattr(ScriptedServer, "offers", {**OFFERS, "addresses": True})
    found: Places = []

    def launch(spec: LaunchSpec, number: int) -> Measured:
        found.append(spec.mapping_pages)
        return measured(20 + number * 1e-4)

    scripted.script = launch
    return found


def weighed(world: ScriptedWorld, *options: str) -> str | None:
    """Weigh by 10 pairs; return what the record says about the addresses."""
    done = world("compare", "./old", "./new", "--pairs", "10", "--json", "r.json", *options)
    assert done.status in (0, 130)
    record = world.json("r.json")
    addresses: str | None = record["settings"].get("addresses")
    return addresses


@pytest.mark.parametrize("pairing", ["adjacent", "tandem"])
def test_both_of_a_pair_have_one_place_and_each_pair_its_own(
    scripted: ScriptedWorld, places: Places, pairing: str
) -> None:
    assert weighed(scripted, "--pairing", pairing) == "shared"
    assert places[::2] == places[1::2]
    assert None not in places
    assert len(set(places)) == 11


def test_where_it_is_asked_for_each_launch_has_its_own(scripted: ScriptedWorld, places: Places) -> None:
    assert weighed(scripted, "--own-addresses") is None
    assert set(places) == {None}


def test_a_run_has_no_pairs(scripted: ScriptedWorld, places: Places) -> None:
    assert scripted("run", "./old", "--launches", "3").status == 0
    assert set(places) == {None}


def test_commands_around_launches_have_their_own(scripted: ScriptedWorld, places: Places) -> None:
    weighed(scripted, "--prepare", "true")
    assert places[1::2] != places[::2]
    assert set(places[::2]) == {None}
    assert None not in places[1::2]


def test_where_they_cannot_be_chosen_the_record_says_nothing_of_them(
    scripted: ScriptedWorld, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptedServer, "offers", OFFERS)
    assert weighed(scripted) is None
    assert set(places) == {None}


def test_programs_of_several_threads_have_their_own_from_the_first_pair_on(
    scripted: ScriptedWorld, places: Places
) -> None:
    def launch(spec: LaunchSpec, number: int) -> Measured:
        places.append(spec.mapping_pages)
        if number == 12:
            ctrl_c()
        return measured(20 + number * 1e-4, others_ns=2_000_000)

    scripted.script = launch
    weighed(scripted)
    assert None not in places[:2]
    assert set(places[2:]) == {None}
    places.clear()
    assert scripted("compare", "--resume", "r.json").status == 0
    assert set(places) == {None}


def test_threads_that_only_judged_launches_have_change_nothing(scripted: ScriptedWorld, places: Places) -> None:
    def launch(spec: LaunchSpec, number: int) -> Measured:
        places.append(spec.mapping_pages)
        return measured(20 + number * 1e-4, others_ns=0 if number <= 2 else 2_000_000)

    scripted.script = launch
    weighed(scripted)
    assert None not in places
