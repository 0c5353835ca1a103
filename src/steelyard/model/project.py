"""What a project's file says: what is built, what is weighed and how. Units are read as on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from steelyard.model.errors import UsageError
from steelyard.model.layouts import MOST_LAYOUTS
from steelyard.model.metrics import METRICS
from steelyard.model.parts import Record
from steelyard.model.values import (
    LONGEST_WAIT_S,
    alpha_checked,
    in_range,
    metric_names,
    processor,
    relative_margin,
    seconds,
    seconds_in_range,
    share,
    whole,
)

_NOT_BLANK = r"\S"

UNREADABLE = "steelyard"
"""The type of an error whose message is a whole sentence."""

Value = TypeVar("Value")


def key_of(field: str) -> str:
    """The key of a field in the file."""
    return field.replace("_", "-")


def _refused(sentence: str) -> PydanticCustomError:
    return PydanticCustomError(UNREADABLE, "{sentence}", {"sentence": sentence})


def _by(read: Callable[[str, str], Value]) -> BeforeValidator:
    """Validate a value by read(key, text), as the value of an option is read."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        key = key_of(info.field_name or "")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise _refused(f"{key} has to be a number, or a text with its unit")
        try:
            return read(key, str(value))
        except UsageError as error:
            raise _refused(str(error)) from error

    return BeforeValidator(validate)


def margin_of(key: str, value: Any) -> float:
    """Read a margin, which has to have a unit; raises UsageError naming the key."""
    if not isinstance(value, str):  # beside `alpha = 0.01`, which is 1 %, nobody would take `margin = 0.01` for 0.01 %
        shown = f" {value}" if isinstance(value, (int, float)) else ""
        raise UsageError(f'{key}{shown} has to say its unit: write for example "1%"')
    return relative_margin(value, key)


def _margin(value: Any, info: ValidationInfo) -> float:
    try:
        return margin_of(key_of(info.field_name or ""), value)
    except UsageError as error:
        raise _refused(str(error)) from error


def _metrics(value: Any) -> list[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise _refused('metrics has to be a list of names, as in ["active", "max_rss"]')
    try:
        return metric_names(value, "metrics")
    except UsageError as error:
        raise _refused(str(error)) from error


def _one_or_several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _limits(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        part = f'"{100 * value:g}%" if it is a part of 1, else ' if 0 < value < 1 else "for example "
        raise _refused(f'max-slower {value} has to say its unit: write {part}"{value:g}%"')
    return _one_or_several(value)


_TEXT_OR_NUMBER = {"type": ["string", "number"]}
Margin = Annotated[
    float,
    BeforeValidator(_margin),
    WithJsonSchema({"type": "string", "pattern": r"^\s*[0-9.]+\s*%?$", "examples": ["0.5%", "2%"]}),
]
Alpha = Annotated[
    float,
    _by(lambda key, text: alpha_checked(share(key, text), key)),
    WithJsonSchema({**_TEXT_OR_NUMBER, "examples": ["1%", 0.01]}),
]
_TIME = WithJsonSchema({**_TEXT_OR_NUMBER, "examples": ["500ms", "30s", "2m", "1h", 30]})
Time = Annotated[float, _by(lambda key, text: seconds_in_range(key, seconds(key, text), 1e-3, 1e6)), _TIME]
Wait = Annotated[float, _by(lambda key, text: seconds_in_range(key, seconds(key, text), 0, LONGEST_WAIT_S)), _TIME]
Metrics = Annotated[
    list[str],
    BeforeValidator(_metrics),
    WithJsonSchema(
        {"anyOf": [{"enum": list(METRICS)}, {"type": "array", "items": {"enum": list(METRICS)}, "minItems": 1}]}
    ),
]
_TEXTS = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Texts = Annotated[
    list[str],
    BeforeValidator(_one_or_several),
    _TEXTS,
]


def _whole(low: int, high: int) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})
    return _by(lambda key, text: in_range(key, whole(key, text), low, high)), schema


_PAIRS, _LAYOUTS, _WARM_UP = _whole(1, 1_000_000), _whole(1, MOST_LAYOUTS), _whole(0, 1000)
_REPEAT = _whole(1, 1_000_000)
Processor = Annotated[
    int | Literal["auto"],
    _by(processor),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"const": "auto"}]}),
]


class _Section(Record):
    model_config = ConfigDict(alias_generator=key_of)


class Build(_Section):
    """How each side is built, in its own folder."""

    command: str | None = Field(
        default=None, description="shell command that builds a side, run by /bin/sh -c; nothing is built without it"
    )
    environment: list[str] = Field(
        default_factory=list,
        description="environment of the build, beside what compilers read: NAME to pass a variable on, NAME=VALUE "
        "to set it",
    )
    timeout: Annotated[float, *Time.__metadata__] | None = Field(
        default=None, description="longest time that a build may take"
    )
    layouts: Annotated[int, *_LAYOUTS] | None = Field(
        default=None, description="number of build variants of each side, for {layout} in `command` or `environment`"
    )


