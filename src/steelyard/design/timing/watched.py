"""What is seen of the machine beside the launches; kept between launches, as a look may come at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.model.rows import LaunchRow
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
    watching: Watching | None = None
    stood_s: Callable[[], float] = float
    """Returns how long this process has been stopped so far, as by Ctrl-Z, in seconds."""
    _known_stops_s: float = 0.0
    _still: list[tuple[int, int]] = field(default_factory=list)

    def keep(self) -> None:
        """Keep what was seen so far; only between two launches, as the launch server may write the same file."""
        if self.watching is not None:
            for seen in self.watching.taken():
                stretch = seen if seen.still_ns is None else self._without_stops(seen)
                if stretch.still_ns:
                    self._still.append((stretch.end_ns - stretch.still_ns, stretch.end_ns))
                self.sink(stretch)
                self.stretches.append(stretch)

    def still_ns(self, row: LaunchRow) -> float:
        """Return how long nothing of ours ran during a launch, in ns, as far as that has been seen by now."""
        ended_ns = row.start_ns + row.wall_ns
        return sum(max(0, min(ended_ns, end_ns) - max(row.start_ns, start_ns)) for start_ns, end_ns in self._still)

    def _without_stops(self, stretch: Stretch) -> Stretch:
        """Return the stretch without its `still_ns` if this process alone was stopped: its launches went on."""
        stood_s = self.stood_s()
        was_stopped, self._known_stops_s = stood_s > self._known_stops_s, stood_s
        return stretch.model_copy(update={"still_ns": None}) if was_stopped else stretch

    def watch(self) -> Watch | None:
        """Return all of it, for the record; None if nothing was watched."""
        return Watch.model_construct(stretches=self.stretches) if self.stretches else None
