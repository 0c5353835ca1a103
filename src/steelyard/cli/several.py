"""A project's weighings, one after the other: each one's report, one summary, one exit status."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.options import HOOKS
from steelyard.api.project import ProjectPlan, chosen_targets, project_plan
from steelyard.api.unused import unused_notes
from steelyard.cli.calm import tuned
from steelyard.cli.options import FileOptions
from steelyard.cli.outcome import (
    has_failed,
    report_outcome,
    show_how_to_continue,
    show_outcome,
    show_search,
    was_interrupted,
    written,
)
from steelyard.cli.outputs import (
    absolute,
    check_apart,
    check_not_launched,
    check_writable,
    earlier_files_removed_on_error,
    is_printed,
    page_of,
    writing_files,
)
from steelyard.cli.say import say, say_error_of
from steelyard.cli.screen import output, watching
from steelyard.cli.status import INTERRUPTED, announced_status, status_of_errors
from steelyard.design.outcome import Outcome
from steelyard.design.several import Part, measure_all
from steelyard.design.world import World
from steelyard.model.derived import deciding_of
from steelyard.model.errors import NothingChosenError, SteelyardError, UsageError
from steelyard.model.project import Target
from steelyard.model.project_file import Project
from steelyard.model.records import Weighing
from steelyard.report import markdown as as_markdown
from steelyard.report import several
from steelyard.report.markup import code, document, escape
from steelyard.report.notes import Told
from steelyard.report.plain import one_line

if TYPE_CHECKING:
    from steelyard.cli.compare_options import CompareOptions
    from steelyard.report.live import LiveLine


def weigh_project(project: Project, options: CompareOptions, world: World) -> int:
    """Weigh a project's targets and return the exit status of all; raise SteelyardError as a single weighing does."""
    written = (*options.files.paths(), options.launch.output)
    check_writable(*written)
    check_apart(written, [project.folder / project.file.name])
    named_files, options = options.files, replace(options, files=_with_absolute_paths(options.files))
    targets, left_out_notes = chosen_targets(project, options.target or [], options)
    announce_commands(project, targets, is_built_so=options.revisions.build is None)
    part_files = [part_path(options.files.json, target.name) for target in targets.values()] if len(targets) > 1 else []
    with ExitStack() as meanwhile:
        with earlier_files_removed_on_error(*options.files.paths(), *part_files):
            watch = meanwhile.enter_context(watching(world))
            plan = meanwhile.enter_context(project_plan(project, targets, options, watch, world))
        watch.wipe()
        for part in plan.parts:
            check_not_launched(part.request, *options.files.paths())
        for sentence in left_out_notes:
            say(sentence)
        if len(plan.parts) > 1:
            return _ProjectWeighing(project, plan, options, named_files, watch, world).weigh()
        with _tuned(plan, options, world):
            ((_, outcome),) = measure_all(plan.parts, plan.total_s, watch, world, lambda _: None)  # it is alone
    if isinstance(outcome, SteelyardError):
        raise outcome
    _say_unused(project, [outcome], options)
    status = report_outcome(outcome, options.files, world, functions=options.functions, strict=options.strict)
    if status != INTERRUPTED:
        weighed, beside_data = [(plan.parts[0], outcome)], is_printed(*options.files.paths())
        _show_search(project, weighed, options, world, beside_data=beside_data)
    return status


