"""The keywords of the functions that measure: the keys of a project's file, and whatever else has an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import partial
from os import PathLike
from typing import Any, Literal, TypedDict

from steelyard.api.arguments import read_argument
from steelyard.api.options import Describing, Launching, Options
from steelyard.api.parameters import join_parameters
from steelyard.api.streams import input_of_launches, output_of_launches
from steelyard.api.wording import argument_of
from steelyard.model.errors import UsageError
from steelyard.model.values import LARGEST_MARGIN, seconds, share

PathName = str | PathLike[str]
CommandLine = str | PathLike[str]
"""A text is split into words; a path is a program on its own."""
_Value = str | float | PathLike[str]
_Texts = str | Sequence[str]

# Keywords whose name differs from that of the field they set.
_FIELD_NAMES: Mapping[str, str] = {
    "metrics": "metric",
    "launches": "pairs",
    "parameters": "parameter_list",
    "benchmarks": "benchmark",
    "tags": "tag",
    "heap": "watched",
    "warmup": "warm_up",
    "environment": "env",
    "inherit_environment": "inherit_env",
    "bytes": "processed_bytes",
    "items": "processed_items",
}


class Launched(TypedDict, total=False):
    """What all functions take. Times are in s, or texts such as `2m`; a single text will do where several may be given.

    None always means that it is not given.
    """

    harness: str | None
    benchmarks: _Texts | None
    """Patterns of the names of a harness's benchmarks."""
    timeout: float | str | None
    environment: Mapping[str, _Value | None] | Sequence[str] | None
    """Variables: each with a value, or None to pass on this process's value."""
    inherit_environment: bool | None


class Built(TypedDict, total=False):
    """What functions take that measure a revision of a git repository."""

    base: str | None
    """The git revision that is measured, or that the candidate is weighed against."""
    build: str | None
    """The shell command that builds a revision, in a folder of its own that is kept."""
    build_timeout: float | str | None


class Checking(Launched, Built, total=False):
    """What `check` takes in addition."""

    seed: int | None


class Counted(Launched, total=False):
    """What `count` takes in addition."""

    metrics: _Texts | None
    """What to measure; the first metric decides. The default is `active`, or `instructions` for `count`."""
    alpha: float | str | None
    """The chance of a wrong verdict: 0.01, or a text in percent such as `1%`."""
    parameters: Mapping[str, _Value | Sequence[_Value]] | None
    """Values for each {name} in the commands; every combination is a benchmark."""
    tags: _Texts | None
    setup: _Texts | None
    prepare: _Texts | None
    conclude: _Texts | None
    cleanup: _Texts | None
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


class Measuring(Counted, Built, total=False):
    """What `run` and `compare` take in addition."""

    max_time: float | str | None
    """Longest time to measure."""
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
    wait_quiet: float | str | None


Keywords = type[Checking | Counted | Running | Comparing]

_DEFAULTS: Mapping[object, Options] = {
    Running: Options(judging=Describing()),
    Counted: Options(launch=Launching(warm_up=0, seed=0)),
    Checking: Options(launch=Launching(warm_up=0, seed=0, timeout=60)),
}
"""The defaults of the functions whose defaults differ from those of `compare`."""


KEYWORDS = {*Running.__annotations__, *Comparing.__annotations__}
"""All keywords."""

_GROUP_OF_FIELD = {
    one.name: group.name
    for group in fields(Options)
    if group.name != "given"
    for one in fields(getattr(Options, group.name))
}


def group_and_field(key: str) -> tuple[str, str]:
    """Return the group of `Options` that a keyword, or a key of a project's file, belongs to, and its field there."""
    field = _FIELD_NAMES.get(key, key)
    return _GROUP_OF_FIELD[field], field


def options_of(keywords: Mapping[str, Any], kind: Keywords) -> Options:
    """Return what these keywords ask for; raise TypeError for one of another function, UsageError for a bad value."""
    defaults, spellings = _DEFAULTS.get(kind, Options()), dict[str, str]()
    values, spellings_of = dict[str, dict[str, Any]](), dict[str, dict[str, str]]()
    for key, value in keywords.items():
        if key not in kind.__annotations__:
            raise TypeError(f"unknown keyword {key!r}: {_suggestion(key, sorted(kind.__annotations__))}")
        if value is not None:
            group, field = group_and_field(key)
            taken = read_argument(key, value)
            values.setdefault(group, {})[field] = _READERS[key](taken) if key in _READERS else taken
            spellings_of.setdefault(group, {})[field] = spellings[field] = key
    groups = {group: replace(getattr(defaults, group), **values[group], given=spellings_of[group]) for group in values}
    return replace(defaults, **groups, given=spellings)


def is_given(options: Options, key: str) -> bool:
    """Return whether the caller, rather than a file, asked for what a keyword means."""
    if key not in KEYWORDS:
        return False
    group, field = group_and_field(key)
    is_set: bool = getattr(options, group).is_given(field)
    return is_set


def _suggestion(key: str, known: Sequence[str]) -> str:
    """Say what may have been meant; a keyword of another function is no misspelling."""
    similar = [] if key in KEYWORDS else get_close_matches(argument_of(f"--{key}"), known, 1)
    return f"did you mean {similar[0]!r}?" if similar else f"choose from {', '.join(known)}"


def margin_text(margin: float | str) -> str:
    """Return a margin as `--margin` takes it: a number is a part of 1, a text is in percent already.

    Raises UsageError for a number too large for a part of 1 that would make sense in percent.
    """
    if not isinstance(margin, str) and LARGEST_MARGIN < margin <= 100 * LARGEST_MARGIN:
        raise UsageError(
            f"margin={margin:g} is a part of 1, and the largest is {LARGEST_MARGIN:g}: "
            f'for {margin:g} % write margin="{margin:g}%", or {margin / 100:g}'
        )
    return margin if isinstance(margin, str) else f"{100 * margin:.12g}%"


def seconds_of(option: str, value: float | str) -> float:
    """Return a time in s, given as a number or as a text such as `2m`; raise UsageError if it is none."""
    return seconds(option, value) if isinstance(value, str) else value


def fraction_of(option: str, value: float | str) -> float:
    """Return a part of 1, given as a number or as a text such as `1%`; raise UsageError if it is none."""
    return share(option, value) if isinstance(value, str) else value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "margin": margin_text,
    "alpha": partial(fraction_of, "--alpha"),
    "max_time": partial(seconds_of, "--max-time"),
    "build_timeout": partial(seconds_of, "--build-timeout"),
    "timeout": partial(seconds_of, "--timeout"),
    "wait_quiet": partial(seconds_of, "--wait-quiet"),
    "parameters": join_parameters,
    "stdin": partial(input_of_launches, "--stdin"),
    "output": partial(output_of_launches, "--output"),
    "bytes": str,
    "items": str,
}
