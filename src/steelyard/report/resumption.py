"""What a resumed weighing will run, shown before it starts: its record decides that, and may mislead."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject

_LABEL_COLUMNS = 13


def lines(record: Weighing, file: str) -> list[str]:
    """Return a line for each command and each setting around it, with the arguments exactly as recorded."""
    heading = f"carrying on {file}, begun at {record.created} in {record.settings.directory}; it runs"
    return [heading, *(f"  {label:<{_LABEL_COLUMNS}}{text}" for label, text in _labelled_texts(record))]


def _labelled_texts(record: Weighing) -> Iterator[tuple[str, str]]:
    baselines = record.baselines
    for number, subject in enumerate(record.subjects):
        yield ("baseline" if number in baselines else "candidate"), _command_text(subject)
    values: dict[str, dict[str, None]] = {}
    for benchmark in record.benchmarks:
        for name, value in [*benchmark.in_command().items(), *([("", benchmark.entry)] if benchmark.entry else [])]:
            values.setdefault(name, {})[value] = None
    for name, given in values.items():
        yield (f"{{{name}}}" if name else "benchmarks"), ", ".join(map(shlex.quote, given))
    yield from _settings_texts(record.settings)


def _command_text(subject: Subject) -> str:
    """Return the program and its arguments, and its argv[0] if that is not just the program's name."""
    argv0 = "".join(subject.argv[:1])
    words = shlex.join([subject.program, *subject.argv[1:]])
    is_usual = argv0 in (subject.program, Path(subject.program).name)
    return words if is_usual else f"{words} (called {argv0})"


def _settings_texts(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.harness is not None:
        yield "harness", settings.harness
    for name, commands in settings.hooks().items():
        for command in commands:
            yield name, command
    if settings.stdin is not None:
        yield "input", settings.stdin
    if settings.output is not None:
        yield "output", f"{settings.output}, overwritten"
    variables = [name if value is None else f"{name}={value}" for name, value in settings.variables.items()]
    yield "environment", shlex.join([*settings.environment, *variables]) or "nothing"
