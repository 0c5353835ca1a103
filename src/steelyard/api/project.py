"""The weighings of a project's file: its targets, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from steelyard.api.layouts import layouts_to_build
from steelyard.api.options import Options
from steelyard.api.recipe import LACKED, known_targets, recipe_of
from steelyard.api.revisions import built_sides, findings_of
from steelyard.api.settings import whole_request_of
from steelyard.api.targets import AskedTarget, names_with, values_of
from steelyard.api.untimed import options_of_target
from steelyard.design.findings import new_suite_finding, some_names
from steelyard.design.folders import enter_folder
from steelyard.design.several import Part, join_parts
from steelyard.design.world import World
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.metrics import timed
from steelyard.model.patterns import fits
from steelyard.model.progress import Watch
from steelyard.model.project import Target
from steelyard.model.project_file import Project
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.model.typed import command_line
from steelyard.model.values import metric_names

if TYPE_CHECKING:
    from steelyard.subjects.revisions.checkout import NotBuiltError
    from steelyard.subjects.revisions.recipe import Recipe
    from steelyard.subjects.revisions.sides import Side


@dataclass(frozen=True)
class Sides:
    """The two sides of a project."""

    baseline: Side
    candidate: Side
    recipe: Recipe | None = None
    """How both were built."""
    findings: Callable[[Sequence[Subject], Settings], list[Finding]] = lambda *_: []
    """Returns the findings about a target's two subjects, and the environment they run in, before they are measured."""

    def of_target(self, name: str) -> Sides:
        """Return the sides as they are built for one target."""
        recipe = self.recipe and self.recipe.of_one(name)
        baseline, candidate = self.baseline.of_target(name), self.candidate.of_target(name)
        return replace(self, baseline=baseline, candidate=candidate, recipe=recipe)


# Fields for commands on the command line; in a project, each target has its own.
_FIELDS_OF_COMMANDS = ("name", "names", "harness", "parameter_list", "parameter_scan")


@dataclass(frozen=True)
class ProjectPlan:
    """The weighings of a project, to be measured one after the other."""

    parts: Sequence[Part]
    total_s: float | None
    """How long all parts that share their time may take together, in s; None if nothing says so."""
    left_out: Sequence[str]
    """What to say of targets that cannot be compared because the baseline lacks them."""


@contextmanager
def project_plan(
    project: Project, targets: Mapping[int, Target], options: Options, watch: Watch, world: World
) -> Iterator[ProjectPlan]:
    """Return the weighings of these targets, with both sides built; this process is meanwhile in the project's folder.

    `watch` is told about the builds. Raises UsageError, with the line in the file, for what cannot be weighed;
    NotBuiltError; InterruptedBeforeStart.
    """
    options, recipe = with_absolute_paths(_with_seed(options, world)), recipe_of(project, targets, options, world)
    with enter_folder(project.folder):  # errors that need no build come first
        for planned in _PlannedTarget.of_each(project, targets, options, world):
            planned.refuse_mistakes(recipe.of_one(planned.target.name))
    with sides_of(project, recipe, options, watch, world) as sides, enter_folder(project.folder):
        parts, left_out = _parts_of(project, targets, sides, options, world)
        yield ProjectPlan(parts, options.judging.max_time or project.compare.max_time, left_out)


def chosen_targets(project: Project, patterns: Sequence[str], options: Options) -> tuple[dict[int, Target], list[str]]:
    """Return the targets that fit one of the patterns (all, without any) by their place in the file, and notes.

    Commands that are not among the benchmarks that `options` choose are left out, as the notes say: each is a
    benchmark with its target's name, or one for all values of its parameters, and has no tags. Which benchmarks a
    harness has is known only when it lists them. Raises UsageError if no target is left, and for options that are only
    for commands, or for a single suite.
    """
    targets, suite = _matching_targets(project, patterns, options), options.suite
    chosen = {
        position: target
        for position, target in targets.items()
        if target.harness is not None or (not suite.tag and values_of(target, suite.benchmark or []))
    }
    others = [target.name for position, target in targets.items() if position not in chosen]
    if not chosen:
        commands = targets.values()
        names = [command_line(names_with(one, values)[-1:]) for one in commands for values in values_of(one)]
        raise UsageError(
            f"--benchmark and --tag choose none of the commands, which go by their names: {some_names(names)}"
        )
    return chosen, [f"{name}: a command that is not among those asked for, so it is left out" for name in others]


