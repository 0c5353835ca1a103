"""Commands for typer, made of functions that take their options as one frozen class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache
from inspect import Parameter, Signature, get_annotations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

import typer

from steelyard.api.asked import Group
from steelyard.model.values import whole

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class Options(Group):
    """The options of a command, or a group of them that commands share.

    A command has the options that its own class declares, in that order; inherited ones keep their defaults. A field
    that is a group stands for the group's options, or for some of them (`Only`, `Without`), with its default holding
    theirs. Options for what is asked (`api.asked`) take their fields and defaults from there, and only declare how each
    is written. `given` maps the options on the command line to their spelling in `--help`.
    """

    panel: ClassVar[str] = "Options"
    """The heading in `--help` for options that name no other."""


class Only:
    """Annotates a group with the options of it that a command has; the others keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, name: str) -> bool:
        """Return whether a command has this option."""
        return name in self.names


class Without(Only):
    """Annotates a group with the options of it that a command does not have."""

    def has(self, name: str) -> bool:
        """Return whether a command has this option."""
        return name not in self.names


@dataclass(frozen=True)
class ReadBy:
    """Annotates an option with the function that reads its words (from `model.values`) if its type does not say it."""

    read: Callable[[str, str], Any]
    """read(option, text) returns the value; it raises UsageError naming the option."""


_Options = TypeVar("_Options", bound=Options)


@dataclass(frozen=True)
class _Declared:
    """An option of a command: its group, its reader, and its declaration for typer."""

    group: str | None
    reader: Callable[[str, str], Any] | None
    parameter: Parameter


def command(
    options: type[_Options], *, examples: Sequence[str], runs_words: bool = False
) -> Callable[[Callable[[_Options, World], int]], Callable[..., int]]:
    """Make a function for typer, with a parameter per option, from one that takes its options as a value and the world.

    `examples` are command lines that work when pasted. If the command `runs_words`, everything from its first argument
    on belongs to another command.
    """
    declared = {one.parameter.name: one for one in _parameters(options)}
    shown = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    shown += [one.parameter for one in declared.values()]

    def decorated(body: Callable[[_Options, World], int]) -> Callable[..., int]:
        def call(context: typer.Context, **values: Any) -> int:
            given = _given(context)
            read = {name: _read(declared[name], value, given, context) for name, value in values.items()}
            return body(_asked(options, declared, read, given), world_of(context))

        call.__name__, call.__doc__, call.__module__ = body.__name__, body.__doc__, body.__module__
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        call.__signature__ = Signature(shown)  # type: ignore[attr-defined] # what `inspect.signature` looks for first
        call.examples = tuple(examples)  # type: ignore[attr-defined]
        call.settings = {"allow_interspersed_args": not runs_words}  # type: ignore[attr-defined]
        return call

    return decorated


def _read(declared: _Declared, value: Any, given: Mapping[str, str], context: typer.Context) -> Any:
    """Return the value of an option whose words typer has left as they are."""
    if declared.reader is None or value is None:
        return value
    return declared.reader(given.get(declared.parameter.name, context.info_name or ""), value)


def _asked(
    options: type[_Options], declared: Mapping[str, _Declared], values: Mapping[str, Any], given: Mapping[str, str]
) -> _Options:
    """Return the options with their values."""
    fields_of: dict[str, dict[str, Any]] = {one.group: {} for one in declared.values() if one.group}
    own: dict[str, Any] = {}
    for name, value in values.items():
        group = declared[name].group
        (own if group is None else fields_of[group])[name] = value
    groups = {
        group: replace(getattr(options, group), **inner, given={name: given[name] for name in inner if name in given})
        for group, inner in fields_of.items()
    }
    return options(**own, **groups, given=given)


def _parameters(options: type[Options]) -> Iterator[_Declared]:
    """Yield every option of a command, with the field of the group that it belongs to."""
    hints = _hints(options)  # type: ignore[arg-type] # a class can be hashed, whatever its instances can
    for name in get_annotations(options):
        if get_origin(hints[name]) is ClassVar:
            continue
        kind, only = _group_of(hints[name])
        if kind is None:
            yield _declared(None, options.panel, name, hints[name], getattr(options, name, Parameter.empty))
            continue
        inner = _hints(kind)  # type: ignore[arg-type] # as above
        defaults = getattr(options, name)
        for one in fields(kind):
            if one.name != "given" and (only is None or only.has(one.name)):
                yield _declared(name, kind.panel, one.name, inner[one.name], getattr(defaults, one.name))


@cache
def _hints(options: type[Options]) -> dict[str, Any]:
    """Return the type hints of a class; cached, as commands share groups and hints are compiled from text."""
    return get_type_hints(options, include_extras=True)


def _group_of(hint: Any) -> tuple[type[Options] | None, Only | None]:
    kind, *others = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (isinstance(kind, type) and issubclass(kind, Options)):
        return None, None
    return kind, next((other for other in others if isinstance(other, Only)), None)


def _declared(group: str | None, panel: str, name: str, hint: Any, default: Any) -> _Declared:
    kind, *others = get_args(hint)
    told = copy(next(other for other in others if not isinstance(other, ReadBy)))
    told.rich_help_panel = told.rich_help_panel or panel
    stated = next((other.read for other in others if isinstance(other, ReadBy)), None)
    reader = stated or (whole if kind in (int, int | None) else None)
    if reader is not None:
        # Typer's own messages about bad numbers are its parser's, and differ between versions.
        kind, default = str | None, None if default is None else f"{default:g}"
    return _Declared(
        group, reader, Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, told], default=default)
    )


def _given(context: typer.Context) -> dict[str, str]:
    spellings = {each.name or "": each.opts[0] for each in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in spellings}
    # Compared by name, as versions of typer keep that enumeration in different places.
    return {name: spellings[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def world_of(context: typer.Context) -> World:
    """Return the world of this command line, or if it was given none the real one, whose import takes time."""
    from steelyard.design.world import World

    given: World | None = context.obj
    return World() if given is None else given
