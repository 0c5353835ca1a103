"""Findings about counts: why they differ, what none of them includes, how they agree with times."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.counting import findings
from tests.report.records import verdict


def differing(*functions: str, program: str = "/bin/work", others_ns: int = 0) -> tuple[str, str]:
    found = findings.differing_finding("work", None, functions, [program.split()], others_ns)
    assert found.code == "counts-differ"
    return found.message, found.remedy or ""


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        ("by_clock", "the time of day"),
        ("__tz_convert", "the time of day"),
        ("_IO_padn", "printed numbers, such as the time or a process number"),
        ("__vfprintf_internal", "printed numbers, such as the time or a process number"),
        ("pthread_mutex_lock", "how threads or processes are scheduled"),
        ("runtime.findRunnable", "how threads or processes are scheduled"),
        ("PyDict_hash", "a hash seed of its own"),
        ("_int_free", "addresses of the allocator"),
        ("jit_emit", "a compiler at run time"),
        ("random_r", "random numbers"),
    ],
)
def test_a_functions_name_tells_a_likely_cause(function: str, cause: str) -> None:
    message, _ = differing(function)
    assert f"work: two counts of the same program differ, most in {function}; likely causes: {cause}" in message


def test_a_wait_with_a_limit_of_time_is_one_of_threads_alone() -> None:
    for function in ("__futex_abstimed_wait_common", "pthread_cond_timedwait", "sem_timedwait"):
        assert differing(function)[0].endswith("likely causes: how threads or processes are scheduled")


def test_each_cause_is_named_once() -> None:
    message, _ = differing("malloc", "free", "clock", others_ns=2_000_000)
    assert message.endswith(
        "likely causes: the time of day and addresses of the allocator and how threads or processes are scheduled"
    )


def test_work_of_others_shorter_than_the_clocks_ticks_is_no_cause() -> None:
    assert "threads or processes" not in differing("main", others_ns=999_999)[0]
    assert "threads or processes" in differing("main", others_ns=1_000_000)[0]


def test_a_name_that_says_nothing_leaves_all_that_is_usual() -> None:
    assert "likely causes: time, pid, threads, hash seeds, addresses or a run-time compiler" in differing("main")[0]
    assert "most in no function" in differing()[0]


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("/usr/bin/node", "within about 1e-4 with --predictable"),
        ("/opt/python3.11 -I x.py", "python -I"),
        ("/opt/python3.11 -u -bE -m x", "python -I"),
        ("/opt/python3.11 x.py -I", "an option of the program fix"),
        ("/opt/python3.11 -u x.py", "an option of the program fix"),
        ("/usr/bin/java", "-Xint"),
        ("/usr/bin/ruby3.1", "RUBYOPT=--disable-gems"),
        ("/bin/work", "an option of the program fix"),
    ],
)
def test_a_runtime_is_known_by_its_name(program: str, hint: str) -> None:
    assert hint in differing("main", program=program)[1]


@pytest.mark.parametrize(
    ("function", "variable"),
    [("blas_thread_server", "OPENBLAS_NUM_THREADS"), ("gomp_barrier_wait_end", "OMP_NUM_THREADS")],
)
def test_what_leaves_a_library_one_thread_is_named_and_not_the_hint_of_its_runtime(
    function: str, variable: str
) -> None:
    remedy = differing("main", function, program="/opt/python3.11 -I")[1]
    assert f"--env {variable}=1" in remedy
    assert "python -I" not in remedy


@pytest.mark.parametrize("before", [b"", b"x" * ((1 << 20) - 5)])
def test_go_is_known_by_what_its_linker_leaves(tmp_path: Path, before: bytes) -> None:
    program = tmp_path / "work"
    program.write_bytes(b"\x7fELF" + before + b"\xff Go buildinf:\x08")
    assert "GOMAXPROCS=1" in differing("main", program=str(program))[1]


def test_what_is_in_no_count_is_said_in_good_english() -> None:
    one, three = (findings.forked_finding("work", processes).message for processes in (1, 3))
    assert one == "work: 1 process that was forked and executed no program of its own is not in the counts"
    assert three == "work: 3 processes that were forked and executed no program of their own are not in the counts"
    assert "1 process was killed" in findings.lost_finding("work", 1).message
    assert "2 processes were killed" in findings.lost_finding("work", 2).message
    assert "in its place, /bin/true," in findings.replaced_finding("work", "/bin/true").message
    assert "(0x62)" in findings.went_around_finding("work", "0x62").message
    assert "work: valgrind cannot execute /bin/su," in findings.not_executed_finding("work", "/bin/su").message
    assert findings.not_pinned_finding("the weather").message.endswith("may move the counts: the weather")


def test_first_counts_that_were_set_aside() -> None:
    assert (
        "the first counts differ, most in a, b, and those"
        in findings.set_aside_finding("work", None, ["a", "b"]).message
    )
    assert "the first counts differ, and those after them" in findings.set_aside_finding("work", None, []).message


WORDS = ("slower", "faster", "same", "undecided")


@pytest.mark.parametrize("timed", WORDS)
@pytest.mark.parametrize("counted", WORDS)
def test_both_clocks_are_named_where_they_disagree(timed: str, counted: str) -> None:
    found = findings.disagreement_finding(
        verdict(verdict=timed), verdict(metric="instructions", verdict=counted, change=0.0)
    )
    if timed == counted or "undecided" in (timed, counted):
        assert found is None
    else:
        assert found is not None
        assert "active" in found.message
        assert "instructions" in found.message


@pytest.mark.parametrize(("change", "agrees"), [(0.008, True), (0.001, False), (-0.008, False)])
def test_a_time_that_changed_by_what_was_counted_within_its_margin_disagrees_with_nothing(
    change: float, agrees: bool
) -> None:
    timed = verdict(verdict="slower", change=0.0102, interval=(0.006, 0.014))
    found = findings.disagreement_finding(timed, verdict(metric="instructions", verdict="same", change=change))
    assert (found is None) == agrees
