"""How the sides of a project are built: what its file says, unless the caller asks for something else."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.api.asked import Asked
from steelyard.api.revisions import check_build
from steelyard.design.world import World
from steelyard.model.errors import UsageError
from steelyard.model.project import Target
from steelyard.model.project_file import OWN, SHARED, Project
from steelyard.model.secrecy import is_secret

if TYPE_CHECKING:
    from steelyard.subjects.revisions.git import Repository
    from steelyard.subjects.revisions.recipe import Recipe, TargetBuild
    from steelyard.subjects.revisions.revision import Revision


def recipe_of(project: Project, targets: Mapping[int, Target], asked: Asked, world: World) -> Recipe:
    """Return how both sides are built for these targets.

    Raises UsageError for an empty command or an impossible time.
    """
    from steelyard.subjects.revisions.recipe import Recipe

    wanted, build = asked.revisions, project.build
    if build.command is not None and not build.command.strip():
        at = project.at("build", "command")
        raise UsageError(f"{at}: command is empty: give the shell command that builds, or leave it out")
    own = _of_targets(project, targets)
    check_build(wanted, is_built=bool(own) or (build.command or wanted.build) is not None)
    return Recipe(
        build.command if wanted.build is None else wanted.build,
        build_variables(project, world.environment, named(asked)),
        wanted.build_timeout if build.timeout is None or wanted.chooses("build_timeout") else build.timeout,
        # The command that is asked for builds everything.
        targets=own if wanted.build is None else None,
    )


def _of_targets(project: Project, targets: Mapping[int, Target]) -> tuple[TargetBuild, ...] | None:
    """Return the builds of these targets; None if no target of the project has one."""
    from steelyard.subjects.revisions.recipe import TargetBuild

    if all(target.build is None for target in project.targets):
        return None
    return tuple(TargetBuild(one.name, one.build) for one in targets.values() if one.build is not None)


def known_targets(repository: Repository, revision: Revision) -> Collection[str] | None:
    """Return the names of the targets that a revision's own file of the project has; None if it cannot be read."""
    found = [
        repository.git.answer("show", f"{revision.tree}:{(repository.directory / name).as_posix()}")
        for name in (OWN, SHARED)
    ]
    try:
        own, shared = (tomllib.loads(text or "") for text in found)
    except (ValueError, RecursionError):
        return None
    return {name for table in (own, _within(shared, "tool", "steelyard")) for name in _names_in(table)}


def _within(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    return table


def _names_in(table: Any) -> Sequence[str]:
    targets = _within(table, "target")
    return [str(_within(one, "name")) for one in targets] if isinstance(targets, list) else []


def build_variables(project: Project, environment: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    """Return the variables of a project's build, beyond those of every build."""
    known = without_secrets(environment, given)
    own = {name: known[name] for name in project.build.environment if name in known}
    return {**own, **dict(one.split("=", 1) for one in project.build.environment if "=" in one)}


def without_secrets(environment: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    """Return the variables that a project's commands may see: all except unnamed ones that look like secrets."""
    return {name: value for name, value in environment.items() if name in given or not is_secret(name, value)}


def named(asked: Asked) -> list[str]:
    """Return the names of the variables that the caller passes on."""
    return [one.partition("=")[0] for one in asked.launch.env or []]
