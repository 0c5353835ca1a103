"""Command lines that are read, and ended before they measure anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from steelyard.cli.app import run
from steelyard.design import session
from steelyard.design.request import Request
from steelyard.design.world import World
from steelyard.machine.quietest import Choice
from steelyard.model.settings import Settings
from tests.world import MACHINE, SEED

HERE = str(Path(__file__).parent)
TWO = ("true", "true")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OURS": "1"}
NAMES = ["LANG", "PATH"]


class Asked(BaseException):
    """Raised in place of measuring, with what was asked for."""

    def __init__(self, what: Request | Path) -> None:
        self.what = what


@dataclass
class CommandLine:
    """Reads command lines up to what is to be measured."""

    world: World
    printed: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Request:
        """Return the request that a command line makes."""
        with pytest.raises(Asked) as caught:
            run(arguments, self.world)
        assert isinstance(caught.value.what, Request)
        return caught.value.what

    def settings(self, *arguments: str) -> Settings:
        return self(*arguments).settings

    def refused(self, *arguments: str) -> str:
        """Return what a refused command line prints on stderr."""
        assert run(arguments, self.world) == 2
        return self.printed.readouterr().err


def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Return what reads command lines, and have none of them measure anything."""

    def measure(request: Request | Path, *_: object, **__: object) -> NoReturn:
        raise Asked(request)

    monkeypatch.setattr(session, "measure", measure)
    monkeypatch.setattr(session, "resume", measure)
    monkeypatch.chdir(HERE)
    world = World(
        environment=ENVIRONMENT,
        facts=lambda: MACHINE,
        new_seed=lambda: SEED,
        processors=lambda: {0, 3},
        kept_free=set,
        quietest=lambda: Choice(3, "0 % busy over half a second"),
    )
    return CommandLine(world, capsys)
