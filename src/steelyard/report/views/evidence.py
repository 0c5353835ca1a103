"""What the machine tells of launches that may have disturbed them, in words."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.launches import DISTURBED_FROM
from steelyard.model.records import Run, Weighing
from steelyard.report import figures

_NONE = "-"


def disturbances(record: Weighing | Run, places: Sequence[int]) -> list[str]:
    """Say what was seen beside some launches, for each in turn: that it waited, time was stolen, pages were read.

    `waited 2.6 % / -` is of two, of which the second did not wait for as much as one percent of its time.
    """
    launches, waited = record.launches, record.launches.waiting_share()
    stolen = launches.share_of_elapsed("steal_ns")
    read = [launches.major_faults[place] for place in places]
    return [
        *_told("waited", [_share(float(waited[place])) for place in places]),
        *_told("stolen", [_share(min(float(stolen[place]), 1.0)) for place in places]),
        *_told("major faults", [f"{faults:,}" if faults else _NONE for faults in read]),
    ]


def _told(what: str, said: Sequence[str]) -> list[str]:
    return [f"{what} {' / '.join(said)}"] if any(one != _NONE for one in said) else []


def _share(share: float) -> str:
    # False of NaN, where the machine does not tell.
    return f"{figures.percent(float(f'{share:.2g}'))}" if share > DISTURBED_FROM else _NONE
