"""What is asked of a weighing or run, as plain values, with the same defaults as the command line's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal


@dataclass(frozen=True, kw_only=True)
class OptionGroup:
    """A group of what is asked."""

    given: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The fields that the caller set, with the option or keyword as written there; all others have their defaults."""

    def is_given(self, name: str) -> bool:
        """Return whether the caller set this field."""
        return name in self.given


@dataclass(frozen=True, kw_only=True)
class Revisions(OptionGroup):
    """Which revisions of a git repository, and how each is built."""

    base: str | None = None
    candidate: str | None = None
    build: str | None = None
    """A shell command."""
    build_timeout: float = 3600.0
    """Seconds."""


@dataclass(frozen=True, kw_only=True)
class Judging(OptionGroup):
    """What is judged, how surely, and how long it is measured."""

    limit: ClassVar[str] = "--pairs"
    """The option for the number of launches, for messages."""

    margin: str = "0.5%"
    """The smallest change that matters, in percent."""
    metric: list[str] | None = None
    """Names, each possibly several with commas; None for `active`."""
    pairs: int | None = None
    """Largest number of pairs, or of launches of one subject."""
    max_time: float | None = None
    """Longest time to measure, s."""
    alpha: float = 0.01
    """Chance of a wrong verdict."""
    family: str = "holm"
    """What alpha limits among several benchmarks: holm or fdr."""


@dataclass(frozen=True, kw_only=True)
class Describing(Judging):
    """What is measured of one subject, and for how long; nothing is judged."""

    limit: ClassVar[str] = "--launches"


@dataclass(frozen=True, kw_only=True)
class Plan(OptionGroup):
    """What a weighing runs beyond its commands, and how: parameters, control, layouts, pairing."""

    parameter_list: list[str] | None = None
    """Each joined as by `parameters.listed`, or from the words of its option."""
    parameter_scan: list[str] | None = None
    control: bool = False
    reference_output: bool = False
    layouts: int | None = None
    pairing: str | None = None
    """adjacent, tandem or auto; the default is auto for commands, and for suites known to be timed better in tandem."""
    own_addresses: bool = False
    """Whether each launch has random memory addresses, even where both of a pair could have equal ones."""
    own_starts: bool = False
    """Whether each launch has a start of its own, even where one start could serve several benchmarks."""


@dataclass(frozen=True, kw_only=True)
class Suite(OptionGroup):
    """Who drives the benchmarks inside programs, and which of them are chosen."""

    harness: str | None = None
    benchmark: list[str] | None = None
    """Patterns of names."""
    tag: list[str] | None = None
    shard: tuple[int, int] | None = None
    """Number of the part, from 1, and number of parts."""


@dataclass(frozen=True, kw_only=True)
class HeapWatch(OptionGroup):
    """Whether the heap is watched, and whether its state is drawn at random."""

    watched: bool = False
    heap_shuffle: bool = False


HOOKS = ("setup", "prepare", "conclude", "cleanup")
"""The commands around launches, in the order in which they run; options, keys and settings have the same names."""


@dataclass(frozen=True, kw_only=True)
class Launching(OptionGroup):
    """What a launch is, what it finds, and what goes before and after it."""

    setup: list[str] | None = None
    prepare: list[str] | None = None
    conclude: list[str] | None = None
    cleanup: list[str] | None = None
    warm_up: int = 1
    repeat: int = 1
    stdin: Path | None = None
    output: Path | None = None
    shell: bool = False
    ignore_failure: bool = False
    timeout: float | None = None
    """Seconds."""
    cpu: int | Literal["auto"] | None = None
    isolate: bool = False
    env: list[str] | None = None
    """NAME or NAME=VALUE."""
    inherit_env: bool = False
    wait_quiet: float = 0
    """Seconds, in all."""
    watch: bool = True
    """Whether to watch what else runs while launches do."""
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Counting(OptionGroup):
    """How launches are counted, if a counted metric is chosen."""

    caches: str = "article"
    weights: str = "default"
    jobs: int | None = None
    loops: int | None = None
    call_graph: bool = False
    body: bool = False
    after_start: bool = False


@dataclass(frozen=True, kw_only=True)
class Throughput(OptionGroup):
    """What a launch, or an iteration of a harness, processes: numbers, with units and {names} of parameters."""

    processed_bytes: str | None = None
    processed_items: str | None = None


@dataclass(frozen=True, kw_only=True)
class Options(OptionGroup):
    """All that is asked."""

    revisions: Revisions = Revisions()
    judging: Judging = Judging()
    weighing: Plan = Plan()
    suite: Suite = Suite()
    heap: HeapWatch = HeapWatch()
    launch: Launching = Launching()
    counting: Counting = Counting()
    throughput: Throughput = Throughput()

    @property
    def shell(self) -> bool | None:
        """Whether a shell runs the commands; None for those of a harness, which none can run."""
        return None if self.suite.harness else self.launch.shell
