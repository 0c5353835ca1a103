"""Who is compared: the subjects of a weighing, and the benchmarks inside them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.numbers import Count
from steelyard.model.parts import Record
from steelyard.model.throughput import Processed, is_empty

# A record of more pairs is not read, and the level at the end of a budget takes time and memory for each pair.
MOST_PAIRS = 2_000_000


class RevisionFacts(Record):
    """The revision of a git repository that a subject was built from."""

    name: str = Field(description="as it was asked for, or found: main, work tree")
    commit: str | None = Field(description="null for a work tree with changes that are not committed")
    tree: str = Field(description="git's hash of all its files")
    build: str | None = Field(description="the shell command that built it; null where nothing is built")
    layout: int | None = Field(default=None, description="which of several builds, from 0")


class Subject(Record):
    """One side of a weighing: a command as the user gave it, and what is executed for it."""

    name: str
    command: str = Field(description="as the user wrote it")
    argv: list[str] = Field(description="what is executed; bytes that are not UTF-8 as surrogate escapes")
    program: str = Field(description="the file that argv[0] was found to be")
    shell: bool = Field(default=False, description="run by /bin/sh -c, whose start is part of every launch")
    digest: str | None = Field(default=None, description="SHA-256 of the program's file, or of its layouts' digests")
    directory: str | None = Field(
        default=None,
        description="where its launches run, if not in that of the settings; {layout} in it is the number of a build",
    )
    revision: RevisionFacts | None = None

    def is_statement(self) -> bool:
        """Whether it is a `timeit` statement, whose only benchmark is named by Steelyard, not by the user."""
        return "--timeit" in self.argv


class Benchmark(Record):
    """One named piece of work inside the subjects; a plain command is one benchmark.

    With more than two subjects, each comparison of a candidate with its baseline is a benchmark of its own.
    """

    name: str
    params: dict[str, str] = Field(
        default_factory=dict, description="values of {name} in the commands; of a harness as it gave them"
    )
    baseline: int = Field(default=0, ge=0, description="index into `subjects` of side 0")
    candidate: int = Field(default=1, ge=0, description="index into `subjects` of side 1")
    control: bool = Field(default=False, description="the baseline against itself: it must not be found changed")
    entry: str | None = Field(default=None, description="its name in the harness; null for a command")
    tags: list[str] = Field(default_factory=list, description="as the harness gave them")
    loops: Count | None = Field(default=None, gt=0, description="iterations a sample, for both sides")
    candidate_loops: Count | None = Field(
        default=None,
        gt=0,
        exclude_if=is_empty,
        description="those of side 1, where it is so much faster or slower than side 0 that they are its own",
    )
    samples: Count | None = Field(default=None, gt=0, description="samples a launch, the first of several not judged")
    clock: Literal["process", "plain"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="process: samples are timed by the processor time of their launch, less that of its start, as the "
        "harness's own times hold the waiting for a processor and one thread does the work; plain: by the harness's "
        "own clock, as one that stands still would not have done so on both sides",
    )
    processed: list[Processed] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="what one launch processes, with a harness one iteration; left out where it is not known",
    )
    ended: Count | None = Field(
        default=None,
        le=MOST_PAIRS,
        description="after how many pairs its first budget ended, if it went on with others; 0 if that was no look",
    )

    @property
    def is_untried(self) -> bool:
        """Whether it is a harness's benchmark that was not tried, so that it is unknown how much a launch runs.

        Either there was no time to try it, or that failed, which is why it stopped.
        """
        return self.entry is not None and self.samples is None

    def names(self) -> list[str]:
        """Its names: the one shown to people, and that in its harness."""
        return [self.name, *([self.entry] if self.entry else [])]

    def loops_of(self, side: int) -> int | None:
        """Iterations a sample of a side; None where its harness chooses them."""
        return self.candidate_loops if side == 1 and self.candidate_loops else self.loops

    def in_command(self) -> dict[str, str]:
        """The values of {name} in its command; empty for a harness, which sets those of its benchmarks itself."""
        return self.params if self.entry is None else {}
