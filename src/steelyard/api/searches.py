"""What a bisection follows: a command, or one target of a project's file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.api.counting import jobs_checked
from steelyard.api.hooks import with_values_around
from steelyard.api.options import HOOKS, Options
from steelyard.api.project import chosen_targets, with_absolute_paths
from steelyard.api.recipe import recipe_of
from steelyard.api.revisions import recipe_of_command
from steelyard.api.settings import settings_of
from steelyard.api.targets import LAUNCH_KEYS, AskedTarget, names_with, values_of
from steelyard.design.bisection.weighing import SearchRequest
from steelyard.design.findings import some_names
from steelyard.design.folders import enter_folder
from steelyard.design.suite.selection import Selection
from steelyard.model.bisection import Sought
from steelyard.model.errors import UsageError
from steelyard.model.patterns import left_out_by, setting_for
from steelyard.model.typed import in_quotes
from steelyard.subjects.command import command_with_values
from steelyard.subjects.revisions.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.design.world import World
    from steelyard.model.project import Target
    from steelyard.model.project_file import Project
    from steelyard.model.settings import Settings

_DEFAULT_WEIGHING_S = 120.0
# How a target is judged, beside how it is launched: the file's times are for weighing all targets once.
_KEYS = LAUNCH_KEYS | {"metrics", "pairing", "own_addresses", "own_starts"}


@dataclass(frozen=True)
class Ends:
    """The commits between which is searched, and for what."""

    good: str
    bad: str
    sought: Sought


def search_for_command(command: str, ends: Ends, options: Options, world: World) -> SearchRequest:
    """Return the search for what changed a command; raises UsageError for what cannot be weighed."""
    recipe = recipe_of_command(options.revisions)
    return _request(command, ends, recipe, options, _settings(command, options, world, recipe))


def search_for_target(
    project: Project, patterns: Sequence[str], ends: Ends, options: Options, world: World
) -> tuple[SearchRequest, Mapping[int, Target]]:
    """Return the search for what changed the one target that fits, and that target, by its place in the file.

    Raises UsageError, with the line in the file, for what cannot be weighed, and for several targets.
    """
    targets, _ = chosen_targets(project, patterns, options)
    if len(targets) > 1:
        names = some_names([target.name for target in targets.values()])
        raise UsageError(f"bisect follows one target, and {project.file} has several ({names}): choose with --target")
    recipe = recipe_of(project, targets, options, world)
    (asked,) = _FollowedTarget.of_each(project, targets, with_absolute_paths(options), world)
    with enter_folder(project.folder):
        return asked.search(ends, recipe), targets


class _FollowedTarget(AskedTarget):
    """The target that a bisection follows."""

    def search(self, ends: Ends, recipe: Recipe) -> SearchRequest:
        """Return the search for what changed it; raises UsageError with the line in the file."""
        target = self.target
        with self.errors_located():
            options = self.target_options()
            values = self._chosen_values() if target.parameters else {}
            placed = self.placed(values)
            command = command_with_values(target.command, placed, shell=options.launch.shell)
            settings = with_values_around(_settings(command, options, self.world_without_secrets(), recipe), placed)
            settings = settings.model_copy(
                update={"directory": str(self.project.folder), "margin": self._margin(options, settings, values)}
            )
        return replace(_request(command, ends, recipe, options, settings), target=target.name)

    def target_options(self) -> Options:
        """Return what is asked of it, as far as a search makes use of it."""
        return self.options_with_file(self.options, _KEYS)

    def _chosen_values(self) -> dict[str, str]:
        """Return the values of the parameters of the one benchmark that is chosen; raises UsageError if none is."""
        found = values_of(self.target, self.options.suite.benchmark or [])
        if len(found) != 1:
            example = in_quotes(names_with(self.target, values_of(self.target)[0])[-1])
            raise UsageError(
                f"bisect follows one benchmark, and the parameters of {self.target.name} make {len(found):,}: choose "
                f"one by its name, such as -b {example}"
            )
        return found[0]

    def _margin(self, options: Options, settings: Settings, values: Mapping[str, str]) -> float:
        """Return the margin of the benchmark that is followed, as far as its name is known before it is listed."""
        if (own_margin := self.own_margin()) is not None:
            return own_margin
        settings, target = self.with_margins(settings), self.target
        patterns = [one for one in options.suite.benchmark or [] if left_out_by(one) is None]
        of_suite = patterns[:1] if len(patterns) == 1 else []
        names = names_with(target, values)[-1:] if target.harness is None else of_suite
        return setting_for(settings.margins, names, settings.metrics[0], settings.margin)


def _request(command: str, ends: Ends, recipe: Recipe, options: Options, settings: Settings) -> SearchRequest:
    selection = Selection(
        only=options.suite.benchmark or [],
        tags=options.suite.tag or [],
        any_pairing=options.weighing.pairing is None,
    )
    return SearchRequest(
        command,
        ends.good,
        ends.bad,
        recipe.in_first_layout,
        options.shell,
        settings,
        selection,
        jobs_checked(options.counting.jobs),
        ends.sought,
    )


def _settings(command: str, options: Options, world: World, recipe: Recipe) -> Settings:
    for hook in HOOKS:
        if (number := len(getattr(options.launch, hook) or [])) > 1:
            place = "" if options.launch.is_given(hook) else f", here or as bisect --{hook} CMD"
            raise UsageError(f"--{hook} has {number} commands, and all commits have one: give one{place}")
    settings = settings_of(options, world, commands=[command], judged=True, recipe=recipe)
    update: dict[str, float] = {"reserve": 0.0}  # none of its weighings is continued with another budget
    if settings.longest_time_s is not None:
        update["max_time_s"] = _DEFAULT_WEIGHING_S
    return settings.model_copy(update=update)
