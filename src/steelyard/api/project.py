"""The weighings of a project's file: its targets, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.api.asked import Asked
from steelyard.api.keywords import is_asked, place_of
from steelyard.api.layouts import layouts_built
from steelyard.api.parameters import listed
from steelyard.api.recipe import known_targets, named, recipe_of, without_secrets
from steelyard.api.revisions import built_sides, findings_of
from steelyard.api.settings import parameters_of, request_of, settings_of
from steelyard.api.streams import input_of_launches
from steelyard.api.untimed import of_target
from steelyard.api.wording import split_option
from steelyard.design.findings import new_suite_finding, some_names
from steelyard.design.folders import entered
from steelyard.design.several import Part, joined
from steelyard.design.suite.selection import Selection
from steelyard.design.world import World
from steelyard.model.errors import UsageError
from steelyard.model.kept import Finding
from steelyard.model.metrics import timed
from steelyard.model.patterns import fits, is_chosen, left_out_by
from steelyard.model.progress import Watch
from steelyard.model.project import Compare, Target
from steelyard.model.project_file import Project
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.model.values import AUTO, metric_names

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
        return replace(
            self, baseline=self.baseline.of_target(name), candidate=self.candidate.of_target(name), recipe=recipe
        )


# Settings for all targets that mean nothing for those with a harness.
_OF_PLAIN_COMMANDS = frozenset({"reference_output", "repeat", "shell", "ignore_failure"})
# Keys of a section that are no part of what is asked of a weighing.
_SAID_APART = frozenset({"name", "command", "build", "margin", "margins"})
# Fields for commands on the command line; in a project, each target has its own.
_OF_COMMANDS = ("name", "names", "harness", "parameter_list", "parameter_scan")


@dataclass(frozen=True)
class ProjectPlan:
    """The weighings of a project, to be measured one after the other."""

    parts: Sequence[Part]
    total_s: float | None
    """How long all parts that share their time may take together, in s; None if nothing says so."""
    left_out: Sequence[str]
    """What to say of targets that cannot be compared because the baseline lacks them."""


@contextmanager
def planned(
    project: Project, targets: Mapping[int, Target], asked: Asked, watch: Watch, world: World
) -> Iterator[ProjectPlan]:
    """Return the weighings of these targets, with both sides built; this process is meanwhile in the project's folder.

    `watch` is told about the builds. Raises UsageError, with the line in the file, for what cannot be weighed;
    NotBuiltError; InterruptedBeforeStart.
    """
    asked, recipe = _from_here(_with_seed(asked, world)), recipe_of(project, targets, asked, world)
    with entered(project.folder):  # errors that need no build come first
        for place, target in targets.items():
            _Planned(project, place, target, asked, world, beside=_without(targets, place)).check(
                recipe.of_one(target.name)
            )
    with sides_of(project, recipe, asked, watch, world) as sides, entered(project.folder):
        parts, left_out = _parts_of(project, targets, sides, asked, world)
        yield ProjectPlan(parts, asked.judging.max_time or project.compare.max_time, left_out)


def chosen_targets(project: Project, patterns: Sequence[str], asked: Asked) -> tuple[dict[int, Target], list[str]]:
    """Return the targets that fit one of the patterns (all, without any) by their place in the file, and notes.

    Commands that are not among the benchmarks `asked` for are left out, as the notes say. Raises UsageError if no
    target is left, and for what is `asked` only of commands, or of a single suite.
    """
    return _asked_for(_fitting(project, patterns, asked), asked)


def _fitting(project: Project, patterns: Sequence[str], asked: Asked) -> dict[int, Target]:
    """Return the targets that fit one of the patterns, whatever benchmarks are asked for.

    Raises UsageError if there are none, and for what is `asked` only of commands, or of a single suite.
    """
    for field in _OF_COMMANDS:
        if field in asked.given:
            raise UsageError(
                f"{asked.given[field]} is of commands: give two of them, or say it in a [[target]] of {project.file}"
            )
    targets = dict(enumerate(project.targets))
    if not targets:
        raise UsageError(f'{project.file} has no [[target]]: add one with its name = "..." and command = "..."')
    names = [target.name for target in targets.values()]
    for pattern in patterns:
        if not fits(names, [pattern]):
            raise UsageError(f"--target {pattern!r} is none of {project.file}: it has {some_names(names)}")
    chosen = {place: target for place, target in targets.items() if fits([target.name], patterns or names)}
    if asked.suite.shard is not None and len(chosen) > 1:
        several = some_names([target.name for target in chosen.values()])
        raise UsageError(
            f"--shard is a part of one target's benchmarks, and here are several ({several}): choose one with "
            "--target, each in jobs of its own"
        )
    return chosen


def _asked_for(targets: Mapping[int, Target], asked: Asked) -> tuple[dict[int, Target], list[str]]:
    """Return the targets that may have benchmarks that `asked` chooses, and notes about the others.

    A plain command is one benchmark with its target's name and no tags; which benchmarks a harness has is known only
    when it lists them. Raises UsageError if all targets are commands and none is chosen.
    """
    suite = asked.suite
    chosen = {
        place: target
        for place, target in targets.items()
        if target.harness is not None or (not suite.tag and is_chosen([target.name], suite.benchmark or []))
    }
    others = [target.name for place, target in targets.items() if place not in chosen]
    if not chosen:
        raise UsageError(
            f"--benchmark and --tag choose none of the commands, which go by their names: {some_names(others)}"
        )
    return chosen, [f"{name}: a command that is not among those asked for, so it is left out" for name in others]


@contextmanager
def sides_of(project: Project, recipe: Recipe, asked: Asked, watch: Watch, world: World) -> Iterator[Sides]:
    """Build the baseline and the candidate of a project by its recipe; they exist as long as the context lasts."""
    from steelyard.subjects.revisions.sides import check_relative, side_of

    layouts = layouts_built(_with_layouts(project, asked).weighing, recipe)
    with built_sides(
        asked.revisions, project.folder, recipe, layouts, watch, world, may_be_new=True, known=known_targets
    ) as found:
        repository, built = found
        baseline, candidate = (side_of(builds, builds[0].revision.label) for builds in built)

        def findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
            check_relative(repository, subjects[0].command)
            return findings_of(repository, built, subjects, settings, world)

        yield Sides(baseline, candidate, recipe, findings)


def _from_here(asked: Asked) -> Asked:
    """Return what is asked with absolute paths for the launches' files, as this process will change its folder."""
    launch = asked.launch
    stdin, output = (path and Path.cwd() / path for path in (launch.stdin, launch.output))
    return replace(asked, launch=replace(launch, stdin=stdin, output=output))


