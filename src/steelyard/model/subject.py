"""Who is compared: the subjects of a weighing, and the benchmarks inside them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.limits import Accepted
from steelyard.model.numbers import Count
from steelyard.model.parts import Record, is_empty
from steelyard.model.throughput import Processed

# A record of more pairs is not read, and the level at the end of a budget takes time and memory for each pair.
MOST_PAIRS = 2_000_000


class RevisionFacts(Record):
    """The revision of a git repository that a subject was built from."""

    name: str = Field(description="name of the revision as the user gave it, or as it was found: main, work tree")
    commit: str | None = Field(
        description="hash of the commit; null for a work tree with changes that are not committed"
    )
    tree: str = Field(description="git's hash of all files of the revision")
    build: str | None = Field(description="shell command that built it; null where nothing is built")
    layout: int | None = Field(
        default=None, description="number of the build variant, from 1; null where there are none, or several"
    )
    libraries: str | None = Field(
        default=None,
        exclude_if=is_empty,
        description="SHA-256 of the code of the compiled libraries in its folder, which a suite may load; left out if "
        "there are none, where no suite was weighed, and in records of earlier versions",
    )
    accepted: list[Accepted] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="slowdowns that the project's file of the revision accepts; left out if there are none, and in "
        "records of earlier versions",
    )


class Subject(Record):
    """One side of a weighing: a command as the user gave it, and what is executed for it."""

    name: str
    command: str = Field(description="command as the user wrote it")
    argv: list[str] = Field(
        description="arguments that are executed, the program first; bytes that are not UTF-8 are surrogate escapes"
    )
    program: str = Field(
        description="path of the file that argv[0] was found to be, with {layout} for the number of a build"
    )
    shell: bool = Field(
        default=False, description="whether it is run by /bin/sh -c, whose start is then part of every launch"
    )
    digest: str | None = Field(
        default=None,
        description="SHA-256 of the program's file (behind `env -C FOLDER ./program`, of that program's), or of the "
        "digests of its layouts, and of what parameters name; null if unknown, as with a shell",
    )
    directory: str | None = Field(
        default=None,
        description="folder in which its launches run, with {layout} for the number of a build; null for that of "
        "`settings`",
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
        default_factory=dict,
        description="values of {name} in the commands; of a harness's benchmark, its parameters as the harness gave "
        "them",
    )
    baseline: int = Field(default=0, ge=0, description="index in `subjects` of side 0, the baseline")
    candidate: int = Field(default=1, ge=0, description="index in `subjects` of side 1, the candidate")
    control: bool = Field(
        default=False,
        description="whether this is the baseline weighed against itself, which must not be found changed",
    )
    entry: str | None = Field(default=None, description="name of the benchmark in its harness; null for a command")
    tags: list[str] = Field(default_factory=list, description="tags of the benchmark, as the harness gave them")
    loops: Count | None = Field(
        default=None,
        gt=0,
        description="iterations a sample, for both sides unless `candidate_loops` is there; null for a command, and "
        "where the harness chooses them",
    )
    candidate_loops: Count | None = Field(
        default=None,
        gt=0,
        exclude_if=is_empty,
        description="iterations a sample for side 1, where it is so much faster or slower than side 0 that it has a "
        "number of its own; otherwise left out",
    )
    samples: Count | None = Field(
        default=None,
        gt=0,
        description="samples a launch, of which the first is not judged if there are several; null for a command, "
        "and for a benchmark that was not tried",
    )
    clock: Literal["process", "plain"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="process: a sample is the processor time of its launch, less that of the launch's start, as the "
        "harness's own times include waiting for a processor and one thread does the work; plain: samples are timed "
        "by the harness's own clock, as one that stands still while it waits would not have worked on both sides; "
        "otherwise left out",
    )
    processed: list[Processed] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="what one iteration of a harness, or one run of the command, processes; left out if unknown",
    )
    ended: Count | None = Field(
        default=None,
        le=MOST_PAIRS,
        description="number of pairs after which its first budget ended, if it went on with another one; 0 if that "
        "end was no look; null if there was one budget only",
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

    def subject_of(self, side: int) -> int:
        """The index in `subjects` of a side."""
        return self.candidate if side == 1 else self.baseline

    def loops_of(self, side: int) -> int | None:
        """Iterations a sample of a side; None where its harness chooses them."""
        return self.candidate_loops if side == 1 and self.candidate_loops else self.loops

    def in_command(self) -> dict[str, str]:
        """The values of {name} in its command; empty for a harness, which sets those of its benchmarks itself."""
        return self.params if self.entry is None else {}
