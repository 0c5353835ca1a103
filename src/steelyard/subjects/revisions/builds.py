"""Check out and build revisions, each in a folder of its own; what was built before is not built again."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
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
from steelyard.report.endings import how_status_failed
from steelyard.report.figures import seconds
from steelyard.report.plain import one_line
from steelyard.subjects.command import LAYOUT_PLACE
from steelyard.subjects.responses import without_colours
from steelyard.subjects.revisions.cache import Cache, Entry, Facts, remove, size_of
from steelyard.subjects.revisions.checkout import NotBuiltError, Places, check_out, checkout_inputs
from steelyard.subjects.revisions.git import Git, Repository
from steelyard.subjects.revisions.revision import Revision
from steelyard.subjects.revisions.toolchain import build_environment, fingerprint, shared_folders

USUAL_TIMEOUT_S = 3600.0
# Version of the entries' format: entries of another version are built anew.
_VERSION = 1
_KEY_DIGITS = 20
_TAIL_LINES = 12
_TAIL_BYTES = 16 << 10
_LONGEST_LINE = 200
_NOUN = "build"
# Both sides; with many layouts no more either, as each build may itself use all processors.
_MOST_BUILDS_AT_ONCE = 2
_LEAST_FREE_BYTES = 64 << 10
_ROOM_REMEDY = "steelyard cache --clear, or set XDG_CACHE_HOME"
# Other processes may remove an entry between its completion and its use, but hardly twice.
_MOST_TRIES = 3


@dataclass(frozen=True)
class Recipe:
    """How a program is built from its sources."""

    command: str | None = None
    """For /bin/sh; None if nothing is built. `{layout}` in it stands for the number of the layout."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set outright, which may contain `{layout}` too."""
    timeout_s: float | None = USUAL_TIMEOUT_S
    layout: int | None = None
    may_be_new: bool = False
    """Whether the user's folder may be missing in the revision; it is then created empty, and nothing is built."""

    @property
    def has_layouts(self) -> bool:
        """Whether the command or a variable contains `{layout}`."""
        return self.command is not None and any(
            LAYOUT_PLACE in text for text in (self.command, *self.environment.values())
        )

    @property
    def written(self) -> str | None:
        """The command with the number of its layout."""
        return None if self.command is None else self._in_layout(self.command)

    @property
    def variables(self) -> dict[str, str]:
        """The variables with the number of its layout."""
        return {name: self._in_layout(value) for name, value in self.environment.items()}

    def _in_layout(self, text: str) -> str:
        return text if self.layout is None else text.replace(LAYOUT_PLACE, str(self.layout))


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

    `source` is the environment, a part of which builds get. Raises NotBuiltError for a revision that does not build,
    UsageError for one that cannot be built, MeasurementError if there is no room, InterruptedBeforeStart.
    """
    for job in jobs:
        _refuse_shared_folders(job.recipe)
    cache.open()
    builder = _Builder(repository, cache, watch, source)
    inputs = {
        revision: checkout_inputs(repository, revision) for revision in dict.fromkeys(job.revision for job in jobs)
    }
    keys = [builder.key(job, inputs[job.revision]) for job in jobs]
    jobs_by_key = dict(zip(keys, jobs, strict=True))
    with ExitStack() as holding:
        entries, built_keys = builder.entries(jobs_by_key, holding)
        if built_keys:
            cache.bound()
        yield [_built_from_entry(job, entries[key], repository) for key, job in zip(keys, jobs, strict=True)]


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

    def key(self, job: Job, inputs: Sequence[str]) -> str:
        """Return the key of an entry, a hash of everything that would make another build.

        That includes the checkout's `inputs`, to which the tree only points: submodules and files of LFS may be here
        one day. It includes the cache's own place, as compilers write it into what they make. The keys of
        several layouts differ only in the number at the end.
        """
        recipe = job.recipe
        toolchain = [] if recipe.command is None else fingerprint(self.source, recipe.environment, recipe.command)
        places = [str(self.cache.folder), str(self.repository.directory)]
        is_one_of_several = recipe.layout is not None
        parts = [_VERSION, *places, job.revision.tree, inputs, recipe.command, is_one_of_several, toolchain]
        key = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()[:_KEY_DIGITS]
        return f"{key}-{recipe.layout}" if is_one_of_several else key

    def entries(self, jobs: Mapping[str, Job], holding: ExitStack) -> tuple[dict[str, Entry], set[str]]:
        """Return every entry, complete and held by `holding`, and the keys of those that had to be built."""
        built_keys: set[str] = set()
        for _ in range(_MOST_TRIES):
            with ExitStack() as attempt:
                entries = {key: self._acquire(key, jobs[key], attempt) for key in sorted(jobs)}
                missing = {key: (job, entries[key]) for key, job in jobs.items() if entries[key].facts() is None}
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
                    if entry.share() if entry.facts() is not None else exclusive:
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
            room = f"; {_ROOM_REMEDY}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
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
            if (command := job.recipe.command) is not None:
                suffix = f" in {count} layouts" if (count := layouts[job.revision.label]) > 1 else ""
                # A command of several lines comes from a file, and has been shown already.
                shown_command = "" if "\n" in command.strip() else f": {one_line(command)}"
                message = f"building {job.revision.label}{suffix}{shown_command}"
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
        for (job, entry), failure, checkout_notes in zip(batch, failures, notes, strict=True):
            if failure is None:
                entry.complete(self._facts(job, entry, checkout_notes))
        for failure in failures:
            if isinstance(failure, NotBuiltError):
                raise failure

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

    def _command(self, job: Job, entry: Entry, leaving: ExitStack) -> Command:
        # A compiler that is killed leaves temporary files, which are removed with this folder.
        with room_for("a build needs"):
            temporary = leaving.enter_context(scratch_folder("build"))
        folder = entry.files / self.repository.directory
        is_new = job.recipe.may_be_new and not any(folder.iterdir())  # git has no empty folders
        return Command(
            ["/bin/sh", "-c", ":" if is_new else job.recipe.written or ":"],
            folder,
            build_environment(self.source, {"TMPDIR": str(temporary), **job.recipe.variables}),
            log=entry.log,
            timeout_s=job.recipe.timeout_s,
        )

    def _facts(self, job: Job, entry: Entry, notes: list[str]) -> Facts:
        return Facts(
            repository=str(self.repository.root),
            revision=job.revision.label,
            commit=job.revision.commit,
            tree=job.revision.tree,
            command=job.recipe.written,
            made_s=time.time(),
            size_bytes=size_of(entry.folder),
            notes=notes,
        )


def _failure(job: Job, entry: Entry, ended: Ended, notes: Sequence[str]) -> NotBuiltError | Literal["cut short"] | None:
    """Return how a build failed, with the `notes` on its checkout: what that left out may be the reason."""
    if ended.is_late:
        how: str | None = f"did not end within {seconds(job.recipe.timeout_s or 0.0)}; allow more with --build-timeout"
    elif ended.status is None:
        return "cut short"
    else:
        how = how_status_failed(ended.status)
    if how is None:
        return None
    if _is_full(entry.folder):  # the log may have had no room left to say so
        how += f", as its disk is full ({_ROOM_REMEDY})"
    command = (job.recipe.written or "").strip()
    shown = "its command" if "\n" in command else one_line(command)  # a script was shown, and would hide the message
    sentences = [f"{job.revision.label} does not build: {shown} {how}; its log is {entry.log}", *notes]
    if job.recipe.may_be_new:  # it may have failed because there are no benchmarks yet
        sentences.append("if it has no benchmarks yet, let the command end well without them (steelyard docs ci)")
    return NotBuiltError(
        "; ".join(sentences),
        tail(entry.log),
    )


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < _LEAST_FREE_BYTES


def tail(log: Path) -> tuple[str, ...]:
    """Return the last lines of a log without colours; of one that is too long its beginning and its end."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = without_colours(file.read().decode(errors="replace")).rstrip().splitlines()
    except OSError:
        return ()
    shown = (line.expandtabs() for line in lines[-_TAIL_LINES:])
    return tuple(_cut(line) for line in shown)


def _cut(line: str) -> str:
    # What a tool says last is often the cause.
    part = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:part]} ... {line[-part:]}"


def _built_from_entry(job: Job, entry: Entry, repository: Repository) -> Built:
    facts = entry.facts()
    return Built(
        job.revision,
        job.recipe,
        entry.files / repository.directory,
        entry.files,
        entry.log,
        facts.notes if facts else (),
        (entry.begun_s(), facts.made_s) if facts else (0.0, 0.0),
        partial(_tracked_files, repository.git.within(entry.files)),
    )


def _tracked_files(git: Git) -> frozenset[str] | None:
    listing = git.answer("ls-files", "--stage", "-z")
    return None if listing is None else frozenset(filter(None, listing.split("\0")))
