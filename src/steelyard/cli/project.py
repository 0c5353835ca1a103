"""What `steelyard compare` without commands says before it begins, and where it writes: it goes to another folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.options import FileOptions
from steelyard.cli.say import say
from steelyard.model.project import Target
from steelyard.model.project_file import Project
from steelyard.report.plain import one_line


def announce(project: Project, targets: Mapping[int, Target]) -> None:
    """Say what is about to be run: who wrote the file decides that, and it may come from a stranger's branch."""
    lines = [("build", project.build.command)] if project.build.command else []
    for target in targets.values():
        lines.append((target.name, target.command))
        for key in ("setup", "prepare", "conclude", "cleanup"):
            commands = getattr(target, key) or getattr(project.compare, key) or []
            lines += [(f"{target.name}, {key}", command) for command in commands]
    width = max(len(label) for label, _ in lines)
    listed = dict.fromkeys(f"  {label:<{width}}  {one_line(command)}" for label, command in lines)
    say(f"{project.file} says what is run:", *listed)


def from_here(files: FileOptions) -> FileOptions:
    """The files that the command line names by where they are, wherever this process will be."""
    return FileOptions(
        json=_absolute(files.json),
        markdown=_absolute(files.markdown),
        csv=_absolute(files.csv),
        html=_absolute(files.html),
    )


def _absolute(path: Path | None) -> Path | None:
    return path if path is None or path == STANDARD_STREAM else Path.cwd() / path
