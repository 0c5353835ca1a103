"""What measures takes by name: the keys of a project's file, and all else that there are options for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import partial
from os import PathLike
from typing import Any, Literal, TypedDict

from steelyard.api.asked import Asked, Describing, Launching
from steelyard.api.parameters import listed
from steelyard.api.streams import input_of_launches, output_of_launches
from steelyard.api.taken import taken
from steelyard.api.wording import argument_of
from steelyard.model.errors import UsageError
from steelyard.model.values import LARGEST_MARGIN, seconds, share

PathName = str | PathLike[str]
CommandLine = str | PathLike[str]
"""A text is split into words; a path is the program itself."""
_Value = str | float | PathLike[str]
_Some = str | Sequence[str]

# What of them is called otherwise than the field of what is asked that it is.
_CALLED: Mapping[str, str] = {
    "metrics": "metric",
    "launches": "pairs",
    "parameters": "parameter_list",
    "benchmarks": "benchmark",
    "tags": "tag",
    "heap": "watched",
    "heap_shuffle": "shuffled",
    "setup": "set_up",
    "warmup": "warm_up",
    "environment": "env",
    "inherit_environment": "inherit_env",
    "bytes": "processed_bytes",
    "items": "processed_items",
}


class Launched(TypedDict, total=False):
    """What all of them take. Times are in s; where several texts may be given, one text is one.

    None, for any, is as if it were not given.
    """

    harness: str | None
    benchmarks: _Some | None
    """Patterns of names, of a harness's."""
    timeout: float | None
    environment: Mapping[str, _Value | None] | Sequence[str] | None
    """Variables: with a value, or None for that of this process."""
    inherit_environment: bool | None


class Checking(Launched, total=False):
    """What `check` takes beside."""

    seed: int | None


class Counted(Launched, total=False):
    """What `count` takes beside."""

    metrics: _Some | None
    """What is measured; the first decides. As for `--metric`, `active` if none is named; of `count` `instructions`."""
    alpha: float | str | None
    """The chance of a wrong verdict: 0.01, or a text in percent as `1%`."""
    parameters: Mapping[str, _Value | Sequence[_Value]] | None
    """Values of each {name} in the commands; every combination is a benchmark."""
    tags: _Some | None
    setup: _Some | None
    prepare: _Some | None
    conclude: _Some | None
    cleanup: _Some | None
    stdin: PathName | None
    shell: bool | None
    ignore_failure: bool | None
    caches: str | None
    weights: str | None
    jobs: int | None
    loops: int | None
    call_graph: bool | None
    body: bool | None
    after_start: bool | None


class Measuring(Counted, total=False):
    """What `run` and `compare` take beside."""

    base: str | None
    """The revision of a git repository that is measured, or weighed against the candidate."""
    build: str | None
    """The shell command that builds a revision, in a folder of its own; kept."""
    build_timeout: float | str | None
    max_time: float | str | None
    """Longest time to measure: seconds, or a text as `2m`."""
    heap: bool | None
    heap_shuffle: bool | None
    warmup: int | None
    repeat: int | None
    output: PathName | None
    cpu: int | Literal["auto"] | None
    isolate: bool | None
    watch: bool | None
    """Whether to look who else runs meanwhile; without being asked it does."""
    seed: int | None
    bytes: int | str | None
    """What a launch processes, or with a harness an iteration: a number, or a text as `64M`."""
    items: int | str | None


class Running(Measuring, total=False):
    """What `run` takes beside."""

    launches: int | None
    """Most launches."""


class Comparing(Measuring, total=False):
    """What `compare` takes beside."""

    margin: float | str | None
    """The smallest relative change that matters: 0.01, or a text in percent as `1%`."""
    candidate: str | None
    """The revision that may have changed; the work tree, if it is not said."""
    pairs: int | None
    """Most pairs."""
    family: str | None
    pairing: str | None
    own_addresses: bool | None
    own_starts: bool | None
    control: bool | None
    reference_output: bool | None
    layouts: int | None
    wait_quiet: float | None


