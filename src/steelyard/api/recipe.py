"""How the sides of a project are built: what its file says, unless the caller asks for something else."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.api.options import Options
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

LACKED = "its build fails there, and the project's file there does not have it yet"
"""Why a target is left out of a revision."""


def recipe_of(project: Project, targets: Mapping[int, Target], options: Options, world: World) -> Recipe:
    """Return how both sides are built for these targets.

    Raises UsageError for an empty command or an impossible time.
    """
    from steelyard.subjects.revisions.recipe import Recipe

    wanted, build = options.revisions, project.build
    if build.command is not None and not build.command.strip():
        location = project.at("build", "command")
        raise UsageError(f"{location}: command is empty: give the shell command that builds, or leave it out")
    of_targets = _target_builds(project, targets)
    check_build(wanted, is_built=bool(of_targets) or (build.command or wanted.build) is not None)
    return Recipe(
        build.command if wanted.build is None else wanted.build,
        build_variables(project, world.environment, passed_on_variables(options)),
        wanted.build_timeout if build.timeout is None or wanted.is_given("build_timeout") else build.timeout,
        # The command that is asked for builds everything.
        targets=of_targets if wanted.build is None else None,
    )


def _target_builds(project: Project, targets: Mapping[int, Target]) -> tuple[TargetBuild, ...] | None:
    """Return the builds of these targets; None if no target of the project has one."""
    from steelyard.subjects.revisions.recipe import TargetBuild

    if all(target.build is None for target in project.targets):
        return None
    return tuple(TargetBuild(target.name, target.build) for target in targets.values() if target.build is not None)


def known_targets(repository: Repository, revision: Revision) -> Collection[str] | None:
    """Return the names of the targets that a revision's own file of the project has; None if it cannot be read."""
    texts = [
        repository.git.answer("show", f"{revision.tree}:{(repository.directory / name).as_posix()}")
        for name in (OWN, SHARED)
    ]
    try:
        own, shared = (tomllib.loads((text or "").removeprefix("\ufeff")) for text in texts)
    except (ValueError, RecursionError):
        return None
    return {name for table in (own, _table_at(shared, "tool", "steelyard")) for name in _target_names(table)}


def _table_at(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    return table


def _target_names(table: Any) -> Sequence[str]:
    targets = _table_at(table, "target")
    return [str(_table_at(one, "name")) for one in targets] if isinstance(targets, list) else []


def build_variables(project: Project, environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """Return the variables of a project's build, beyond those of every build."""
    passed_on = without_secrets(environment, named)
    own = {name: passed_on[name] for name in project.build.environment if name in passed_on}
    return {**own, **dict(assignment.split("=", 1) for assignment in project.build.environment if "=" in assignment)}


def without_secrets(environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """Return the variables that a project's commands may see: all except unnamed ones that look like secrets."""
    return {name: value for name, value in environment.items() if name in named or not is_secret(name, value)}


def passed_on_variables(options: Options) -> list[str]:
    """Return the names of the variables that the caller passes on."""
    return [variable.partition("=")[0] for variable in options.launch.env or []]
