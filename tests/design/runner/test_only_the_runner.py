"""Only the runner starts launches, and only the world knows the real launch server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import steelyard

SOURCES = Path(steelyard.__file__).parent
RUNNER = SOURCES / "design/runner"
# Where the launch server is, where it is chosen, and where Valgrind is asked for its version.
SERVER, WORLD = SOURCES / "measure/launch.py", SOURCES / "design/world.py"
VALGRIND = SOURCES / "measure/count/valgrind.py"
# Where git and builds run: to their end, and not measured.
TOOLS = SOURCES / "measure/tools.py"
# Where a command runs in the foreground, which is not measured either.
FOREGROUND = SOURCES / "measure/foreground.py"
# Where a program of our own reads a file.
READING = SOURCES / "subjects/formats/packed.py"
STARTING = {"posix_spawn", "posix_spawnp", "fork", "system", "popen", "execv", "execve", "execvp", "execvpe"}
# These run inside the measured program.
BESIDE = (SOURCES / "harness", SOURCES / "subjects/adapters/in_pytest")


Nodes = list[ast.Import | ast.ImportFrom | ast.Attribute | ast.Call]


@cache  # reading them takes a second
def sources() -> list[tuple[Path, Nodes]]:
    """Return the imports, calls and attributes of each file."""
    paths = [path for path in sorted(SOURCES.rglob("*.py")) if not any(path.is_relative_to(one) for one in BESIDE)]
    return [(path, looked_at(ast.parse(path.read_text()))) for path in paths]


def looked_at(tree: ast.AST) -> Nodes:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Call)]


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """Forget the sources: else each garbage collection in later tests would look at 700,000 nodes."""
    yield
    sources.cache_clear()


def launched_on(nodes: Nodes, *, called: bool = False) -> Iterator[str]:
    """Yield the last name of each object whose launching method is mentioned, or only `called`."""
    for found in nodes:
        node = found.func if called and isinstance(found, ast.Call) else None if called else found
        if isinstance(node, ast.Attribute) and node.attr in (
            "launch",
            "launch_series",
            "launch_together",
            "_launch_once",
        ):
            receiver = node.value
            yield receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")


def imported(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_launchers_are_asked_by_the_runner_alone() -> None:
    asking = {path for path, nodes in sources() if any("launcher" in name for name in launched_on(nodes))}
    assert {path.name for path in asking if path.is_relative_to(RUNNER)} == {"runner.py", "series.py"}
    assert {path for path in asking if not path.is_relative_to(RUNNER)} == set()


def test_whoever_else_launches_does_so_on_a_runner() -> None:
    others = {
        name
        for path, nodes in sources()
        if not path.is_relative_to(RUNNER) and path != SERVER
        for name in launched_on(nodes, called=True)
    }
    assert others == {"runner", "_recorder"}  # a recorder launches on its runner


def test_only_the_world_knows_the_launch_server() -> None:
    knowing = {path for path, nodes in sources() if "steelyard.measure.launch.Launcher" in imported(nodes)}
    assert knowing == {WORLD}


def test_no_other_process_is_started() -> None:
    starting = {
        path for path, nodes in sources() if "subprocess" in {name.partition(".")[0] for name in imported(nodes)}
    }
    assert starting == {SERVER, VALGRIND, TOOLS}


def test_what_is_not_measured_is_started_in_one_place() -> None:
    def names(nodes: Nodes) -> set[str]:
        attributes = (node for node in nodes if isinstance(node, ast.Attribute))
        return {node.attr for node in attributes if getattr(node.value, "id", "") == "os"}

    assert {path for path, nodes in sources() if names(nodes) & STARTING} == {FOREGROUND, READING}


def test_git_builds_and_version_managers_alone_are_run_by_the_tools() -> None:
    asking = {
        path.relative_to(SOURCES).as_posix()
        for path, nodes in sources()
        if any(name.startswith("steelyard.measure.tools.run") for name in imported(nodes))
    }
    assert asking == {"subjects/revisions/git.py", "subjects/revisions/making.py", "subjects/shims.py"}
