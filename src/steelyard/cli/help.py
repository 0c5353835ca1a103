"""The layout of `--help`: options and commands under headings, whole sentences, and examples to paste.

Written by the parser's own formatter: importing rich for it would take longer than all the rest of `--help`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperCommand, TyperGroup

from steelyard.cli.arity import join_arguments
from steelyard.cli.spellings import normalised

_OTHER_OPTIONS = "Options"


class _WithExamples:
    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the parser has it
        """Write the examples verbatim, so that they can be pasted."""
        with formatter.section("Examples"):
            for line in (self.epilog or "").splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(_WithExamples, TyperCommand):
    """A command whose help has sections, and which knows other spellings of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Convert the words to the form that the parser knows; raise UsageError if that cannot be done."""
        _use_plain_readers(self.get_params(ctx))
        # While a shell completes a line, words may still be missing; and another command's words stay as they are.
        if not ctx.resilient_parsing and ctx.allow_interspersed_args:
            options = {option for parameter in self.params for option in parameter.opts}
            args = join_arguments(normalised(args, options), options)
        try:
            return list(super().parse_args(ctx, args))
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:
                vars(error)["ctx"] = ctx  # the command whose help the message names
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the options, and the arguments as they are declared."""
        return ["[OPTIONS]", *(name for name, _ in _arguments(self.get_params(ctx)))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options under their headings; those without one come last."""
        parts: dict[str, list[tuple[str, str]]] = {"Arguments": _arguments(self.get_params(ctx))}
        others: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if parameter.param_type_name == "option" else None
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                (parts.setdefault(panel, []) if panel else others).append(record)
        _write_parts(formatter, {**parts, _OTHER_OPTIONS: [*parts.pop(_OTHER_OPTIONS, []), *others]})


class Group(_WithExamples, TyperGroup):
    """All commands, under headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before the command's name."""
        _use_plain_readers(self.get_params(ctx))
        return list(super().parse_args(ctx, args))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, in a whole sentence."""
        parts: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                sentence = " ".join((command.help or "").partition("\n\n")[0].split())
                parts.setdefault(command.rich_help_panel, []).append((name, sentence))
        _write_parts(formatter, parts)


class _PlainReader:
    """Reads a flag, a text, a path, or a list of these.

    Typer would have pydantic build a validator for each: importing it and building them takes 70 ms.
    """

    def __init__(self, annotation: Any) -> None:
        self._read = next(iter(get_args(annotation)), annotation)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002 - as typer has it
        if param.multiple or param.nargs == -1:
            return list(map(self._read, value or ()))
        return None if value is None else self._read(value)


def _use_plain_readers(parameters: Iterable[Any]) -> None:
    """Make typer read simple parameters by `_PlainReader`; a typer that does not look for it uses pydantic as usual."""
    for parameter in parameters:
        annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
        if annotation in (bool, str, Path, list[str], list[Path]):
            vars(parameter)["_runtime_param"] = _PlainReader(annotation)


def _arguments(parameters: Iterable[Any]) -> list[tuple[str, str]]:
    """Return the arguments as they are declared; the parser would add their Python types."""
    return [
        (parameter.metavar or parameter.name.upper(), parameter.help or "")
        for parameter in parameters
        if parameter.param_type_name == "argument" and not parameter.hidden
    ]


def _write_parts(formatter: Any, parts: dict[str, list[tuple[str, str]]]) -> None:
    for heading, rows in parts.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)
