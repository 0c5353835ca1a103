"""Programs that are made after a script `configure`: by Automake, of a Makefile.in, or of a Makefile that is there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, files_named, is_auxiliary, text_of
from steelyard.subjects.projects.makefile import programs_of_rules, read_makefile

_AUTOCONF = ("configure.ac", "configure.in")
# How projects that keep no `configure` make it; the first that exists counts.
_BOOTSTRAPS = {
    "autogen.sh": "NOCONFIGURE=1 ./autogen.sh",
    "bootstrap": "./bootstrap",
    "bootstrap.sh": "./bootstrap.sh",
}
_LIBTOOL = re.compile(r"^\s*(?:LT_INIT|A[CM]_PROG_LIBTOOL)\b", re.MULTILINE)
_LIBTOOL_COMMENT = "--disable-shared: else libtool puts shell scripts where its programs would be."
# `check_PROGRAMS` are built for tests alone, and `EXTRA_PROGRAMS` only for who asks.
_LISTED = re.compile(r"(?!.*check_|.*EXTRA_)\w+_PROGRAMS")
_NAME = re.compile(r"[\w+-]+(?:/[\w+-]+)*")


def autotools(folder: Path) -> FoundProject | None:
    """Return the programs of a project that is configured before make; None without such a script."""
    autoconf = next((folder / name for name in _AUTOCONF if (folder / name).is_file()), None)
    if autoconf is None and not (folder / "configure").is_file():
        return None
    uses_libtool = autoconf is not None and _LIBTOOL.search(text_of(autoconf)) is not None
    lines = [f"./configure{' --disable-shared' if uses_libtool else ''}", "make"]
    if autoconf is not None:
        bootstrap = next((line for name, line in _BOOTSTRAPS.items() if (folder / name).is_file()), "autoreconf -fi")
        lines.insert(0, f"[ -x configure ] || {bootstrap}")
    names = [*dict.fromkeys(_programs(folder, is_written_by_hand=autoconf is None))]
    main_names = [name for name in names if not is_auxiliary(name)] or names
    return FoundProject(
        "a configure script",
        "\n".join(lines),
        [FoundTarget(Path(name).name, f"./{shlex.quote(name)}") for name in main_names],
        [_LIBTOOL_COMMENT] if uses_libtool else (),
    )


def _programs(folder: Path, *, is_written_by_hand: bool) -> Iterator[str]:
    """Yield the programs' paths, relative to the folder: those of Automake, else of rules in the folder's own file."""
    templates = [*files_named(folder, "Makefile.am")]
    for path in templates:
        variables = read_makefile(path).variables
        # What is installed is what the project is for.
        for variable in sorted(filter(_LISTED.fullmatch, variables), key=lambda name: not name.startswith("bin_")):
            for name in variables[variable].split():
                if _NAME.fullmatch(name):
                    yield (path.parent / name).relative_to(folder).as_posix()
    # A script that nothing makes may only write what the Makefile includes.
    makefiles = ("Makefile.in", "Makefile") if is_written_by_hand else ("Makefile.in",)
    rules = next((folder / name for name in makefiles if (folder / name).is_file()), None)
    if not templates and rules is not None:
        yield from programs_of_rules(read_makefile(rules).rules, folder)
