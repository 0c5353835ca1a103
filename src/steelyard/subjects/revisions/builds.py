"""Check out and build revisions, each in a folder of its own; what was built before is not built again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.progress import Progress, Watch
from steelyard.model.project_file import accepted_in
from steelyard.model.subject import RevisionFacts
from steelyard.subjects.revisions.cache import Cache, Entry
from steelyard.subjects.revisions.checkout import NotBuiltError, checkout_inputs
from steelyard.subjects.revisions.failures import target_not_built
from steelyard.subjects.revisions.git import Git, Repository
from steelyard.subjects.revisions.keys import Keys, has_targets, marked
from steelyard.subjects.revisions.making import NOUN, Maker
from steelyard.subjects.revisions.recipe import Job, Recipe
from steelyard.subjects.revisions.revision import Revision
from steelyard.subjects.revisions.toolchain import shared_folders

# Other processes may remove an entry between its completion and its use, but hardly twice.
_MOST_TRIES = 3


@dataclass(frozen=True)
class OwnBuild:
    """What became of a target's own build."""

    log: Path
    error: NotBuiltError | None
    """Why it failed."""
    may_be_new: bool
    """Whether it may fail, as the revision may not have the target yet."""


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
    is_kept: bool = field(default=False, compare=False)
    """Whether it was made before, so that something may have removed files of it since."""
    here: Path | None = None
    """The user's folder, of which `folder` is this revision's own copy."""
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
    maker = Maker(repository, cache, watch, source)
    inputs = checkout_inputs(repository, dict.fromkeys(job.revision for job in jobs))
    marked_jobs = [marked(job, source) for job in jobs]
    keys = Keys(repository, cache, source).of_jobs(marked_jobs, inputs)
    jobs_by_key = dict(zip(keys, marked_jobs, strict=True))
    with ExitStack() as holding:
        entries, made = _entries(maker, jobs_by_key, holding)
        if made:
            cache.bound()
        pairs = zip(keys, marked_jobs, strict=True)
        yield [_built(maker, job, entries[key], is_kept=key not in made) for key, job in pairs]


def _refuse_shared_folders(recipe: Recipe) -> None:
    if shared := shared_folders(recipe.environment):
        raise UsageError(
            f"{shared[0]}={recipe.environment[shared[0]]} is one folder for all builds, where cargo takes the program "
            "of one side for the other's: leave it out, or name a folder relative to each checkout"
        )


def _entries(maker: Maker, jobs: Mapping[str, Job], holding: ExitStack) -> tuple[dict[str, Entry], set[str]]:
    """Return every entry, complete and held by `holding`, and the keys of those that had to be built."""
    made = set[str]()
    for _ in range(_MOST_TRIES):
        with ExitStack() as attempt:
            entries = {key: _acquire(maker, key, jobs[key], attempt) for key in sorted(jobs)}
            missing = [key for key, job in jobs.items() if not has_targets(entries[key].facts(), job.marked)]
            maker.make([(jobs[key], entries[key]) for key in missing])
            made.update(missing)
            if all(entry.share() for entry in entries.values()):
                for entry in entries.values():
                    entry.note_use()
                holding.enter_context(attempt.pop_all())
                return entries, made
    raise MeasurementError(
        f"builds are removed from {maker.cache.folder} as soon as they are made: what else clears it?"
    )


def _acquire(maker: Maker, key: str, job: Job, attempt: ExitStack) -> Entry:
    """Return an entry, which is shared with others if it is complete and else held exclusively.

    Every process takes several entries in the order of their keys, so that there is no deadlock.
    """
    message = f"waiting for another steelyard, which has the build of {job.revision.label}"

    def waiting() -> None:
        maker.watch(Progress(message, 0, None, allowance=message, noun=NOUN))

    while True:
        for exclusive in (False, True):
            with ExitStack() as hold:
                entry = hold.enter_context(maker.cache.held(key, exclusive=exclusive, waiting=waiting))
                # A process that completed it meanwhile is about to share it, and may wait for us to let go of it
                # while it holds other entries.
                if entry.share() if has_targets(entry.facts(), job.marked) else exclusive:
                    attempt.enter_context(hold.pop_all())
                    return entry


def _built(maker: Maker, job: Job, entry: Entry, *, is_kept: bool) -> Built:
    """Return a job's build, whose entry is held; raises UsageError if that has been made for who needs no folder."""
    maker.check_directory(job, entry)
    facts = entry.facts()
    notes = facts.notes if facts else ()
    failures = {one.mark: one.failure for one in facts.targets if one.failure is not None} if facts else {}
    targets: dict[str, OwnBuild] = {}
    for mark, one in job.marked:
        log, failure = entry.target_log(mark), failures.get(mark)
        error = None if failure is None else target_not_built(job, one, failure, log, notes)
        targets[one.target] = OwnBuild(log, error, one.may_be_new)
    return Built(
        job.revision,
        job.recipe,
        entry.files / maker.repository.directory,
        entry.files,
        entry.log,
        notes,
        (entry.begun_s(), facts.made_s) if facts else (0.0, 0.0),
        targets,
        is_kept,
        maker.repository.here,
        lru_cache(partial(_tracked_files, maker.repository.git.within(entry.files))),
    )


def _tracked_files(git: Git) -> frozenset[str] | None:
    entries = git.entries("ls-files", "--stage", "-z")
    return None if entries is None else frozenset(entries)
