"""What `steelyard bisect` found, and the decisions that led there."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from steelyard.model.kept import Finding, VerdictName
from steelyard.model.numbers import Count
from steelyard.model.parts import Record

BISECTION_FORMAT: Final = "steelyard-bisection"

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
    tree: str = Field(description="hash of what it holds: two commits of one tree are not weighed against each other")
    author: str
    date: str = Field(description="the author's, ISO 8601")
    subject: str = Field(description="first line of its message")

    @property
    def short(self) -> str:
        """The short hash that people use."""
        return self.hash[:10]


class Compared(Record):
    """What one weighing of a step says about two commits."""

    baseline: str
    candidate: str
    verdict: VerdictName
    change: float | None = Field(gt=-1, description="relative change from baseline to candidate")
    interval: tuple[float, float] | None = None
    metric: str
    pairs: Count = Field(description="pairs, or counts a side")
    exact: bool = Field(default=False, description="whether both have counts that repeat exactly")


class Step(Record):
    """One decision: what was weighed, and what follows."""

    kind: Literal["ends", "step", "last", "skip", "equal"] = Field(
        description="the two ends; a commit between them; the commit found against its parent; one that cannot be "
        "weighed; one that has the files, or builds the program, of an end of the range"
    )
    commit: str
    side: Side | None = Field(default=None, description="which it is like; null if that stayed open")
    low: str = Field(description="newest commit known as good, before this step")
    high: str = Field(description="oldest commit known as bad, before this step")
    left: Count = Field(description="suspects after this step")
    alpha: float = Field(default=0.0, description="error that this decision may spend")
    compared: list[Compared] = Field(default_factory=list)
    why: str = Field(default="", description="why it was skipped, is equal, or stayed open")
    record: str | None = Field(default=None, description="where the weighing is kept")


class Bisection(Record):
    """A whole bisection, even one that did not reach its end."""

    format: Literal["steelyard-bisection"] = BISECTION_FORMAT
    version: Literal[1] = 1
    tool: str = Field(description="the Steelyard version that searched")
    repository: str
    command: str
    build: str | None
    sought: Sought = Field(default="slower", description="what the commit that is looked for made of it")
    metric: str
    margin: float
    alpha: float = Field(description="chance of a wrong answer that was accepted")
    end: End
    why: str = Field(default="", description="why it ended, if not with a commit")
    good: Commit
    bad: Commit
    commits: Count = Field(description="from good to bad, good not among them")
    found: Commit | None = None
    change: Compared | None = Field(
        default=None, description="of the commit found against its parent; else of the ends"
    )
    suspects: list[Commit] = Field(
        default_factory=list, description="oldest first; the commit that is looked for is one of them"
    )
    skipped: list[str] = Field(default_factory=list)
    several: bool = Field(default=False, description="whether more than one commit was seen to change it")
    findings: list[Finding] = Field(
        default_factory=list,
        description="what all commits share that should be their own, what is in none of them, how a merge is searched",
    )
    steps: list[Step] = Field(default_factory=list)
    seconds: float

    @model_validator(mode="after")
    def _tells_of_what_it_found(self) -> Self:
        if self.found is not None and not self.found.parents:
            raise ValueError("`found` has no parent, which it was weighed against")
        if self.several and not (self.steps and self.steps[0].compared):
            raise ValueError("`several` commits changed it, but the first of `steps` has not weighed the ends")
        return self
