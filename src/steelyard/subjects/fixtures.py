"""Find out which fixtures the tests of a pytest command take, by reading their files without running pytest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.subjects.responses import arguments_of, beginning_of, files_below, folder_of, runs_pytest

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec

WEIGH = re.compile(rb"def \w+\([^)]*\bweigh\b")
BENCHMARK = re.compile(rb"def \w+\([^)]*\bbenchmark(_weave)?\b")
_MOST_FILES = 2000


def tests_take(launch: LaunchSpec, fixture: re.Pattern[bytes]) -> bool:
    """Return whether a launch runs pytest on files in which a test takes the fixture."""
    arguments = arguments_of(launch)
    files = islice(_test_files(arguments, folder_of(launch)), _MOST_FILES) if runs_pytest(arguments) else ()
    return any(_holds(file, fixture) for file in files)


def _test_files(arguments: Sequence[str], folder: Path) -> Iterator[Path]:
    """Yield the test files that a command names, or those in its folder if it names none."""
    paths = [folder / argument.partition("::")[0] for argument in arguments[1:] if not argument.startswith("-")]
    # Path.is_dir() would raise for a word that is too long for a name.
    named = [path for path in paths if os.path.isdir(path) or (path.suffix == ".py" and os.path.isfile(path))]  # noqa: PTH112, PTH113
    for path in named or [folder]:
        if path.is_file():
            yield path
        else:
            with suppress(OSError):  # too large to look through
                yield from (file for file in files_below(path) if _may_test(file.name))


def _may_test(name: str) -> bool:
    return name.endswith(".py") and ("test" in name or "bench" in name)


@lru_cache(maxsize=4096)
def _holds(file: Path, fixture: re.Pattern[bytes]) -> bool:
    return fixture.search(beginning_of(file)) is not None