def _matching_targets(project: Project, patterns: Sequence[str], options: Options) -> dict[int, Target]:
    """Return the targets that fit one of the patterns, whatever benchmarks are asked for.

    Raises UsageError if there are none, and for options that are only for commands, or for a single suite.
    """
    for field in _FIELDS_OF_COMMANDS:
        if field in options.given:
            raise UsageError(
                f"{options.given[field]} is of commands: give them, or say it in a [[target]] of {project.file}"
            )
    targets = dict(enumerate(project.targets))
    if not targets:
        raise UsageError(f'{project.file} has no [[target]]: add one with its name = "..." and command = "..."')
    names = [target.name for target in targets.values()]
    for pattern in patterns:
        if not fits(names, [pattern]):
            nearest_first = [*dict.fromkeys([*get_close_matches(pattern, names), *names])]
            raise UsageError(f"--target {pattern!r} is none of {project.file}: it has {some_names(nearest_first)}")
    chosen = {position: target for position, target in targets.items() if fits([target.name], patterns or names)}
    if options.suite.shard is not None and len(chosen) > 1:
        several = some_names([target.name for target in chosen.values()])
        raise UsageError(
            f"--shard is a part of one target's benchmarks, and here are several ({several}): choose one with "
            "--target, each in jobs of its own"
        )
    return chosen


@contextmanager
def sides_of(project: Project, recipe: Recipe, options: Options, watch: Watch, world: World) -> Iterator[Sides]:
    """Build the baseline and the candidate of a project by its recipe; they exist as long as the context lasts."""
    from steelyard.subjects.revisions.sides import check_relative, side_of

    layouts = layouts_to_build(_with_layouts(project, options).weighing, recipe)
    with built_sides(
        options.revisions, project.folder, recipe, layouts, watch, world, may_be_new=True, known=known_targets
    ) as found:
        repository, built = found
        baseline, candidate = (side_of(builds, builds[0].revision.label) for builds in built)

        def findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
            check_relative(repository, subjects[0].command)
            return findings_of(repository, built, subjects, settings, world)

        yield Sides(baseline, candidate, recipe, findings)


def with_absolute_paths(options: Options) -> Options:
    """Return what is asked with absolute paths for the launches' files, as this process will change its folder."""
    launch = options.launch
    stdin, output = (path and Path.cwd() / path for path in (launch.stdin, launch.output))
    return replace(options, launch=replace(launch, stdin=stdin, output=output))


def _with_seed(options: Options, world: World) -> Options:
    """Return what is asked with one seed for all weighings."""
    seed = world.new_seed() if options.launch.seed is None else options.launch.seed
    return replace(options, launch=replace(options.launch, seed=seed))


def _with_layouts(project: Project, options: Options) -> Options:
    """Return what is asked with the layouts of the project's file, unless others are asked for."""
    layouts = project.build.layouts or 1
    if options.weighing.is_given("layouts") or layouts == 1:
        return options
    return replace(options, weighing=replace(options.weighing, layouts=layouts))


def _parts_of(
    project: Project, targets: Mapping[int, Target], sides: Sides, options: Options, world: World
) -> tuple[list[Part], list[str]]:
    """Return the weighings of these targets on both sides, and what to say of those left out, as the first one does."""
    parts, left_out = list[Part](), list[str]()
    for planned in _PlannedTarget.of_each(project, targets, options, world):
        with planned.errors_located():
            part = planned.part(sides.of_target(planned.target.name))
        if isinstance(part, Part):
            parts.append(part)
        else:
            left_out.append(part)
    if not parts:
        return [_part_of_new_commands(project, targets, sides, options, world, left_out[0])], []
    joined = join_parts(parts, parts[0].request.settings.alpha)
    told = [Finding(code="added", message=message) for message in left_out]
    place = next((place for place, part in enumerate(joined) if part.error is None), 0)
    request = joined[place].request
    joined[place] = replace(joined[place], request=replace(request, findings=[*request.findings, *told]))
    return joined, left_out


