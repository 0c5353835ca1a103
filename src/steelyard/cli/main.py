"""The `steelyard` command: its subcommands, and the one place where errors become words and an exit status."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from steelyard.cli.arity import CompareCommand
from steelyard.cli.compare import compare
from steelyard.cli.run import run
from steelyard.cli.show import show
from steelyard.model.errors import SteelyardError

app = typer.Typer(
    name="steelyard",
    help="Weigh two versions of a program against each other on a machine that nobody can keep quiet.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=CompareCommand)(compare)
app.command()(run)
app.command()(show)


def _print_version(wanted: bool) -> None:
    if wanted:
        from steelyard.cli.build_facts import build_facts

        print("\n".join(build_facts()))
        raise typer.Exit


@app.callback()
def steelyard(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and build, and exit.",
        ),
    ] = False,
) -> None:
    """Weigh two versions of a program against each other on a machine that nobody can keep quiet."""


def main() -> None:
    """Run the command line; an error of the user's is one sentence on stderr, never a traceback."""
    try:
        app()
    except SteelyardError as error:
        from steelyard.report.words import plain

        print(f"steelyard: {plain(str(error))}", file=sys.stderr)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        print("steelyard: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone; nobody is left to tell.
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    main()
