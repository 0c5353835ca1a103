"""How a side is built: by one command, and by those of single targets, of which only the weighed ones are built.

The builds of targets run in the side's checkout after what all share. One that fails leaves the others as they are, so
what became of each is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.model.placeholders import LAYOUT_PLACE
from steelyard.subjects.revisions.revision import Revision

USUAL_TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class TargetBuild:
    """How the program of one target is built."""

    target: str
    """The name of the target."""
    command: str
    """For /bin/sh; `{layout}` in it stands for the number of the layout."""
    may_be_new: bool = False
    """Whether the revision may not have the target yet: then its build may fail."""


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
    targets: tuple[TargetBuild, ...] | None = None
    """What is built after that for single targets, of those that are weighed; None if no target has a build of its own.

    They are independent of each other: a kept build of more targets serves for fewer.
    """

    @property
    def is_built(self) -> bool:
        """Whether there is any command to run."""
        return self.command is not None or bool(self.targets)

    @property
    def has_layouts(self) -> bool:
        """Whether a command or a variable contains `{layout}`."""
        commands = [self.command or "", *(build.command for build in self.targets or ())]
        return self.is_built and any(LAYOUT_PLACE in text for text in (*commands, *self.environment.values()))

    @property
    def in_first_layout(self) -> Recipe:
        """The recipe of a side's only build, which is the first of its layouts if it could have several."""
        return replace(self, layout=1) if self.has_layouts else self

    @property
    def written(self) -> str | None:
        """The command with the number of its layout."""
        return None if self.command is None else self._in_layout(self.command)

    def of_one(self, target: str) -> Recipe:
        """Return what is built for one target."""
        return replace(self, targets=self.targets and tuple(build for build in self.targets if build.target == target))

    def where_known(self, names: Collection[str] | None) -> Recipe:
        """Return what is built of a revision whose project has only targets of these names, if that is known."""
        if names is None or not self.targets:
            return self
        return replace(
            self, targets=tuple(replace(build, may_be_new=build.target not in names) for build in self.targets)
        )

    def written_for(self, target: TargetBuild) -> str:
        """The command of a target's own build with the number of its layout."""
        return self._in_layout(target.command)

    @property
    def variables(self) -> dict[str, str]:
        """The variables with the number of its layout."""
        return {name: self._in_layout(value) for name, value in self.environment.items()}

    def _in_layout(self, text: str) -> str:
        return text if self.layout is None else text.replace(LAYOUT_PLACE, str(self.layout))


@dataclass(frozen=True)
class Job:
    """One revision to be built in one way."""

    revision: Revision
    recipe: Recipe
    marked: Sequence[tuple[str, TargetBuild]] = ()
    """The builds of single targets, each with what identifies it in an entry; known once the job is to be done."""
