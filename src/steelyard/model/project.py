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
from steelyard.model.limits import LONGEST_REASON, MOST_PERCENT, Accepted
from steelyard.model.metrics import METRICS
from steelyard.model.parts import Record
from steelyard.model.values import (
    LONGEST_WAIT_S,
    alpha_checked,
    in_range,
    metric_names,
    one_of,
    percentage,
    processor,
    relative_margin,
    seconds,
    seconds_in_range,
    share,
    whole,
)

_NOT_BLANK = r"\S"
# Longer values are not repeated in an error.
_SHOWN = 30

UNREADABLE = "steelyard"
"""The type of an error whose message is a whole sentence."""

Value = TypeVar("Value")


def key_of(field: str) -> str:
    """The key of a field in the file."""
    return field.replace("_", "-")


def _validated_by(read: Callable[[str, Any], Value]) -> BeforeValidator:
    """Validate a value by read(key, value), which raises UsageError."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        try:
            return read(key_of(info.field_name or ""), value)
        except UsageError as error:
            raise PydanticCustomError(UNREADABLE, "{sentence}", {"sentence": str(error)}) from error

    return BeforeValidator(validate)


def _read_by(read: Callable[[str, str], Value]) -> BeforeValidator:
    """Validate a value by read(key, text), as the value of an option is read."""

    def read_text(key: str, value: Any) -> Value:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise UsageError(f"{key} has to be a number, or a text with its unit")
        return read(key, str(value))

    return _validated_by(read_text)


def margin_of(key: str, value: Any) -> float:
    """Read a margin, which has to have a unit; raises UsageError naming the key."""
    if not isinstance(value, str):  # beside `alpha = 0.01`, which is 1 %, nobody would take `margin = 0.01` for 0.01 %
        shown = f" {value}" if isinstance(value, (int, float)) else ""
        raise UsageError(f'{key}{shown} has to say its unit: write for example "1%"')
    return relative_margin(value, key)


def _metrics(key: str, value: Any) -> list[str]:
    names = _as_list(value)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(f'{key} has to be a list of names, as in ["active", "max_rss"]')
    return metric_names(names, key)


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _limits(key: str, value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        part = f'"{100 * value:g}%" if it is a part of 1, else ' if 0 < value < 1 else "for example "
        raise UsageError(f'{key} {value} has to say its unit: write {part}"{value:g}%"')
    return _as_list(value)


def _change(key: str, value: Any) -> float:
    if not isinstance(value, str) or not value.strip().endswith("%"):
        is_short = isinstance(value, (int, float, str)) and len(str(value)) <= _SHOWN and not isinstance(value, bool)
        shown = f" {value!r}" if is_short else ""
        raise UsageError(f'{key}{shown} has to be a text with its unit: write for example {key} = "12%"')
    return percentage(key, value, most=MOST_PERCENT)


def _reason(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value  # refused as any other text
    reason = value.strip()
    if len(reason.splitlines()) > 1 or len(reason) > LONGEST_REASON:
        raise UsageError(f"{key} has to be one line of at most {LONGEST_REASON} characters: say it in fewer words")
    return reason


def _metric(key: str, value: Any) -> Any:
    return one_of(key, value, METRICS) if isinstance(value, str) else value


_TEXT_OR_NUMBER = {"type": ["string", "number"]}
Margin = Annotated[
    float,
    _validated_by(margin_of),
    WithJsonSchema({"type": "string", "pattern": r"^\s*[0-9.]+\s*%?$", "examples": ["0.5%", "2%"]}),
]
Alpha = Annotated[
    float,
    _read_by(lambda key, text: alpha_checked(share(key, text), key)),
    WithJsonSchema({**_TEXT_OR_NUMBER, "examples": ["1%", 0.01]}),
]
_TIME = WithJsonSchema({**_TEXT_OR_NUMBER, "examples": ["500ms", "30s", "2m", "1h", 30]})
Time = Annotated[float, _read_by(lambda key, text: seconds_in_range(key, seconds(key, text), 1e-3, 1e6)), _TIME]
Wait = Annotated[float, _read_by(lambda key, text: seconds_in_range(key, seconds(key, text), 0, LONGEST_WAIT_S)), _TIME]
Metrics = Annotated[
    list[str],
    _validated_by(_metrics),
    WithJsonSchema(
        {"anyOf": [{"enum": list(METRICS)}, {"type": "array", "items": {"enum": list(METRICS)}, "minItems": 1}]}
    ),
]
_TEXTS = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Texts = Annotated[list[str], BeforeValidator(_as_list), _TEXTS]


def _integer_between(low: int, high: int) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})
    return _read_by(lambda key, text: in_range(key, whole(key, text), low, high)), schema


_COUNT, _LAYOUTS, _WARM_UP = (_integer_between(*ends) for ends in ((1, 1_000_000), (1, MOST_LAYOUTS), (0, 1000)))
Processor = Annotated[
    int | Literal["auto"],
    _read_by(processor),
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
    pairs: Annotated[int, *_COUNT] | None = Field(default=None, description="largest number of pairs of each benchmark")
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
    repeat: Annotated[int, *_COUNT] | None = Field(
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


class AcceptedSlowdown(_Section):
    """A slowdown that is accepted in the change that brings this entry."""

    benchmark: str = Field(pattern=_NOT_BLANK, description="pattern of benchmarks' names, with * and ? as in a shell")
    change: Annotated[
        float,
        _validated_by(_change),
        WithJsonSchema({"type": "string", "pattern": r"^\s*[0-9.]+\s*%\s*$", "examples": ["12%"]}),
    ] = Field(description="relative change up to which the slowdown is accepted")
    reason: Annotated[
        str,
        _validated_by(_reason),
        WithJsonSchema({"type": "string", "pattern": _NOT_BLANK, "maxLength": LONGEST_REASON}),
    ] = Field(pattern=_NOT_BLANK, description="why it is accepted, in one line, which the gate's page shows")
    metric: Annotated[str, _validated_by(_metric), WithJsonSchema({"enum": list(METRICS)})] | None = Field(
        default=None, description="name of the metric; by default the one that decides"
    )

    def limit(self) -> Accepted:
        """What a gate holds such a slowdown to."""
        return Accepted(above=self.change, benchmark=self.benchmark, metric=self.metric, reason=self.reason)


class Gate(_Section):
    """What `steelyard gate` holds the results to."""

    max_slower: Annotated[list[str], _validated_by(_limits), _TEXTS] = Field(
        default_factory=list,
        description="limits of how much slower benchmarks may get: [PATTERN][:METRIC]=PERCENT, or PERCENT alone",
    )
    strict: StrictBool = Field(default=False, description="whether results that stay undecided fail too")
    require: Texts = Field(
        default_factory=list, description="patterns of names; each has to fit a benchmark that has a verdict"
    )
    accepted: Sequence[AcceptedSlowdown] = Field(
        default_factory=list, description="slowdowns that are accepted in the change that brings their entries"
    )


class ProjectFile(_Section):
    """A project's file: steelyard.toml, or the table [tool.steelyard] of pyproject.toml."""

    build: Build = Field(default_factory=Build)
    target: Sequence[Target] = Field(default_factory=list, description="targets: what is weighed")
    compare: Compare = Field(default_factory=Compare)
    gate: Gate = Field(default_factory=Gate)


SECTIONS: dict[tuple[str, ...], type[_Section]] = {
    ("build",): Build,
    ("target",): Target,
    ("compare",): Compare,
    ("gate",): Gate,
    ("gate", "accepted"): AcceptedSlowdown,
}


def schema() -> dict[str, Any]:
    """The JSON Schema of a project's file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ProjectFile.model_json_schema()}
