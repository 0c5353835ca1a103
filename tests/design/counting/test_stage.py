"""How often each side is counted, what is judged, and what the record says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.counting.functions import as_columns, differing_functions, subtract_counts
from steelyard.design.counting.plan import counts_by_side, judged_counts, missing_counts
from steelyard.design.counting.tool import with_tool
from steelyard.measure.count.counter import Counted
from steelyard.measure.count.profile import FunctionCost
from steelyard.model.counting import CountedProcess, CountSettings
from steelyard.model.errors import LaunchError, MeasurementError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.subject import Benchmark
from steelyard.stats.counts import counts_needed
from tests.design.counted import (
    COUNTED,
    PROGRAM,
    TOOL,
    VALGRIND,
    Stage,
    count,
    counted_run,
    counted_weighing,
    counts,
    functions,
    launched,
    own,
)
from tests.design.scripted import run_header, weighing
from tests.elf_heads import INTERPRETER, NOTE, made
from tests.model.samples import row

BOTH = [(0, 0), (0, 1)]
MORE = counts_needed(0.01)
ROLES = ["baseline", "candidate"]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


def fresh(benchmarks: int = 1, **settings: Any) -> Weighing:
    return weighing(benchmarks, **{**COUNTED, **settings}).model_copy(update={"subjects": [PROGRAM, PROGRAM]})


# --- the plan


def test_first_every_side_is_counted_once_and_then_once_more() -> None:
    # Not both at once: the second launch has to find what the first has left on disk.
    assert missing_counts(fresh(2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert missing_counts(counted_weighing(counts([5], [7]))) == BOTH
    assert missing_counts(run_header(**COUNTED)) == [(0, 0)]


def test_that_counting_begins_is_told_as_one_may_take_minutes(stage: Stage) -> None:
    stage(fresh(), lambda *_: launched(5))
    assert [(one.done, one.limit) for one in stage.shown] == [(0, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]


def test_that_a_count_lasts_is_told_with_its_side(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.design.counting.progress._LONG_COUNT_S", 0.0)

    def lasting(*_: object) -> Counted:
        assert stage.pool is not None
        assert stage.pool.waiting is not None
        stage.pool.waiting()
        return launched(5)

    stage(fresh(), lasting)
    within = [one for one in stage.shown if one.lasted_s is not None]
    assert [(one.done, one.side) for one in within] == [(number, of) for number, of in enumerate(ROLES * 2)]
    assert [one.seconds_left is None for one in within] == [True, False, False, False]


def test_a_program_that_cannot_load_what_fixes_random_numbers_is_counted_without(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = tmp_path / "library"
    ours.write_bytes(made((NOTE, b"ours")))
    loaders = {"glibc": b"/lib64/ld-linux-x86-64.so.2\0", "musl": b"/lib/ld-musl-x86_64.so.1\0"}
    for name, loader in loaders.items():
        (tmp_path / name).write_bytes(made((INTERPRETER, loader)))
    (tmp_path / "narrow").write_bytes(made((INTERPRETER, b"/lib/ld-linux.so.2\0"), bits=32, machine=3))
    (tmp_path / "static").write_bytes(made((NOTE, b"no loader")))
    for module in ("targets", "tool"):
        monkeypatch.setattr(f"steelyard.design.counting.{module}.PRELOAD", ours)

    def counted(name: str) -> tuple[bool, str]:
        subject = PROGRAM.model_copy(update={"program": str(tmp_path / name)})
        done = stage(fresh().model_copy(update={"subjects": [subject, subject]}), lambda *_: launched(5))
        assert done.error is None
        preloads = {any(entry.startswith(b"LD_PRELOAD=") for entry in spec.env) for spec in done.pool.specs}
        return preloads == {True}, done.message("not-pinned") if "not-pinned" in done.codes() else ""

    assert counted("glibc") == (True, "")
    assert [counted(name)[0] for name in ("musl", "narrow", "static")] == [False, False, True]
    assert "a static program" in counted("static")[1]
    assert all("cannot load what fixes them" in counted(name)[1] for name in ("musl", "narrow"))


def test_a_control_is_not_counted() -> None:
    record = fresh(2)
    control = Benchmark(name="control", candidate=0, control=True)
    assert missing_counts(record.model_copy(update={"benchmarks": [record.benchmarks[0], control]})) == BOTH


def test_what_is_there_is_not_counted_again() -> None:
    assert missing_counts(counted_weighing(counts([5], []))) == [(0, 1)]
    assert missing_counts(counted_weighing(counts([5, 5], [7]))) == [(0, 1)]
    assert missing_counts(counted_weighing(counts([5, 5], [5, 5]))) == []


def test_equal_counts_that_lie_apart_are_confirmed() -> None:
    assert missing_counts(counted_weighing(counts([1000, 1000], [1010, 1010]))) == BOTH * (MORE - 2)
    assert missing_counts(counted_weighing(counts([1000] * MORE, [1010] * (MORE - 1)))) == [(0, 1)]
    assert not missing_counts(counted_weighing(counts([1000] * MORE, [1010] * MORE)))
    assert not missing_counts(counted_weighing(counts([1000] * 2, [1001] * 2))), "the same within the margin"
    assert missing_counts(counted_weighing(counts([1000] * 3, [1010, 1010, 1000]))) == BOTH * (MORE - 1), (
        "not exact after all"
    )


@pytest.mark.parametrize(("baseline", "candidate"), [([5, 6], [7, 7]), ([5, 5], [7, 8])])
def test_where_the_first_counts_of_a_side_differ_both_are_counted_anew(
    baseline: list[int], candidate: list[int]
) -> None:
    assert missing_counts(counted_weighing(counts(baseline, candidate))) == BOTH * MORE
    some = counted_weighing(counts([*baseline, 9, 9], [*candidate, 9]))
    assert missing_counts(some) == [(0, 1), *BOTH * (MORE - 2)]
    all_of_them = counted_weighing(counts([*baseline, *range(MORE)], [*candidate, *range(MORE)]))
    assert not missing_counts(all_of_them)


def test_events_other_than_instructions_may_differ_too() -> None:
    differing = [count(0, 5, D1mr=1), count(0, 5, D1mr=2), count(1, 5, D1mr=1), count(1, 5, D1mr=1)]
    assert len(missing_counts(counted_weighing(differing))) == 2 * MORE


def test_what_is_none_on_one_side_has_no_change_that_is_to_be_confirmed() -> None:
    none = dict.fromkeys(("I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"), 0)
    made = [count(side, 1000, **none | {"ILmr": side}) for side in (0, 1) * 2]
    assert not missing_counts(counted_weighing(made, metrics=["instructions", "ram_hits"]))


def test_only_the_benchmark_that_differs_is_counted_more_and_alpha_is_shared() -> None:
    record = counted_weighing([*counts([5, 5], [5, 5]), *counts([5, 6], [5, 5], 1)], benchmarks=2)
    assert missing_counts(record) == [(1, 0), (1, 1)] * counts_needed(0.01 / 2)


def test_first_counts_are_judged_only_where_there_are_no_others() -> None:
    made = counts([1, 2, 3, 4], [5, 6])
    places = counts_by_side(counted_weighing(made))
    assert [one.events["Ir"] for one in judged_counts(places[0, 0])] == [3, 4]
    assert [one.events["Ir"] for one in judged_counts(places[0, 1])] == [5, 6]
    assert list(judged_counts(made[:1])) == made[:1]


# --- the stage


def test_counts_that_repeat_need_two_a_side(stage: Stage) -> None:
    ended = stage(fresh(), [1000, 1001] * 2)
    assert (ended.instructions(0), ended.instructions(1)) == ([1000] * 2, [1001] * 2)
    assert (ended.error, ended.codes(), ended.record.stop) == (None, [], ["decided"])
    # The functions are written with the first count of each side.
    assert [part is not None for _, part in ended.kept] == [True, True, False, False]


def test_what_a_first_launch_did_once_is_set_aside(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001 - the first of the two sides fills a cache
        return launched(1500, own("main", 1000), own("compile", 500)) if number == 0 else launched(1000)

    ended = stage(fresh(), script)
    assert ended.instructions(0) == [1500, *[1000] * (1 + MORE)]
    assert ended.codes() == ["set-aside"]
    assert "the first counts of the baseline differ, most in compile, and those" in ended.message("set-aside")
    # Where a change comes from is shown by the counts that are judged.
    assert ended.record.counting is not None
    assert [(part.side, part.name) for part in ended.record.counting.functions] == [(0, ["main"]), (1, ["main"])]
    assert [number for number, (_, part) in enumerate(ended.kept) if part] == [0, 1, 4, 5]


def test_counts_that_never_repeat_say_in_which_functions(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        return launched(1000 + number, own("main", 1000), own("by_clock", number), others_ns=2_000_000)

    ended = stage(fresh(), script)
    assert ended.codes() == ["counts-differ"]
    said = ended.message("counts-differ")
    assert "most in by_clock; likely causes: the time of day and how threads or processes are scheduled" in said


def test_of_two_programs_the_one_whose_counts_differ_is_named(stage: Stage) -> None:
    # A benchmark of two commands has the candidate's name, even if it is the baseline whose counts do not repeat.
    ended = stage(fresh(), lambda number, _: launched(1000 + number * (number % 2 == 0), own("emit", 1000 + number)))
    assert "two counts of the baseline differ, most in emit" in ended.message("counts-differ")
    ended = stage(fresh(), lambda number, _: launched(1000 + number * (number % 2), own("emit", 1000 + number)))
    assert "two counts of the candidate differ, most in emit" in ended.message("counts-differ")


def test_first_counts_that_differ_are_named_where_nothing_came_after_them(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        if number == 4:
            raise MeasurementError("no more")
        return launched(1000 + number, own("malloc", 1000 + number))

    ended = stage(fresh(), script)
    assert ended.codes() == ["failed", "counts-differ"]
    assert len(ended.kept) == 4
    assert ended.record.stop == ["failed"]


def test_a_run_that_differs_is_counted_more_too(stage: Stage) -> None:
    record = run_header(**COUNTED).model_copy(update={"subjects": [PROGRAM]})
    ended = stage(record, [1, 2, *[3] * MORE])
    assert ended.instructions(0) == [1, 2, *[3] * MORE]


def test_a_target_that_fails_ends_it_at_once(stage: Stage) -> None:
    ended = stage(fresh(), lambda *_: launched(5, exit_code=3, stderr=b"alas\n"))
    assert len(ended.pool.specs) == 1
    assert "work failed with exit status 3 (its last words: alas): fix the command" in str(ended.error)
    assert ended.codes() == ["failed"]
    assert ended.record.is_empty()


@pytest.mark.parametrize("says", ["it fell over", "work (bad): twice the loops executed no more instructions"])
def test_one_of_a_harness_that_fails_is_kept_as_failed_at_once_and_alone(stage: Stage, says: str) -> None:
    benchmarks = [Benchmark(name=name, entry=name, loops=10, samples=1) for name in ("bad", "good")]
    record = fresh(harness="protocol").model_copy(update={"benchmarks": benchmarks, "stop": ["interrupted"] * 2})

    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        words = b" ".join(spec.argv)
        if b"run=bad" in words:
            if says == "it fell over":
                raise LaunchError(says)
            return launched(1000)
        return launched(2000 if b"loops=20" in words else 1000)

    ended = stage(record, script)
    ((benchmark, message),) = ended.failed
    assert benchmark == 0
    assert message.startswith(says)
    assert ended.record.stop == ["failed", "decided"]
    assert ended.instructions(0) == ended.instructions(1) == [1000, 1000]
    assert [count.benchmark for count, _ in ended.kept] == [1] * 4


def test_a_failure_may_be_accepted(stage: Stage) -> None:
    ended = stage(fresh(ignore_failure=True), lambda *_: launched(5, exit_code=3))
    assert ended.error is None
    assert len(ended.kept) == 4


def test_a_target_that_takes_too_long_under_valgrind(stage: Stage) -> None:
    ended = stage(fresh(), lambda *_: launched(0, timed_out=True, wall_ns=2_000_000_000))
    assert "work did not end within 2 s and was killed: under valgrind" in str(ended.error)
    assert "--timeout" in str(ended.error)


@pytest.mark.parametrize(("field", "said"), [("body", "leave --body out"), ("after_start", "--after-start takes")])
def test_no_instruction_is_an_error(stage: Stage, field: str, said: str) -> None:
    settings = CountSettings(tool="callgrind").model_copy(update={field: True}).model_dump()
    ended = stage(fresh(counting=settings), [0])
    assert isinstance(ended.error, MeasurementError)
    assert said in str(ended.error)


def test_of_a_harness_that_cannot_be_counted_it_is_said_what_can(stage: Stage) -> None:
    benchmark = Benchmark(name="work", entry="work", loops=10, samples=1)
    record = fresh(harness="protocol").model_copy(update={"benchmarks": [benchmark], "stop": ["interrupted"]})
    ended = stage(record, lambda *_: launched(0))
    ((_, message),) = ended.failed
    assert "Time it alone, by another --metric, or count a whole command, without --harness" in message


def test_an_interrupt_between_counts_keeps_what_is_there(stage: Stage) -> None:
    ended = stage(fresh(), lambda number, _: launched(5, cancelled=number == 2))
    assert (ended.error, ended.record.stop) == (None, ["interrupted"])
    assert len(ended.kept) == 2


def test_prepare_goes_before_each_count_and_nothing_cleans_up_yet(stage: Stage) -> None:
    ended = stage(fresh(prepare=["/bin/echo"], cleanup=["/bin/true"]), [5] * 4, jobs=2)
    assert ended.pool.hooks == [b"/bin/echo"] * 4
    assert ended.pool.jobs == 1  # what is prepared for one launch must not meet another


def test_what_concludes_each_count_meets_no_other(stage: Stage) -> None:
    ended = stage(fresh(conclude=["/bin/echo"]), [5] * 4, jobs=2)
    assert ended.pool.hooks == [b"/bin/echo"] * 4
    assert ended.pool.jobs == 1


def test_loops_are_the_difference_of_two_launches(stage: Stage) -> None:
    record = fresh(counting=CountSettings(loops=7).model_dump())
    subject = PROGRAM.model_copy(update={"command": "true {loops}", "argv": ["/bin/true", "{loops}"]})

    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        loops = int(spec.argv[1])
        return launched(1000 + 10 * loops, own("main", 1000), own("work", 10 * loops))

    ended = stage(record.model_copy(update={"subjects": [subject, subject]}), script)
    assert [spec.argv[1] for spec in ended.pool.specs[:4]] == [b"7", b"14"] * 2
    assert ended.instructions(0) == [70, 70]
    assert ended.record.counting is not None
    assert ended.record.counting.functions[0].name == ["work"]


def test_what_outlives_its_launch_is_named_once(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        return replace(launched(5, left_behind=("7 daemon",)), lost=1)

    ended = stage(fresh(), script)
    assert ended.codes() == ["lost", "left-behind"]
    assert "4 processes behind, which were killed unless they ended by themselves: daemon" in ended.message(
        "left-behind"
    )


def test_what_is_in_no_count_or_not_of_the_program_is_said_once(stage: Stage) -> None:
    odd = replace(launched(5), lost=3, replaced_by="/bin/other", went_around="0x62", not_executed="/bin/su")
    ended = stage(fresh(), lambda number, _: replace(odd, forked=number % 2 + 1))
    assert ended.codes() == ["forked", "lost", "replaced", "went-around", "not-executed"]
    assert "2 processes that were forked" in ended.message("forked")
    assert "3 processes were killed" in ended.message("lost")
    # Before the end, which a session that is killed does not come to.
    assert ended.noted == [finding for finding in ended.record.findings if finding.code != "forked"]


def test_a_program_that_is_replaced_in_between(stage: Stage, tmp_path: Any) -> None:
    program = tmp_path / "work"
    program.write_text("one")

    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        program.write_text(f"{number} and another")
        return launched(5)

    subject = PROGRAM.model_copy(update={"program": str(program)})
    ended = stage(fresh().model_copy(update={"subjects": [subject, subject]}), script)
    assert "was replaced while it was measured" in str(ended.error)


# --- carried on


def begun_by(stage: Stage, **changed: Any) -> Weighing:
    """Return a weighing that was interrupted after three counts."""
    ended = stage(fresh(), lambda number, _: launched(5, cancelled=number == 3)).record
    assert isinstance(ended, Weighing)
    assert ended.counting is not None
    tool = ended.counting.tool.model_copy(update=changed)
    return ended.model_copy(update={"counting": ended.counting.model_copy(update={"tool": tool}), "findings": []})


def test_a_counting_is_carried_on_where_it_stopped(stage: Stage) -> None:
    ended = stage(begun_by(stage), [5])
    assert (ended.instructions(0), ended.instructions(1)) == ([5, 5], [5, 5])
    assert len(ended.kept) == 1
    assert ended.codes() == []


def test_the_seconds_are_those_of_all_sessions_or_of_the_pairs(stage: Stage) -> None:
    begun = begun_by(stage).model_copy(update={"seconds": 100.0})
    assert stage(begun, [5]).record.seconds > 100
    assert stage(begun.model_copy(update={"launches": Launches.of_rows([row()])}), [5]).record.seconds == 100


def test_what_differs_from_the_counts_before_is_noticed(stage: Stage) -> None:
    ended = stage(begun_by(stage), [6] * 20)
    assert ended.codes() == ["set-aside"]
    assert len(ended.instructions(1)) == 2 + MORE


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"version": "3.21.0"}, r"with another valgrind \(3.21.0 then, 3.19.0 now\): two .* weigh anew"),
        ({"flags": []}, "with other flags of valgrind:"),
        ({"fingerprint": {"libc.so.6": "0"}}, "with another C library, loader or preload:"),
        ({"version": "3.21.0", "flags": []}, r"3.19.0 now\) and other flags"),
    ],
)
def test_two_countings_are_not_mixed(stage: Stage, changed: dict[str, Any], said: str) -> None:
    begun = begun_by(stage, **changed)
    with pytest.raises(UsageError, match=said):
        with_tool(begun, VALGRIND)


def test_a_record_without_counts_yet_may_be_counted_by_any_valgrind(stage: Stage) -> None:
    record = counted_weighing([])
    assert record.counting is not None
    ended = stage(record, [5] * 4)
    assert ended.record.counting is not None
    assert ended.record.counting.tool.flags != TOOL.flags


def test_variables_are_not_fixed_where_they_are_passed_on_as_they_are() -> None:
    names = [f"V{number:02}" for number in range(12)]
    record = weighing(metrics=["instructions"], environment=["PATH", *names], variables={"PYTHONPATH": "src"})
    counting = with_tool(record, VALGRIND).counting
    assert counting is not None
    assert counting.tool.not_pinned[-1].endswith(
        "as they are: V00, V01, V02, V03, V04, V05, V06, V07, V08, V09 and 2 more"
    )


# --- differences of two launches


def test_twice_the_loops_have_to_do_more() -> None:
    with pytest.raises(MeasurementError, match=r"twice the loops executed no more instructions.*\{loops\}"):
        subtract_counts(launched(1000), launched(1000))


def counted(processes: Sequence[int], *parts: FunctionCost, **events: int) -> Counted:
    made = launched(sum(processes), *parts)
    each = [CountedProcess(command=f"p{number}", events={"Ir": own}) for number, own in enumerate(processes)]
    return replace(made, events={**made.events, **events}, processes=each)


def test_no_event_happens_less_than_never() -> None:
    assert subtract_counts(counted([10], DLmw=5), counted([30], DLmw=3)).events == {"Ir": 20, "DLmw": 0}


def test_processes_are_told_apart_only_where_there_are_as_many() -> None:
    found = subtract_counts(counted([10, 1]), counted([30, 4])).processes
    assert [process.events["Ir"] for process in found] == [20, 3]
    assert subtract_counts(counted([10]), counted([30, 4])).processes == []


def test_what_calls_cost_is_a_difference_too() -> None:
    once, twice = replace(own("f", 3), inclusive=10), replace(own("f", 5), inclusive=17)
    (found,) = subtract_counts(launched(3, once), launched(5, twice)).functions
    assert (found.events["Ir"], found.inclusive) == (2, 7)
    new, gone = subtract_counts(launched(3, once), launched(5, replace(twice, name="g"))).functions
    assert [(one.name, one.events["Ir"], one.inclusive) for one in (new, gone)] == [("g", 5, 17), ("f", -3, -10)]


def made_at_run_time(address: str, instructions: int, inclusive: int | None = None) -> FunctionCost:
    return replace(own(address, instructions), file="???", object="", line=0, inclusive=inclusive)


def test_code_that_is_made_at_run_time_is_one_wherever_it_lies() -> None:
    once = launched(35, made_at_run_time("0x3d0eff53", 10, 30), made_at_run_time("0x3d0effa0", 20, 20), own("f", 5))
    twice = launched(65, made_at_run_time("0x04b5df53", 60, 90), own("f", 5))
    (found,) = subtract_counts(once, twice).functions
    assert (found.name, found.object, found.events["Ir"], found.inclusive) == ("???", "", 30, 30)
    one, other = (as_columns(side.functions, (0, 0)) for side in (once, twice))
    assert (one.name, one.events["Ir"]) == (["???", "f"], [30, 5])
    assert differing_functions(one, other) == ["???"]
    assert as_columns([replace(own("0x04b5df53", 5), object="/lib")], (0, 0)).name == ["0x04b5df53"], "it lies there"


def test_functions_that_do_less_after_twice_the_loops_are_kept_and_all_add_up(stage: Stage) -> None:
    # As in printf, if the number to print then has one digit less.
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001 - in turn these loops, and twice as many
        if number % 2 == 0:
            return counted([1015, 15], own("work", 1000), own("printf", 20), replace(own("once", 10), inclusive=10))
        return counted([2000, 10], own("work", 1995), own("printf", 15))

    ended = stage(counted_run([], counting=CountSettings(loops=5).model_dump()), script)
    assert ended.error is None
    (count, part), *_ = ended.kept
    assert part is not None
    own_counts = dict(zip(part.name, part.events["Ir"], strict=True))
    assert own_counts == {"work": 995, "printf": -5, "once": -10}
    assert sum(own_counts.values()) == count.events["Ir"] == 980
    assert [process.events["Ir"] for process in count.processes] == [985, -5]
    assert type(part).model_validate_json(part.model_dump_json()) == part


# --- functions as columns


def test_the_smaller_functions_of_very_many_are_one_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.design.counting.functions._MOST_FUNCTIONS", 2)
    part = as_columns([own("a", 1), own("b", 30), own("c", 20), own("d", 4)], (0, 1))
    assert (part.side, part.name, part.events["Ir"]) == (1, ["b", "c", "(smaller functions)"], [30, 20, 5])
    assert (part.file[2], part.object[2], part.line[2], part.inclusive) == ("???", "", 0, None)


def test_the_functions_that_differ_most_come_first() -> None:
    one, other = functions(0, {"a": 10, "b": 10, "c": 10, "d": 1}), functions(0, {"a": 11, "b": 90, "c": 10, "e": 30})
    assert differing_functions(one, other) == ["b", "e", "a"]
    assert differing_functions(one, one) == []


def test_a_function_of_one_name_is_one_wherever_it_is() -> None:
    one = as_columns([own("a", 1), replace(own("a", 2), object="/lib")], (0, 0))
    assert differing_functions(one, functions(0, {"a": 3})) == []


def test_a_run_has_all_its_counts_on_one_side() -> None:
    assert set(counts_by_side(counted_run([count(0, 5)] * 2))) == {(0, 0)}
