"""The subcommands, and how their errors become a sentence and an exit status."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from steelyard.cli.command import world_of
from steelyard.cli.help import Command, Group
from steelyard.cli.quotes import is_runnable, quotes_needed, splits_command
from steelyard.cli.say import say
from steelyard.cli.spellings import advice_for
from steelyard.cli.wrong_usage import in_our_words
from steelyard.model.errors import SteelyardError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.design.world import World

_COMMANDS = {
    "Weigh and measure": ("init", "compare", "run", "timeit", "diff", "merge", "bisect", "still"),
    "Count": ("count", "calibrate"),
    "Look at benchmarks": ("check",),
    "Look at results": ("show", "report", "list", "gate", "import", "export"),
    "Look at the machine": ("doctor", "tune"),
    "Keep things in order": ("cache",),
    "Read": ("docs",),
}
"""The commands under each heading: each is a function of its name, in a module of its name."""
_OTHER_PLACES = {"list": ("list_command", "list_"), "import": ("import_command", "import_")}
"""The module and the function of those whose name is Python's own."""

_VERSION_OPTIONS = ("--version", "-V")
_COMPLETION_VARIABLE = "_STEELYARD_COMPLETE"

# The parser's UsageError. Versions of typer keep it in different places; this subclass is always available.
_ParserError: type[Exception] = typer.BadParameter.__mro__[1]


def _print_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from steelyard.cli.build_facts import build_facts

        print("\n".join(build_facts(world_of(context))))
        raise typer.Exit


def steelyard(
    version: Annotated[
        bool,
        typer.Option(
            *_VERSION_OPTIONS, callback=_print_version, is_eager=True, help="Show the version and build, and exit."
        ),
    ] = False,
) -> None:
    """Weigh two versions of a program against each other on a machine that nobody can keep quiet."""


def run(arguments: Sequence[str], world: World | None = None) -> int:
    """Run one command line, without the program's name, and return its exit status; an error is one sentence on stderr.

    Everything from outside comes from the `world`, by default the real one. Not `app()`, which answers a broken pipe
    with status 1: that would say `slower`.
    """
    if _COMPLETION_VARIABLE in os.environ:
        command_line()(prog_name="steelyard")  # a shell asks for completions; typer answers and exits
    name = next(iter(arguments), None)
    command = command_line(name if any(name in commands for commands in _COMMANDS.values()) else None)
    try:
        if not arguments:
            with command.make_context("steelyard", [], resilient_parsing=True) as context:
                print(command.get_help(context), file=sys.stderr)
            return UsageError.exit_status
        with command.make_context("steelyard", list(arguments), obj=world) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as end:
        return end.exit_code
    except SteelyardError as error:
        say(str(error), *error.lines)
        return error.exit_status
    except _ParserError as error:
        say(_usage_sentence(error, arguments))
        return UsageError.exit_status


@cache
def command_line(only: str | None = None) -> Any:
    """Return the parser of all commands, or of `only` one: importing and building all takes longer than `show` does."""
    app = typer.Typer(
        name="steelyard",
        cls=Group,
        epilog="steelyard compare 'gzip -1 -c /bin/sh' 'gzip -9 -c /bin/sh'\nsteelyard docs",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(steelyard)
    for heading, commands in _COMMANDS.items():
        for name in commands:
            if only in (None, name):  # only what is asked for is imported
                module, attribute = _OTHER_PLACES.get(name, (name, name))
                function = getattr(import_module(f"steelyard.cli.{module}"), attribute)
                examples = "\n".join(function.examples)
                settings = function.settings
                app.command(name, cls=Command, rich_help_panel=heading, epilog=examples, context_settings=settings)(
                    function
                )
    return get_command(app)


def _owner_of(option: str) -> str | None:
    """Return the first command that has a long option; short ones belong to many programs."""
    if not option.startswith("--"):
        return None
    commands = vars(command_line())["commands"]
    return next(
        (name for name, command in commands.items() if any(option in parameter.opts for parameter in command.params)),
        None,
    )


def _usage_sentence(error: Exception, arguments: Sequence[str]) -> str:
    option, name = str(getattr(error, "option_name", "")), next(iter(arguments), None)
    context = getattr(error, "ctx", None)
    quotes = quotes_needed(context, arguments)
    own_options = {spelling for param in context.command.params for spelling in param.opts} if context else set()
    if advice := advice_for(option, name, own_options, quotes if splits_command(option, arguments) else None):
        return advice
    message = in_our_words(str(getattr(error, "format_message", error.__str__)()))
    command = context.command_path if context is not None else "steelyard"
    is_cut = message.startswith(("no such option", "there are too many words"))
    quotes = quotes if is_cut else None
    if is_cut and option in _VERSION_OPTIONS:
        return "; ".join(filter(None, [f"{option} is of the tool itself: steelyard {option}", quotes]))
    way_out = quotes or f"see {command} --help"
    if message.startswith("there are too many words") and name in ("run", "count"):
        way_out = "; ".join(filter(None, [quotes, "several are weighed by steelyard compare 'OLD' 'NEW'"]))
    if quotes and (owner := _owner_of(option)):
        way_out = f"steelyard {owner} has it; if it is of your command, {quotes}"
    if message.startswith("no such command") and not message.endswith(")") and is_runnable(name or ""):
        return f"{message}; steelyard compare 'OLD' 'NEW' weighs commands, and steelyard run 'COMMAND' measures one"
    if message.endswith(" is missing") and context is not None and context.command.epilog:
        return f"{message}, as in: {context.command.epilog.splitlines()[0]} ({way_out})"
    return f"{message}; {way_out}"
