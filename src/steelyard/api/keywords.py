"""What `compare` and `run` take by name: the keys of a project's file, and all else that there are options for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypedDict

from steelyard.api.asked import Asked, Describing
from steelyard.api.parameters import listed
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds

PathName = str | PathLike[str]
_Some = str | Sequence[str]

KEYS: Mapping[str, tuple[str, str]] = {
    "metrics": ("judging", "metric"),
    "pairs": ("judging", "pairs"),
    "max_time": ("judging", "max_time"),
    "alpha": ("judging", "alpha"),
    "family": ("judging", "family"),
    "pairing": ("weighing", "pairing"),
    "control": ("weighing", "control"),
    "reference_output": ("weighing", "reference_output"),
    "parameters": ("weighing", "parameter_list"),
    "harness": ("suite", "harness"),
    "benchmarks": ("suite", "benchmark"),
    "tags": ("suite", "tag"),
    "heap": ("heap", "watched"),
    "heap_shuffle": ("heap", "shuffled"),
    "setup": ("launch", "set_up"),
    "prepare": ("launch", "prepare"),
    "conclude": ("launch", "conclude"),
    "cleanup": ("launch", "cleanup"),
    "warmup": ("launch", "warm_up"),
    "repeat": ("launch", "repeat"),
    "stdin": ("launch", "stdin"),
    "shell": ("launch", "shell"),
    "ignore_failure": ("launch", "ignore_failure"),
    "timeout": ("launch", "timeout"),
    "cpu": ("launch", "cpu"),
    "isolate": ("launch", "isolate"),
    "environment": ("launch", "env"),
    "inherit_environment": ("launch", "inherit_env"),
    "wait_quiet": ("launch", "wait_quiet"),
    "watch": ("launch", "watch"),
}
"""Each key of a project's file: the group of what is asked that has it, and its field there."""

_OTHERS: Mapping[str, tuple[str, str]] = {
    "margin": ("judging", "margin"),
    "launches": ("judging", "pairs"),
    "layouts": ("weighing", "layouts"),
    "seed": ("launch", "seed"),
    "output": ("launch", "output"),
    "bytes": ("throughput", "processed_bytes"),
    "items": ("throughput", "processed_items"),
    "caches": ("counting", "caches"),
    "weights": ("counting", "weights"),
    "jobs": ("counting", "jobs"),
    "loops": ("counting", "loops"),
    "call_graph": ("counting", "call_graph"),
    "body": ("counting", "body"),
    "after_start": ("counting", "after_start"),
}


class Measuring(TypedDict, total=False):
    """What both take. Times are in s; where several texts may be given, one text is one."""

    metrics: _Some
    """What is measured; the first decides. As for `--metric`, `active` if none is named."""
    max_time: float | str
    """Longest time to measure: seconds, or a text as `2m`."""
    alpha: float
    parameters: Mapping[str, Sequence[str | float]]
    """Values of each {name} in the commands; every combination is a benchmark."""
    harness: str
    benchmarks: _Some
    """Patterns of names, of a harness's."""
    tags: _Some
    heap: bool
    heap_shuffle: bool
    setup: _Some
    prepare: _Some
    conclude: _Some
    cleanup: _Some
    warmup: int
    repeat: int
    stdin: PathName
    output: PathName
    shell: bool
    ignore_failure: bool
    timeout: float
    cpu: int | Literal["auto"]
    isolate: bool
    environment: Mapping[str, str | None] | Sequence[str]
    """Variables: with a value, or None for that of this process."""
    inherit_environment: bool
    watch: bool
    """Whether to look who else runs meanwhile; without being asked it does."""
    seed: int
    bytes: int | str
    """What a launch processes, or with a harness an iteration: a number, or a text as `64M`."""
    items: int | str
    caches: str
    weights: str
    jobs: int
    loops: int
    call_graph: bool
    body: bool
    after_start: bool


class Running(Measuring, total=False):
    """What `run` takes beside."""

    launches: int
    """Most launches."""


class Comparing(Measuring, total=False):
    """What `compare` takes beside."""

    margin: float | str
    """The smallest relative change that matters: 0.01, or a text in percent as `1%`."""
    pairs: int
    """Most pairs."""
    family: str
    pairing: str
    control: bool
    reference_output: bool
    layouts: int
    wait_quiet: float


def asked_of(given: Mapping[str, Any], known: type[Running | Comparing]) -> Asked:
    """What is asked, of keywords; raises TypeError for one that is not `known`, and UsageError for its value."""
    asked = Asked(judging=Describing()) if known is Running else Asked()
    found = dict[str, dict[str, Any]]()
    for key, value in given.items():
        if key not in known.__annotations__ and key not in Measuring.__annotations__:
            raise TypeError(f"unknown keyword {key!r}: choose from {', '.join(sorted(_known(known)))}")
        if value is not None:
            group, field = KEYS.get(key) or _OTHERS[key]
            found.setdefault(group, {})[field] = _READ.get(key, _as_it_is)(value)
    return replace(asked, **{group: replace(getattr(asked, group), **values) for group, values in found.items()})


def _known(keywords: type[Running | Comparing]) -> set[str]:
    return {*Measuring.__annotations__, *keywords.__annotations__}


def percentage(margin: float | str) -> str:
    """A margin as `--margin` has it: a number is a part of 1, a text is in percent already."""
    return margin if isinstance(margin, str) else f"{100 * margin:.12g}%"


def texts(given: _Some) -> list[str]:
    """Several texts, or one alone."""
    return [given] if isinstance(given, str) else list(given)


def _as_it_is(value: Any) -> Any:
    return value


def _seconds(value: float | str) -> float:
    return seconds("--max-time", value) if isinstance(value, str) else value


def _path(value: PathName) -> Path:
    return Path(fspath(value))


def _parameters(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        raise UsageError("parameters are a dictionary of names with their values: {'size': [1, 10, 100]}")
    return listed({str(name): texts_or_numbers(values) for name, values in value.items()})


def texts_or_numbers(values: Any) -> list[str | float]:
    """The values of a parameter; one alone is a list of itself."""
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


def _variables(value: Mapping[str, str | None] | Sequence[str]) -> list[str]:
    if isinstance(value, Mapping):
        return [name if one is None else f"{name}={one}" for name, one in value.items()]
    return texts(value)


_READ: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("metrics", "benchmarks", "tags", "setup", "prepare", "conclude", "cleanup"), texts),
    "margin": percentage,
    "max_time": _seconds,
    "parameters": _parameters,
    "environment": _variables,
    "stdin": _path,
    "output": _path,
    "bytes": str,
    "items": str,
}
