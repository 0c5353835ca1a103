"""The builds of commits, as `compare` has those of revisions: each made once, kept, and held while needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from steelyard.design.runner.failure import Interrupted
from steelyard.model.bisection import Commit
from steelyard.model.errors import InterruptedBeforeStart
from steelyard.model.progress import Watch
from steelyard.subjects.revisions.builds import Built, built
from steelyard.subjects.revisions.cache import Cache
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.line import revision_of
from steelyard.subjects.revisions.recipe import Job, Recipe


@dataclass(frozen=True)
class Builds:
    """Builds commits of one repository in one way."""

    repository: Repository
    recipe: Recipe
    cache: Cache
    watch: Watch
    source: Mapping[str, str]
    """The environment, part of which builds see."""
    is_interrupted: Callable[[], bool]
    holding: ExitStack
    """While this lasts, none of the builds is removed."""
    known: dict[str, Built] = field(default_factory=dict)
    """By the hash of a tree: commits with the same files share it."""

    def of(self, commits: Sequence[Commit]) -> list[Built]:
        """Return the builds of commits; missing ones are made, side by side.

        Raises NotBuiltError, or UsageError, for one that cannot be built, and Interrupted.
        """
        if self.is_interrupted():
            raise Interrupted
        missing = {commit.tree: commit for commit in commits if commit.tree not in self.known}
        jobs = [Job(revision_of(commit), self.recipe) for commit in missing.values()]
        if jobs:
            try:
                made = self.holding.enter_context(built(self.repository, jobs, self.cache, self.watch, self.source))
            except InterruptedBeforeStart:
                raise Interrupted from None
            self.known.update(zip(missing, made, strict=True))
        return [self.known[commit.tree] for commit in commits]
