"""The functions of a counted launch: as a record keeps them, and the difference between two launches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from steelyard.measure.count.counter import Counted
from steelyard.measure.count.profile import UNKNOWN, FunctionCost
from steelyard.model.counting import INSTRUCTIONS, CountedProcess, Functions
from steelyard.model.errors import LaunchError

# Only a browser has more functions than this; the smaller ones are kept as one sum.
_MOST_FUNCTIONS = 20_000
_MOST_FUNCTIONS_NAMED = 3
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def as_columns(functions: Sequence[FunctionCost], place: tuple[int, int]) -> Functions:
    """Return functions as columns, the largest first; the smallest of very many are one sum."""
    ranked = sorted(_merge_generated_code(functions), key=lambda function: -function.events[INSTRUCTIONS])
    kept, rest = ranked[:_MOST_FUNCTIONS], ranked[_MOST_FUNCTIONS:]
    if rest:
        events = {event: sum(function.events[event] for function in rest) for event in rest[0].events}
        kept.append(replace(rest[0], name="(smaller functions)", file="???", object="", line=0, events=events))
    graph = bool(kept) and all(function.inclusive is not None for function in kept)
    return Functions(
        benchmark=place[0],
        side=place[1],
        name=[function.name for function in kept],
        file=[function.file for function in kept],
        object=[function.object for function in kept],
        line=[function.line for function in kept],
        events={event: [function.events[event] for function in kept] for event in (kept[0].events if kept else {})},
        inclusive=[function.inclusive or 0 for function in kept] if graph else None,
    )


def differing_functions(one: Functions, other: Functions) -> list[str]:
    """Return the few functions whose instructions differ most between two counts."""
    counts = _instructions_by_name(one)
    counts.subtract(_instructions_by_name(other))
    ranked = sorted((name for name, count in counts.items() if count), key=lambda name: -abs(counts[name]))
    return ranked[:_MOST_FUNCTIONS_NAMED]


def _instructions_by_name(part: Functions) -> Counter[str]:
    """Return the instructions of all functions of each name, wherever they are."""
    own: Counter[str] = Counter()
    for name, count in zip(part.name, part.events.get(INSTRUCTIONS, []), strict=True):
        own[name] += count
    return own


def subtract_counts(once: Counted, twice: Counted) -> Counted:
    """Return the counts of the second launch less those of the first: `loops` iterations, without start and set-up.

    Raises LaunchError if twice the loops did not do more.
    """
    events = {event: twice.events[event] - count for event, count in once.events.items()}
    if events[INSTRUCTIONS] <= 0:
        raise LaunchError(
            "twice the loops executed no more instructions: does the command use {loops}, and does its work grow "
            "with it?"
        )
    return replace(
        twice,
        # After more loops, the end of a process may miss a cache a few times less.
        events={event: max(0, count) for event, count in events.items()},
        functions=_subtract_functions(once.functions, twice.functions),
        processes=_subtract_processes(once.processes, twice.processes),
        measured=once.measured.followed_by(twice.measured),  # a failure of either is one of the count
        seconds=once.seconds + twice.seconds,
    )


def _subtract_processes(once: Sequence[CountedProcess], twice: Sequence[CountedProcess]) -> list[CountedProcess]:
    """Return what each process did more of; nothing if there are more processes, and not more work for each."""
    if len(once) != len(twice):
        return []
    return [
        CountedProcess(
            command=other.command, events={event: other.events[event] - count for event, count in one.events.items()}
        )
        for one, other in zip(once, twice, strict=True)
    ]


def _subtract_functions(once: Sequence[FunctionCost], twice: Sequence[FunctionCost]) -> list[FunctionCost]:
    """Return what each function did more of, or less: together they are the difference of the totals."""
    once, twice = _merge_generated_code(once), _merge_generated_code(twice)
    before = {(function.name, function.object): function for function in once}
    functions = []
    ran_after = {(function.name, function.object) for function in twice}
    no_more = [_without_events(function) for key, function in before.items() if key not in ran_after]
    for function in [*twice, *no_more]:
        first = before.get((function.name, function.object))
        less = first.events if first else {}
        events = {event: count - less.get(event, 0) for event, count in function.events.items()}
        inclusive = None
        if function.inclusive is not None:
            inclusive = function.inclusive - (first.inclusive or 0 if first else 0)
        if any(events.values()):
            functions.append(replace(function, events=events, inclusive=inclusive))
    return functions


def _merge_generated_code(functions: Sequence[FunctionCost]) -> list[FunctionCost]:
    """Return the functions, with all code that lies in no file as one: each launch makes its own, at other addresses.

    What its parts called, above all each other, is not known, so its inclusive count is its own.
    """
    generated: list[FunctionCost] = []
    others: list[FunctionCost] = []
    for function in functions:
        (generated if not function.object and _ADDRESS.fullmatch(function.name) else others).append(function)
    if not generated:
        return others
    events = {event: sum(function.events[event] for function in generated) for event in generated[0].events}
    inclusive = None if generated[0].inclusive is None else events[INSTRUCTIONS]
    merged = replace(generated[0], name=UNKNOWN, events=events, inclusive=inclusive)
    return [*others, merged]


def _without_events(function: FunctionCost) -> FunctionCost:
    inclusive = None if function.inclusive is None else 0
    return replace(function, events=dict.fromkeys(function.events, 0), inclusive=inclusive)
