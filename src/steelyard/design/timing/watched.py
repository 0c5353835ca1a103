"""What is seen of the machine beside the launches; kept between launches, as a look may come at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.model.watch import Stretch, Watch


class Watching(Protocol):
    """Looks at the machine while launches run, or a scripted one in tests."""

    def taken(self) -> Sequence[Stretch]:
        """Return what was seen since the last call; once its context has ended, the rest."""


@dataclass
class Watched:
    """What was seen so far, each stretch on disk once it is known; those of an earlier session first."""

    sink: Callable[[Stretch], None] = lambda stretch: None  # noqa: ARG005
    stretches: list[Stretch] = field(default_factory=list)
    by: Watching | None = None

    def keep(self) -> None:
        """Keep what was seen so far; only between two launches, as the launch server may write the same file."""
        if self.by is not None:
            for stretch in self.by.taken():
                self.sink(stretch)
                self.stretches.append(stretch)

    def watch(self) -> Watch | None:
        """Return all of it, for the record; None if nothing was watched."""
        return Watch.model_construct(stretches=self.stretches) if self.stretches else None
