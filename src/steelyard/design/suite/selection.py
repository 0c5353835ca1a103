"""Which of a harness's benchmarks are measured, or which part of a suite that several machines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from steelyard.design.findings import some_names
from steelyard.model.errors import NothingChosenError, UsageError
from steelyard.model.patterns import fits, is_chosen, left_out_by
from steelyard.model.placeholders import describe_values
from steelyard.model.throughput import Processed

if TYPE_CHECKING:
    from steelyard.model.settings import Shard
    from steelyard.model.subject import Benchmark
    from steelyard.subjects.harness import Listed


@dataclass(frozen=True)
class RequestedShard:
    """Which part of a suite is wanted: `number` of `of`, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Selection:
    """What the user asked for of a harness's benchmarks."""

    only: Sequence[str] = ()
    """Patterns of names (as in a shell), `!PATTERN` for all but those; if empty, all benchmarks."""
    tags: Sequence[str] = ()
    """Patterns of tags, one of which has to match a tag of the benchmark, on any side; if empty, all benchmarks."""
    of_several: bool = False
    """Whether the patterns choose from other programs' benchmarks too, which may have what this one lacks."""
    seconds_each: float | None = None
    """How long each may take, if that is more in total than the time limit."""
    shard: RequestedShard | None = None
    """Which part of them, if not all."""
    control: bool = False
    """Whether the baseline's first benchmark is weighed against itself."""
    own_starts: bool = False
    """Whether each launch is to have a start of its own, even where one could serve several benchmarks."""
    any_pairing: bool = True
    """Whether both launches of a pair may exist at the same time where that is known to be better."""
    not_in_baseline: str | None = None
    """The file that the command names and the baseline's revision lacks: if its list fails, it has no benchmark."""
    processed: Sequence[Processed] = ()
    """What an iteration of each processes, whatever the harness tells of it; empty to take the harness's word."""

    def choose(self, listed: Sequence[Listed], whose: str, new: Sequence[Listed] = ()) -> list[Listed]:
        """Return those of `whose` benchmarks that were asked for.

        Raises UsageError for a pattern that fits none of these, nor of those that are `new` in a candidate, and if
        nothing is left. Patterns that are `of_several` programs may fit none here: then only NothingChosenError is
        raised, if nothing is left.
        """
        chosen = self.matching(listed)
        if not self.of_several:
            self._check_patterns(listed, whose, new)
        if listed and not chosen:
            only_new = [*dict.fromkeys(one.name for one in self.matching(new))]
            raise self._none_chosen_error(listed, whose, only_new)
        return chosen

    def matching(self, listed: Sequence[Listed]) -> list[Listed]:
        """Return those that the patterns choose and that fit one of the tags, as far as there are any."""
        return [
            one for one in listed if is_chosen([one.name], self.only) and (not self.tags or fits(one.tags, self.tags))
        ]

    def _check_patterns(self, listed: Sequence[Listed], whose: str, new: Sequence[Listed]) -> None:
        names, known = [one.name for one in listed], sorted({tag for one in listed for tag in one.tags})
        for pattern in self.only:
            if not fits([*names, *(one.name for one in new)], [left_out_by(pattern) or pattern]):
                within = f"*{(left_out_by(pattern) or pattern).strip('*')}*"
                hint = f"; {within!r} fits a part of a name" if within != "**" and fits(names, [within]) else ""
                raise UsageError(f"--benchmark {pattern!r} fits none of {whose} benchmarks: {some_names(names)}{hint}")
        for pattern in self.tags:
            if not fits([*known, *(tag for one in new for tag in one.tags)], [pattern]):
                has = some_names(known) or "no tags"
                raise UsageError(f"--tag {pattern!r} is on none of {whose} benchmarks: {has}")

    def _none_chosen_error(self, listed: Sequence[Listed], whose: str, only_new: Sequence[str]) -> UsageError:
        """Return the error for an empty choice; `only_new` are those asked for that only a candidate has."""
        lacks = f"the baseline lacks what is asked for, {some_names(only_new)}"
        if self.of_several:
            why = lacks if only_new else f"none of {whose} benchmarks is among those asked for"
            return NothingChosenError(f"{why}, so it is left out")
        if only_new:
            return UsageError(f"{lacks}: there is nothing to weigh against; steelyard run measures one alone")
        if not self.tags:
            names = some_names([one.name for one in listed])
            return UsageError(f"--benchmark leaves out all of {whose} benchmarks: {names}")
        return UsageError("--benchmark and --tag together choose no benchmark: it has to fit both")


def with_tags_of_all(lists: Sequence[Sequence[Listed]]) -> list[list[Listed]]:
    """Return what each subject lists, a benchmark with the tags that it has in any of them.

    A benchmark that a revision tags anew, or no longer, is still weighed by that tag.
    """
    tags_by_name: dict[str, dict[str, None]] = {}
    for one in chain.from_iterable(lists):
        tags_by_name.setdefault(one.name, {}).update(dict.fromkeys(one.tags))
    return [[replace(one, tags=tuple(tags_by_name[one.name])) for one in listed] for listed in lists]


def deal_shard(benchmarks: Sequence[Benchmark], requested: RequestedShard) -> tuple[list[Benchmark], Shard]:
    """Return the part's benchmarks in order, and what the record says of it; raises UsageError if it has none.

    The sorted names are dealt out, one to each part in turn: whatever lists them, and in which order, each has its
    place, and the parts differ by one benchmark at most. All candidates of a benchmark are in one part.
    """
    from steelyard.model.settings import Shard  # takes time that a diff of imports does not need

    suite = [benchmark for benchmark in benchmarks if not benchmark.control]
    names = sorted({_work_name(benchmark) for benchmark in suite})
    own_names = {*names[requested.number - 1 :: requested.of]}
    if requested.of > len(names):  # an empty part could not be measured, nor the others be merged without it
        most = "is one benchmark: leave it out" if len(names) == 1 else f"are {len(names)} benchmarks: make it as many"
        raise UsageError(f"--shard {requested} makes {requested.of} parts, and there {most}")
    shard = Shard(number=requested.number, of=requested.of, suite=[benchmark.name for benchmark in suite])
    return [benchmark for benchmark in benchmarks if benchmark.control or _work_name(benchmark) in own_names], shard


def _work_name(benchmark: Benchmark) -> str:
    """Return the name of the work, whichever candidate does it."""
    if benchmark.entry is not None or not benchmark.params:
        return benchmark.entry or benchmark.name
    return describe_values(benchmark.params)
