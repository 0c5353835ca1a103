from __future__ import annotations

from datetime import UTC, datetime

from steelyard.design.outcome import Outcome
from steelyard.design.reporting import page_of_shown
from steelyard.model.derived import Derived, Verdict
from steelyard.model.findings import NOISY_ALONE, WRITING_ALONE, Finding
from steelyard.model.gate import Judged
from steelyard.model.layouts import LayoutFacts
from steelyard.model.records import Part, StopReason
from steelyard.model.settings import Settings
from steelyard.report import budgets, gate_words, markdown, sentences, terminal

from .records import LEANING, NOTHING, TOO_FEW, UNDECIDED, flat, on_screen, verdict, weighing

SETTINGS = Settings(max_time_s=3.0)


def budget(one: Verdict, settings: Settings, stop: StopReason = "decided") -> str:
    return budgets.budget(one, weighing(settings=settings, stop=stop))


def test_the_budget_that_would_decide_is_an_option_to_copy() -> None:
    text = budget(UNDECIDED, SETTINGS, "time")
    assert text == "time ran out; about 240 pairs, 6.3 s, would decide; with some to spare: --max-time 9"


def test_beside_what_goes_on_the_budget_is_one_anew() -> None:
    text = budget(UNDECIDED, SETTINGS.model_copy(update={"reserve": 0.5}), "time")
    assert text.endswith("would decide; rerun with some to spare: --max-time 9")


def test_what_is_enough_in_half_of_all_cases_is_said_where_it_is_far_less() -> None:
    far_less = UNDECIDED.model_copy(update={"pairs_even": 61, "seconds_even": 1.6})
    text = budget(far_less, SETTINGS, "time")
    assert text == (
        "time ran out; about 240 pairs, 6.3 s, would decide (50 % chance at 61, 1.6 s); "
        "with some to spare: --max-time 9"
    )
    half = UNDECIDED.model_copy(update={"pairs_even": 130, "seconds_even": 3.4})
    assert "half" not in budget(half, SETTINGS, "time")


def test_the_budget_of_what_was_merged_is_that_of_a_part_wherever_one_verdict_is_explained() -> None:
    settings = Settings(max_time_s=3.0, reserve=0.5)
    whole = weighing(stop="time", settings=settings)
    part = Part(created=whole.created, tool="t", machine=whole.machine, seed=1, seconds=1.0, benchmarks=[0])
    merged = whole.model_copy(update={"parts": [part], "derived": Derived(verdicts=[UNDECIDED])})
    judged = Judged("a.json", merged, UNDECIDED, None, "open", deciding=True)
    for said in (
        flat(on_screen(lambda console: terminal.weighing(console, merged, [UNDECIDED]))),
        markdown.weighing(merged, [UNDECIDED]),
        gate_words.why_open(judged),
        page_of_shown([Outcome(merged)], datetime(2026, 1, 1, tzinfo=UTC)),
    ):
        assert "with some to spare, given to its part: " in said
        assert "rerun" not in said


def test_the_limit_that_binds_is_the_one_to_raise() -> None:
    by_pairs = budget(UNDECIDED, Settings(pairs=100, max_time_s=60), "pairs")
    assert by_pairs.endswith(": --pairs 340")
    by_both = budget(UNDECIDED, Settings(pairs=100, max_time_s=3), "futile")
    assert by_both.endswith(": --pairs 340 --max-time 9")
    unbound = budget(UNDECIDED, Settings(max_time_s=60), "futile")
    assert "--" not in unbound
    assert "your budget allows" in unbound


def test_an_interrupted_one_names_no_option_that_carrying_it_on_refuses() -> None:
    assert budget(UNDECIDED, Settings(pairs=100), "interrupted").endswith("would decide")


def test_a_budget_is_never_below_the_one_that_was_spent() -> None:
    text = budget(UNDECIDED, Settings(max_time_s=30), "time")
    assert text.endswith("--max-time 31")


