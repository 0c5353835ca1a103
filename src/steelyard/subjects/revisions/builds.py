"""Check out and build revisions, each in a folder of its own; what was built before is not built again."""

from __future__ import annotations

import errno
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from steelyard.measure.scratch import room_for, scratch_folder
from steelyard.measure.tools import Command, Ended, run_all
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.progress import Progress, Watch
from steelyard.model.project_file import accepted_in
from steelyard.model.subject import RevisionFacts
from steelyard.report.figures import count
from steelyard.report.plain import one_line
from steelyard.subjects.revisions.cache import Cache, Entry, Facts, TargetFacts, remove, size_of
from steelyard.subjects.revisions.checkout import NotBuiltError, Places, check_out, checkout_inputs
from steelyard.subjects.revisions.failures import ROOM_REMEDY, how_it_failed, not_built, target_not_built
from steelyard.subjects.revisions.git import Git, Repository
from steelyard.subjects.revisions.recipe import OwnBuild, Recipe, TargetBuild, digest_of, has_targets, log_of, mark_of
from steelyard.subjects.revisions.revision import Revision
from steelyard.subjects.revisions.toolchain import build_environment, fingerprint, shared_folders

# Version of the entries' format: entries of another version are built anew.
_VERSION = 1
_KEY_DIGITS = 20
_NOUN = "build"
# Both sides; with many layouts no more either, as each build may itself use all processors.
_MOST_BUILDS_AT_ONCE = 2
# Other processes may remove an entry between its completion and its use, but hardly twice.
_MOST_TRIES = 3


@dataclass(frozen=True)
class Built:
    """A revision that is checked out and built."""

    revision: Revision
    recipe: Recipe
    folder: Path
    """The folder in it that the user is in: it was built there, and runs there."""
    top: Path
    """The folder of all of its files; the paths of all of these folders have the same length."""
    log: Path
    notes: Sequence[str]
    """What the user should know about its files."""
    span_s: tuple[float, float] = (0.0, 0.0)
    """The times of its checkout and of the end of its build, in seconds of the Unix clock."""
    targets: Mapping[str, OwnBuild] = field(default_factory=dict, compare=False, repr=False)
    """What became of the builds of single targets, by their names."""
    tracked: Callable[[], frozenset[str] | None] = field(default=lambda: None, compare=False, repr=False)
    """Returns git's list of its files, a line each with mode, hash and path; None where git does not tell."""

    def facts(self) -> RevisionFacts:
        """Return what a record keeps of it."""
        return RevisionFacts(
            name=self.revision.name,
            commit=self.revision.commit,
            tree=self.revision.tree,
            build=self.recipe.written,
            layout=self.recipe.layout,
            accepted=accepted_in(self.folder),
        )


@dataclass(frozen=True)
class Job:
    """One revision to be built in one way."""

    revision: Revision
    recipe: Recipe


@contextmanager
def built(
    repository: Repository, jobs: Sequence[Job], cache: Cache, watch: Watch, source: Mapping[str, str]
) -> Iterator[list[Built]]:
    """Build all of these, side by side, and keep the builds from being removed for as long as the context lasts.

    `source` is the environment, a part of which builds get. Where a target's own build fails, the others are built all
    the same, and `targets` of what is yielded says why. Raises NotBuiltError for a revision that does not build,
    UsageError for one that cannot be built, MeasurementError if there is no room, InterruptedBeforeStart.
    """
    for job in jobs:
        _refuse_shared_folders(job.recipe)
    cache.open()
    builder = _Builder(repository, cache, watch, source)
    inputs = {
        revision: checkout_inputs(repository, revision) for revision in dict.fromkeys(job.revision for job in jobs)
    }
    keys = builder.keys(jobs, inputs)
    jobs_by_key = dict(zip(keys, jobs, strict=True))
    with ExitStack() as holding:
        entries, built_keys = builder.entries(jobs_by_key, holding)
        if built_keys:
            cache.bound()
        yield [builder.built(job, entries[key]) for key, job in zip(keys, jobs, strict=True)]


