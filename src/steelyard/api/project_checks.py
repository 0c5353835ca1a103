"""The checks of a project's targets, as they are in one revision: by default in the work tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.api.checks import check_limit
from steelyard.api.hooks import with_values_around
from steelyard.api.options import HOOKS, Options
from steelyard.api.recipe import LACKED, known_targets, recipe_of
from steelyard.api.revisions import built_side, findings_of
from steelyard.api.settings import request_of
from steelyard.api.targets import LAUNCH_KEYS, AskedTarget
from steelyard.design.check.session import CheckRequest
from steelyard.design.folders import enter_folder
from steelyard.design.request import Request
from steelyard.design.world import World
from steelyard.model.errors import NothingChosenError, SteelyardError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.placeholders import describe_values, with_values
from steelyard.model.progress import Watch
from steelyard.model.project import Target
from steelyard.model.project_file import Project
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import with_parameters
from steelyard.subjects.revisions.checkout import NotBuiltError

if TYPE_CHECKING:
    from steelyard.subjects.revisions.recipe import Recipe
    from steelyard.subjects.revisions.sides import Side

_SIDES = 2
_ROLE = "checked"


@dataclass(frozen=True, kw_only=True)
class TargetCheck(CheckRequest):
    """One check: of the benchmarks inside a target's program, or of its command with one combination of parameters."""

    name: str
    """Of the target, with the values of its parameters."""
    error: SteelyardError | None = None
    """Why it cannot be tried at all."""


@dataclass(frozen=True)
class BuiltSide:
    """The revision in which a project's targets are checked."""

    side: Side
    findings: Callable[[Subject, Settings], list[Finding]] = lambda *_: []
    """Returns the findings about a target's subject, and the environment it runs in."""
    new_file: Callable[[str], str | None] = lambda _: None
    """Returns the file that a command names and that the work tree has, and this revision not; None for none."""


@contextmanager
def project_checks(
    project: Project, targets: Mapping[int, Target], options: Options, max_time: float, watch: Watch, world: World
) -> Iterator[list[TargetCheck]]:
    """Return the checks of these targets, which are built; this process is meanwhile in the project's folder.

    `watch` is told about the builds. Raises UsageError, with the line in the file, for what cannot be checked;
    NotBuiltError; InterruptedBeforeStart.
    """
    check_limit(max_time)
    recipe = recipe_of(project, targets, options, world)
    checked = _CheckedTarget.of_each(project, targets, options, world)
    with enter_folder(project.folder):  # errors that need no build come first
        for one in checked:
            one.refuse_mistakes()
    with side_of_project(project, recipe, options, watch, world) as built, enter_folder(project.folder):
        checks = list[TargetCheck]()
        for one in checked:
            with one.errors_located():
                checks += one.checks(built)
        yield checks


@contextmanager
def side_of_project(
    project: Project, recipe: Recipe, options: Options, watch: Watch, world: World
) -> Iterator[BuiltSide]:
    """Build the revision that is asked for by the project's recipe; it exists as long as the context lasts."""
    from steelyard.subjects.revisions.sides import Side, check_relative, new_file, side_of

    found = built_side(options.revisions, project.folder, recipe, watch, world, known=known_targets)
    with found as (repository, builds):

        def findings(subject: Subject, settings: Settings) -> list[Finding]:
            check_relative(repository, subject.command)
            return findings_of(repository, [builds], [subject], settings, world)

        def new_in_work_tree(command: str) -> str | None:
            if options.revisions.base is None:
                return None
            here = repository.here
            file = new_file(side, Side("", [here]), command)
            if file is not None and repository.git.within(here).ask("check-ignore", "-q", "--", file).status == 0:
                return None  # it is in no revision, and what fails without it says so
            return file

        side = side_of(builds, builds[0].revision.label)
        yield BuiltSide(side, findings, new_in_work_tree)


class _CheckedTarget(AskedTarget):
    """One target to be checked."""

    def checks(self, built: BuiltSide) -> list[TargetCheck]:
        """Return its checks, one for each combination of parameters."""
        name, side, options = self.target.name, built.side.of_target(self.target.name), self.target_options()
        settings, shell = self.settings(options), options.launch.shell
        try:
            subject = self._subject_in(side, built, shell=shell)
        except (NotBuiltError, NothingChosenError) as error:
            subject = side.without_program(self.target.command, shell=shell)
            return [TargetCheck(name=name, subject=subject, settings=settings, error=error)]
        request = self.with_chosen_values(request_of(options, [subject], settings))
        findings = built.findings(subject, settings)
        values = [one.params for one in request.benchmarks] or [{}]
        return [self._check(replace(request, findings=findings), params) for params in values]

    def _subject_in(self, side: Side, built: BuiltSide, *, shell: bool) -> Subject:
        """Return its command as a subject of the side that is checked.

        Raises NotBuiltError, and NothingChosenError if another revision than the work tree does not have it: there it
        is left out, as in a weighing.
        """
        if side.error is not None:
            raise side.error
        left_out = f"not in {side.name}, so it is not checked"
        if side.lacks_target:
            raise NothingChosenError(f"{left_out}: {LACKED}")
        try:
            subject = side.subject(self.target.command, _ROLE, shell=shell, search_path=self.world.search_path)
        except UsageError as error:
            if self.options.revisions.base is None:
                raise
            raise NothingChosenError(f"{left_out}: {error}") from error
        if missing := built.new_file(self.target.command):
            raise NothingChosenError(f"{left_out}: there is no {missing}")
        return subject

    def _check(self, request: Request, params: Mapping[str, str]) -> TargetCheck:
        """Return the check with these values of its parameters."""
        (subject,), settings = request.subjects, request.settings
        name = ", ".join(filter(None, (self.target.name, describe_values(params))))
        values = self.placed(params)
        subject = with_parameters(subject, values, _ROLE)
        subject = subject.model_copy(update={"name": name, "command": with_values(subject.command, values)})
        settings, selection = with_values_around(settings, values), self.selection(request.selection)
        return TargetCheck(
            name=name, subject=subject, settings=settings, selection=selection, findings=request.findings
        )

    def target_options(self) -> Options:
        """Return what is asked of its launches; of two commands around them, that of the side that is checked."""
        options = self.options_with_file(self.options, LAUNCH_KEYS)
        launch, is_baseline = options.launch, self.options.revisions.base is not None
        own: dict[str, Any] = {
            name: commands[:1] if is_baseline else commands[1:]
            for name in HOOKS
            if len(commands := getattr(launch, name) or ()) == _SIDES
        }
        return replace(options, launch=replace(launch, **own))
