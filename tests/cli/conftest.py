from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.cli.answering import Answering, answer
from tests.cli.gate_job import Job
from tests.cli.refusing import Refuses
from tests.forges.fake import Forge, served
from tests.in_process import InProcess
from tests.world import in_place, measured, program_of, steady


@pytest.fixture
def refuses(asked: InProcess) -> Refuses:
    """Run a command line that must be refused before anything is kept; return the sentence that it prints."""

    def try_out(*words: str | Path) -> str:
        sentence = asked.refuses(*words)
        assert sentence.isprintable()
        assert not asked.kept()
        return sentence

    return try_out


@pytest.fixture(scope="session")
def weighings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of weighings, slower.json, same.json, faster.json and open.json, and of a run, run.json."""
    folder = tmp_path_factory.mktemp("kept")
    world = Job(folder, steady({"old": 12.0, "slower": 12.6, "same": 12.0, "faster": 11.0}))
    with pytest.MonkeyPatch.context() as patch:
        in_place(world, patch)
        for name in ("old", "slower", "same", "faster"):
            world.executable(name)
        for name in ("slower", "same", "faster"):
            world("compare", "./old", f"./{name}", "--pairs", "20", "--json", f"{name}.json")
        world("run", "./old", "--pairs", "3", "--json", "run.json")
        world.script = _alternating
        world("compare", "./old", "./same", "--pairs", "20", "--json", "open.json")
    return folder


@pytest.fixture
def job(weighings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A CI job in a folder with those records."""
    shutil.copytree(weighings, tmp_path, dirs_exist_ok=True)
    world = Job(tmp_path, steady({}))
    in_place(world, monkeypatch)
    monkeypatch.setenv("no_proxy", "*")
    return world


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Command lines on a scripted machine where the fake harness answers."""
    world = Answering(tmp_path, answer)
    in_place(world, monkeypatch)
    return world


@pytest.fixture
def forge() -> Iterator[Forge]:
    """The APIs of both forges, served on this machine."""
    with served(Forge()) as fake:
        yield fake


def _alternating(spec: LaunchSpec, number: int) -> Measured:
    """Measure launches of which the candidate's are slower in one pair and faster in the next."""
    return measured(12.0 + (0.5 if program_of(spec) == "same" else -0.5) * (-1) ** (number // 2))
