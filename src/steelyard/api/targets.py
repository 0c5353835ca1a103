"""One target of a project's file, with what is asked of it by the file and by the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from steelyard.api.keywords import group_and_field, is_given
from steelyard.api.options import HOOKS, Options
from steelyard.api.parameters import join_parameters
from steelyard.api.recipe import passed_on_variables, without_secrets
from steelyard.api.settings import parameters_of, settings_of
from steelyard.api.streams import input_of_launches
from steelyard.api.wording import split_option
from steelyard.design.suite.selection import Selection
from steelyard.design.world import World
from steelyard.model.errors import UsageError
from steelyard.model.patterns import fits, is_chosen, left_out_by
from steelyard.model.placeholders import LAYOUT, combinations, describe_values
from steelyard.model.project import Target
from steelyard.model.project_file import Project
from steelyard.model.settings import Settings
from steelyard.model.values import AUTO

if TYPE_CHECKING:
    from steelyard.design.request import Request
    from steelyard.subjects.revisions.recipe import Recipe

# How a target is launched; all other keys are about how two sides are weighed.
LAUNCH_KEYS = frozenset(
    {
        *HOOKS,
        "harness",
        "benchmarks",
        "tags",
        "parameters",
        "repeat",
        "stdin",
        "shell",
        "ignore_failure",
        "timeout",
        "cpu",
        "environment",
        "inherit_environment",
    }
)
# Settings for all targets that mean nothing for those with a harness.
_KEYS_OF_PLAIN_COMMANDS = frozenset({"reference_output", "repeat", "shell", "ignore_failure"})
# Keys of a section that are no part of what is asked of a weighing.
_KEYS_WITHOUT_OPTION = frozenset({"name", "command", "build", "margin", "margins"})


def values_of(target: Target, patterns: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return the parameters' values of each benchmark of a plain command that the patterns choose; of all without any.

    A command without parameters is one benchmark, with no values.
    """
    benchmarks = combinations((name, [*map(str, values)]) for name, values in target.parameters.items())
    return [values for values in benchmarks if is_chosen(names_with(target, values), patterns)]


def names_with(target: Target, values: Mapping[str, str]) -> list[str]:
    """Return the names by which the benchmark of a plain command is chosen: its target's, and its own with values."""
    return [target.name, *([f"{target.name}, {describe_values(values)}"] if values else [])]