def _with_seed(asked: Asked, world: World) -> Asked:
    """Return what is asked with one seed for all weighings."""
    seed = world.new_seed() if asked.launch.seed is None else asked.launch.seed
    return replace(asked, launch=replace(asked.launch, seed=seed))


def _with_layouts(project: Project, asked: Asked) -> Asked:
    """Return what is asked with the layouts of the project's file, unless others are asked for."""
    layouts = project.build.layouts or 1
    if asked.weighing.chooses("layouts") or layouts == 1:
        return asked
    return replace(asked, weighing=replace(asked.weighing, layouts=layouts))


def _parts_of(
    project: Project, targets: Mapping[int, Target], sides: Sides, asked: Asked, world: World
) -> tuple[list[Part], list[str]]:
    """Return the weighings of these targets on both sides, and what to say of those left out."""
    parts, left_out = list[Part](), list[str]()
    for place, target in targets.items():
        one = _Planned(project, place, target, asked, world, beside=_without(targets, place))
        try:
            part = one.part(sides.of_target(target.name))
        except UsageError as error:
            raise one.explained(error) from error
        if isinstance(part, Part):
            parts.append(part)
        else:
            left_out.append(part)
    if not parts:
        return [_of_new_commands(project, targets, sides, asked, world, left_out[0])], []
    return joined(parts, parts[0].request.settings.alpha), left_out


