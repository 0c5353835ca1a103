"""Commands for typer, made of functions that take their options as one frozen class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache
from inspect import Parameter, Signature, get_annotations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

import typer

from steelyard.api.options import OptionGroup
from steelyard.model.values import whole

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class CommandOptions(OptionGroup):
    """The options of a command, or a group of them that commands share.

    A command has the options that its own class declares, in that order; inherited ones keep their defaults. A field
    that is a group stands for the group's options, or for some of them (`Only`, `Without`), with its default holding
    theirs. Options of a measurement (`api.options`) take fields and defaults from there, and only declare how each
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


_Options = TypeVar("_Options", bound=CommandOptions)


@dataclass(frozen=True)
class _DeclaredOption:
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
    declared = {option.parameter.name: option for option in _declared_options(options)}
    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    parameters += [option.parameter for option in declared.values()]

    def decorate(body: Callable[[_Options, World], int]) -> Callable[..., int]:
        def call(context: typer.Context, **values: Any) -> int:
            given = _given_options(context)
            read = {name: _read_value(declared[name], value, given, context) for name, value in values.items()}
            return body(_options_with_values(options, declared, read, given), world_of(context))

        call.__name__, call.__doc__, call.__module__ = body.__name__, body.__doc__, body.__module__
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # what `inspect.signature` looks for first
        call.examples = tuple(examples)  # type: ignore[attr-defined]
        call.settings = {"allow_interspersed_args": not runs_words}  # type: ignore[attr-defined]
        return call

    return decorate


def _read_value(declared: _DeclaredOption, value: Any, given: Mapping[str, str], context: typer.Context) -> Any:
    """Return the value of an option whose words typer has left as they are."""
    if declared.reader is None or value is None:
        return value
    return declared.reader(given.get(declared.parameter.name, context.info_name or ""), value)


def _options_with_values(
    options: type[_Options],
    declared: Mapping[str, _DeclaredOption],
    values: Mapping[str, Any],
    given: Mapping[str, str],
) -> _Options:
    """Return the options with their values."""
    fields_of: dict[str, dict[str, Any]] = {option.group: {} for option in declared.values() if option.group}
    own_values: dict[str, Any] = {}
    for name, value in values.items():
        group = declared[name].group
        (own_values if group is None else fields_of[group])[name] = value
    groups = {
        group: replace(
            getattr(options, group), **group_values, given={name: given[name] for name in group_values if name in given}
        )
        for group, group_values in fields_of.items()
    }
    return options(**own_values, **groups, given=given)


def _declared_options(options: type[CommandOptions]) -> Iterator[_DeclaredOption]:
    """Yield every option of a command, with the field of the group that it belongs to."""
    hints = _type_hints(options)  # type: ignore[arg-type] # a class can be hashed, whatever its instances can
    for name in get_annotations(options):
        if get_origin(hints[name]) is ClassVar:
            continue
        kind, selection = _group_of(hints[name])
        if kind is None:
            yield _declare_option(None, options.panel, name, hints[name], getattr(options, name, Parameter.empty))
            continue
        inner = _type_hints(kind)  # type: ignore[arg-type] # as above
        defaults = getattr(options, name)
        for field in fields(kind):
            if field.name != "given" and (selection is None or selection.has(field.name)):
                yield _declare_option(name, kind.panel, field.name, inner[field.name], getattr(defaults, field.name))


@cache
def _type_hints(options: type[CommandOptions]) -> dict[str, Any]:
    """Return the type hints of a class; cached, as commands share groups and hints are compiled from text."""
    return get_type_hints(options, include_extras=True)


def _group_of(hint: Any) -> tuple[type[CommandOptions] | None, Only | None]:
    kind, *annotations = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (isinstance(kind, type) and issubclass(kind, CommandOptions)):
        return None, None
    return kind, next((annotation for annotation in annotations if isinstance(annotation, Only)), None)


def _declare_option(group: str | None, panel: str, name: str, hint: Any, default: Any) -> _DeclaredOption:
    kind, *annotations = get_args(hint)
    declaration = copy(next(annotation for annotation in annotations if not isinstance(annotation, ReadBy)))
    declaration.rich_help_panel = declaration.rich_help_panel or panel
    own_reader = next((annotation.read for annotation in annotations if isinstance(annotation, ReadBy)), None)
    reader = own_reader or (whole if kind in (int, int | None) else None)
    if reader is not None:
        # Typer's own messages about bad numbers are its parser's, and differ between versions.
        kind, default = str | None, None if default is None else f"{default:g}"
    return _DeclaredOption(
        group, reader, Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, declaration], default=default)
    )


def _given_options(context: typer.Context) -> dict[str, str]:
    spellings = {parameter.name or "": parameter.opts[0] for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in spellings}
    # Compared by name, as versions of typer keep that enumeration in different places.
    return {name: spellings[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def world_of(context: typer.Context) -> World:
    """Return the world of this command line, or if it was given none the real one, whose import takes time."""
    from steelyard.design.world import World

    given: World | None = context.obj
    return World() if given is None else given
