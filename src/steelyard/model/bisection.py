"""What `steelyard bisect` found, and the decisions that led there."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from steelyard.model.findings import Finding, VerdictName
from steelyard.model.numbers import Count
from steelyard.model.parts import Record

End = Literal["found", "range", "nothing", "undecided", "interrupted", "failed"]
Side = Literal["good", "bad"]
Sought = Literal["slower", "faster"]
_WORDS: Final[dict[Sought, dict[Side, str]]] = {
    "slower": {"good": "good", "bad": "bad"},
    "faster": {"good": "old", "bad": "new"},
}


def word_of(side: Side, sought: Sought) -> str:
    """The name of a side: in a search for what became faster, the newer one is not called bad."""
    return _WORDS[sought][side]


class Commit(Record):
    """One commit of the line that is searched."""

    hash: str
    parents: list[str]
    tree: str = Field(
        description="hash of the files that it holds: two commits of one tree are not weighed against each other"
    )
    author: str
    date: str = Field(description="author date, ISO 8601")
    subject: str = Field(description="first line of the commit's message")

    @property
    def short(self) -> str:
        """The short hash that people use."""
        return self.hash[:10]


class Compared(Record):
    """What one weighing of a step says about two commits."""

    baseline: str
    candidate: str
    verdict: VerdictName
    change: float | None = Field(
        gt=-1,
        description="relative change from the baseline to the candidate, +0.01 is 1 % slower (1 % more); null if "
        "unknown",
    )
    interval: tuple[float, float] | None = None
    metric: str
    pairs: Count = Field(description="number of pairs, or of counts a side")
    exact: bool = Field(default=False, description="whether the counts of both commits repeat exactly")


class Step(Record):
    """One decision: what was weighed, and what follows."""

    kind: Literal["ends", "step", "last", "skip", "equal"] = Field(
        description="ends: the two ends were weighed; step: a commit between them; last: the commit found, against "
        "its parent; skip: a commit that cannot be weighed; equal: one that has the files of an end of the range, "
        "or builds the same program"
    )
    commit: str
    side: Side | None = Field(
        default=None,
        description="side that the commit is on, being like the good or the bad end; null if that stayed open",
    )
    low: str = Field(description="hash of the newest commit known as good, before this step")
    high: str = Field(description="hash of the oldest commit known as bad, before this step")
    left: Count = Field(description="number of commits that are still suspects after this step")
    alpha: float = Field(default=0.0, description="share of alpha that this decision may spend")
    compared: list[Compared] = Field(default_factory=list)
    why: str = Field(default="", description="why the commit was skipped, is equal, or stayed open; otherwise empty")
    record: str | None = Field(default=None, description="file in which the weighing is kept; null if there is none")


class Bisection(Record):
    """A whole bisection, even one that did not reach its end."""

    format: Literal["steelyard-bisection"] = "steelyard-bisection"
    version: Literal[1] = 1
    tool: str = Field(description="version of Steelyard that searched")
    repository: str
    command: str
    build: str | None
    sought: Sought = Field(
        default="slower", description="what the commit that is looked for made the command: slower or faster"
    )
    metric: str
    margin: float
    alpha: float = Field(description="accepted chance of a wrong answer")
    end: End
    why: str = Field(default="", description="why the search ended; empty if it found a commit")
    good: Commit
    bad: Commit
    commits: Count = Field(description="number of commits from good to bad, without good")
    found: Commit | None = None
    change: Compared | None = Field(
        default=None,
        description="change of the commit found against its parent; if none was found, that of the bad end against "
        "the good one",
    )
    suspects: list[Commit] = Field(
        default_factory=list,
        description="commits among which is the one that is looked for, the oldest first; empty if there is nothing "
        "to find, or if the ends could not be told apart",
    )
    skipped: list[str] = Field(default_factory=list)
    several: bool = Field(default=False, description="whether more than one commit was seen to change the command")
    findings: list[Finding] = Field(
        default_factory=list,
        description="what all commits share that each should have for itself, what is in none of them, and how a "
        "merge is searched",
    )
    steps: list[Step] = Field(default_factory=list)
    seconds: float

    @model_validator(mode="after")
    def _check_found(self) -> Self:
        if self.found is not None and not self.found.parents:
            raise ValueError("`found` has no parent, which it was weighed against")
        if self.several and not (self.steps and self.steps[0].compared):
            raise ValueError("`several` commits changed it, but the first of `steps` has not weighed the ends")
        return self
