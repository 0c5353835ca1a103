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

    command: str | None = Field(default=None, description="run by /bin/sh -c; without one nothing is built")
    environment: list[str] = Field(
        default_factory=list, description="NAME to pass on, NAME=VALUE to set, beside what compilers read"
    )
    timeout: Annotated[float, *Time.__metadata__] | None = Field(default=None, description="longest time a build takes")
    layouts: Annotated[int, *_LAYOUTS] | None = Field(
        default=None, description="build variants of each side, told apart by {layout} in the command"
    )


class Measuring(_Section):
    """How something is launched and measured. Each key means the same as the option of `steelyard compare`."""

    metrics: Metrics | None = Field(default=None, description="what is measured; the first decides")
    pairs: Annotated[int, *_PAIRS] | None = Field(default=None, description="most pairs")
    max_time: Time | None = Field(default=None, description="longest time to measure")
    pairing: Literal["adjacent", "tandem", "auto"] | None = Field(
        default=None, description="the launches of a pair one after the other, or at the same time on one processor"
    )
    own_addresses: StrictBool | None = Field(
        default=None, description="addresses of its own for each launch, where those of a pair could be equal"
    )
    own_starts: StrictBool | None = Field(
        default=None, description="a start of its own for each launch of a harness, where one could serve several"
    )
    control: StrictBool | None = Field(default=None, description="weigh the baseline against itself too")
    reference_output: StrictBool | None = Field(default=None, description="first check that both sides print the same")
    heap: StrictBool | None = Field(default=None, description="count allocations too, in launches of their own")
    heap_shuffle: StrictBool | None = Field(
        default=None, description="begin each pair with a heap in a state drawn anew"
    )
    setup: Texts | None = Field(default=None, description="run once before the first launch")
    prepare: Texts | None = Field(default=None, description="run before each launch, untimed")
    conclude: Texts | None = Field(default=None, description="run after each launch, untimed")
    cleanup: Texts | None = Field(default=None, description="run once when all is measured")
    warmup: Annotated[int, *_WARM_UP] | None = Field(default=None, description="warm-up launches of each side")
    repeat: Annotated[int, *_REPEAT] | None = Field(default=None, description="runs of the command in one launch")
    stdin: str | None = Field(default=None, description="file that each launch reads, from this file's folder on")
    shell: StrictBool | None = Field(default=None, description="run the commands by /bin/sh -c")
    ignore_failure: StrictBool | None = Field(default=None, description="accept launches that fail")
    timeout: Time | None = Field(default=None, description="longest time of one launch")
    cpu: Processor | None = Field(default=None, description="processor of every launch, or auto for the quietest")
    isolate: StrictBool | None = Field(default=None, description="run the launches in a control group of their own")
    environment: list[str] | None = Field(
        default=None, description="NAME to pass on, NAME=VALUE to set, beside the small usual environment"
    )
    inherit_environment: StrictBool | None = Field(
        default=None, description="pass on the whole environment, but for what looks like a secret"
    )
    wait_quiet: Wait | None = Field(default=None, description="longest wait in all for other work to calm down")
    watch: StrictBool | None = Field(
        default=None, description="look who else runs, while launches do: true if not said"
    )


class Compare(Measuring):
    """How all targets are weighed."""

    margin: Margin | None = Field(default=None, description="smallest change that matters")
    margins: dict[str, Margin] = Field(
        default_factory=dict,
        description="that of some: a pattern of benchmarks, a metric, or PATTERN:METRIC; what names most holds",
    )
    alpha: Alpha | None = Field(default=None, description="chance of a wrong verdict, shared by all targets")
    family: Literal["holm", "fdr"] | None = Field(default=None, description="what alpha limits among the benchmarks")


class Target(Measuring):
    """What is weighed: a command, or the benchmarks inside a program. It may have settings of its own."""

    name: str = Field(pattern=_NOT_BLANK, description="what it is called in reports")
    command: str = Field(pattern=_NOT_BLANK, description="what is run in each side's folder")
    harness: str | None = Field(default=None, description="who drives the benchmarks inside the program")
    benchmarks: Texts | None = Field(default=None, description="patterns of those of a harness that are weighed")
    tags: Texts | None = Field(default=None, description="patterns of their tags")
    parameters: dict[str, Annotated[list[StrictStr | StrictInt | StrictFloat], Field(min_length=1)]] = Field(
        default_factory=dict, description="values of {NAME} in the command; each makes a benchmark"
    )
    margin: Margin | None = Field(default=None, description="smallest change of this target that matters")


class Gate(_Section):
    """What `steelyard gate` holds the results to."""

    max_slower: Annotated[list[str], BeforeValidator(_limits), _TEXTS] = Field(
        default_factory=list, description="[PATTERN][:METRIC]=PERCENT, or PERCENT alone"
    )
    strict: StrictBool = Field(default=False, description="what stays undecided fails too")
    require: Texts = Field(default_factory=list, description="patterns: each has to be of a benchmark with a verdict")


class ProjectFile(_Section):
    """A project's file: steelyard.toml, or the table [tool.steelyard] of pyproject.toml."""

    build: Build = Field(default_factory=Build)
    target: Sequence[Target] = Field(default_factory=list, description="what is weighed")
    compare: Compare = Field(default_factory=Compare)
    gate: Gate = Field(default_factory=Gate)


SECTIONS: dict[str, type[_Section]] = {"build": Build, "target": Target, "compare": Compare, "gate": Gate}


def schema() -> dict[str, Any]:
    """The JSON Schema of a project's file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ProjectFile.model_json_schema()}
