"""`python -m steelyard.harness bench_x.py`: the program that runs the benchmarks of files."""

from __future__ import annotations

import sys

from steelyard.harness.arguments import split_arguments
from steelyard.harness.faults import DONE, complain
from steelyard.harness.protocol import respond
from steelyard.harness.suite import Files, Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness.suite import Suite

_HELP = """\
usage: python -m steelyard.harness PATH... | --timeit STATEMENT [--setup STATEMENT] [--name NAME]

Runs each benchmark of these files, or of the bench_*.py in these folders, once and shows a quick time.
To weigh two versions of them, hand this command to `steelyard compare --harness protocol`.

  --timeit STATEMENT  the one benchmark is this statement
  --setup STATEMENT   what runs before it, once
  --name NAME         what it is called (timeit)
"""
_OPTIONS = ("--timeit", "--setup", "--name")


class _UsageError(Exception):
    """The command line cannot be followed."""


def main(command_line: list[str]) -> int:
    """Do what the command line says; return the exit status."""
    arguments, user_arguments = split_arguments(command_line)
    if not arguments and ("-h" in user_arguments or "--help" in user_arguments):
        print(_HELP, end="")
        return DONE
    sys.argv[1:] = user_arguments  # so that bench files which read the arguments see the same in each call
    try:
        suite = _suite(user_arguments)
    except _UsageError as error:
        return complain(f"{error}; see --help")
    if arguments:
        return respond(arguments, suite)
    from steelyard.harness.interactive import show

    return show(suite, user_arguments)


def _suite(user_arguments: list[str]) -> Suite:
    options, paths = _parse_options(user_arguments)
    if "--timeit" in options:
        if paths:
            raise _UsageError(f"--timeit takes one statement, and {paths[0]!r} stands beside it")
        return Statement(options["--timeit"], options.get("--setup", ""), options.get("--name", "timeit"))
    if options:
        raise _UsageError(f"{next(iter(options))} belongs to --timeit")
    if not paths:
        raise _UsageError("name files or folders that hold benchmarks, or a statement with --timeit")
    return Files(paths)


def _parse_options(user_arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return options and paths; not by argparse: it would add a third to the time that each launch needs to start."""
    options: dict[str, str] = {}
    paths: list[str] = []
    remaining = iter(user_arguments)
    for argument in remaining:
        option, equals, value = argument.partition("=")
        if argument == "--":
            paths += remaining
        elif option in _OPTIONS:
            value_given = value if equals else next(remaining, None)
            if value_given is None:
                raise _UsageError(f"{option} needs a value")
            if option in options:
                raise _UsageError(f"{option} is given twice: one statement is measured here, with one set-up")
            options[option] = value_given
        elif argument.startswith("-"):
            raise _UsageError(f"there is no option {argument!r}")
        else:
            paths.append(argument)
    return options, paths


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
