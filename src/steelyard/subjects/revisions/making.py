"""Check out and build what is missing in the cache, side by side; what fails leaves nothing but its log."""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

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
from steelyard.subjects.revisions.recipe import Job, TargetBuild
from steelyard.subjects.revisions.toolchain import build_environment

NOUN = "build"
# Both sides; with many layouts no more either, as each build may itself use all processors.
_MOST_BUILDS_AT_ONCE = 2


@dataclass(frozen=True)
class _Checkout:
    """A revision that is checked out, to be built."""

    job: Job
    entry: Entry
    notes: list[str]
    """What the user should know about its files."""
    targets: list[TargetFacts] = field(default_factory=list)
    """What became of the builds of single targets so far."""


@dataclass(frozen=True)
class Maker:
    """What builds are made from, where they are kept, and who watches their progress."""

    repository: Repository
    cache: Cache
    watch: Watch
    source: Mapping[str, str]

    def make(self, missing: Sequence[tuple[Job, Entry]]) -> None:
        """Check out and build; a failed build leaves nothing but its log."""
        try:
            checkouts = [self._check_out(job, entry, len(missing)) for job, entry in missing]
            self._announce([job for job, _ in missing])
            for done in range(0, len(missing), _MOST_BUILDS_AT_ONCE):
                self._build(checkouts[done : done + _MOST_BUILDS_AT_ONCE], done, len(missing))
        except OSError as error:
            place = error.filename or self.cache.folder  # there is no name if the disk fills up in the middle of a file
            room = f"; {ROOM_REMEDY}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise MeasurementError(f"nothing can be built in {place}: {error.strerror}{room}") from error
        finally:
            for _, entry in missing:
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

    def _check_out(self, job: Job, entry: Entry, total: int) -> _Checkout:
        """Put a revision's files into their place."""
        entry.begin()
        self.watch(Progress(f"checking out {job.revision.label}", 0, total, noun=NOUN))
        notes = check_out(self.repository, job.revision, Places(entry.files, entry.git))
        if job.recipe.may_be_new:
            (entry.files / self.repository.directory).mkdir(parents=True, exist_ok=True)
        self.check_directory(job, entry)
        return _Checkout(job, entry, notes)

    def _build(self, batch: Sequence[_Checkout], done: int, total: int) -> None:
        """Build some side by side, and keep those that succeed even if another one fails."""
        ends = self._run(batch, done, total)
        failure = next(filter(None, map(_failure, batch, ends)), None)
        if failure is None:
            self._build_targets(batch, done, total)
        for checkout, ended in zip(batch, ends, strict=True):
            if ended.status == 0:
                checkout.entry.complete(self._facts(checkout))
        if failure is not None:
            raise failure

    def _build_targets(self, batch: Sequence[_Checkout], done: int, total: int) -> None:
        """Build one target after the other, side by side.

        A failure ends nothing: what is killed in the middle may leave files that the next build takes for complete. So
        the builds are given up, by NotBuiltError, if one does not end in time.
        """
        builds = [dict(reversed(one.job.marked)) for one in batch]
        for mark in dict.fromkeys(mark for one in batch for mark, _ in one.job.marked):
            wanted = [(one, own[mark]) for one, own in zip(batch, builds, strict=True) if mark in own]
            self.watch(Progress(f"building {wanted[0][1].target}", done, total, noun=NOUN))
            with ExitStack() as leaving:
                commands = [self._command(one, leaving, build, mark) for one, build in wanted]
                ends = run_all(commands, is_tidied=True, are_independent=True)
            for (one, build), ended in zip(wanted, ends, strict=True):
                how = how_it_failed(one.job, one.entry.folder, ended)
                if ended.is_late:
                    raise target_not_built(one.job, build, how or "", one.entry.target_log(mark), one.notes)
                command = one.job.recipe.written_for(build)
                one.targets.append(TargetFacts(mark=mark, command=command, failure=how))

    def check_directory(self, job: Job, entry: Entry) -> None:
        """Raise UsageError if a revision lacks the user's folder, which may have been made for who may do without."""
        folder = entry.files / self.repository.directory
        if folder == entry.files or job.recipe.may_be_new:
            return
        if not folder.is_dir() or not any(folder.iterdir()):  # git has no empty folders
            raise UsageError(
                f"{job.revision.label} has no folder {self.repository.directory}, where this was asked for: "
                "change to one that both sides have"
            )

    def _run(self, batch: Sequence[_Checkout], done: int, total: int) -> list[Ended]:
        """Run builds side by side and return how each ended; the first failure cuts the others short."""
        if all(one.job.recipe.written is None for one in batch):
            return [Ended(0)] * len(batch)
        self.watch(Progress(f"building {batch[0].job.revision.label}", done, total, noun=NOUN))
        with ExitStack() as leaving:
            return run_all([self._command(one, leaving) for one in batch], is_tidied=True)

    def _command(
        self, checkout: _Checkout, leaving: ExitStack, target: TargetBuild | None = None, mark: str = ""
    ) -> Command:
        recipe, entry = checkout.job.recipe, checkout.entry
        # A compiler that is killed leaves temporary files, which are removed with this folder.
        with room_for("a build needs"):
            temporary = leaving.enter_context(scratch_folder("build"))
        folder = entry.files / self.repository.directory
        is_new = recipe.may_be_new and not any(folder.iterdir())  # git has no empty folders
        written = recipe.written if target is None else recipe.written_for(target)
        return Command(
            ["/bin/sh", "-c", ":" if is_new else written or ":"],
            folder,
            build_environment(self.source, {"TMPDIR": str(temporary), **recipe.variables}),
            log=entry.log if target is None else entry.target_log(mark),
            timeout_s=recipe.timeout_s,
        )

    def _facts(self, checkout: _Checkout) -> Facts:
        revision = checkout.job.revision
        return Facts(
            repository=str(self.repository.root),
            revision=revision.label,
            commit=revision.commit,
            tree=revision.tree,
            command=checkout.job.recipe.written,
            made_s=time.time(),
            size_bytes=size_of(checkout.entry.folder),
            notes=checkout.notes,
            targets=checkout.targets,
        )


def _failure(checkout: _Checkout, ended: Ended) -> NotBuiltError | None:
    """Return why a build failed; None if it ended well, or was cut short as another one failed."""
    how = how_it_failed(checkout.job, checkout.entry.folder, ended)
    return None if how is None else not_built(checkout.job, how, checkout.entry.log, checkout.notes)
