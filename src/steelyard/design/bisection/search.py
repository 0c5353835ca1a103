"""The search itself: it weighs the ends, the steps between them, and the last commit against its parent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import log1p
from typing import Any, Protocol

from steelyard.design.bisection.weighing import Weighed, log_change
from steelyard.design.runner.failure import Interrupted
from steelyard.model.bisection import Bisection, Commit, Compared, End, Side, Sought, Step, word_of
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.metrics import is_counted
from steelyard.model.progress import Watch
from steelyard.model.settings import Settings
from steelyard.stats.bisection import ENDS_SHARE, LAST_SHARE, Search, exact_bad_end, side_of, step_margin
from steelyard.stats.signed_rank import fewest_differences
from steelyard.stats.verdict import CHANGED
from steelyard.subjects.revisions.checkout import NotBuiltError


class Scales(Protocol):
    """Whatever weighs commits."""

    def weigh(
        self, commits: Sequence[Commit], margin: float, share: float, *, until_one_changed: bool = False
    ) -> Weighed:
        """Weigh commits against the first, until all or one of them has its verdict."""

    def are_one_program(self, one: Commit, other: Commit) -> bool:
        """Whether two commits build the same program."""


@dataclass(frozen=True)
class SearchListener:
    """Who is told how it goes."""

    progress: Watch
    begun: Callable[[list[Commit], int], None]
    """begun(line of commits, steps): called before anything is built."""
    step: Callable[[Step], None]


class SearchEnded(Exception):  # noqa: N818 - it is no error
    """The search can go no further."""

    def __init__(self, end: End, why: str = "", error: SteelyardError | None = None) -> None:
        super().__init__(why)
        self.end, self.why, self.error = end, why, error


@dataclass
class CommitSearch:
    """One search while it goes on."""

    line: list[Commit]
    settings: Settings
    scales: Scales
    listener: SearchListener
    sought: Sought = "slower"
    steps: list[Step] = field(default_factory=list)
    change: Compared | None = None
    of_all: Compared | None = None
    several: bool = False
    change_sought: float = 0.0
    """The size of the change (a log-ratio) between the ends of the range that is left."""
    is_exact: bool = False
    """Whether counts have repeated exactly so far."""

    def __post_init__(self) -> None:
        self.search = Search(len(self.line) - 1, self.settings.alpha)
        _check_enough_pairs(self.settings, self.search)

    def run(self) -> SearchEnded:
        """Search to the end, whatever that is; raises only what goes wrong before the first step."""
        self.listener.begun(self.line, self.search.fewest_steps)
        try:
            self._weigh_ends()
            while (middle := self.search.middle()) is not None:
                self._step(middle)
            return self._weigh_last()
        except SearchEnded as ended:
            return ended
        except (Interrupted, KeyboardInterrupt):  # the second Ctrl-C, too: no journal keeps what the steps have found
            if not self.steps:
                raise
            return SearchEnded("interrupted", "interrupted")
        except SteelyardError as error:
            if not self.steps:
                raise
            return SearchEnded("failed", str(error), error)

    def result(self, ended: SearchEnded, about: dict[str, Any]) -> Bisection:
        """Return what was found, as it is kept and shown."""
        suspects = [self.line[number] for number in self.search.suspects]
        return Bisection(
            **about,
            sought=self.sought,
            metric=self.settings.metrics[0],
            margin=self.settings.margin,
            alpha=self.settings.alpha,
            end=ended.end,
            why=ended.why,
            good=self.line[0],
            bad=self.line[-1],
            commits=len(self.line) - 1,
            found=suspects[0] if ended.end == "found" else None,
            change=self.change if ended.end == "found" else self.of_all,
            suspects=[] if ended.end in ("nothing", "undecided") else suspects,
            skipped=[self.line[number].hash for number in sorted(self.search.skipped)],
            several=self.several,
            steps=self.steps,
        )

    # --- the ends

    def _weigh_ends(self) -> None:
        """Weigh the ends, to see whether there is anything to find."""
        good, bad = self._low_commit, self._high_commit
        share = ENDS_SHARE * self.settings.alpha
        if good.tree == bad.tree:
            raise SearchEnded("nothing", "both commits hold the same files")
        try:
            if self._are_one_program(good, bad):
                raise SearchEnded("nothing", "both commits build the same program")
            weighed = self.scales.weigh([good, bad], self.settings.margin, share)
        except NotBuiltError as error:
            raise NotBuiltError(f"{error}; {self._both_ends_needed} that build", error.log) from error
        if weighed.failed_launch is not None:
            raise MeasurementError(f"{weighed.error} ({self._both_ends_needed} that work.)") from weighed.error
        if weighed.error is not None:
            raise weighed.error
        if weighed.interrupted:
            raise Interrupted
        self.of_all = self.change = ends = weighed.compared[0]
        side: Side | None = "bad" if ends.verdict == self.sought else None
        self._add_step("ends", bad, weighed, share, side=side)
        if ends.verdict == "undecided":
            raise SearchEnded(
                "undecided", f"{' and '.join(self._end_words)} could not be told apart{self._more_budget_hint}"
            )
        if ends.verdict != self.sought or ends.change is None:
            raise SearchEnded("nothing", self._nothing_reason(ends))
        self.change_sought, self.is_exact = abs(log1p(ends.change)), ends.exact

    def _are_one_program(self, good: Commit, bad: Commit) -> bool:
        try:
            return self.scales.are_one_program(good, bad)
        except UsageError as error:  # one of them lacks the command, or the folder
            raise UsageError(f"{error}; {self._both_ends_needed} that have it") from error

    def _nothing_reason(self, ends: Compared) -> str:
        """Return why there is nothing to find, and how to find what there is."""
        older, newer = self._end_words
        if ends.verdict == "same":
            return f"{newer} is the same as {older}"
        way = "--faster finds the commit that made it so" if ends.verdict == "faster" else "leave out --faster"
        return f"{newer} is {ends.verdict} than {older}: {way}"

    # --- the steps

    def _step(self, number: int) -> None:
        """Find out on which side a commit is, or skip it."""
        commit = self.line[number]
        if side := self._side_like(lambda end: end.tree == commit.tree):
            self._answer_by_equality(number, side)
            return
        share = self.search.share()
        try:
            # Many a commit changes only a comment, or no program's files.
            if side := self._side_like(partial(self.scales.are_one_program, commit)):
                self._answer_by_equality(
                    number, side, f"builds the same program as the {word_of(side, self.sought)} end"
                )
                return
            weighed = self._weigh_between(commit, share)
        except (NotBuiltError, UsageError) as error:  # what was right for the ends is wrong for this one
            self._skip(number, error.in_one_line if isinstance(error, NotBuiltError) else str(error))
            return
        self._check_goes_on(weighed)
        if weighed.failed_launch is not None:
            self._skip(number, str(weighed.failed_launch))
            return
        if weighed.complaint is not None:  # why it fails says nothing of the change that is looked for
            self._skip(number, f"{commit.short} wrote to standard error, as neither end did: {weighed.complaint}")
            return
        self._judge(number, weighed, share)

    def _weigh_between(self, commit: Commit, share: float) -> Weighed:
        """Weigh a commit against both ends; if counts repeat exactly, against the good one alone."""
        margin = step_margin(self.change_sought)
        if self.is_exact:
            weighed = self.scales.weigh([commit, self._low_commit], margin, share)
            self.is_exact = all(one.exact for one in weighed.compared)
            if self.is_exact:
                return weighed
        return self.scales.weigh([commit, self._low_commit, self._high_commit], margin, share, until_one_changed=True)

    def _side_like(self, is_like: Callable[[Commit], bool]) -> Side | None:
        """Return the side whose end is like a commit; the good one, if both are."""
        if is_like(self._low_commit):
            return "good"
        return "bad" if is_like(self._high_commit) else None

    def _answer_by_equality(self, number: int, side: Side, why: str = "") -> None:
        ends = self._low_commit, self._high_commit
        self.search.answer(number, side, 0.0)
        self._add_step("equal", self.line[number], None, 0.0, side=side, ends=ends, why=why)

    def _judge(self, number: int, weighed: Weighed, share: float) -> None:
        commit = self.line[number]
        found = {one.candidate: one for one in weighed.compared}
        good, bad = (log_change(found.get(end.hash), self.sought) for end in (self._low_commit, self._high_commit))
        if self.is_exact and good is not None:
            bad = exact_bad_end(good, self.change_sought, step_margin(self.change_sought))
        side = side_of(good, bad)
        if side is None:
            why = "it was not told from either end in the time, or with the pairs, that a step has"
            self._add_step("step", commit, weighed, share, why=why)
            raise SearchEnded("range", f"{commit.short} could not be told from either end{self._more_budget_hint}")
        self.several |= all(one is not None and one.verdict in CHANGED for one in (good, bad))
        ends = self._low_commit, self._high_commit
        self.search.answer(number, side, share)
        remaining = bad if side == "good" else good
        if remaining is not None:
            self.change_sought = (
                abs(remaining.change) if self.is_exact else min(self.change_sought, abs(remaining.change))
            )
        self._add_step("step", commit, weighed, share, side=side, ends=ends)

    def _skip(self, number: int, why: str) -> None:
        self.search.skip(number)
        self._add_step("skip", self.line[number], None, 0.0, why=why)

    # --- the last

    def _weigh_last(self) -> SearchEnded:
        """Name the commit that is left, if it is a single one and made the change to its own parent."""
        if len(self.search.suspects) > 1:
            return SearchEnded("range", "the commits between could not be weighed")
        parent, commit = self._low_commit, self._high_commit
        if len(self.line) == 2:
            return SearchEnded("found")  # the ends were it and its parent
        share = LAST_SHARE * self.settings.alpha
        weighed = self.scales.weigh([parent, commit], self.settings.margin, share)
        self._check_goes_on(weighed)
        if weighed.error is not None:
            return SearchEnded("failed", "the last weighing failed", weighed.error)
        self.change = last = weighed.compared[0]
        self._add_step("last", commit, weighed, share, side="bad" if last.verdict == self.sought else None)
        if last.verdict == self.sought:
            return SearchEnded("found")
        why = f"weighed against its parent once more, {commit.short} was not found {self.sought}"
        return SearchEnded("range", f"{why}{self._more_budget_hint if last.verdict == 'undecided' else ''}")

    # --- what they share

    @property
    def _end_words(self) -> tuple[str, str]:
        """The names of the older and the newer end."""
        return word_of("good", self.sought), word_of("bad", self.sought)

    @property
    def _both_ends_needed(self) -> str:
        return f"bisect needs both ends: give {' and '.join(f'a --{end}' for end in self._end_words)}"

    @property
    def _more_budget_hint(self) -> str:
        """A hint at what would tell more; empty for counts, of which there are as many as can tell anything."""
        if is_counted(self.settings.metrics[0]):
            return ""
        more = "more --pairs" if self.settings.pairs is not None else "a longer --max-time"
        return f": {more} would tell more"

    @property
    def _low_commit(self) -> Commit:
        return self.line[self.search.low]

    @property
    def _high_commit(self) -> Commit:
        return self.line[self.search.high]

    def _check_goes_on(self, weighed: Weighed) -> None:
        """Raise Interrupted, or SearchEnded for an error that no other commit would mend."""
        if weighed.interrupted:
            raise Interrupted
        if weighed.error is not None and weighed.failed_launch is None:
            raise SearchEnded("failed", "a weighing failed", weighed.error)

    def _add_step(
        self,
        kind: Any,
        commit: Commit,
        weighed: Weighed | None,
        share: float,
        *,
        side: Side | None = None,
        why: str = "",
        ends: tuple[Commit, Commit] | None = None,
    ) -> None:
        low, high = ends or (self._low_commit, self._high_commit)
        step = Step(
            kind=kind,
            commit=commit.hash,
            side=side,
            low=low.hash,
            high=high.hash,
            left=len(self.search.suspects),
            alpha=share,
            compared=[] if weighed is None else weighed.compared,
            why=why,
            record=None if weighed is None else weighed.record,
        )
        self.steps.append(step)
        self.listener.step(step)


def _check_enough_pairs(settings: Settings, search: Search) -> None:
    """Raise UsageError for fewer pairs than can ever tell commits apart with a step's share of alpha."""
    if settings.pairs is not None and not is_counted(settings.metrics[0]):
        # A step's weighing has twice its share of alpha, of which each of the two ends has half.
        fewest = fewest_differences(search.share())
        if settings.pairs < fewest:
            raise UsageError(
                f"--pairs {settings.pairs} can never tell commits apart at alpha {settings.alpha:g}, which "
                f"{search.fewest_steps + 2} weighings share: at least {fewest}"
            )