@dataclass
class _ProjectWeighing:
    """Several weighings, each shown when it has ended."""

    project: Project
    plan: ProjectPlan
    options: CompareOptions
    named_files: FileOptions
    """The files as named on the command line."""
    watch: LiveLine
    world: World
    weighed: list[tuple[Part, Outcome]] = field(default_factory=list)
    results: list[several.Result] = field(default_factory=list)
    errors: list[SteelyardError] = field(default_factory=list)
    unchosen: list[Part] = field(default_factory=list)
    """Parts with none of the benchmarks asked for."""
    pages: list[str] = field(default_factory=list)
    told: Told = field(default_factory=Told)
    """The notes that were printed."""
    told_on_pages: Told = field(default_factory=Told)
    """The notes that `pages` have."""
    written: list[Path] = field(default_factory=list)
    """Written files that the user has not named: each has a target's name inserted."""

    def weigh(self) -> int:
        files, parts, interrupted = self._files(), self.plan.parts, False
        console = output(self.world.environment, beside_data=self._beside_data)
        begun = list[Part]()

        def begin(part: Part) -> None:
            several.heading(console, part.name, first=not begun)
            begun.append(part)

        with _tuned(self.plan, self.options, self.world):
            for part, outcome in measure_all(parts, self.plan.total_s, self.watch, self.world, begin):
                self.watch.wipe()
                interrupted = self._show(part, outcome, files[part.name])
                if not interrupted and part is not parts[-1]:
                    interrupted = isinstance(outcome, Outcome) and outcome.stop_came_late
                if interrupted:
                    break
        if len(self.unchosen) == len(parts):
            raise UsageError("--benchmark and --tag choose no benchmark of any target")
        settings = parts[0].request.settings
        alpha = sum(part.request.settings.alpha for part in parts if part.is_measured)
        several.summary(
            console, self.results, alpha, settings.family, len(parts) - len(self.results) - len(self.unchosen)
        )
        outcomes = [outcome for _, outcome in self.weighed]
        with writing_files(
            self.world,
            (self.options.files.markdown, lambda: "\n".join(self.pages)),
            (self.options.files.html if outcomes else None, lambda: page_of(self.world, *outcomes)),
        ):
            if self.written:
                say(f"written: {', '.join(map(str, self.written))}")
            if len(outcomes) + len(self.unchosen) == len(parts):  # else what applies to the others is not known
                _say_unused(self.project, outcomes, self.options)
        if not interrupted:
            _show_search(self.project, self.weighed, self.options, self.world, beside_data=self._beside_data)
        return INTERRUPTED if interrupted else self._status()

    def _show(self, part: Part, outcome: Outcome | SteelyardError, files: FileOptions) -> bool:
        """Show the outcome of a part; return whether the user interrupted it."""
        if isinstance(outcome, NothingChosenError):
            say(f"{part.name}: {outcome}")
            self.unchosen.append(part)
            return False
        error = outcome if isinstance(outcome, SteelyardError) else None
        if isinstance(outcome, Outcome):
            try:
                show_outcome(
                    outcome,
                    files,
                    self.world,
                    functions=self.options.functions,
                    beside_data=self._beside_data,
                    told=self.told,
                )
            except SteelyardError as failure:
                error = failure
            files = written(files, outcome, error)
            show_how_to_continue(outcome, files, self.world, beside_data=self._beside_data)
            self.weighed.append((part, outcome))
            if error is outcome.error:  # otherwise the files could not be written
                self._note_files(part, outcome)
        if error is not None:
            say_error_of(part.name, error, self.errors)
        is_interrupted = error is not None and error.exit_status == INTERRUPTED
        if error is not None and not is_interrupted:
            self.errors.append(error)
        verdicts = deciding_of(outcome.record.verdicts) if isinstance(outcome, Outcome) else []
        self.results.append(several.Result(part.name, verdicts, _benchmark_count(outcome), failed=error is not None))
        self.pages.append(_part_page(part, outcome, error, functions=self.options.functions, told=self.told_on_pages))
        return is_interrupted or (isinstance(outcome, Outcome) and was_interrupted(outcome, files))

    def _note_files(self, part: Part, outcome: Outcome) -> None:
        """Remember the files written for a part: launches only if there are any, nothing if it was stopped empty."""
        is_empty = outcome.record.is_empty()
        record = None if is_empty and not has_failed(outcome) else part_path(self.named_files.json, part.names[0])
        launches = None if is_empty else part_path(self.named_files.csv, part.names[0])
        self.written += [path for path in (record, launches) if path is not None]

    def _status(self) -> int:
        if self.errors:
            return status_of_errors(self.errors)
        verdicts = {verdict.verdict for result in self.results for verdict in result.verdicts}
        return announced_status(verdicts, self.world, strict=self.options.strict, beside_data=self._beside_data)

    @property
    def _beside_data(self) -> bool:
        return is_printed(self.options.files.markdown, self.options.files.html)

    def _files(self) -> dict[str, FileOptions]:
        """Return the files of each part, by its name; raise UsageError if one cannot be written."""
        files = self.options.files
        if is_printed(files.json, files.csv):
            raise UsageError(
                f"{len(self.plan.parts)} weighings are as many records: give --json and --csv a file's name"
            )
        files_of_parts = {
            part.name: FileOptions(json=part_path(files.json, part.names[0]), csv=part_path(files.csv, part.names[0]))
            for part in self.plan.parts
        }
        for part in self.plan.parts:
            check_writable(*files_of_parts[part.name].paths())
            check_not_launched(part.request, *files_of_parts[part.name].paths())
        check_different(files.json, [of_part.json for of_part in files_of_parts.values()])
        return files_of_parts


