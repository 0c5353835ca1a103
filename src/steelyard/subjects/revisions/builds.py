"""Revisions that are checked out and built, each in a folder of its own; what was built before is not built again."""

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
from steelyard.model.subject import RevisionFacts
from steelyard.report.endings import how_it_ended_badly
from steelyard.report.figures import seconds
from steelyard.report.plain import one_line
from steelyard.subjects.command import LAYOUT_PLACE
from steelyard.subjects.revisions.cache import Cache, Entry, Facts, remove, size_of
from steelyard.subjects.revisions.checkout import NotBuiltError, Places, brought, check_out
from steelyard.subjects.revisions.git import Git, Repository
from steelyard.subjects.revisions.revision import Revision
from steelyard.subjects.revisions.toolchain import build_environment, fingerprint, shared_folders

USUAL_TIMEOUT_S = 3600.0
# Of the format of entries: another one is built anew.
_VERSION = 1
_KEY_DIGITS = 20
_TAIL_LINES = 12
_TAIL_BYTES = 16 << 10
_LONGEST_LINE = 200
_NOUN = "build"
# Both sides; of many layouts no more, as each build may itself use all processors.
_MOST_AT_ONCE = 2
_LEAST_FREE_BYTES = 64 << 10
_ROOM = "steelyard cache --clear, or set XDG_CACHE_HOME"
# Other processes may remove an entry between its making and its use, but hardly twice.
_MOST_TRIES = 3


@dataclass(frozen=True)
class Recipe:
    """How a program is made of its sources."""

    command: str | None = None
    """For /bin/sh; None where nothing is built. `{layout}` in it stands for the number of the layout."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set outright, in which it stands for that too."""
    timeout_s: float | None = USUAL_TIMEOUT_S
    layout: int | None = None
    may_be_new: bool = False
    """Whether the folder where the user stands may be missing: it is empty then, and nothing is built in it."""

    @property
    def has_layouts(self) -> bool:
        """Whether it says where the number of a layout goes."""
        return self.command is not None and any(
            LAYOUT_PLACE in text for text in (self.command, *self.environment.values())
        )

    @property
    def written(self) -> str | None:
        """The command with its layout."""
        return None if self.command is None else self._in_layout(self.command)

    @property
    def variables(self) -> dict[str, str]:
        """The variables with its layout."""
        return {name: self._in_layout(value) for name, value in self.environment.items()}

    def _in_layout(self, text: str) -> str:
        return text if self.layout is None else text.replace(LAYOUT_PLACE, str(self.layout))


