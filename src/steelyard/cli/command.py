"""A command's options as a frozen class, and the function that typer makes a command of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, Signature, get_annotations
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command, or a group of them that commands share.

    A command has the options that its own class declares, in that order; those that it merely inherits keep their
    defaults. A field that is a group stands for the options of that group, or for some of them (`Only`, `Without`),
    and the field's default holds theirs.
    """

    given: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Those that stand on the command line, by field, as `--help` writes each; the others have their defaults."""


class Only:
    """Beside the type of a group: the options of it that a command has; the others keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, name: str) -> bool:
        """Whether a command has this option."""
        return name in self.names


class Without(Only):
    """The other way round: the options that a command has not."""

    def has(self, name: str) -> bool:
        """Whether a command has this option."""
        return name not in self.names


Asked = TypeVar("Asked", bound=Options)


def command(options: type[Asked]) -> Callable[[Callable[[Asked, World], int]], Callable[..., int]]:
    """Make typer's function, with a parameter an option, of one that takes its options as a value and the world."""
    declared = list(_parameters(options))
    group_of = {parameter.name: group for group, parameter in declared}
    shown = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    shown += [parameter for _, parameter in declared]

    def decorated(body: Callable[[Asked, World], int]) -> Callable[..., int]:
        def call(context: typer.Context, **values: Any) -> int:
            return body(_asked(options, group_of, values, _given(context)), world_of(context))

        call.__name__, call.__doc__, call.__module__ = body.__name__, body.__doc__, body.__module__
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        call.__signature__ = Signature(shown)  # type: ignore[attr-defined] # what `inspect.signature` looks for first
        return call

    return decorated


def _asked(
    options: type[Asked], group_of: Mapping[str, str | None], values: Mapping[str, Any], given: Mapping[str, str]
) -> Asked:
    """The options with the values that typer has read."""
    fields_of: dict[str, dict[str, Any]] = {group: {} for group in group_of.values() if group}
    own: dict[str, Any] = {}
    for name, value in values.items():
        group = group_of[name]
        (own if group is None else fields_of[group])[name] = value
    groups = {
        group: replace(getattr(options, group), **inner, given={name: given[name] for name in inner if name in given})
        for group, inner in fields_of.items()
    }
    return options(**own, **groups, given=given)


def _parameters(options: type[Options]) -> Iterator[tuple[str | None, Parameter]]:
    """Every option, as typer is told of it, with the field of the group that it belongs to."""
    hints = get_type_hints(options, include_extras=True)
    for name in get_annotations(options):
        kind, only = _group_of(hints[name])
        if kind is None:
            yield None, _parameter(name, hints[name], getattr(options, name, Parameter.empty))
            continue
        inner, defaults = get_type_hints(kind, include_extras=True), getattr(options, name)
        for one in fields(kind):
            if one.name != "given" and (only is None or only.has(one.name)):
                yield name, _parameter(one.name, inner[one.name], getattr(defaults, one.name))


def _group_of(hint: Any) -> tuple[type[Options] | None, Only | None]:
    kind, *others = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (isinstance(kind, type) and issubclass(kind, Options)):
        return None, None
    return kind, next((other for other in others if isinstance(other, Only)), None)


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=hint, default=default)


def _given(context: typer.Context) -> dict[str, str]:
    spellings = {each.name or "": each.opts[0] for each in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in spellings}
    # By its name: where typer keeps that enumeration differs between its versions.
    return {name: spellings[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def world_of(context: typer.Context) -> World:
    """The world of this command line; the real one, which takes its time to import, if it was given none."""
    from steelyard.design.world import World

    given: World | None = context.obj
    return World() if given is None else given
