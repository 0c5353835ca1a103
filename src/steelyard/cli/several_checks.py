"""The checks of a project's targets, one after the other: each one's report, one summary, one exit status."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.project import chosen_targets
from steelyard.api.project_checks import TargetCheck, project_checks
from steelyard.api.streams import launched_files
from steelyard.cli.check_outcome import say_findings, show_record, status_of
from steelyard.cli.outputs import absolute, check_apart, check_writable, earlier_files_removed_on_error, is_printed
from steelyard.cli.say import say, say_error_of
from steelyard.cli.screen import output, watching
from steelyard.cli.several import announce_commands, check_different, part_path
from steelyard.cli.status import FOUND, INTERRUPTED, status_of_errors
from steelyard.design.check.session import check_target
from steelyard.design.world import World
from steelyard.model.errors import InterruptedBeforeStart, NothingChosenError, SteelyardError, UsageError
from steelyard.model.project_file import Project
from steelyard.model.soundness import Soundness
from steelyard.report import several
from steelyard.report.check import TargetResult, show_summary

if TYPE_CHECKING:
    from steelyard.cli.check_options import CheckOptions
    from steelyard.report.live import LiveLine


def check_project(project: Project, options: CheckOptions, world: World) -> int:
    """Check a project's targets and return the exit status of all; raise SteelyardError as a single check does."""
    check_apart([options.json], [project.folder / project.file.name])
    targets, left_out_notes = chosen_targets(project, options.target or [], options)
    announce_commands(project, targets, is_built_so=options.revisions.build is None)
    path = absolute(options.json)
    with ExitStack() as meanwhile:
        earlier = (path, *(part_path(path, target.name) for target in targets.values()))
        with earlier_files_removed_on_error(*earlier, what="check"):
            watch = meanwhile.enter_context(watching(world))
            checks = meanwhile.enter_context(project_checks(project, targets, options, options.max_time, watch, world))
        watch.wipe()
        for sentence in left_out_notes:
            say(sentence)
        say_findings([finding for check in checks for finding in check.findings])
        several_checks = _Checks(checks, options, path, watch, world)
        return several_checks.run() if len(checks) > 1 else several_checks.run_alone()


@dataclass
class _Checks:
    """Checks, each of which is shown when it has ended."""

    checks: list[TargetCheck]
    options: CheckOptions
    path: Path | None
    """The file as named on the command line, with its whole path."""
    watch: LiveLine
    world: World
    results: list[TargetResult] = field(default_factory=list)
    errors: list[SteelyardError] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    """Written files that the user has not named: each has a target's name inserted."""

    def run_alone(self) -> int:
        """Check the only one; raise its error."""
        (check,) = self.checks
        self._check_paths([self.path])
        record = self._record(check, self.path)
        show_record(record, self.path, self.world)
        return status_of(bool(record.troubles()), record.interrupted)

    def run(self) -> int:
        """Check one after the other; the failure of one leaves the others as they are."""
        if is_printed(self.path):
            raise UsageError(f"{len(self.checks)} checks are as many records: give --json a file's name")
        paths = [part_path(self.path, check.name) for check in self.checks]
        check_different(self.path, paths)
        self._check_paths(paths)
        console, unchosen, interrupted = output(self.world.environment), 0, False
        for number, (check, path) in enumerate(zip(self.checks, paths, strict=True)):
            several.heading(console, check.name, first=number == 0, label="checking")
            try:
                interrupted = self._show(check, path)
            except NothingChosenError as error:  # which is no failure of this target
                self.watch.wipe()
                say(f"{check.name}: {error}")
                unchosen += 1
            if interrupted:
                break
        if unchosen == len(self.checks):
            why = "--benchmark chooses no benchmark of any target"
            raise UsageError(why if self.options.suite.benchmark else "there is nothing to check")
        show_summary(console, self.results, len(self.checks) - len(self.results) - unchosen)
        if self.written:
            say(f"written: {', '.join(map(str, self.written))}")
        return INTERRUPTED if interrupted else self._status()

    def _show(self, check: TargetCheck, path: Path | None) -> bool:
        """Check one and show what was found; return whether the user interrupted it."""
        record: Soundness | None = None
        try:
            record = self._record(check, path)
            show_record(record, path, self.world)
            self.written += filter(None, [part_path(self.options.json, check.name)])
        except NothingChosenError:
            raise
        except InterruptedBeforeStart as error:
            self.watch.wipe()
            say(f"{check.name}: {error}")
            return True
        except SteelyardError as error:
            self.watch.wipe()
            say_error_of(check.name, error, self.errors)
            self.errors.append(error)
        self.results.append(TargetResult(check.name, record))
        return record is not None and record.interrupted

    def _record(self, check: TargetCheck, path: Path | None) -> Soundness:
        """Return what is found, to be written to the path; raise SteelyardError if it cannot be tried."""
        with earlier_files_removed_on_error(path, what="check"):
            if check.error is not None:
                raise check.error
            seconds, heap = self.options.max_time, self.options.allocations
            record = check_target(check, self.world, self.watch, seconds=seconds, heap=heap)
        self.watch.wipe()
        return record

    def _check_paths(self, paths: list[Path | None]) -> None:
        """Raise UsageError if a file cannot be written, or is one that launches execute or read."""
        check_writable(*paths)
        for check in self.checks:
            check_apart(paths, launched_files([check.subject], check.settings))

    def _status(self) -> int:
        if self.errors:
            return status_of_errors(self.errors)
        return FOUND if any(one.record and one.record.troubles() for one in self.results) else 0