@dataclass(frozen=True)
class Built:
    """A revision that is checked out and built."""

    revision: Revision
    recipe: Recipe
    folder: Path
    """Where the user stands in it: there it was built, and there it runs."""
    top: Path
    """The folder of all of its files, whose path is as long as that of any other."""
    log: Path
    notes: Sequence[str]
    """What the user should know of its files."""
    span_s: tuple[float, float] = (0.0, 0.0)
    """From its checkout until it was built, in seconds of the Unix clock."""
    tracked: Callable[[], frozenset[str] | None] = field(default=lambda: None, compare=False, repr=False)
    """What git has of its files, a line each with mode, hash and path; None where that cannot be told."""

    def facts(self) -> RevisionFacts:
        """As a record keeps them."""
        return RevisionFacts(
            name=self.revision.name,
            commit=self.revision.commit,
            tree=self.revision.tree,
            build=self.recipe.written,
            layout=self.recipe.layout,
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
    """Have all of these built, side by side, and kept from being removed for as long as the context lasts.

    `source` is the environment of which builds find a part. Raises NotBuiltError for one that does not build,
    UsageError for one that cannot be, MeasurementError where there is no room, InterruptedBeforeStart.
    """
    for job in jobs:
        _check_apart(job.recipe)
    cache.open()
    builder = _Builder(repository, cache, watch, source)
    found = {revision: brought(repository, revision) for revision in dict.fromkeys(job.revision for job in jobs)}
    keys = [builder.key(job, found[job.revision]) for job in jobs]
    of_keys = dict(zip(keys, jobs, strict=True))
    with ExitStack() as holding:
        entries, made = builder.entries(of_keys, holding)
        if made:
            cache.bound()
        yield [_built(job, entries[key], repository) for key, job in zip(keys, jobs, strict=True)]


def _check_apart(recipe: Recipe) -> None:
    if shared := shared_folders(recipe.environment):
        raise UsageError(
            f"{shared[0]}={recipe.environment[shared[0]]} is one folder for all builds, where cargo takes the program "
            "of one side for the other's: leave it out, or name a folder relative to each checkout"
        )


@dataclass(frozen=True)
class _Builder:
    """What builds are made from, where, and who is told of it."""

    repository: Repository
    cache: Cache
    watch: Watch
    source: Mapping[str, str]

    def key(self, job: Job, brought: Sequence[str]) -> str:
        """The name of an entry: whatever makes another build of it is in it.

        What is `brought` into its checkout is, which the tree only points to: submodules may be here one day, and the
        files of LFS. The cache's own place is, as compilers write it into what they make. Those of several layouts
        differ by the number at the end alone.
        """
        recipe = job.recipe
        made_with = [] if recipe.command is None else fingerprint(self.source, recipe.environment, recipe.command)
        place = [str(self.cache.folder), str(self.repository.directory)]
        is_one_of_several = recipe.layout is not None
        parts = [_VERSION, *place, job.revision.tree, brought, recipe.command, is_one_of_several, made_with]
        key = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()[:_KEY_DIGITS]
        return f"{key}-{recipe.layout}" if is_one_of_several else key

    def entries(self, jobs: Mapping[str, Job], holding: ExitStack) -> tuple[dict[str, Entry], set[str]]:
        """Every entry, whole and held by `holding`, and the keys of those that had to be built."""
        made: set[str] = set()
        for _ in range(_MOST_TRIES):
            with ExitStack() as trying:
                entries = {key: self._held(key, jobs[key], trying) for key in sorted(jobs)}
                missing = {key: (job, entries[key]) for key, job in jobs.items() if entries[key].facts() is None}
                self._make(missing)
                made.update(missing)
                if all(entry.share() for entry in entries.values()):
                    for entry in entries.values():
                        entry.note_use()
                    holding.enter_context(trying.pop_all())
                    return entries, made
        raise MeasurementError(
            f"builds are removed from {self.cache.folder} as soon as they are made: what else clears it?"
        )

    def _held(self, key: str, job: Job, trying: ExitStack) -> Entry:
        """An entry, held alone unless it is whole.

        Whoever holds several has taken them in the order of their keys, so that nobody waits in a circle.
        """
        said = f"waiting for another steelyard, which has the build of {job.revision.label}"

        def waiting() -> None:
            self.watch(Progress(said, 0, None, allowance=said, noun=_NOUN))

        while True:
            for alone in (False, True):
                with ExitStack() as one:
                    entry = one.enter_context(self.cache.held(key, alone=alone, waiting=waiting))
                    # Whoever has made it meanwhile shares it, and for that may wait for us, with others in its hands.
                    if entry.share() if entry.facts() is not None else alone:
                        trying.enter_context(one.pop_all())
                        return entry

    def _make(self, missing: Mapping[str, tuple[Job, Entry]]) -> None:
        """Check out and build; of what fails nothing is left but its log."""
        waiting = list(missing.values())
        try:
            notes = [self._check_out(job, entry, len(waiting)) for job, entry in waiting]
            self._announce([job for job, _ in waiting])
            for done in range(0, len(waiting), _MOST_AT_ONCE):
                some = slice(done, done + _MOST_AT_ONCE)
                self._build(waiting[some], notes[some], done, len(waiting))
        except OSError as error:
            place = error.filename or self.cache.folder  # a disk that gets full in the middle of a file names none
            room = f"; {_ROOM}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise MeasurementError(f"nothing can be built in {place}: {error.strerror}{room}") from error
        finally:
            for _, entry in waiting:
                if entry.facts() is None:  # it is of no use, and the disk may be full of it
                    remove(entry.files)
                    remove(entry.git)

    def _announce(self, jobs: Sequence[Job]) -> None:
        """Say what is built, once of each revision, in however many layouts."""
        layouts = Counter(job.revision.label for job in jobs)
        for job in {job.revision.label: job for job in jobs}.values():
            if (command := job.recipe.command) is not None:
                several = f" in {many} layouts" if (many := layouts[job.revision.label]) > 1 else ""
                # What has several lines is from a file, and has been said.
                told = "" if "\n" in command.strip() else f": {one_line(command)}"
                said = f"building {job.revision.label}{several}{told}"
                self.watch(Progress(said, 0, len(jobs), allowance=said, noun=_NOUN))

    def _check_out(self, job: Job, entry: Entry, of: int) -> list[str]:
        """Put a revision's files into their place; what the user should know of them."""
        entry.begin()
        self.watch(Progress(f"checking out {job.revision.label}", 0, of, noun=_NOUN))
        notes = check_out(self.repository, job.revision, Places(entry.files, entry.git))
        self._check_directory(job, entry)
        return notes

    def _build(self, some: Sequence[tuple[Job, Entry]], notes: Sequence[list[str]], done: int, of: int) -> None:
        """Build some side by side, and keep those that do, also where another one fails."""
        failures = self._failures(some, notes, done, of)
        for (job, entry), failure, known in zip(some, failures, notes, strict=True):
            if failure is None:
                entry.complete(self._facts(job, entry, known))
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
        self, missing: Sequence[tuple[Job, Entry]], notes: Sequence[list[str]], done: int, of: int
    ) -> list[NotBuiltError | Literal["cut short"] | None]:
        """What each build failed in, all of them run side by side; the first failure cuts the others short."""
        if all(job.recipe.written is None for job, _ in missing):
            return [None] * len(missing)
        job, _ = missing[0]
        self.watch(Progress(f"building {job.revision.label}", done, of, noun=_NOUN))
        with ExitStack() as leaving:
            commands = [self._command(job, entry, leaving) for job, entry in missing]
            ends = run_all(commands, is_tidied=True)
        each = zip(missing, ends, notes, strict=True)
        return [_failure(job, entry, ended, known) for (job, entry), ended, known in each]

    def _command(self, job: Job, entry: Entry, leaving: ExitStack) -> Command:
        # A compiler that is killed leaves its temporary files: they go with their folder.
        with room_for("a build needs"):
            temporary = leaving.enter_context(scratch_folder("build"))
        folder = entry.files / self.repository.directory
        is_new = job.recipe.may_be_new and not any(folder.iterdir())  # git has no empty ones
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
    """What a build failed in, with the `notes` on its checkout, as what was left out of that may be why."""
    if ended.is_late:
        how: str | None = f"did not end within {seconds(job.recipe.timeout_s or 0.0)}; allow more with --build-timeout"
    elif ended.status is None:
        return "cut short"
    else:
        how = how_it_ended_badly(ended.status)
    if how is None:
        return None
    if _is_full(entry.folder):  # which the log may have no room to say
        how += f", as its disk is full ({_ROOM})"
    command = (job.recipe.written or "").strip()
    what = "its command" if "\n" in command else one_line(command)  # a script has been shown, and hides the answer
    told = [f"{job.revision.label} does not build: {what} {how}; its log is {entry.log}", *notes]
    if job.recipe.may_be_new:  # why it does not build, nobody knows
        told.append("if it has no benchmarks yet, let the command end well without them (steelyard docs ci)")
    return NotBuiltError(
        "; ".join(told),
        tail(entry.log),
    )


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < _LEAST_FREE_BYTES


def tail(log: Path) -> tuple[str, ...]:
    """The last lines of a log, each cut where it is too long."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").rstrip().splitlines()
    except OSError:
        return ()
    shown = (line.expandtabs() for line in lines[-_TAIL_LINES:])
    return tuple(line[:_LONGEST_LINE] for line in shown)


def _built(job: Job, entry: Entry, repository: Repository) -> Built:
    facts = entry.facts()
    return Built(
        job.revision,
        job.recipe,
        entry.files / repository.directory,
        entry.files,
        entry.log,
        facts.notes if facts else (),
        (entry.begun_s(), facts.made_s) if facts else (0.0, 0.0),
        partial(_tracked, repository.git.within(entry.files)),
    )


def _tracked(git: Git) -> frozenset[str] | None:
    told = git.answer("ls-files", "--stage", "-z")
    return None if told is None else frozenset(filter(None, told.split("\0")))