def _of_new_commands(
    project: Project, targets: Mapping[int, Target], sides: Sides, asked: Asked, world: World, why: str
) -> Part:
    """Return an empty weighing that says that only the candidate has these commands.

    Raises UsageError if the baseline may have one of them elsewhere.
    """
    from steelyard.subjects.revisions.sides import new_file

    of_targets = [(sides.of_target(target.name), target.command) for target in targets.values()]
    if not all(
        one.baseline.lacks_target or new_file(one.baseline, one.candidate, command) for one, command in of_targets
    ):
        said = f"{sides.baseline.name} has none of the commands of {project.file}: there is nothing to compare"
        raise UsageError(f"{said} ({why})")
    place, target = next(iter(targets.items()))
    one = _Planned(project, place, target, asked, world, beside=_without(targets, place))
    return one.new(sides, [target.name for target in targets.values()])


def _without(targets: Mapping[int, Target], place: int) -> list[Target]:
    return [target for other, target in targets.items() if other != place]


@dataclass(frozen=True)
class _Planned:
    """One target, with what is asked of it."""

    project: Project
    place: int
    target: Target
    asked: Asked
    world: World
    beside: Collection[Target]
    """The other targets that are weighed."""

    def check(self, recipe: Recipe) -> None:
        """Raise UsageError, with the line in the file, for anything wrong with it that no build can mend."""
        try:
            asked = self._all_asked()
            if asked.launch.cpu == AUTO:  # the quietest one is only determined after the builds
                asked = replace(asked, launch=replace(asked.launch, cpu=None))
            self._settings(asked, recipe)
            parameters_of(asked, [self.target.command])
        except UsageError as error:
            raise self.explained(error) from error

    def _settings(self, asked: Asked, recipe: Recipe | None) -> Settings:
        given = named(self.asked)
        world = replace(self.world, environment=without_secrets(self.world.environment, given))
        return settings_of(asked, world, commands=[self.target.command], judged=True, recipe=recipe)

    def part(self, sides: Sides) -> Part | str:
        """Return its weighing, which tells of a new suite; for a command that only the candidate has, return a note."""
        from steelyard.subjects.revisions.sides import as_in, new_file

        asked = self._all_asked()
        settings = self._with_margins(self._settings(asked, sides.recipe))
        if (error := sides.candidate.error or sides.baseline.error) is not None:
            return self._not_built(sides, asked, settings, error)
        candidate = self._subject(sides.candidate, "candidate", asked)
        missing = new_file(sides.baseline, sides.candidate, self.target.command)
        left_out = f"{self.target.name} is not in {sides.baseline.name}, so it is not compared"
        if sides.baseline.lacks_target:
            return f"{left_out}: its build fails there, and the project's file there does not have it yet"
        try:
            baseline = self._subject(sides.baseline, "baseline", asked)
        except UsageError as error:
            if settings.harness is None or missing is None:
                return f"{left_out}: {error}"
            baseline = as_in(sides.baseline, candidate)
        if settings.harness is None and missing is not None:
            return f"{left_out}: there is no {missing}"
        request = request_of(asked, [baseline, candidate], settings)
        findings = sides.findings(request.subjects, settings)
        selection = replace(self._selection(request.selection), not_in_baseline=missing)
        request = replace(request, findings=findings, selection=selection)
        return Part([self.target.name], request, self._margin(), shares_time=self._shares_time())

    def _not_built(self, sides: Sides, asked: Asked, settings: Settings, error: NotBuiltError) -> Part:
        """Return a weighing that fails, as a side's build of this target has."""
        from steelyard.design.request import Request
        from steelyard.model.subject import Benchmark

        command, shell = self.target.command, asked.launch.shell
        subjects = [side.without_program(command, shell=shell) for side in (sides.baseline, sides.candidate)]
        benchmarks = [Benchmark(name=self.target.name)] if settings.harness is None else []
        request = Request(subjects, settings, benchmarks=benchmarks)
        return Part([self.target.name], request, self._margin(), error=error)

    def new(self, sides: Sides, names: Sequence[str]) -> Part:
        """Return a weighing of nothing, since the baseline has none of these."""
        from steelyard.design.request import Request
        from steelyard.subjects.revisions.sides import as_in

        asked = self._all_asked()
        candidate = self._subject(sides.candidate, "candidate", asked)
        subjects = [as_in(sides.baseline, candidate), candidate]
        missing = f"command of {self.project.file}"
        found = new_suite_finding(sides.baseline.name, sides.candidate.name, names, missing)
        return Part(names, Request(subjects, self._settings(asked, sides.recipe), findings=[found]))

    def _subject(self, side: Side, role: str, asked: Asked) -> Subject:
        search_path = self.world.environment.get("PATH")
        return side.subject(self.target.command, role, shell=asked.launch.shell, search_path=search_path)

    def _all_asked(self) -> Asked:
        """Return what is asked; what that leaves open is the target's own, else what the file says of all targets."""
        found: dict[str, dict[str, Any]] = {}
        for section in (self.project.compare, self.target):
            for key in type(section).model_fields.keys() - _SAID_APART:
                (group, name), value = place_of(key), getattr(section, key)
                if section is not self.target and self.target.harness and key in _OF_PLAIN_COMMANDS:
                    continue
                if value is not None and not getattr(self.asked, group).chooses(name):
                    found.setdefault(group, {})[name] = self._as_option(key, value)
        asked = _with_layouts(self.project, self.asked)
        if self.target.harness is None and (suite := asked.suite).given:  # they chose the whole command
            asked = replace(asked, suite=replace(suite, benchmark=None, tag=None))
        asked = replace(asked, **{group: replace(getattr(asked, group), **values) for group, values in found.items()})
        return of_target(asked, self._metrics(self.target), [self._metrics(other) for other in self.beside])

    def _metrics(self, target: Target) -> list[str]:
        """Return the metrics of a target: those of the command line, of the target, or of the project."""
        in_file = target.metrics or self.project.compare.metrics
        return metric_names(self.asked.judging.metric if self.asked.judging.chooses("metric") else in_file)

    def _as_option(self, key: str, value: Any) -> Any:
        """Return a value of the file as its option would have it."""
        if key == "stdin":
            return input_of_launches("--stdin", value)
        if key == "environment":  # one file serves many machines: what is not set on this one is not passed on
            return [one for one in value if "=" in one or one in self.world.environment]
        if key == "parameters":
            return listed(value)
        return value

    def _margin(self) -> float | None:
        return None if self.asked.judging.chooses("margin") else self.target.margin

    def _with_margins(self, settings: Settings) -> Settings:
        compare: Compare = self.project.compare
        update: dict[str, Any] = {"directory": str(self.project.folder)}
        if not self.asked.judging.chooses("margin"):
            usual = settings.margin if compare.margin is None else compare.margin
            update |= {"margin": usual, "margins": compare.margins}
        return settings.model_copy(update=update)

    def _selection(self, selection: Selection) -> Selection:
        """Return which benchmarks to measure; patterns of the command line apply to all targets together."""
        suite = self.asked.suite
        left_out = [pattern for one in suite.benchmark or [] if (pattern := left_out_by(one)) is not None]
        commands = [target.name for target in self.project.targets if target.harness is None]
        is_alone = not self.beside and not fits(commands, left_out)
        is_of_all = bool({"benchmark", "tag"} & {*suite.given}) and not is_alone
        return replace(selection, of_several=is_of_all)

    def _shares_time(self) -> bool:
        """Return whether a time is given for all targets together, and this one is timed and has none of its own."""
        if not timed(self._metrics(self.target)):
            return False
        if self.asked.judging.chooses("max_time"):
            return True
        return self.target.max_time is None and self.project.compare.max_time is not None

    def explained(self, error: UsageError) -> UsageError:
        """Return the error with the line in the file that it is about.

        That is the key's line if the error begins with an option, else the command's.
        """
        said = str(error)
        split = split_option(said)
        if split is None:
            return UsageError(f"{self.project.at('target', self.place, 'command')}: {said}")
        if is_asked(self.asked, split[0]):
            return error
        key = split[0].replace("_", "-")
        for section in (("target", self.place), ("compare",), ("build",)):
            if (*section, key) in self.project.lines:
                return UsageError(f"{self.project.at(*section, key)}: {key}{split[1]}")
        return error
