"""What the user should know of counts: why they do not repeat, what they lack, how they compare with the times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from steelyard.model.derived import Verdict
from steelyard.model.findings import Finding

# What the name of a function tells about why it executes more or less from launch to launch.
_CAUSES_BY_NAME = (
    (r"clock|(?<!run)time(?!d)|tz_", "the time of day"),
    (r"_io_padn|printf|_itoa", "printed numbers, such as the time or a process number"),
    (
        r"pthread|futex|lll_|mutex|sem_|thread|runtime\.(?:lock|park|schedule|findRunnable)",
        "how threads or processes are scheduled",
    ),
    (r"hash|lookdict|siphash|bucket", "a hash seed of its own"),
    (r"malloc|_int_free|free|arena|brk|mmap|gc|sweep|mark", "addresses of the allocator"),
    (r"jit|compile|deopt|interpreter", "a compiler at run time"),
    (r"rand", "random numbers"),
)
_RUNTIME_HINTS = {
    "node": "Node.js repeats within about 1e-4 with --predictable --hash-seed=1 --random-seed=1",
    "java": "a JVM compiles while it runs: -Xint counts the interpreter alone, -XX:+UseSerialGC one collector",
    "dotnet": "a run-time compiler never repeats: DOTNET_TieredCompilation=0 helps",
    # Ruby compiles nothing at run time unless it is told to: what does not repeat is the start of RubyGems.
    "ruby": "--env RUBYOPT=--disable-gems starts Ruby without RubyGems, whose start does not repeat",
    "pypy": "its run-time compiler never repeats: --jit off counts the interpreter alone",
}
# Libraries that start threads of their own, by the names of their functions, and what leaves a single one.
_THREAD_HINTS = (
    (r"blas", "--env OPENBLAS_NUM_THREADS=1 has OpenBLAS, which numpy loads, begin no threads"),
    (r"gomp_|kmp_", "--env OMP_NUM_THREADS=1 has OpenMP begin no threads"),
)
# The mark of a Go program, which its first pages hold.
_GO_MARK = b"Go buildinf:"
_THREADS_FROM_NS = 1_000_000


def not_pinned_finding(what: str) -> Finding:
    """Return the finding that something may move the counts."""
    return Finding(code="not-pinned", message=f"not fixed, so it may move the counts: {what}")


# Counts average over nothing, where several builds of each side were asked for.
FIRST_LAYOUT = Finding(
    code="first-layout",
    message="counted was layout 1 of each side alone: only times are averaged over all layouts",
)


def forked_finding(name: str, processes: int) -> Finding:
    """Return the finding that some processes are in no count."""
    what, own = ("process that was", "its own is") if processes == 1 else ("processes that were", "their own are")
    return Finding(
        code="forked",
        message=f"{name}: {processes} {what} forked and executed no program of {own} not in the counts",
        remedy="count with one process (many programs have an option for that), or weigh by time",
    )


def lost_finding(name: str, processes: int) -> Finding:
    """Return the finding that some processes were killed before they could say what they had executed."""
    what = "process was" if processes == 1 else "processes were"
    return Finding(
        code="lost",
        message=f"{name}: {processes} {what} killed before writing counts, and none of that is in the counts",
        remedy="let the program wait for its processes and end them by other signals than SIGKILL",
    )


def replaced_finding(name: str, command: str) -> Finding:
    """Return the finding that a target executed another program in its own place."""
    return Finding(
        code="replaced",
        message=f"{name}: it executed another program in its place, {command}, and what it did before that is not in "
        "the counts",
        remedy="count that program itself, if that is what changed",
    )


def went_around_finding(name: str, instruction: str) -> Finding:
    """Return the finding that a program did other work than alone, as it may not use all that this processor has."""
    return Finding(
        code="went-around",
        message=f"{name}: valgrind does not know an instruction of it ({instruction}); it caught that and went on by "
        "another way than it takes alone",
        remedy="the counts are those of the other way: weigh by time for this one",
    )


def not_executed_finding(name: str, program: str) -> Finding:
    """Say that a program did not execute what it executes alone, as that has rights of its own."""
    return Finding(
        code="not-executed",
        message=f"{name}: valgrind cannot execute {program}, which has rights of its own (setuid, setgid or "
        "capabilities), so the command went on without it",
        remedy="the counts lack what that does: have the command run a copy without those rights, or weigh by time",
    )


def differing_finding(
    name: str, whose: str | None, functions: Sequence[str], commands: Sequence[Sequence[str]], others_ns: int
) -> Finding:
    """Return the finding that counts of one program differ, where they do most, and the usual causes.

    `whose` counts they are: the baseline's or the candidate's; None if both sides' differ or there is one side alone.
    A command is the path of its program, and its arguments.
    """
    named = " ".join(functions)
    causes = [cause for sign, cause in _CAUSES_BY_NAME if re.search(sign, named, re.IGNORECASE)]
    if others_ns >= _THREADS_FROM_NS:
        causes.append("how threads or processes are scheduled")
    # Then it is not the runtime that moves.
    hints = [hint for sign, hint in _THREAD_HINTS if re.search(sign, named, re.IGNORECASE)] or [
        hint for program, *words in commands for hint in _runtime_hints(program, words)
    ]
    where = ", ".join(functions) or "no function"
    usual = "time, pid, threads, hash seeds, addresses or a run-time compiler"
    return Finding(
        code="counts-differ",
        message=f"{name}: two counts of the {whose or 'same program'} differ, most in {where}; "
        f"likely causes: {' and '.join(dict.fromkeys(causes)) or usual}",
        remedy="; ".join(dict.fromkeys(hints)) or "have an option of the program fix what depends on those",
    )


def set_aside_finding(name: str, whose: str | None, functions: Sequence[str]) -> Finding:
    """Return the finding that only first counts differ, which are not judged; `whose` as above."""
    of_side = f" of the {whose}" if whose else ""
    where = f", most in {', '.join(functions)}" if functions else ""
    return Finding(
        code="set-aside",
        message=f"{name}: the first counts{of_side} differ{where}, and those after them are equal; the first were set "
        "aside, as a first launch may fill a cache on disk",
    )


def _runtime_hints(program: str, words: Sequence[str]) -> list[str]:
    from steelyard.subjects.responses import file_holds  # whoever only reads results has no use for it

    name = Path(program).name
    found = [hint for runtime, hint in _RUNTIME_HINTS.items() if name.startswith(runtime)]
    if name.startswith("python") and _ignores_hash_seed(words):
        found.append("python -I and -E ignore PYTHONHASHSEED, which is fixed here: leave them out")
    if file_holds(program, _GO_MARK):
        found.append("Go never repeats exactly; --env GOMAXPROCS=1 brings it within about 5e-4")
    return found


def _ignores_hash_seed(words: Sequence[str]) -> bool:
    """Return whether one of the options before a script's name has Python pass over its environment."""
    options = takewhile(lambda word: word.startswith("-") and not word.startswith("--"), words)
    return any(re.fullmatch(r"-[a-zA-Z]*[EI][a-zA-Z]*", option) for option in options)


