"""Several launches in one request: they run one after the other, and the server itself keeps their rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from steelyard.design.runner.runner import LaunchSeries, LaunchServer
from steelyard.design.runner.targets import Targets
from steelyard.model.counters import events_of
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.journal import Journal
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Frame, Place
from steelyard.model.settings import Settings

_NO_FRAME = Frame("", "")


def _launch_series(
    launcher: LaunchServer, specs: Sequence[LaunchSpec], frames: Sequence[Frame], behind: LaunchSpec | None
) -> Sequence[Measured | SteelyardError]:
    first = [] if behind is None else [behind]
    return launcher.launch_series([*first, *specs], [*([None] * len(first)), *frames])


def journaled_series(
    settings: Settings, targets: Targets, launcher: LaunchServer, journal: Journal
) -> LaunchSeries | None:
    """Return how to launch several in one request; None where the driver has something to do between two launches."""
    if events_of(settings.metrics):  # the server keeps only the numbers
        return None
    if settings.has_hooks_around or targets.empty_shell or settings.harness is not None or settings.repeat > 1:
        return None
    with suppress(MeasurementError):  # the first launch reports a server that has ended since it started
        launcher.keep_rows_in(journal.fileno())

    def series(
        places: Sequence[Place], specs: Sequence[LaunchSpec], behind: LaunchSpec | None
    ) -> list[Measured | SteelyardError]:
        begun = journal.size()
        try:
            return [*_launch_series(launcher, specs, [journal.frame(place, 0) for place in places[:-1]], behind)]
        except MeasurementError as error:  # the server has ended; what it had kept by then is not lost
            return [*map(Measured.of_row, journal.rows_after(begun)), error]

    return series


def unkept_series(launcher: LaunchServer) -> LaunchSeries:
    """Return how to launch several in one request whose rows go to no journal."""
    return lambda _, specs, behind: _launch_series(launcher, specs, [_NO_FRAME] * (len(specs) - 1), behind)
