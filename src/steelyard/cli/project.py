"""`steelyard compare` without commands: the targets of the project's file, on both of its sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.api.keywords import KEYS
from steelyard.api.layouts import layouts_built
from steelyard.api.parameters import listed
from steelyard.api.settings import request_of, settings_of
from steelyard.cli.inputs import STANDARD_STREAM, input_of_launches
from steelyard.cli.options import FileOptions
from steelyard.cli.say import say
from steelyard.design.several import Part, joined
from steelyard.design.world import World
from steelyard.model.errors import UsageError
from steelyard.model.patterns import fits
from steelyard.model.project import Compare, Target
from steelyard.model.project_file import Project
from steelyard.model.records import Finding, Settings, Subject
from steelyard.model.secrecy import is_secret
from steelyard.report.plain import one_line

if TYPE_CHECKING:
    from steelyard.cli.compare import CompareOptions
    from steelyard.subjects.revisions.builds import Recipe
    from steelyard.subjects.revisions.sides import Side


@dataclass(frozen=True)
class Sides:
    """The two sides of a project."""

    baseline: Side
    candidate: Side
    recipe: Recipe | None = None
    """How they were built."""
    findings: Callable[[Sequence[Subject], Settings], list[Finding]] = lambda *_: []
    """What is known of a target's two subjects, and of the environment that they find, before they are measured."""


# What is said of all targets, and means nothing where a harness drives the benchmarks.
_OF_PLAIN_COMMANDS = frozenset({"reference_output", "repeat", "shell", "ignore_failure"})
# Options whose names are not those of their keys; a sentence about one is about that key, if the file has it.
_KEYS = {
    "--metric": "metrics",
    "--benchmark": "benchmarks",
    "--tag": "tags",
    "--env": "environment",
    "--inherit-env": "inherit-environment",
    "--parameter-list": "parameters",
}
# Of commands that stand on the command line; in a project each target says its own.
_OF_COMMANDS = ("name", "names", "harness", "parameter_list", "parameter_scan")


def chosen_targets(project: Project, options: CompareOptions) -> dict[int, Target]:
    """The targets that are asked for, by their place in the file; raises UsageError if there are none."""
    for field in _OF_COMMANDS:
        if field in options.given:
            raise UsageError(
                f"{options.given[field]} is of commands: give two of them, or say it in a [[target]] of {project.file}"
            )
    targets = dict(enumerate(project.targets))
    if not targets:
        raise UsageError(f'{project.file} has no [[target]]: add one with its name = "..." and command = "..."')
    names = [target.name for target in targets.values()]
    for pattern in options.target or []:
        if not fits(names, [pattern]):
            raise UsageError(f"--target {pattern!r} is none of {project.file}: it has {', '.join(names)}")
    wanted = options.target or names
    return {place: target for place, target in targets.items() if fits([target.name], wanted)}


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


