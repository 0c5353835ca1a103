"""Whether a budget allows a verdict at all, as the first pair shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.report import figures
from steelyard.report.budgets import RESERVE_FACTOR, rounded_up
from steelyard.stats.looks import FIRST_LOOK

if TYPE_CHECKING:
    from steelyard.model.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """How many pairs a budget allows at the pace of the first one, which may have taken longer than later ones will."""

    settings: Settings
    fewest: int
    """The pairs that a verdict takes at least."""
    fitting: int
    """The pairs that fit into the budget."""
    spent_s: float
    """How much of the budget is gone, in seconds."""
    seconds_each: float
    """How long a pair of each benchmark takes."""
    benchmarks: int
    """How many are measured."""
    controls: int = 0
    """How many of these are controls, which share alpha with nobody."""
    prepared_s: float = 0.0
    """How long a harness took to list and try its benchmarks."""
    untried: int = 0
    """How many there was no time to try, and which a longer budget serves as well."""
    carried_on: bool = False
    """Whether this is a weighing that goes on, which takes another budget only once its own has ended."""

    def shortage(self) -> str | None:
        """Say that the budget is too short for a verdict, and which one is not; None if it is long enough.

        If it is long enough for all but those that there was no time to try, the report's note on these says all.
        """
        settings, fewest = self.settings, self.fewest
        if settings.pairs is not None and settings.pairs < fewest:
            return (
                f"{figures.count(settings.pairs, 'pair')} are too few for {self._verdict_text()} {fewest}"
                f"{self._way_out('', f'--pairs {rounded_up(RESERVE_FACTOR * fewest)}')}"
            )
        if settings.max_time_s is None:
            return None
        if self.fitting < fewest:
            return self._too_short_text(settings.longest_time_s or settings.max_time_s)
        if self.untried or self._needed_s() <= settings.max_time_s:
            return None
        return (
            f"{self._pair_text()} takes {figures.seconds(self.seconds_each)}, so it goes on for about "
            f"{figures.seconds(self._needed_s())}: {self._verdict_text(link='')} {fewest} pairs, for which the usual "
            f"{figures.seconds(settings.max_time_s)} are too short"
            f"{'' if self.carried_on else '; --max-time sets a limit that holds'}"
        )

    def _too_short_text(self, longest_s: float) -> str:
        allowed = figures.count(self.fitting, "pair") if self.fitting else "no pair but the warm-up"
        # The fewest pairs decide only if all point one way; a dozen is the number to name where they leave it open.
        sensible_s = self._needed_s() + max(0, FIRST_LOOK - self.fewest) * self._all_s()
        for_all = f" for all {self.benchmarks + self.untried}" if self.untried else ""
        preparation = ""
        if self.prepared_s > max(self.seconds_each, (self.settings.max_time_s or 0) / 4):
            preparation = f", after {figures.seconds(self.prepared_s)} for the list of benchmarks and to try them"
        return (
            f"{self._pair_text()} took {figures.seconds(self.seconds_each)}{preparation}; at that pace there is time "
            f"for {allowed} in {figures.seconds(longest_s)}: too few for {self._verdict_text()} {self.fewest}"
            f"{self._way_out(for_all, f'--max-time {rounded_up(RESERVE_FACTOR * sensible_s)}')}"
        )

    def _way_out(self, for_all: str, option: str) -> str:
        return "; it may go on once this has ended" if self.carried_on else f"; with some to spare{for_all}: {option}"

    def _needed_s(self) -> float:
        return self.spent_s + self.fewest * self._all_s()

    def _all_s(self) -> float:
        """Return how long a pair of each benchmark takes, with those that there was no time to try."""
        return self.seconds_each * (self.benchmarks + self.untried) / max(1, self.benchmarks)

    def _verdict_text(self, link: str = ", which") -> str:
        settings = self.settings
        if self.benchmarks - self.controls > 1:
            return f"verdicts that share alpha {settings.alpha:.3g}{link} take"
        is_part = settings.shard is not None and len(settings.shard.suite) > 1  # the others are in other parts
        return f"a verdict at {'its share of ' if is_part else ''}alpha {settings.alpha:.3g}{link} takes"

    def _pair_text(self) -> str:
        if not self.untried:
            return "a pair" if self.benchmarks == 1 else f"a pair of each of the {self.benchmarks} benchmarks"
        tried = "the one benchmark" if self.benchmarks == 1 else f"each of the {self.benchmarks} benchmarks"
        return f"a pair of {tried} that there was time to try"