def test_where_nobody_would_wait_the_margin_is_named_that_would_do() -> None:
    close = verdict(verdict="undecided", change=0.0042, interval=(0.001, 0.008), margin_needed=0.0123)
    assert budget(close, SETTINGS, "time") == (
        "time ran out; no sensible budget would decide it at your margin of 0.5 %; "
        "--margin 1.8% would be decided in as many pairs"
    )
    long = verdict(verdict="undecided", pairs_needed=900, seconds_needed=5e4, margin_needed=0.0123, disturbed=40)
    assert budget(long, SETTINGS) == (
        "more pairs would take 13 h 53 min; --margin 1.8% would be decided in as many pairs; "
        "a machine with less other work needs fewer pairs"
    )
    assert "--margin" not in budget(LEANING, SETTINGS, "time")
    slow = verdict(verdict="undecided", interval=None, pairs=1, pairs_needed=12, seconds_needed=4500, disturbed=0)
    assert budget(slow, SETTINGS) == ("more pairs would take 1 h 15 min; a smaller input would take less")
    assert "--margin" not in budget(verdict(verdict="undecided", margin_needed=0.45), SETTINGS, "time")


def test_another_way_of_pairing_is_named_beside_the_budget_where_it_may_need_far_less() -> None:
    noisy, writing = ([Finding(code=code, message="pairs vary by 3 %")] for code in (NOISY_ALONE, WRITING_ALONE))
    told = budget(UNDECIDED.model_copy(update={"findings": writing}), Settings(max_time_s=30), "time")
    assert told.endswith("; perhaps far sooner: --pairing tandem (see the note)")
    text = budget(UNDECIDED.model_copy(update={"findings": noisy}), Settings(max_time_s=30), "time")
    assert text.endswith("--max-time 31; perhaps far sooner: --pairing auto (see the note)")
    far = verdict(verdict="undecided", pairs_needed=900, seconds_needed=5e4, margin_needed=0.0123, findings=noisy)
    assert budget(far, SETTINGS) == (
        "more pairs would take 13 h 53 min; --pairing auto may need far fewer (see the note); "
        "--margin 1.8% would be decided in as many pairs"
    )
    hopeless = verdict(verdict="undecided", seconds_needed=5e4, pairs_needed=900, interval=None, findings=noisy)
    assert "smaller input" not in budget(hopeless, SETTINGS)


def test_the_time_to_go_on_with_is_what_a_rerun_takes_less_what_was_used_of_it() -> None:
    settings = SETTINGS.model_copy(update={"reserve": 0.5, "max_time_s": 100.0, "pairs": None})
    record = weighing(stop="time", settings=settings).model_copy(update={"preparing_s": 40.0, "seconds": 60.0})
    one = verdict(verdict="undecided", pairs_needed=900, seconds_needed=500.0)
    assert budget(one, settings, "time").endswith("rerun with some to spare: --max-time 700")
    assert budgets.option_to_continue([one], record) == "--max-time 600"


def test_no_budget_sees_through_a_coarse_clock() -> None:
    coarse = Finding(code="coarse-clock", message="ticks")
    text = budget(verdict(verdict="undecided", margin_needed=0.1, findings=[coarse]), SETTINGS, "futile")
    assert "what a clock's ticks may hide, no number of pairs shows" in text
    assert "--" not in text


def test_no_budget_mends_what_the_control_found() -> None:
    alarm = Finding(code="control-alarm", message="the control found the baseline slower than itself")
    open_still = UNDECIDED.model_copy(update={"findings": [alarm]})
    record = weighing(stop="time", settings=SETTINGS.model_copy(update={"reserve": 0.5}))
    for one in (open_still, verdict(verdict="undecided", findings=[alarm])):
        said = "the control alarmed, and no budget mends that (see the note)"
        assert budget(one, SETTINGS, "time") == said
        assert budgets.budget_of_all([one], record) == [said]
        assert budgets.option_to_continue([one], record) is None
        assert budgets.findings_with_notes(one) == [alarm]
        assert sentences.explanation(one, record) == ["nothing is ruled out", said]


