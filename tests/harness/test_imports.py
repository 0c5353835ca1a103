"""What the harness needs and loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import steelyard
from tests.harness.conftest import Write
from tests.harness.driving import HARNESS, call, run_words

SOURCE = Path(steelyard.__file__).parent.parent

# Finds nothing but the standard library and the harness.
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


def test_the_standard_library_is_enough(write: Write) -> None:
    path = write(
        """
        @bench(inputs=lambda random: random.random())
        async def work(data): ...
        """
    )
    program = BLOCKED + "from runpy import run_module\nrun_module('steelyard.harness', run_name='__main__')"
    called = call([sys.executable, "-S", "-c", program, path], run_words("bench_x.py::work"))
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
    loaded = set(call([*HARNESS, path], run_words("bench_x.py::work", 1, 1)).stdout.split())
    assert not loaded & {"argparse", "ast", "asyncio", "ctypes", "dataclasses", "inspect", "json", "pathlib", "typing"}