class Measuring(_Section):
    """How something is launched and measured. Each key means the same as the option of `steelyard compare`."""

    metrics: Metrics | None = Field(default=None, description="names of what is measured; the first metric decides")
    pairs: Annotated[int, *_PAIRS] | None = Field(default=None, description="largest number of pairs of each benchmark")
    max_time: Time | None = Field(default=None, description="longest time to measure")
    pairing: Literal["adjacent", "tandem", "auto"] | None = Field(
        default=None,
        description="how the launches of a pair run: adjacent, one after the other; tandem, at the same time on one "
        "processor; auto, as it turns out to be better",
    )
    own_addresses: StrictBool | None = Field(
        default=None,
        description="whether each launch has memory addresses of its own, even where both of a pair could have "
        "equal ones",
    )
    own_starts: StrictBool | None = Field(
        default=None,
        description="whether each launch of a harness has a start of its own, even where one start could serve "
        "several benchmarks",
    )
    control: StrictBool | None = Field(default=None, description="whether to weigh the baseline against itself, too")
    reference_output: StrictBool | None = Field(
        default=None, description="whether to check first that both sides print the same"
    )
    heap: StrictBool | None = Field(
        default=None, description="whether to count allocations too, in launches of their own"
    )
    heap_shuffle: StrictBool | None = Field(
        default=None, description="whether launches begin with the heap in a state drawn for the pair"
    )
    setup: Texts | None = Field(
        default=None, description="command run once before the first launch, or one for each side"
    )
    prepare: Texts | None = Field(
        default=None, description="command run before each launch, untimed, or one for each side"
    )
    conclude: Texts | None = Field(
        default=None, description="command run after each launch, untimed, or one for each side"
    )
    cleanup: Texts | None = Field(
        default=None, description="command run once when everything has been measured, or one for each side"
    )
    warmup: Annotated[int, *_WARM_UP] | None = Field(
        default=None, description="number of warm-up launches of each side"
    )
    repeat: Annotated[int, *_REPEAT] | None = Field(
        default=None, description="number of runs of the command in one launch"
    )
    stdin: str | None = Field(default=None, description="file that each launch reads, relative to this file's folder")
    shell: StrictBool | None = Field(default=None, description="whether to run the commands by /bin/sh -c")
    ignore_failure: StrictBool | None = Field(default=None, description="whether to accept launches that fail")
    timeout: Time | None = Field(default=None, description="longest time that one launch may take")
    cpu: Processor | None = Field(
        default=None, description="number of the processor that every launch is pinned to, or auto for the quietest"
    )
    isolate: StrictBool | None = Field(
        default=None, description="whether to run launches in a control group of their own"
    )
    environment: list[str] | None = Field(
        default=None,
        description="environment of the launches, beside the small usual one: NAME to pass a variable on, "
        "NAME=VALUE to set it",
    )
    inherit_environment: StrictBool | None = Field(
        default=None, description="whether to pass on the whole environment, except what looks like a secret"
    )
    wait_quiet: Wait | None = Field(
        default=None, description="longest time to wait, in all, for other work on the machine to calm down"
    )
    watch: StrictBool | None = Field(
        default=None, description="whether to watch what else runs while launches do; true by default"
    )


class Compare(Measuring):
    """How all targets are weighed."""

    margin: Margin | None = Field(default=None, description="smallest relative change that matters")
    margins: dict[str, Margin] = Field(
        default_factory=dict,
        description="margins that some have instead, by a pattern of benchmarks, a metric, or PATTERN:METRIC; the "
        "one that names most applies",
    )
    alpha: Alpha | None = Field(default=None, description="accepted chance of a wrong verdict, shared by all targets")
    family: Literal["holm", "fdr"] | None = Field(
        default=None,
        description="what alpha limits among several benchmarks: holm, the chance of any wrong change; fdr, the "
        "share of wrong ones among the changes found",
    )


class Target(Measuring):
    """What is weighed: a command, or the benchmarks inside a program. It may have settings of its own."""

    name: str = Field(pattern=_NOT_BLANK, description="name of the target in reports")
    command: str = Field(pattern=_NOT_BLANK, description="command that is run in each side's folder")
    build: str | None = Field(
        default=None,
        pattern=_NOT_BLANK,
        description="shell command that builds this target alone, run like that of [build] and after it; not if the "
        "target is not weighed",
    )
    harness: str | None = Field(
        default=None,
        description="name of what drives the benchmarks inside the program, or auto to have it recognised",
    )
    benchmarks: Texts | None = Field(
        default=None, description="patterns of the names of a harness's benchmarks; only those that fit are weighed"
    )
    tags: Texts | None = Field(
        default=None, description="patterns of the tags of a harness's benchmarks; only those that fit are weighed"
    )
    parameters: dict[str, Annotated[list[StrictStr | StrictInt | StrictFloat], Field(min_length=1)]] = Field(
        default_factory=dict, description="values of {NAME} in the command; every combination is a benchmark"
    )
    margin: Margin | None = Field(default=None, description="smallest relative change of this target that matters")


class Gate(_Section):
    """What `steelyard gate` holds the results to."""

    max_slower: Annotated[list[str], BeforeValidator(_limits), _TEXTS] = Field(
        default_factory=list,
        description="limits of how much slower benchmarks may get: [PATTERN][:METRIC]=PERCENT, or PERCENT alone",
    )
    strict: StrictBool = Field(default=False, description="whether results that stay undecided fail too")
    require: Texts = Field(
        default_factory=list, description="patterns of names; each has to fit a benchmark that has a verdict"
    )


class ProjectFile(_Section):
    """A project's file: steelyard.toml, or the table [tool.steelyard] of pyproject.toml."""

    build: Build = Field(default_factory=Build)
    target: Sequence[Target] = Field(default_factory=list, description="targets: what is weighed")
    compare: Compare = Field(default_factory=Compare)
    gate: Gate = Field(default_factory=Gate)


SECTIONS: dict[str, type[_Section]] = {"build": Build, "target": Target, "compare": Compare, "gate": Gate}


def schema() -> dict[str, Any]:
    """The JSON Schema of a project's file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ProjectFile.model_json_schema()}