def test_so_few_pairs_that_their_noise_is_not_known_say_what_a_dozen_would_tell() -> None:
    text = budget(TOO_FEW.model_copy(update={"pairs": 1, "pairs_needed": 12}), SETTINGS, "time")
    assert "about 12 pairs, 3.2 s, would settle a large change, and show how many more a small one needs" in text
    assert "would decide; " in budget(TOO_FEW, SETTINGS, "time")
    assert "no pair was measured to its end" in budget(NOTHING, SETTINGS, "time")


def test_of_several_the_budget_is_said_once_that_decides_all() -> None:
    record = weighing(benchmarks=("a", "b", "c"), stop="time", settings=SETTINGS)
    long = UNDECIDED.model_copy(update={"index": 1, "pairs_needed": 400, "seconds_needed": 10.0})
    close = LEANING.model_copy(update={"index": 2, "margin_needed": 0.02})
    (all_of,) = budgets.budget_of_all([UNDECIDED, long], record)
    assert all_of == "time ran out; about 400 pairs, 10 s, would decide; with some to spare: --max-time 14"
    some, others = budgets.budget_of_all([UNDECIDED, long, close], record)
    assert some == f"2 of them: {all_of}"
    assert others.startswith("sort: time ran out; no sensible budget")
    assert budgets.budget_of_all([], record) == []


def test_what_seems_changed_has_its_own_budget_where_the_others_need_far_more() -> None:
    record = weighing(benchmarks=("a", "b", "c"), stop="time", settings=SETTINGS)
    changed = UNDECIDED.model_copy(update={"change": 0.3, "pairs_needed": 90, "seconds_needed": 5.0})
    another = changed.model_copy(update={"index": 1, "seconds_needed": 4.0})
    long = UNDECIDED.model_copy(update={"index": 2, "change": 0.001, "pairs_needed": 400, "seconds_needed": 10.0})
    both, other = budgets.budget_of_all([changed, another, long], record)
    assert (
        both == "2 that seem changed: time ran out; about 90 pairs, 5 s, would decide; with some to spare: --max-time 7"
    )
    assert other.startswith("sort: time ran out; about 400 pairs, 10 s,")
    alone, _ = budgets.budget_of_all([changed, long], record)
    assert alone.startswith("sort, which seems changed: ")
    not_far = long.model_copy(update={"seconds_needed": 9.9})
    (all_of,) = budgets.budget_of_all([changed, not_far], record)
    assert all_of.startswith("time ran out; about 400 pairs, 9.9 s,")


def test_what_one_of_several_has_a_note_of_is_not_said_of_all() -> None:
    """A note on a clock's ticks that hide a change, or on pairing: the others have other ways to a verdict."""
    record = weighing(benchmarks=("a", "b", "c"), stop="time", settings=SETTINGS)
    far = verdict(verdict="undecided", pairs_needed=900, seconds_needed=5e4, margin_needed=0.0123)
    coarse = far.model_copy(update={"index": 1, "findings": [Finding(code="coarse-clock", message="ticks")]})
    noisy = far.model_copy(update={"index": 2, "findings": [Finding(code=NOISY_ALONE, message="pairs vary by 3 %")]})
    others, hidden = budgets.budget_of_all([far, coarse, noisy], record)
    assert others == "2 of them: time ran out; more pairs would take 13 h 53 min; " + (
        "--margin 1.8% would be decided in as many pairs"
    )
    assert hidden == "sort: time ran out; what a clock's ticks may hide, no number of pairs shows (see the note)"
    (both,) = budgets.budget_of_all([noisy, noisy], record)
    assert "--pairing auto may need far fewer (see the note)" in both


def test_layouts_that_would_decide_are_named_where_pairs_of_these_would_not() -> None:
    facts = LayoutFacts(changes={1: 0.004, 2: -0.005}, p_value=0.3, parts=[], assumed_normal=True, needed=55)
    few = verdict(verdict="undecided", change=0.0, interval=(-0.01, 0.01)).model_copy(update={"layouts": facts})
    more = "about 55 layouts of each side would, with as many pairs of each"
    assert more in budget(few, SETTINGS, "futile")
    # If the layouts limit the interval, a note says so.
    noted = few.model_copy(update={"findings": [Finding(code="few-layouts", message="5 layouts tell little")]})
    assert more not in budget(noted, SETTINGS, "futile")