def _refuse_shared_folders(recipe: Recipe) -> None:
    if shared := shared_folders(recipe.environment):
        raise UsageError(
            f"{shared[0]}={recipe.environment[shared[0]]} is one folder for all builds, where cargo takes the program "
            "of one side for the other's: leave it out, or name a folder relative to each checkout"
        )


@dataclass(frozen=True)
class _Builder:
    """What builds are made from, where they are kept, and who watches their progress."""

    repository: Repository
    cache: Cache
    watch: Watch
    source: Mapping[str, str]

    def keys(self, jobs: Sequence[Job], inputs: Mapping[Revision, Sequence[str]]) -> list[str]:
        """Return the key of each job's entry: of one that is kept, if that has all its targets, else of one to make.

        All layouts of a side get entries of one kind, as the names of their folders may differ in the number only.
        """
        prefixes = [self._key_without_layout(job, inputs[job.revision]) for job in jobs]
        suffixes = ["" if job.recipe.layout is None else f"-{job.recipe.layout}" for job in jobs]
        chosen: dict[str, str] = {}
        for own in dict.fromkeys(prefixes):
            layouts = [
                (job, suffix) for job, prefix, suffix in zip(jobs, prefixes, suffixes, strict=True) if prefix == own
            ]
            candidates = self._candidate_prefixes(own, *layouts[0])
            chosen[own] = next((prefix for prefix in candidates if self._serve(prefix, layouts)), own)
        return [f"{chosen[prefix]}{suffix}" for prefix, suffix in zip(prefixes, suffixes, strict=True)]

    def _candidate_prefixes(self, own: str, job: Job, suffix: str) -> Iterator[str]:
        """Yield the prefixes of keys whose entries have what all targets share, first that of the job's own key."""
        yield own
        if job.recipe.targets is not None:
            shared, _, _ = own.partition("-")
            keys = self.cache.keys_from(f"{shared}-")
            yield from (key.removesuffix(suffix) for key in keys if key.endswith(suffix))

    def _serve(self, prefix: str, layouts: Sequence[tuple[Job, str]]) -> bool:
        """Return whether the kept entries of all layouts have the targets that are wanted."""
        return all(
            has_targets(self.cache.facts_of(f"{prefix}{suffix}"), self._target_builds(job)) for job, suffix in layouts
        )

    def _target_builds(self, job: Job) -> list[tuple[str, TargetBuild]]:
        """Return the builds of single targets, each with its mark."""
        return [(mark_of(build, self.source, job.recipe.environment), build) for build in job.recipe.targets or ()]

    def _key_without_layout(self, job: Job, inputs: Sequence[str]) -> str:
        """Return the key of an entry but for its layout, a hash of everything that would make another build.

        That includes the checkout's `inputs`, to which the tree only points: submodules and files of LFS may be here
        one day. It includes the cache's own place, as compilers write it into what they make. Behind it is a hash of
        the targets' own builds, if there are such.
        """
        recipe = job.recipe
        toolchain = fingerprint(self.source, recipe.environment, recipe.command or "") if recipe.is_built else []
        places = [str(self.cache.folder), str(self.repository.directory)]
        is_one_of_several = recipe.layout is not None
        parts = [_VERSION, *places, job.revision.tree, inputs, recipe.command, is_one_of_several, toolchain]
        key = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()[:_KEY_DIGITS]
        return key if recipe.targets is None else f"{key}-{digest_of(mark for mark, _ in self._target_builds(job))}"

    def entries(self, jobs: Mapping[str, Job], holding: ExitStack) -> tuple[dict[str, Entry], set[str]]:
        """Return every entry, complete and held by `holding`, and the keys of those that had to be built."""
        built_keys: set[str] = set()
        for _ in range(_MOST_TRIES):
            with ExitStack() as attempt:
                entries = {key: self._acquire(key, jobs[key], attempt) for key in sorted(jobs)}
                missing = {
                    key: (job, entries[key]) for key, job in jobs.items() if not self._has_all(job, entries[key])
                }
                self._make(missing)
                built_keys.update(missing)
                if all(entry.share() for entry in entries.values()):
                    for entry in entries.values():
                        entry.note_use()
                    holding.enter_context(attempt.pop_all())
                    return entries, built_keys
        raise MeasurementError(
            f"builds are removed from {self.cache.folder} as soon as they are made: what else clears it?"
        )

    def _has_all(self, job: Job, entry: Entry) -> bool:
        return has_targets(entry.facts(), self._target_builds(job))

    def _acquire(self, key: str, job: Job, attempt: ExitStack) -> Entry:
        """Return an entry, which is shared with others if it is complete and else held exclusively.

        Every process takes several entries in the order of their keys, so that there is no deadlock.
        """
        message = f"waiting for another steelyard, which has the build of {job.revision.label}"

        def waiting() -> None:
            self.watch(Progress(message, 0, None, allowance=message, noun=_NOUN))

        while True:
            for exclusive in (False, True):
                with ExitStack() as hold:
                    entry = hold.enter_context(self.cache.held(key, exclusive=exclusive, waiting=waiting))
                    # A process that completed it meanwhile is about to share it, and may wait for us to let go of it
                    # while it holds other entries.
                    if entry.share() if self._has_all(job, entry) else exclusive:
                        attempt.enter_context(hold.pop_all())
                        return entry

    def _make(self, missing: Mapping[str, tuple[Job, Entry]]) -> None:
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
                self.watch(Progress(message, 0, len(jobs), allowance=message, noun=_NOUN))

    def _check_out(self, job: Job, entry: Entry, total: int) -> list[str]:
        """Put a revision's files into their place; return what the user should know about them."""
        entry.begin()
        self.watch(Progress(f"checking out {job.revision.label}", 0, total, noun=_NOUN))
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
        wanted = [dict(reversed(self._target_builds(job))) for job, _ in batch]
        for mark in dict.fromkeys(mark for job, _ in batch for mark, _ in self._target_builds(job)):
            indices = [index for index, builds in enumerate(wanted) if mark in builds]
            self.watch(Progress(f"building {wanted[indices[0]][mark].target}", done, total, noun=_NOUN))
            with ExitStack() as leaving:
                commands = [self._command(*batch[index], leaving, wanted[index][mark], mark) for index in indices]
                ends = run_all(commands, is_tidied=True, are_independent=True)
            for index, ended in zip(indices, ends, strict=True):
                (job, entry), build = batch[index], wanted[index][mark]
                how = how_it_failed(job, entry.folder, ended)
                if ended.is_late:
                    raise target_not_built(job, build, how or "", log_of(entry, mark), notes[index])
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
        self.watch(Progress(f"building {job.revision.label}", done, total, noun=_NOUN))
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
            log=entry.log if target is None else log_of(entry, mark),
            timeout_s=job.recipe.timeout_s,
        )

    def built(self, job: Job, entry: Entry) -> Built:
        """Return a job's build, whose entry is held."""
        facts = entry.facts()
        notes = facts.notes if facts else ()
        failures = {one.mark: one.failure for one in facts.targets if one.failure is not None} if facts else {}
        targets: dict[str, OwnBuild] = {}
        for mark, one in self._target_builds(job):
            log, failure = log_of(entry, mark), failures.get(mark)
            error = None if failure is None else target_not_built(job, one, failure, log, notes)
            targets[one.target] = OwnBuild(log, error, one.may_be_new)
        return Built(
            job.revision,
            job.recipe,
            entry.files / self.repository.directory,
            entry.files,
            entry.log,
            notes,
            (entry.begun_s(), facts.made_s) if facts else (0.0, 0.0),
            targets,
            partial(_tracked_files, self.repository.git.within(entry.files)),
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


def _tracked_files(git: Git) -> frozenset[str] | None:
    listing = git.answer("ls-files", "--stage", "-z")
    return None if listing is None else frozenset(filter(None, listing.split("\0")))