def without_secrets(environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """What may reach commands that a project's file names: all but what looks like a secret and is not `named`."""
    return {name: value for name, value in environment.items() if name in named or not is_secret(name, value)}


def build_variables(project: Project, environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """What a project's build finds beside what every build does."""
    known = without_secrets(environment, named)
    own = {name: known[name] for name in project.build.environment if name in known}
    return {**own, **dict(one.split("=", 1) for one in project.build.environment if "=" in one)}


@contextmanager
def sides_of(project: Project, options: CompareOptions, world: World) -> Iterator[Sides]:
    """The baseline and the candidate of a project, built as it says, for as long as they are measured."""
    from steelyard.cli.revisions import built_sides, findings_of
    from steelyard.subjects.revisions.builds import Recipe
    from steelyard.subjects.revisions.sides import check_relative, side_of

    asked, build = options.revisions, project.build
    recipe = Recipe(
        build.command if asked.build is None else asked.build,
        build_variables(project, world.environment, _named(options)),
        asked.build_timeout if build.timeout is None or "build_timeout" in asked.given else build.timeout,
    )
    layouts = layouts_built(_with_layouts(project, options).weighing, recipe)
    with built_sides(asked, project.folder, recipe, layouts, world) as (repository, built):
        baseline, candidate = (side_of(builds, builds[0].revision.label) for builds in built)

        def findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
            check_relative(repository, subjects[0].command)
            return findings_of(repository, built, subjects, settings)

        yield Sides(baseline, candidate, recipe, findings)


def _with_layouts(project: Project, options: CompareOptions) -> CompareOptions:
    """The options with the layouts of the project's file, unless the command line says how many."""
    layouts = project.build.layouts or 1
    if "layouts" in options.weighing.given or layouts == 1:
        return options
    return replace(options, weighing=replace(options.weighing, layouts=layouts))


def _named(options: CompareOptions) -> list[str]:
    """The variables that the command line passes on by name."""
    return [one.partition("=")[0] for one in options.launch.env or []]


def parts_of(
    project: Project, targets: Mapping[int, Target], sides: Sides, options: CompareOptions, world: World
) -> list[Part]:
    """The weighings that these targets make on both sides.

    A command that the baseline has not is said and left out. Raises UsageError, with the line of the file, for what
    cannot be weighed.
    """
    seeded = replace(options.launch, seed=world.new_seed() if options.launch.seed is None else options.launch.seed)
    options = replace(options, launch=seeded)
    parts = []
    for place, target in targets.items():
        one = _Planned(project, place, target, options, world)
        try:
            part = one.part(sides)
        except UsageError as error:
            raise one.explained(error) from error
        if part is not None:
            parts.append(part)
    if not parts:
        raise UsageError(
            f"{sides.baseline.name} has none of the commands of {project.file}: there is nothing to compare"
        )
    return joined(parts, parts[0].request.settings.alpha)


@dataclass(frozen=True)
class _Planned:
    """One target, with the options that hold for it."""

    project: Project
    place: int
    target: Target
    asked: CompareOptions
    world: World

    def part(self, sides: Sides) -> Part | None:
        """Its weighing; None for a command that only the candidate has."""
        options = self._options()
        named = _named(self.asked)
        world = replace(self.world, environment=without_secrets(self.world.environment, named))
        commands = [self.target.command]
        settings = settings_of(options, world, commands=commands, judged=True, recipe=sides.recipe)
        settings = self._with_margins(settings)
        candidate = self._subject(sides.candidate, "candidate", options)
        try:
            baseline = self._subject(sides.baseline, "baseline", options)
        except UsageError as error:
            say(f"{self.target.name} is not in {sides.baseline.name}, so it is not compared: {error}")
            return None
        request = request_of(options, [baseline, candidate], settings)
        findings = sides.findings(request.subjects, settings)
        request = replace(request, findings=findings)
        return Part([self.target.name], request, self._margin(), shares_time=self._shares_time())

    def _subject(self, side: Side, role: str, options: CompareOptions) -> Subject:
        search_path = self.world.environment.get("PATH")
        return side.subject(self.target.command, role, shell=options.launch.shell, search_path=search_path)

    def _options(self) -> CompareOptions:
        """Those of the command line, and behind them the target's own, and behind these what the file says of all."""
        found: dict[str, dict[str, Any]] = {}
        for section in (self.project.compare, self.target):
            for key, (group, name) in KEYS.items():
                value = getattr(section, key, None)
                if section is not self.target and self.target.harness and key in _OF_PLAIN_COMMANDS:
                    continue
                if value is not None and name not in getattr(self.asked, group).given:
                    found.setdefault(group, {})[name] = self._as_option(key, value)
        asked = _with_layouts(self.project, self.asked)
        return replace(asked, **{group: replace(getattr(asked, group), **values) for group, values in found.items()})

    def _as_option(self, key: str, value: Any) -> Any:
        """A value of the file, as the option would have it."""
        if key == "stdin":
            return input_of_launches(key, value)
        if key == "environment":  # one file serves many machines: what is not set here is not passed on
            return [one for one in value if "=" in one or one in self.world.environment]
        if key == "parameters":
            return listed(value)
        return value

    def _margin(self) -> float | None:
        return None if "margin" in self.asked.judging.given else self.target.margin

    def _with_margins(self, settings: Settings) -> Settings:
        compare: Compare = self.project.compare
        update: dict[str, Any] = {"directory": str(self.project.folder)}
        if "margin" not in self.asked.judging.given:
            usual = settings.margin if compare.margin is None else compare.margin
            update |= {"margin": usual, "margins": compare.margins}
        return settings.model_copy(update=update)

    def _shares_time(self) -> bool:
        """Whether a time was said for all targets together, and this one has none of its own."""
        if "max_time" in self.asked.judging.given:
            return True
        return self.target.max_time is None and self.project.compare.max_time is not None

    def explained(self, error: UsageError) -> UsageError:
        """The error, with the line that it is about: of an option's name the key's, else that of the command."""
        said = str(error)
        match = re.match(r"(--[a-z-]+)", said)
        if match is None:
            return UsageError(f"{self.project.at('target', self.place, 'command')}: {said}")
        key = _KEYS.get(match[1], match[1].removeprefix("--"))
        for section in (("target", self.place), ("compare",), ("build",)):
            if (*section, key) in self.project.lines:
                return UsageError(f"{self.project.at(*section, key)}: {key}{said[match.end() :]}")
        return error


def from_here(options: CompareOptions) -> CompareOptions:
    """The options with the files that the command line names by where they are, wherever this process will be."""
    files, launch = options.files, options.launch
    return replace(
        options,
        files=FileOptions(
            json=_absolute(files.json),
            markdown=_absolute(files.markdown),
            csv=_absolute(files.csv),
            html=_absolute(files.html),
        ),
        launch=replace(launch, stdin=_absolute(launch.stdin), output=_absolute(launch.output)),
    )


def _absolute(path: Path | None) -> Path | None:
    return path if path is None or path == STANDARD_STREAM else Path.cwd() / path