def _tuned(plan: ProjectPlan, options: CompareOptions, world: World) -> AbstractContextManager[None]:
    """Tune the machine meanwhile, if asked for, for the processor that all weighings share."""
    processors = {part.request.settings.cpu for part in plan.parts}
    return tuned(options.tuned, processors.pop() if len(processors) == 1 else None, world)


def part_path(path: Path | None, target: str) -> Path | None:
    """Return a part's own file, named after its first target: `record-sort.json` for `record.json`."""
    if path is None:
        return None
    stem, dot, suffixes = path.name.partition(".")
    target_name = re.sub(r"[^\w.-]+", "-", target).strip("-.") or "target"
    return path.with_name(f"{stem}-{target_name}{dot}{suffixes}")


def check_different(named: Path | None, of_parts: Sequence[Path | None]) -> None:
    """Raise UsageError if two parts would write the same file, beside the one that the user `named`."""
    if named is not None and len(set(of_parts)) < len(of_parts):
        raise UsageError(f"two records would go to the same file beside {named}: rename a target")


def _benchmark_count(outcome: Outcome | SteelyardError) -> int:
    """Return how many benchmarks there are, as far as that was known when it ended."""
    return len(outcome.record.members) if isinstance(outcome, Outcome) else 0


def _part_page(
    part: Part, outcome: Outcome | SteelyardError, error: SteelyardError | None, *, functions: int, told: Told
) -> str:
    lines = [document([f"### {code(part.name)}"])]
    if isinstance(outcome, Outcome) and isinstance(outcome.record, Weighing) and outcome.record.derived is not None:
        verdicts = outcome.record.derived.verdicts
        lines.append(as_markdown.weighing(outcome.record, verdicts, functions=functions, told=told))
    if error is not None:
        lines.append(document([f"**failed**: {escape(str(error))}"]))
    return "\n".join(lines)


def _say_unused(project: Project, outcomes: Sequence[Outcome], options: CompareOptions) -> None:
    for sentence in unused_notes(project, options.target or [], options, [outcome.record for outcome in outcomes]):
        say(sentence)


def _show_search(
    project: Project,
    weighed: Sequence[tuple[Part, Outcome]],
    options: CompareOptions,
    world: World,
    *,
    beside_data: bool,
) -> None:
    from steelyard.api.next_search import next_search_of_project

    weighings = [(part.names, outcome.record) for part, outcome in weighed]
    search = next_search_of_project(project, weighings, options, world.environment)
    show_search(search, world, beside_data=beside_data)


def announce_commands(project: Project, targets: Mapping[int, Target], *, is_built_so: bool) -> None:
    """Say what is about to be run: the author of the file decides that, and it may come from a stranger's branch.

    Unless it `is_built_so`, the user gave the command that builds.
    """
    lines = [("build", project.build.command)] if project.build.command and is_built_so else []
    for target in targets.values():
        if target.build and is_built_so:
            lines.append((f"{target.name}, build", target.build))
        lines.append((target.name, target.command))
        for key in HOOKS:
            commands = getattr(target, key) or getattr(project.compare, key) or []
            lines += [(f"{target.name}, {key}", command) for command in commands]
    width = max(len(label) for label, _ in lines)
    listed = dict.fromkeys(f"  {label:<{width}}  {one_line(command)}" for label, command in lines)
    say(f"{project.file} says what is run:", *listed)


def _with_absolute_paths(files: FileOptions) -> FileOptions:
    """Return the files with absolute paths, as this process will change its folder."""
    json, markdown, csv, html = map(absolute, files.paths())
    return FileOptions(json=json, markdown=markdown, csv=csv, html=html)
