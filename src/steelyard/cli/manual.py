"""`python -m steelyard.cli.manual` prints the man page, generated from the command line itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typer import Context

from steelyard import __version__
from steelyard.cli.app import command_line


def manual() -> str:
    """Return the man page of `steelyard` and its commands, in roff."""
    root = command_line()
    lines = [f'.TH STEELYARD 1 "" "steelyard {__version__}" "User Commands"']
    lines += [".SH NAME", f"steelyard \\- {_escaped(_one_line(root.help))}"]
    lines += [".SH SYNOPSIS", ".B steelyard", "[OPTIONS] COMMAND [ARGUMENTS]"]
    lines += [".SH OPTIONS", *_options(root)]
    for name, command in commands_of(root).items():
        lines += [f'.SH "steelyard {name}"', *_paragraphs(command.help or ""), *_options(command)]
        lines += [".PP", "Examples:", ".PP", ".nf", *map(_escaped_for_pasting, command.epilog.splitlines()), ".fi"]
    lines += [".SH EXIT STATUS", *_terms(".B", _EXIT_STATUS), ".SH FILES", *_terms(".I", _FILES)]
    return "\n".join(lines) + "\n"


def commands_of(root: Any) -> dict[str, Any]:
    """Return all commands by name, sorted."""
    return dict(sorted(vars(root)["commands"].items()))


def options_of(command: Any) -> Iterator[tuple[str, str]]:
    """Yield a command's options and arguments, except hidden ones: as written, with the value, and their help."""
    context = Context(command)
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        names, meaning = ", ".join([*parameter.opts, *parameter.secondary_opts]), parameter.help
        if parameter.param_type_name == "argument":
            names = parameter.metavar or parameter.name.upper()
        else:
            _, meaning = parameter.get_help_record(context)  # includes the default
            if not parameter.is_flag and parameter.metavar:
                names = f"{names} {parameter.metavar}"
        yield names, _one_line(meaning)


_EXIT_STATUS = (
    ("0", "nothing is slower"),
    ("1", "something is slower"),
    ("2", "wrong usage or configuration"),
    ("3", "a measurement failed"),
    ("4", "undecided, with --strict"),
    ("130", "interrupted; what was measured is kept and reported"),
)
_FILES = (
    ("~/.local/state/steelyard", "the latest records and journals; elsewhere if XDG_STATE_HOME is set"),
    ("~/.cache/steelyard/builds", "the builds of revisions; elsewhere if XDG_CACHE_HOME is set"),
    ("steelyard.toml", "what a project weighs; or the table [tool.steelyard] of pyproject.toml"),
    ("/var/lib/steelyard/tuning.json", "what steelyard tune has changed, until it is put back"),
)


def _terms(font: str, terms: Iterable[tuple[str, str]]) -> list[str]:
    return [line for term, meaning in terms for line in (".TP", f"{font} {term}", meaning)]


def _options(command: Any) -> list[str]:
    return _terms(".B", ((_escaped(names), _escaped(meaning)) for names, meaning in options_of(command)))


def _paragraphs(text: str) -> list[str]:
    return [line for part in text.split("\n\n") for line in (".PP", _escaped(_one_line(part)))]


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _escaped_for_pasting(line: str) -> str:
    """Escape a line so that it can be copied from the page, with its quotes as a shell needs them."""
    return _escaped(line).replace("'", "\\(aq")


def _escaped(text: str) -> str:
    """Escape text for roff: backslashes and hyphens are literal, and no line begins like a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    print(manual(), end="")
