"""Check out and build what is missing in the cache, side by side; what fails leaves nothing but its log."""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

from steelyard.measure.scratch import room_for, scratch_folder
from steelyard.measure.tools import Command, Ended, run_all
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.progress import Progress, Watch
from steelyard.report.figures import count
from steelyard.report.plain import one_line
from steelyard.subjects.revisions.cache import Cache, Entry, Facts, TargetFacts, remove, size_of
from steelyard.subjects.revisions.checkout import NotBuiltError, Places, check_out
from steelyard.subjects.revisions.failures import ROOM_REMEDY, how_it_failed, not_built, target_not_built
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.keys import marked_targets
from steelyard.subjects.revisions.recipe import Job, TargetBuild
from steelyard.subjects.revisions.toolchain import build_environment

NOUN = "build"
# Both sides; with many layouts no more either, as each build may itself use all processors.
_MOST_BUILDS_AT_ONCE = 2


@dataclass(frozen=True)
class Maker:
    """What builds are made from, where they are kept, and who watches their progress."""

    repository: Repository
    cache: Cache
    watch: Watch
    source: Mapping[str, str]

    def make(self, missing: Mapping[str, tuple[Job, Entry]]) -> None:
        """Check out and build; a failed build leaves nothing but its log."""
        waiting = list(missing.values())
        try:
            notes = [self._check_out(job, entry, len(waiting)) for job, entry in waiting]
            self._announce([job for job, _ in waiting])
            for done in range(0, len(waiting), _MOST_BUILDS_AT_ONCE):
                batch = slice(done, done + _MOST_BUILDS_AT_ONCE)
                self._build(waiting[batch], notes[batch], done, len(waiting))
        except OSError as error:
            place = error.filename or self.cache.folder  # there is no name if the disk fills up in the middle of a file
            room = f"; {ROOM_REMEDY}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise MeasurementError(f"nothing can be built in {place}: {error.strerror}{room}") from error
        finally:
            for _, entry in waiting:
                if entry.facts() is None:  # incomplete entries are useless, and may fill the disk
                    remove(entry.files)
                    remove(entry.git)

    def _announce(self, jobs: Sequence[Job]) -> None:
        """Tell what is built, once per revision, however many layouts it has."""
        layouts = Counter(job.revision.label for job in jobs)
        for job in {job.revision.label: job for job in jobs}.values():
            if job.recipe.is_built:
                command, own = job.recipe.command or "", len(job.recipe.targets or ())
                suffix = f" in {many} layouts" if (many := layouts[job.revision.label]) > 1 else ""
                # A command of several lines comes from a file, and has been shown already.
                shown_command = "" if not command or "\n" in command.strip() else f": {one_line(command)}"
                then = f", {'and then ' if command else ''}{count(own, 'target')}" if own else ""
                message = f"building {job.revision.label}{suffix}{shown_command}{then}"
                self.watch(Progress(message, 0, len(jobs), allowance=message, noun=NOUN))

    def _check_out(self, job: Job, entry: Entry, total: int) -> list[str]:
        """Put a revision's files into their place; return what the user should know about them."""
        entry.begin()
        self.watch(Progress(f"checking out {job.revision.label}", 0, total, noun=NOUN))
        notes = check_out(self.repository, job.revision, Places(entry.files, entry.git))
        self._check_directory(job, entry)
        return notes

    def _build(self, batch: Sequence[tuple[Job, Entry]], notes: Sequence[list[str]], done: int, total: int) -> None:
        """Build some side by side, and keep those that succeed even if another one fails."""
        failures = self._failures(batch, notes, done, total)
        failure = next((failure for failure in failures if isinstance(failure, NotBuiltError)), None)
        targets = [list[TargetFacts]() for _ in batch] if failure else self._build_targets(batch, notes, done, total)
        for (job, entry), failed, checkout_notes, built in zip(batch, failures, notes, targets, strict=True):
            if failed is None:
                entry.complete(self._facts(job, entry, checkout_notes, built))
        if failure is not None:
            raise failure

    def _build_targets(
        self, batch: Sequence[tuple[Job, Entry]], notes: Sequence[list[str]], done: int, total: int
    ) -> list[list[TargetFacts]]:
        """Build one target after the other, side by side; return what became of each.

        A failure ends nothing: what is killed in the middle may leave files that the next build takes for complete. So
        the builds are given up, by NotBuiltError, if one does not end in time.
        """
        facts = [list[TargetFacts]() for _ in batch]
        wanted = [dict(reversed(marked_targets(job, self.source))) for job, _ in batch]
        for mark in dict.fromkeys(mark for job, _ in batch for mark, _ in marked_targets(job, self.source)):
            indices = [index for index, builds in enumerate(wanted) if mark in builds]
            self.watch(Progress(f"building {wanted[indices[0]][mark].target}", done, total, noun=NOUN))
            with ExitStack() as leaving:
                commands = [self._command(*batch[index], leaving, wanted[index][mark], mark) for index in indices]
                ends = run_all(commands, is_tidied=True, are_independent=True)
            for index, ended in zip(indices, ends, strict=True):
                (job, entry), build = batch[index], wanted[index][mark]
                how = how_it_failed(job, entry.folder, ended)
                if ended.is_late:
                    raise target_not_built(job, build, how or "", entry.target_log(mark), notes[index])
                facts[index].append(TargetFacts(mark=mark, command=job.recipe.written_for(build), failure=how))
        return facts

    def _check_directory(self, job: Job, entry: Entry) -> None:
        folder = entry.files / self.repository.directory
        if job.recipe.may_be_new:
            folder.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            raise UsageError(
                f"{job.revision.label} has no folder {self.repository.directory}, where this was asked for: "
                "change to one that both sides have"
            )

    def _failures(
        self, missing: Sequence[tuple[Job, Entry]], notes: Sequence[list[str]], done: int, total: int
    ) -> list[NotBuiltError | Literal["cut short"] | None]:
        """Run builds side by side and return how each failed; the first failure cuts the others short."""
        if all(job.recipe.written is None for job, _ in missing):
            return [None] * len(missing)
        job, _ = missing[0]
        self.watch(Progress(f"building {job.revision.label}", done, total, noun=NOUN))
        with ExitStack() as leaving:
            commands = [self._command(job, entry, leaving) for job, entry in missing]
            ends = run_all(commands, is_tidied=True)
        builds = zip(missing, ends, notes, strict=True)
        return [_failure(job, entry, ended, checkout_notes) for (job, entry), ended, checkout_notes in builds]

    def _command(
        self, job: Job, entry: Entry, leaving: ExitStack, target: TargetBuild | None = None, mark: str = ""
    ) -> Command:
        # A compiler that is killed leaves temporary files, which are removed with this folder.
        with room_for("a build needs"):
            temporary = leaving.enter_context(scratch_folder("build"))
        folder = entry.files / self.repository.directory
        is_new = job.recipe.may_be_new and not any(folder.iterdir())  # git has no empty folders
        written = job.recipe.written if target is None else job.recipe.written_for(target)
        return Command(
            ["/bin/sh", "-c", ":" if is_new else written or ":"],
            folder,
            build_environment(self.source, {"TMPDIR": str(temporary), **job.recipe.variables}),
            log=entry.log if target is None else entry.target_log(mark),
            timeout_s=job.recipe.timeout_s,
        )

    def _facts(self, job: Job, entry: Entry, notes: list[str], targets: list[TargetFacts]) -> Facts:
        return Facts(
            repository=str(self.repository.root),
            revision=job.revision.label,
            commit=job.revision.commit,
            tree=job.revision.tree,
            command=job.recipe.written,
            made_s=time.time(),
            size_bytes=size_of(entry.folder),
            notes=notes,
            targets=targets,
        )


def _failure(job: Job, entry: Entry, ended: Ended, notes: Sequence[str]) -> NotBuiltError | Literal["cut short"] | None:
    if ended.status is None and not ended.is_late:
        return "cut short"
    how = how_it_failed(job, entry.folder, ended)
    return None if how is None else not_built(job, how, entry.log, notes)
