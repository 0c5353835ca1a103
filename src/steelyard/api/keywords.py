"""The keywords of the functions that measure: the keys of a project's file, and whatever else has an option."""

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
"""A text is split into words; a path is a program on its own."""
_Value = str | float | PathLike[str]
_Some = str | Sequence[str]

# Keywords whose name differs from that of the field they set.
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
    """What all functions take. Times are in s; where several texts may be given, a single text will do.

    None always means that it is not given.
    """

    harness: str | None
    benchmarks: _Some | None
    """Patterns of the names of a harness's benchmarks."""
    timeout: float | None
    environment: Mapping[str, _Value | None] | Sequence[str] | None
    """Variables: each with a value, or None to pass on this process's value."""
    inherit_environment: bool | None


class Checking(Launched, total=False):
    """What `check` takes in addition."""

    seed: int | None


class Counted(Launched, total=False):
    """What `count` takes in addition."""

    metrics: _Some | None
    """What to measure; the first metric decides. The default is `active`, or `instructions` for `count`."""
    alpha: float | str | None
    """The chance of a wrong verdict: 0.01, or a text in percent such as `1%`."""
    parameters: Mapping[str, _Value | Sequence[_Value]] | None
    """Values for each {name} in the commands; every combination is a benchmark."""
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
    """What `run` and `compare` take in addition."""

    base: str | None
    """The git revision that is measured, or that the candidate is weighed against."""
    build: str | None
    """The shell command that builds a revision, in a folder of its own that is kept."""
    build_timeout: float | str | None
    max_time: float | str | None
    """Longest time to measure: seconds, or a text such as `2m`."""
    heap: bool | None
    heap_shuffle: bool | None
    warmup: int | None
    repeat: int | None
    output: PathName | None
    cpu: int | Literal["auto"] | None
    isolate: bool | None
    watch: bool | None
    """Whether to watch what else runs meanwhile; on by default."""
    seed: int | None
    bytes: int | str | None
    """What a launch, or an iteration of a harness, processes: a number, or a text such as `64M`."""
    items: int | str | None


class Running(Measuring, total=False):
    """What `run` takes in addition."""

    launches: int | None
    """Largest number of launches."""


class Comparing(Measuring, total=False):
    """What `compare` takes in addition."""

    margin: float | str | None
    """The smallest relative change that matters: 0.01, or a text in percent such as `1%`."""
    candidate: str | None
    """The revision that may have changed; by default the work tree."""
    pairs: int | None
    """Largest number of pairs."""
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
"""The defaults of the functions whose defaults differ from those of `compare`."""


KEYWORDS = {*Running.__annotations__, *Comparing.__annotations__}
"""All keywords."""

_GROUPS = {
    one.name: group.name
    for group in fields(Asked)
    if group.name != "given"
    for one in fields(getattr(Asked, group.name))
}


def place_of(key: str) -> tuple[str, str]:
    """Return the group of `Asked` that a keyword, or a key of a project's file, belongs to, and its field there."""
    field = _CALLED.get(key, key)
    return _GROUPS[field], field


def asked_of(given: Mapping[str, Any], known: Keywords) -> Asked:
    """Return what these keywords ask for; raise TypeError for one that is not `known`, UsageError for a bad value."""
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
    """Return whether the caller, rather than a file, asked for what a keyword means."""
    if key not in KEYWORDS:
        return False
    group, field = place_of(key)
    chosen: bool = getattr(asked, group).chooses(field)
    return chosen


def _instead(key: str, known: Sequence[str]) -> str:
    """Say what may have been meant; a keyword of another function is no misspelling."""
    near = [] if key in KEYWORDS else get_close_matches(argument_of(f"--{key}"), known, 1)
    return f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"


def percentage(margin: float | str) -> str:
    """Return a margin as `--margin` takes it: a number is a part of 1, a text is in percent already.

    Raises UsageError for a number too large for a part of 1 that would make sense in percent.
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
    """Return a time in s, given as a number or as a text such as `2m`; raise UsageError if it is none."""
    return seconds(option, value) if isinstance(value, str) else value


def part_of_1(option: str, value: float | str) -> float:
    """Return a part of 1, given as a number or as a text such as `1%`; raise UsageError if it is none."""
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
