"""A project in git with two targets, each with a build of its own."""

from __future__ import annotations

from tests.repositories import Repo
from tests.world import ScriptedWorld

TARGET = '[[target]]\nname = "{name}"\ncommand = "./{name}.out"\nbuild = "sh build {name}"\n'
TWO = TARGET.format(name="sort") + TARGET.format(name="parse")
SOURCE = "#!/bin/sh\n"
# Builds what the revision has a source for.
BUILD = "echo $1 >> ../../built\ncp $1.in $1.out && chmod +x $1.out\n"


def two_targets(scripted: ScriptedWorld) -> Repo:
    """Make the project, with a work tree in which one source has changed."""
    files = {".gitignore": "*.out\n*.json\n", "steelyard.toml": TWO, "build": BUILD, "sort.in": SOURCE}
    made = Repo.made(scripted.folder / "project", **files, **{"parse.in": SOURCE})
    made.write("sort.in", f"{SOURCE}# new\n")
    return made


def built(scripted: ScriptedWorld) -> list[str]:
    """Return what was built since the last call."""
    path = scripted.folder / ".cache/steelyard/builds/built"
    done = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return done