Keywords = type[Checking | Counted | Running | Comparing]

_USUAL: Mapping[object, Asked] = {
    Running: Asked(judging=Describing()),
    Counted: Asked(launch=Launching(warm_up=0, seed=0)),
    Checking: Asked(launch=Launching(warm_up=0, seed=0, timeout=60)),
}
"""What is asked where nobody asks, of those that differ from `compare` in it."""


KEYWORDS = {*Running.__annotations__, *Comparing.__annotations__}
"""All of them."""

_GROUPS = {
    one.name: group.name
    for group in fields(Asked)
    if group.name != "given"
    for one in fields(getattr(Asked, group.name))
}


def place_of(key: str) -> tuple[str, str]:
    """The group of what is asked that has a keyword, and its field there; so of each key of a project's file."""
    field = _CALLED.get(key, key)
    return _GROUPS[field], field


def asked_of(given: Mapping[str, Any], known: Keywords) -> Asked:
    """What is asked, of keywords; raises TypeError for one that is not `known`, and UsageError for its value."""
    asked, names = _USUAL.get(known, Asked()), dict[str, str]()
    found, keys = dict[str, dict[str, Any]](), dict[str, dict[str, str]]()
    for key, value in given.items():
        if key not in known.__annotations__:
            raise TypeError(f"unknown keyword {key!r}: {_instead(key, sorted(known.__annotations__))}")
        if value is not None:
            group, field = place_of(key)
            found.setdefault(group, {})[field] = _READ.get(key, _as_it_is)(taken(key, value))
            keys.setdefault(group, {})[field] = names[field] = key
    groups = {group: replace(getattr(asked, group), **found[group], given=keys[group]) for group in found}
    return replace(asked, **groups, given=names)


def is_asked(asked: Asked, key: str) -> bool:
    """Whether somebody asked for what a keyword means, and no file said it."""
    if key not in KEYWORDS:
        return False
    group, field = place_of(key)
    chosen: bool = getattr(asked, group).chooses(field)
    return chosen


def _instead(key: str, known: Sequence[str]) -> str:
    """What may have been meant; what is taken elsewhere is meant as it is, and no slip of the pen."""
    near = [] if key in KEYWORDS else get_close_matches(argument_of(f"--{key}"), known, 1)
    return f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"


def percentage(margin: float | str) -> str:
    """A margin as `--margin` has it: a number is a part of 1, a text is in percent already.

    Raises UsageError for a number that is too large for a part, and would do as one in percent.
    """
    if not isinstance(margin, str) and LARGEST_MARGIN < margin <= 100 * LARGEST_MARGIN:
        raise UsageError(
            f"margin={margin:g} is a part of 1, and the largest is {LARGEST_MARGIN:g}: "
            f'for {margin:g} % write margin="{margin:g}%", or {margin / 100:g}'
        )
    return margin if isinstance(margin, str) else f"{100 * margin:.12g}%"


def _as_it_is(value: Any) -> Any:
    return value


def seconds_of(option: str, value: float | str) -> float:
    """A time as an option has it: a number, or a text as `2m`; raises UsageError for what is none."""
    return seconds(option, value) if isinstance(value, str) else value


def part_of_1(option: str, value: float | str) -> float:
    """A part of 1 as an option has it: a number, or a text as `1%`; raises UsageError for what is none."""
    return share(option, value) if isinstance(value, str) else value


_READ: Mapping[str, Callable[[Any], Any]] = {
    "margin": percentage,
    "alpha": partial(part_of_1, "--alpha"),
    "max_time": partial(seconds_of, "--max-time"),
    "build_timeout": partial(seconds_of, "--build-timeout"),
    "parameters": listed,
    "stdin": partial(input_of_launches, "--stdin"),
    "output": partial(output_of_launches, "--output"),
    "bytes": str,
    "items": str,
}