def _part_of_new_commands(
    project: Project, targets: Mapping[int, Target], sides: Sides, options: Options, world: World, why: str
) -> Part:
    """Return an empty weighing that says that only the candidate has these commands.

    Raises UsageError if the baseline may have one of them elsewhere.
    """
    from steelyard.subjects.revisions.sides import new_file

    of_targets = [(sides.of_target(target.name), target.command) for target in targets.values()]
    if not all(
        one.baseline.lacks_target or new_file(one.baseline, one.candidate, command) for one, command in of_targets
    ):
        message = f"{sides.baseline.name} has none of the commands of {project.file}: there is nothing to compare"
        raise UsageError(f"{message} ({why})")
    planned = _PlannedTarget.of_each(project, targets, options, world)[0]
    return planned.part_of_new_commands(sides, [target.name for target in targets.values()])


@dataclass(frozen=True)
class _PlannedTarget(AskedTarget):
    """One target to be weighed."""

    judged: ClassVar[bool] = True

    def part(self, sides: Sides) -> Part | str:
        """Return its weighing, which tells of a new suite; for a command that only the candidate has, return a note."""
        from steelyard.subjects.revisions.sides import new_file, subject_in

        options = self.target_options()
        settings = self.with_margins(self.settings(options, sides.recipe))
        if (error := sides.candidate.error or sides.baseline.error) is not None:
            return self._not_built(sides, options, settings, error)
        candidate = self._side_subject(sides.candidate, "candidate", options)
        missing = new_file(sides.baseline, sides.candidate, self.target.command)
        left_out = f"{self.target.name} is not in {sides.baseline.name}, so it is not compared"
        if sides.baseline.lacks_target:
            return f"{left_out}: {LACKED}"
        try:
            baseline = self._side_subject(sides.baseline, "baseline", options)
        except UsageError as error:
            if settings.harness is None or missing is None:
                return f"{left_out}: {error}"
            baseline = subject_in(sides.baseline, candidate)
        if settings.harness is None and missing is not None:
            return f"{left_out}: there is no {missing}"
        request = self.with_chosen_values(whole_request_of(options, [baseline, candidate], settings))
        findings = sides.findings(request.subjects, settings)
        selection = replace(self.selection(request.selection), not_in_baseline=missing)
        request = replace(request, findings=findings, selection=selection)
        return Part([self.target.name], request, self.own_margin(), shares_time=self._shares_time())

    def _not_built(self, sides: Sides, options: Options, settings: Settings, error: NotBuiltError) -> Part:
        """Return a weighing that fails, as a side's build of this target has."""
        from steelyard.design.request import Request
        from steelyard.model.subject import Benchmark

        command, shell = self.target.command, options.launch.shell
        subjects = [side.without_program(command, shell=shell) for side in (sides.baseline, sides.candidate)]
        benchmarks = [Benchmark(name=self.target.name)] if settings.harness is None else []
        request = Request(subjects, settings, benchmarks=benchmarks)
        return Part([self.target.name], request, self.own_margin(), error=error)

    def part_of_new_commands(self, sides: Sides, names: Sequence[str]) -> Part:
        """Return a weighing of nothing, since the baseline has none of these."""
        from steelyard.design.request import Request
        from steelyard.subjects.revisions.sides import subject_in

        options = self.target_options()
        candidate = self._side_subject(sides.candidate, "candidate", options)
        subjects = [subject_in(sides.baseline, candidate), candidate]
        missing = f"{'such ' if len(names) < len(self.project.targets) else ''}command of {self.project.file}"
        finding = new_suite_finding(sides.baseline.name, sides.candidate.name, names, missing)
        return Part(names, Request(subjects, self.settings(options, sides.recipe), findings=[finding]))

    def _side_subject(self, side: Side, role: str, options: Options) -> Subject:
        return side.subject(self.target.command, role, shell=options.shell, search_path=self.world.search_path)

    def target_options(self) -> Options:
        """Return what is asked of it, without what its metrics make no use of."""
        options = self.options_with_file(_with_layouts(self.project, self.options))
        return options_of_target(
            options, self._metrics(self.target), [self._metrics(other) for other in self.other_targets]
        )

    def _metrics(self, target: Target) -> list[str]:
        """Return the metrics of a target: those of the command line, of the target, or of the project."""
        in_file = target.metrics or self.project.compare.metrics
        return metric_names(self.options.judging.metric if self.options.judging.is_given("metric") else in_file)

    def _shares_time(self) -> bool:
        """Return whether a time is given for all targets together, and this one is timed and has none of its own."""
        if not timed(self._metrics(self.target)):
            return False
        if self.options.judging.is_given("max_time"):
            return True
        return self.target.max_time is None and self.project.compare.max_time is not None