def disagreement_finding(timed: Verdict, counted: Verdict) -> Finding | None:
    """Return what it means that the two clocks disagree; None if they agree, or if one of them says nothing."""
    meaning = _DISAGREEMENTS.get((timed.verdict, counted.verdict))
    if meaning is None or _may_be_as_counted(timed, counted):
        return None
    return Finding(code="clocks-disagree", message=meaning.format(timed=timed.metric, counted=counted.metric))


def _may_be_as_counted(timed: Verdict, counted: Verdict) -> bool:
    """Whether the time may have changed by just what was counted, which only a margin calls the same."""
    if counted.verdict != "same" or counted.change is None or timed.interval is None:
        return False
    return timed.interval[0] <= counted.change <= timed.interval[1]


# By the verdicts of the timed and of the counted metric.
_DISAGREEMENTS = {
    ("slower", "same"): "{timed} says slower, and {counted} the same: the work is as it was, so look at memory "
    "(caches, page faults), the layout of code and data, waiting, frequency or contention",
    ("slower", "faster"): "{timed} says slower although {counted} fell: fewer but slower steps, such as cache or "
    "branch misses, divisions, waiting or contention",
    ("faster", "same"): "{timed} says faster, and {counted} the same: better use of caches or branches, less waiting, "
    "or a luckier layout of the code, which the next build may lose",
    ("faster", "slower"): "{timed} says faster although {counted} rose: more but cheaper steps, such as vectors, "
    "better locality or less waiting",
    ("same", "faster"): "{counted} fell, and {timed} stayed the same: what was saved was not what takes the time "
    "(waiting, memory), or is less than the margin",
    ("same", "slower"): "{counted} rose, and {timed} stayed the same: what was added runs beside something slower, or "
    "is less than the margin; on another machine it may show",
}
