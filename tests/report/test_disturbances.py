from __future__ import annotations

import pytest

from steelyard.model.watch import Disturber, Kind
from steelyard.report import disturbances

from .records import SLOWER, SUMMARY, verdict


def program(name: str, launches: int, of: int = 60, share: float = 0.5) -> Disturber:
    return Disturber(kind="program", name=name, launches=launches, of=of, share=share)


CC1PLUS = program("cc1plus", 14)


def test_noise_counts_the_disturbed_names_the_worst_and_the_repeated() -> None:
    text = disturbances.noise(SLOWER)
    assert "14 of 66 launches" in text
    assert "43 %" in text
    assert "2 disturbed pairs repeated" in text
    assert disturbances.noise(verdict(disturbed=0, worst_delay=0.002, repeated=0)).startswith("quiet")
    assert "does not tell" in disturbances.noise(verdict(disturbed=0, worst_delay=None, repeated=0))
    assert "5 of 50 launches" in disturbances.noise(SUMMARY)


def test_noise_ends_with_who_was_beside() -> None:
    assert disturbances.noise(verdict(disturbed=9, repeated=2, disturbers=[CC1PLUS])).endswith(
        "2 disturbed pairs repeated; cc1plus ran beside 14 of 60 watched launches"
    )


def test_where_not_all_were_watched_it_is_said_of_how_many_it_is_told() -> None:
    """After a weighing was killed and carried on; otherwise the number of launches stands for all."""
    assert (
        disturbances.disturbers_sentence([program("make", 60)], 66, has_waited=True)
        == "make ran beside all 60 watched launches"
    )
    assert (
        disturbances.disturbers_sentence([program("make", 60)], 60, has_waited=True)
        == "make ran beside all 60 launches"
    )


def test_of_many_the_first_are_named() -> None:
    many = [program("make", 60), CC1PLUS, program("[kswapd0]", 5), program("rsync", 4), program("cron", 3)]
    told = disturbances.disturbers_sentence(many, 60, has_waited=True)
    assert told == "make ran beside all 60 launches, cc1plus ran beside 14, [kswapd0] ran beside 5 and 2 more"


@pytest.mark.parametrize(
    ("kind", "launches", "told"),
    [
        ("still", 1, "this command stood still during 1"),
        ("limit", 9, "this control group stood still at its limit during 9"),
    ],
)
def test_a_launch_that_stood_still_is_told_whoever_else_ran(kind: Kind, launches: int, told: str) -> None:
    still = Disturber(kind=kind, launches=launches, of=60, share=0.1)
    many = [program(name, 60) for name in ("make", "cc1plus", "rsync")]
    sentence = disturbances.disturbers_sentence([*many, still], 60, has_waited=True)
    assert sentence is not None
    assert sentence.startswith(f"{told} of 60 launches, make ran beside 60, ")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("steal", "the host gave time to its other machines during 9 of 60 launches"),
        ("limit", "this control group stood still at its limit during 9 of 60 launches"),
        ("still", "this command stood still during 9 of 60 launches"),
        ("heat", "the processor was slowed, being too hot, during 9 of 60 launches"),
        ("clock", "the clock rate was low during 9 of 60 launches, which took 60 % longer"),
        ("speed", "the processor itself was slower during 9 of 60 launches, which took 60 % longer"),
        ("interrupts", "the timer interrupted more than usual during 9 of 60 launches, which took 60 % longer"),
        ("hidden", "programs that cannot be seen from here ran beside 9 of 60 launches"),
    ],
)
def test_what_is_no_program_is_said_in_words(kind: Kind, said: str) -> None:
    name = "the timer" if kind == "interrupts" else ""
    assert (
        disturbances.disturbers_sentence(
            [Disturber(kind=kind, name=name, launches=9, of=60, share=0.6)], 60, has_waited=False
        )
        == said
    )


def test_any_name_is_fit_to_print() -> None:
    told = disturbances.disturbers_sentence([program("\x1b[2J" + "x" * 500, 60)], 60, has_waited=True)
    assert told is not None
    assert told.isprintable()
    assert len(told) < 90


def test_what_does_not_matter_is_not_said() -> None:
    assert disturbances.disturbers_sentence([], 60, has_waited=True) is None
    assert disturbances.disturbers_sentence([program("cron", 2)], 60, has_waited=True) is None
    assert disturbances.disturbers_sentence([program("cron", 40, share=0.2)], 60, has_waited=False) is None
    assert disturbances.disturbers_sentence([program("cron", 40, share=0.2)], 60, has_waited=True) is not None
    assert disturbances.disturbers_sentence([program("make", 40, share=0.9)], 60, has_waited=False) is not None


def test_what_makes_one_launch_many_times_as_long_is_said_of_a_single_one() -> None:
    still = Disturber(kind="still", launches=1, of=60, share=0.9)
    assert (
        disturbances.disturbers_sentence([still], 60, has_waited=False)
        == "this command stood still during 1 of 60 launches"
    )


def test_several_benchmarks_are_told_of_together() -> None:
    first = verdict(disturbers=[program("make", 10, of=20, share=0.4), program("cron", 9, of=20)])
    second = verdict(disturbers=[program("make", 20, of=20, share=1.0)])
    unwatched = verdict()
    together = disturbances.combined_disturbers([first, second, unwatched])
    assert [(one.name, one.launches, one.of) for one in together] == [("make", 30, 106), ("cron", 9, 106)]
    assert together[0].share == pytest.approx(0.8)
