"""What identifies a kept build: a key, made of all that would make another one, and marks of targets' own builds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from steelyard.subjects.revisions.cache import Cache, Facts
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.recipe import Job, TargetBuild
from steelyard.subjects.revisions.revision import Revision
from steelyard.subjects.revisions.toolchain import fingerprint, named_program_stamps

# Version of the entries' format: entries of another version are built anew.
_VERSION = 1
_KEY_DIGITS = 20
_MARK_DIGITS = 16
_DIGEST_DIGITS = 8


@dataclass(frozen=True)
class Keys:
    """The keys of builds that are made from a repository in one environment, and kept in one cache."""

    repository: Repository
    cache: Cache
    source: Mapping[str, str]

    def of_jobs(self, jobs: Sequence[Job], inputs: Mapping[Revision, Sequence[str]]) -> list[str]:
        """Return the key of each job's entry: of one that is kept, if that has all its targets, else of one to make.

        All layouts of a side get entries of one kind, as the names of their folders may differ in the number only.
        """
        prefixes = [self._without_layout(job, inputs[job.revision]) for job in jobs]
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
        return all(has_targets(self.cache.facts_of(f"{prefix}{suffix}"), job.marked) for job, suffix in layouts)

    def _without_layout(self, job: Job, inputs: Sequence[str]) -> str:
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
        return key if recipe.targets is None else f"{key}-{digest_of(mark for mark, _ in job.marked)}"


def marked(job: Job, source: Mapping[str, str]) -> Job:
    """Return a job with the marks of its targets' own builds."""
    builds = job.recipe.targets or ()
    return replace(job, marked=[(mark_of(build, source, job.recipe.environment), build) for build in builds])


def mark_of(build: TargetBuild, source: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return what identifies a target's build among those with the same sources: its command and what that names."""
    parts = [build.command, [*named_program_stamps([build.command], {**source, **wanted})]]
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()[:_MARK_DIGITS]


def digest_of(marks: Iterable[str]) -> str:
    """Return the part of a build's key that stands for the builds of targets in it, in whatever order they are."""
    return hashlib.sha256(" ".join(sorted({*marks})).encode()).hexdigest()[:_DIGEST_DIGITS]


def has_targets(facts: Facts | None, wanted: Sequence[tuple[str, TargetBuild]]) -> bool:
    """Return whether a kept build has all that is wanted, each with its mark; one that failed is tried again."""
    if facts is None:
        return False
    known = {one.mark: one for one in facts.targets}
    return all(mark in known and (known[mark].failure is None or one.may_be_new) for mark, one in wanted)