@dataclass(frozen=True)
class AskedTarget:
    """One target, with what is asked of it."""

    judged: ClassVar[bool] = False
    """Whether there will be verdicts."""
    project: Project
    place: int
    target: Target
    options: Options
    world: World
    other_targets: Collection[Target]
    """The other targets of which the same is asked."""

    @classmethod
    def of_each(cls, project: Project, targets: Mapping[int, Target], options: Options, world: World) -> list[Self]:
        """Return all of these targets, which are given by their places in the file."""
        return [
            cls(project, place, target, options, world, [targets[other] for other in targets if other != place])
            for place, target in targets.items()
        ]

    def refuse_mistakes(self, recipe: Recipe | None = None) -> None:
        """Raise UsageError, with the line in the file, for anything wrong with it that no build can mend."""
        with self.errors_located():
            options = self.target_options()
            if options.launch.cpu == AUTO:  # the quietest one is only determined after the builds
                options = replace(options, launch=replace(options.launch, cpu=None))
            self.settings(options, recipe)
            parameters_of(options, [self.target.command])

    def target_options(self) -> Options:
        """Return what is asked of this target, by the caller and by the file."""
        raise NotImplementedError

    def settings(self, options: Options, recipe: Recipe | None = None) -> Settings:
        """Return the settings of its launches, which run in the project's folder."""
        commands, world = [self.target.command], self.world_without_secrets()
        settings = settings_of(options, world, commands=commands, judged=self.judged, recipe=recipe)
        return settings.model_copy(update={"directory": str(self.project.folder)})

    def options_with_file(self, options: Options, keys: Collection[str] | None = None) -> Options:
        """Return `options` with what the caller left open: the target's own, else what the file says of all targets.

        Only these `keys` of the file are looked at, if they are given.
        """
        update: dict[str, dict[str, Any]] = {}
        for section in (self.project.compare, self.target):
            for key in type(section).model_fields.keys() - _KEYS_WITHOUT_OPTION:
                if keys is not None and key not in keys:
                    continue
                (group, name), value = group_and_field(key), getattr(section, key)
                if section is not self.target and self.target.harness and key in _KEYS_OF_PLAIN_COMMANDS:
                    continue
                if value is not None and not getattr(self.options, group).is_given(name):
                    update.setdefault(group, {})[name] = self._as_option(key, value)
        if self.target.harness is None and (suite := options.suite).given:  # they chose the whole command
            options = replace(options, suite=replace(suite, benchmark=None, tag=None))
        return replace(
            options, **{group: replace(getattr(options, group), **values) for group, values in update.items()}
        )

    def selection(self, selection: Selection) -> Selection:
        """Return which benchmarks to measure; patterns of the command line apply to all targets together."""
        suite = self.options.suite
        left_out = [pattern for one in suite.benchmark or [] if (pattern := left_out_by(one)) is not None]
        commands = [target.name for target in self.project.targets if target.harness is None]
        is_alone = not self.other_targets and not fits(commands, left_out)
        are_patterns_shared = bool({"benchmark", "tag"} & {*suite.given}) and not is_alone
        return replace(selection, of_several=are_patterns_shared)

    def with_chosen_values(self, request: Request) -> Request:
        """Return the request with those benchmarks of a plain command that the caller chose, and with its control."""
        patterns = self.options.suite.benchmark
        if self.target.harness is not None or not patterns:
            return request
        chosen = values_of(self.target, patterns)
        return replace(request, benchmarks=[one for one in request.benchmarks if one.control or one.params in chosen])

    def placed(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the values of parameters with that of the layout: one build stands for all, where only one is run."""
        return {LAYOUT: "1", **values} if self.project.build.layouts else values

    def world_without_secrets(self) -> World:
        """Return the world with no variable that looks like a secret, unless the caller passes it on by its name."""
        passed_on = passed_on_variables(self.options)
        return replace(self.world, environment=without_secrets(self.world.environment, passed_on))

    def own_margin(self) -> float | None:
        """Return the margin that the file gives this target alone, unless the caller asks for one."""
        return None if self.options.judging.is_given("margin") else self.target.margin

    def with_margins(self, settings: Settings) -> Settings:
        """Return the settings with the margins that the file gives all targets, unless the caller asks for one."""
        if self.options.judging.is_given("margin"):
            return settings
        compare = self.project.compare
        margin = settings.margin if compare.margin is None else compare.margin
        return settings.model_copy(update={"margin": margin, "margins": compare.margins})

    @contextmanager
    def errors_located(self) -> Iterator[None]:
        """Raise UsageErrors in this context with the line in the file that they are about."""
        try:
            yield
        except UsageError as error:
            raise self._located_error(error) from error

    def _located_error(self, error: UsageError) -> UsageError:
        """Return the error with the line in the file that it is about.

        That is the key's line if the error begins with an option, else the command's.
        """
        message = str(error)
        split = split_option(message)
        if split is None:
            return UsageError(f"{self.project.at('target', self.place, 'command')}: {message}")
        if is_given(self.options, split[0]):
            return error
        key = split[0].replace("_", "-")
        for section in (("target", self.place), ("compare",), ("build",)):
            if (*section, key) in self.project.lines:
                return UsageError(f"{self.project.at(*section, key)}: {key}{split[1]}")
        return error

    def _as_option(self, key: str, value: Any) -> Any:
        """Return a value of the file as its option would have it."""
        if key == "stdin":
            return input_of_launches("--stdin", value)
        if key == "environment":  # one file serves many machines: what is not set on this one is not passed on
            return [one for one in value if "=" in one or one in self.world.environment]
        if key == "parameters":
            return join_parameters(value)
        return value
