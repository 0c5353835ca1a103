"""A reader of the documentation, in a repository with the programs and records that the pages speak of."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.repositories import Repo
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured, steady

# By this, `--harness auto` recognises a program of Google Benchmark.
_SIGN = "benchmark_list_tests"
_BUILD = f"""#!/bin/sh
mkdir -p build
for name in bench build/bench program; do echo '# {_SIGN}' > $name; chmod +x $name; done
"""
_ENVIRONMENT = """#!/bin/sh
mkdir -p .venv/bin
for name in pip python; do echo '#!/bin/sh' > .venv/bin/$name; chmod +x .venv/bin/$name; done
"""
_GO = f"""#!/bin/sh
while [ $1 != -o ]; do shift; done
mkdir -p $(dirname $2)
echo '# {_SIGN}' > $2
chmod +x $2
"""
_MAKEFILE = "all: prog bench\nprog bench: build.sh\n\tsh build.sh\n"
_ON_PATH = ("cargo", "gzip", "java", "pytest", "python", "python-new", "python-old")
_TARGETS = "".join(
    f'[[target]]\nname = "{name}"\ncommand = "./{file}"\n' for name, file in (("prog", "prog"), ("parser", "bench"))
)
_PROJECT = f'[build]\ncommand = "make -s"\n\n{_TARGETS}'
_PARTS = ("one", "two", "three", "four")
_PATH = re.compile(r"(\.\.?/)?[\w{}.-]+(/[\w{}.-]+)*")
_IMPORTS = Path(__file__).resolve().parents[1] / "data/imports"
_STEADY = steady({"old": 12.0, "new": 18.0})


class FirstLaunch(BaseException):
    """Raised when a command line comes as far as measuring something."""


class Reader:
    """Runs a page's command lines one after the other, in a world of its own."""

    def __init__(self, world: ScriptedWorld, page: str) -> None:
        """Prepare `world`, which has what `make_folder` made, for a page."""
        self._world = world
        world.processors = {0, 1, 2, 3}
        if page in _PREPARED:
            _PREPARED[page](world)
        world.script = _stop_there

    def take(self, words: Sequence[str]) -> str | None:
        """Run a line; return what keeps it from an answer or its first launch, or None."""
        for name in _programs(words):
            self._place(name)
        self._world.seconds += 60
        try:
            done = self._world(*(path for word in words for path in _as_the_shell(word)))
        except FirstLaunch:
            return None
        return None if done.status in (0, 1) else f"{shlex.join(words)}: {done.err.decode()}"

    def _place(self, name: str) -> None:
        """Put a program where a line has it; a path may be a folder for one line and a program for another."""
        path = self._world.folder / name
        for folder in path.relative_to(self._world.folder).parents:
            if (self._world.folder / folder).is_file():
                (self._world.folder / folder).unlink()
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._world.executable(name, _SIGN)


def _as_the_shell(word: str) -> list[str]:
    """Return the files that a pattern matches, or the word itself."""
    return sorted(map(str, Path().glob(word))) or [word] if word.endswith("*.json") else [word]


def _stop_there(_spec: LaunchSpec, _number: int) -> Measured:
    raise FirstLaunch


def _programs(words: Sequence[str]) -> Iterator[str]:
    """Yield the paths of the programs and jars in a line, those in the folder of `env -C` too, for each layout."""
    for word in words[1:]:
        try:
            first, *others = shlex.split(word) or [""]
        except ValueError:
            continue  # Python code
        if first == "java":
            yield others[others.index("-jar") + 1]
        if first == "env":
            first = f"{others[1]}/{others[2]}"
        if "/" in first and _PATH.fullmatch(first):
            yield from (first.replace("{layout}", str(layout)) for layout in range(1, 11 if "{layout}" in first else 2))


def make_folder(world: ScriptedWorld) -> None:
    """Make a repository with a tag and one more commit, which ignores all other files in its folder; add records."""
    world.executable("prog", _SIGN)
    repo = Repo.made(world.folder, Makefile=_MAKEFILE, **{"build.sh": _BUILD, "input.txt": "1\n"})
    repo.git("tag", "v1.2")
    repo.commit("second", **{"input.txt": "2\n"})
    repo.write(".git/info/exclude", "*\n")
    for name in _ON_PATH:
        world.executable(f"bin/{name}")
    world.executable("bin/cmake").write_text(_BUILD)
    world.executable("bin/go").write_text(_GO)
    world.executable("bin/python").write_text(_ENVIRONMENT)
    world.script = _STEADY
    for name in ("old", "new"):
        world.executable(name)
    _keep_records(world)


def _keep_records(world: ScriptedWorld) -> None:
    """Keep the shards of a suite, runs, and weighings, in files and in the store."""
    for number, name in enumerate(_PARTS, start=1):
        suite = ("./old {n}", "./new {n}", "-L", "n", "1,2,3,4", "--pairs", "12", "--shard", f"{number}/4")
        world("compare", *suite, "-o", f"{name}.json")
    for name in ("a", "b"):
        world("run", "./old", "--launches", "12", "-o", f"{name}.json")
    world("run", "./old", "--launches", "12", "--save-baseline", "main")
    world("compare", "./old", "./new", "--pairs", "12", "-o", "weighing.json.gz")
    for name in ("weighing.json", "monday.json", "tuesday.json"):
        (world.folder / name).write_bytes(gzip.decompress((world.folder / "weighing.json.gz").read_bytes()))


def _unfinished(world: ScriptedWorld) -> None:
    """Keep a weighing that was interrupted, and one that came to no verdict."""
    world.script = lambda _, number: measured(12 + number * 7 % 5)
    world("compare", "./old", "./new", "--pairs", "8", "-o", "undecided.json")
    world.script = at_launch(world.launches + 9, ctrl_c, _STEADY)
    world("compare", "./old", "./new", "-o", "interrupted.json")


def _raw(*names: str) -> Callable[[ScriptedWorld], None]:
    """Return what writes files as another tool does, no two alike."""

    def put(world: ScriptedWorld) -> None:
        for number, name in enumerate(names):
            text = (_IMPORTS / "hyperfine-1.15.json").read_text()
            (world.folder / name).write_text(text + " " * number)

    return put


def _two_commands(world: ScriptedWorld) -> None:
    """Write one of hyperfine's files, with two commands."""
    told = json.loads((_IMPORTS / "hyperfine-1.15.json").read_text())
    told["results"] = [{**told["results"][0], "command": command} for command in ("./old 1", "./new 1")]
    (world.folder / "theirs.json").write_text(json.dumps(told))


def _imported(world: ScriptedWorld) -> None:
    _raw("results.json", "1.json", "2.json", "3.json", "later.json")(world)
    world("import", "1.json", "-o", "before.json")
    world("import", "later.json", "-o", "after.json")


def _apart(world: ScriptedWorld) -> None:
    """Copy the parts of a suite to a folder of their own."""
    (world.folder / "parts").mkdir()
    for name in _PARTS:
        shutil.copy(world.folder / f"{name}.json", world.folder / "parts")


def _with_project(world: ScriptedWorld) -> None:
    (world.folder / "steelyard.toml").write_text(_PROJECT)


_PREPARED: Mapping[str, Callable[[ScriptedWorld], None]] = {
    "README": _with_project,
    "bisect": _with_project,
    "check": _with_project,
    "ci": _with_project,
    "counting": _imported,
    "hyperfine": _two_commands,
    "import": _imported,
    "recipes": _raw("before.json", "after.json"),
    "records": _unfinished,
    "suites": _apart,
}
