"""Weighings of programs that take seconds: what the budget allows, and what is shown when little was measured."""

from __future__ import annotations

import re

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.tool import Done
from tests.world import ScriptedWorld, measured, program_of

_PROGRESS = re.compile(r"steelyard: (\./new  \d+(/\d+)? pairs?\b.*|the first pair has run for .*)")


def slow(world: ScriptedWorld, seconds: float, change: float = 0.05) -> None:
    """Have the programs take so many seconds, `new` longer by the fraction `change`."""

    def script(spec: LaunchSpec, number: int) -> Measured:
        factor = 1 + change if program_of(spec) == "new" else 1.0
        return measured(1e3 * seconds * factor * (1 + number % 7 * 1e-4))

    world.script = script


def said_beside_progress(done: Done) -> list[str]:
    """Return the lines on stderr that do not tell how far it is, as logs are told once a minute."""
    return [line for line in done.err.decode().splitlines() if not _PROGRESS.fullmatch(line)]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (2, "a pair takes 4.1 s, so it goes on for about 37 s: a verdict at alpha 0.01 takes 8 pairs"),
        (10, "a pair takes 21 s, so it goes on for about 3 min 5 s: a verdict at alpha 0.01 takes 8 pairs"),
    ],
)
def test_without_a_limit_the_first_line_says_how_long_it_goes_on_and_there_is_a_verdict(
    scripted: ScriptedWorld, seconds: float, said: str
) -> None:
    slow(scripted, seconds)
    done = scripted("compare", "./old", "./new")
    (sentence,) = said_beside_progress(done)
    assert sentence.startswith(f"steelyard: {said}, for which the usual 30 s are too short; --max-time")
    assert (done.status, len(scripted.launched)) == (1, 18)
    assert "slower     +5.0" in done.text


def test_what_takes_longer_than_anybody_waits_is_said_to_be_too_slow_and_still_shown(scripted: ScriptedWorld) -> None:
    slow(scripted, 40)
    done = scripted("compare", "./old", "./new")
    assert said_beside_progress(done) == [
        "steelyard: a pair took 1 min 22 s; at that pace there is time for 6 pairs in 10 min: too few for a verdict "
        "at alpha 0.01, which takes 8; with some to spare: --max-time 1500"
    ]
    assert (done.status, len(scripted.launched)) == (0, 14)
    assert all(words in done.text for words in ("median 40", "median 42", "undecided  +5.0", "leans towards slower"))


@pytest.mark.parametrize(
    ("seconds", "limit", "pairs", "allowed"),
    [(2, "10", 1, "1 pair in 10 s"), (2, "5", 0, "no pair but the warm-up in 5 s"), (10, "1m", 1, "1 pair in 1 min")],
)
def test_a_limit_holds_and_what_it_allows_is_said_after_the_warm_up(
    scripted: ScriptedWorld, seconds: float, limit: str, pairs: int, allowed: str
) -> None:
    slow(scripted, seconds)
    done = scripted("compare", "./old", "./new", "--max-time", limit)
    assert f"time for {allowed}: too few for a verdict at alpha 0.01, which takes 8;" in done.err.decode()
    assert (done.status, len(scripted.launched)) == (0, 2 + 2 * pairs)
    assert all(words in done.text for words in (f"median {seconds}", "undecided  +", "leans towards slower"))


def test_a_first_pair_that_takes_longer_does_not_limit_those_behind_it(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(4000 if number <= 2 else 500 * (1 + number % 7 * 1e-4))
    done = scripted("compare", "./old", "./new", "--max-time", "20")
    assert done.err.startswith(b"steelyard: a pair took 8 s; at that pace there is time for 1 pair in 20 s: too few")
    assert len(scripted.launched) > 2 + 2 * 1


def test_a_hint_that_is_followed_is_enough(scripted: ScriptedWorld) -> None:
    slow(scripted, 2)
    hint = scripted("compare", "./old", "./new", "--max-time", "10").err.split()[-1].decode()
    done = scripted("compare", "./old", "./new", "--max-time", hint)
    assert (done.status, done.err) == (1, b"")


def test_it_is_said_of_a_pair_of_each_where_there_are_several(scripted: ScriptedWorld) -> None:
    slow(scripted, 2)
    done = scripted("compare", "./old", "./new", "./new 2", "--max-time", "20")
    pace = "a pair of each of the 2 benchmarks took 8.2 s; at that pace there is time for 1 pair in 20 s"
    assert pace in done.err.decode()


@pytest.mark.parametrize("options", [(), ("--max-time", "1"), ("--pairs", "8"), ("--pairs", "9", "--max-time", "1")])
def test_a_budget_that_is_enough_needs_no_words(scripted: ScriptedWorld, options: tuple[str, ...]) -> None:
    assert scripted("compare", "./old", "./new", *options).err == b""


def test_a_number_of_pairs_has_no_time_to_speak_of(scripted: ScriptedWorld) -> None:
    slow(scripted, 40)
    assert said_beside_progress(scripted("compare", "./old", "./new", "--pairs", "8")) == []


@pytest.mark.parametrize(("limit", "launches"), [("5", 1), ("10", 1), ("25", 2), ("45", 4)])
def test_the_limit_of_a_run_holds_but_for_one_launch(scripted: ScriptedWorld, limit: str, launches: int) -> None:
    slow(scripted, 10)
    done = scripted("run", "./old", "--max-time", limit)
    assert (done.status, len(scripted.launched)) == (0, launches)
    assert "10.0" in done.text


def by_argument(spec: LaunchSpec, number: int) -> Measured:
    """Measure as many seconds as the argument says, and 5 % more for `new`."""
    factor = 1.05 if program_of(spec) == "new" else 1.0
    return measured(1e3 * int(spec.argv[1]) * factor * (1 + number % 7 * 1e-4))


@pytest.mark.parametrize("values", ["25,1", "1,25"])
def test_one_that_takes_all_the_time_by_itself_leaves_something_to_say_of_the_others(
    scripted: ScriptedWorld, values: str
) -> None:
    scripted.script = by_argument
    done = scripted("compare", "./old {n}", "./new {n}", "-L", "n", values, "--max-time", "10")
    assert done.status == 0, done
    assert "did not end within" in done.text
    assert "n=1" in done.text
    assert "+5." in done.text


def test_where_all_of_them_take_all_the_time_nothing_was_measured(scripted: ScriptedWorld) -> None:
    scripted.script = by_argument
    sentence = scripted.refuses("compare", "./old {n}", "./new {n}", "-L", "n", "25,26", "--max-time", "10", status=3)
    assert "did not end within 20 s and was killed" in sentence
