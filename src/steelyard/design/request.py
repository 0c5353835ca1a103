"""What the user asks for, once the command line has been read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from steelyard.design.suite.selection import Selection, deal_shard
from steelyard.model.findings import Finding
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject


@dataclass(frozen=True)
class Request:
    """One weighing of candidates against a baseline, or one run of a single subject."""

    subjects: Sequence[Subject]
    """The baseline and then its candidates; one subject is measured alone."""
    settings: Settings
    until_one_changed: bool = field(default=False, kw_only=True)
    """Whether the first benchmark that is found slower or faster ends the pairs of all."""
    benchmarks: Sequence[Benchmark] = ()
    """Those of plain commands; a harness is asked for its own, of which the `selection` is measured."""
    selection: Selection = field(default_factory=Selection)
    jobs: int | None = None
    """How many launches are counted at once; None for one per processor."""
    findings: Sequence[Finding] = ()
    """What is known before anything is measured; if one says that both sides are identical, nothing is."""

    def own_part(self) -> Request:
        """Return it with its part of the commands' benchmarks, if it is of one; raises UsageError as `deal_shard`.

        A harness is asked for its benchmarks first.
        """
        if (requested := self.selection.shard) is None or self.settings.harness is not None:
            return self
        benchmarks, shard = deal_shard(self.benchmarks, requested)
        return replace(self, benchmarks=benchmarks, settings=self.settings.model_copy(update={"shard": shard}))
