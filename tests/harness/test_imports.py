"""What the harness needs, and what it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import steelyard
from tests.harness.conftest import Write
from tests.harness.driving import HARNESS, call, run_arguments

SOURCE = Path(steelyard.__file__).parent.parent
HARNESS_SOURCE = SOURCE / "steelyard" / "harness"

# From the bottom up: a module imports from the floors below its own, and from nothing else in this package.
FLOORS = (
    "faults",
    "names signature partner counting loop forks choosing",
    "arguments declare worker",
    "entry bodies",
    "find response",
    "suite several",
    "protocol interactive pytest_run",
    "pytest_plugin __main__",
)

# Code that blocks all imports but those of the standard library and the harness.
BLOCKED = f"""
import importlib.abc, importlib.machinery, sys
class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")
        if top[0] == "steelyard" and top[1:2] in ([], ["harness"]):
            return importlib.machinery.PathFinder.find_spec(name, path or [{str(SOURCE)!r}])
        if top[0] not in sys.stdlib_module_names and top[0] != "bench_x":
            raise ImportError(f"{{name}} is blocked")
sys.meta_path.insert(0, Blocker())
"""


def imported(module: Path) -> Iterator[str]:
    """Yield what a module imports anywhere, also within functions and for types only."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports relative to itself"
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_import_goes_down() -> None:
    below: set[str] = set()
    for floor in FLOORS:
        for name in floor.split():
            found = {module for module in imported(HARNESS_SOURCE / f"{name}.py") if module.startswith("steelyard")}
            assert found <= below, f"{name} imports from beside or above it, or from outside the harness"
        below |= {f"steelyard.harness.{name}" for name in floor.split()}
    assert {path.stem for path in HARNESS_SOURCE.glob("*.py")} == {*" ".join(FLOORS).split(), "__init__"}
    assert set(imported(HARNESS_SOURCE / "__init__.py")) == {"__future__", "steelyard.harness.declare"}


def test_the_standard_library_is_enough(write: Write) -> None:
    path = write(
        """
        @bench(inputs=lambda random: random.random())
        async def work(data): ...
        """
    )
    program = BLOCKED + "from runpy import run_module\nrun_module('steelyard.harness', run_name='__main__')"
    called = call([sys.executable, "-S", "-c", program, path], run_arguments("bench_x.py::work"))
    assert called.status == 0, called.stderr
    assert len(called.body) == 2


def test_importing_loads_next_to_nothing() -> None:
    program = "import sys; before = set(sys.modules); from steelyard import bench; print(*set(sys.modules) - before)"
    found = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    own = {name for name in found.stdout.split() if name.startswith("steelyard")}
    assert own == {"steelyard", "steelyard.harness", "steelyard.harness.declare", "steelyard.harness.signature"}
    assert set(found.stdout.split()) - own <= {"__future__"}


def test_a_run_loads_none_of_what_is_slow(write: Write) -> None:
    path = write("import sys\nbench(name='work')(lambda: print(*sys.modules))")
    loaded = set(call([*HARNESS, path], run_arguments("bench_x.py::work", 1, 1)).stdout.split())
    assert not loaded & {"argparse", "ast", "asyncio", "ctypes", "dataclasses", "inspect", "json", "pathlib", "typing"}
