"""Weighings of commits against each other, as `compare` does them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log1p
from shlex import quote

from steelyard.design.bisection.builds import Builds
from steelyard.design.outcome import Outcome
from steelyard.design.request import Request
from steelyard.design.revision_findings import shared_findings
from steelyard.design.runner.failure import Interrupted
from steelyard.design.session import measure
from steelyard.design.stderr_notes import failure_of_baseline_alone
from steelyard.design.suite.selection import Selection
from steelyard.design.world import World
from steelyard.model.bisection import Commit, Compared, Sought
from steelyard.model.derived import Verdict, deciding_of
from steelyard.model.errors import InterruptedBeforeStart, LaunchError, MeasurementError, SteelyardError, UsageError
from steelyard.model.findings import Finding, VerdictName
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.report import figures
from steelyard.stats import bisection as rules
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.identity import is_identical
from steelyard.subjects.revisions.recipe import Recipe
from steelyard.subjects.revisions.sides import Side, side_of, subjects_of
from steelyard.subjects.suite import benchmarks_of

# The seed of each weighing is drawn from the overall one: orders must not be the same every time.
_SEED_STEP = 1_000_003
_OPPOSITE: dict[VerdictName, VerdictName] = {"slower": "faster", "faster": "slower"}


@dataclass(frozen=True)
class SearchRequest:
    """What the user asks for."""

    command: str
    good: str
    bad: str
    recipe: Recipe
    shell: bool | None
    settings: Settings
    selection: Selection
    jobs: int | None
    sought: Sought
    target: str | None = None
    """The name of the target of a project's file that is followed."""

    @property
    def build(self) -> str | None:
        """The shell commands that build a commit; None if nothing is built."""
        of_targets = map(self.recipe.written_for, self.recipe.targets or ())
        return "\n".join(filter(None, [self.recipe.written, *of_targets])) or None


@dataclass(frozen=True)
class Weighed:
    """The result of weighing some commits against the first of them."""

    compared: list[Compared]
    """One for each commit but the first; empty if nothing could be judged."""
    interrupted: bool
    record: str | None
    error: SteelyardError | None
    complaint: str | None = None
    """What the first commit wrote of a failure, though it ended well, if several others wrote none."""

    @property
    def failed_launch(self) -> LaunchError | None:
        """The launch that failed, if it was a launch, and not what surrounds it."""
        causes = (self.error, None if self.error is None else self.error.__cause__)
        return next((cause for cause in causes if isinstance(cause, LaunchError)), None)


@dataclass
class CommitScales:
    """Weighs commits: each is a subject with a folder of its own, and all have the same command."""

    request: SearchRequest
    builds: Builds
    world: World
    weighings: int = 0
    shared: list[Finding] = field(default_factory=list)
    """Findings on what is not the measured commit's own, as far as the ends show it."""

    def weigh(
        self, commits: Sequence[Commit], margin: float, share: float, *, until_one_changed: bool = False
    ) -> Weighed:
        """Weigh commits against the first; `share` bounds the chance of a wrong verdict in the direction asked for.

        Raises UsageError if a commit lacks the command, NotBuiltError and Interrupted as `builds` do.
        """
        subjects = self._subjects(commits)
        if not self.weighings:
            sides, source = [[build] for build in self.builds.of(commits)], self.world.environment
            self.shared = shared_findings(self.builds.repository, sides, subjects, self.request.settings, source)
        # Each of the two directions of a verdict has half of alpha, and only one of them would be wrong.
        seed = (self.request.settings.seed + _SEED_STEP * self.weighings) % 2**63
        settings = self.request.settings.model_copy(update={"margin": margin, "alpha": 2 * share, "seed": seed})
        self.weighings += 1
        benchmarks = () if settings.harness else benchmarks_of(subjects, [], control=False)
        request = Request(
            subjects,
            settings,
            benchmarks,
            self.request.selection,
            self.request.jobs,
            findings=self.shared,
            until_one_changed=until_one_changed,
        )
        try:
            outcome = measure(request, self.builds.watch, self.world)
        except InterruptedBeforeStart:
            return Weighed([], True, None, None)
        except LaunchError as error:  # of a harness that is asked for its list
            return Weighed([], False, None, error)
        return _to_weighed(outcome, commits, self.request.sought)

    def are_one_program(self, one: Commit, other: Commit) -> bool:
        """Whether both commits build the same program, so that there is nothing to weigh; raises as `weigh`."""
        commits = (one, other)
        builds, subjects = self.builds.of(commits), self._subjects(commits)
        try:
            return is_identical(builds, subjects, self.request.settings)
        except InterruptedBeforeStart:  # while git was asked for their files
            raise Interrupted from None

    def _subjects(self, commits: Sequence[Commit]) -> list[Subject]:
        """Return the command as a subject, in the folder of each commit; raises as `weigh`."""
        return subjects_of(
            [self._side(build, commit) for build, commit in zip(self.builds.of(commits), commits, strict=True)],
            self.request.command,
            shell=self.request.shell,
            search_path=self.world.search_path,
        )

    def _side(self, build: Built, commit: Commit) -> Side:
        """Return where the command of a commit runs; raises NotBuiltError if the target's own build failed."""
        side = side_of([build], commit.short)
        if self.request.target is not None:
            side = side.of_target(self.request.target)
        if side.error is not None:
            raise side.error
        return side


def _to_weighed(outcome: Outcome, commits: Sequence[Commit], sought: Sought) -> Weighed:
    record = outcome.record
    deciding = deciding_of(record.verdicts)
    kept = None if outcome.kept is None else str(outcome.kept)
    interrupted = "interrupted" in record.stop or isinstance(outcome.error, InterruptedBeforeStart)
    # Which one to follow is the question, too, if some of several have failed.
    if deciding and len(record.benchmarks) > len(commits) - 1 and not interrupted:
        raise UsageError(f"bisect follows one benchmark, and here are several: choose with {choice(deciding, sought)}")
    if outcome.error is not None or interrupted:
        return Weighed([], interrupted, kept, None if interrupted else outcome.error)
    if not deciding:
        raise MeasurementError("nothing could be judged" if record.new_suite is None else record.new_suite.message)
    compared = [
        Compared(
            baseline=commits[0].hash,
            candidate=commits[record.benchmarks[verdict.index].candidate].hash,
            verdict=verdict.verdict,
            change=verdict.change,
            interval=verdict.interval,
            metric=verdict.metric,
            pairs=verdict.pairs,
            exact=verdict.stability == "exact",
        )
        for verdict in deciding
    ]
    others = [one.name for one in record.benchmarks]
    complaint = failure_of_baseline_alone(record.findings, others) if len(others) > 1 else None
    return Weighed(compared, False, kept, None, complaint)


def choice(deciding: Sequence[Verdict], sought: Sought) -> str:
    """Return the option that chooses the benchmark most worth following, and why it is."""
    changed = [one for one in deciding if one.verdict == sought]
    sign = 1.0 if sought == "slower" else -1.0
    most = max(changed or deciding, key=lambda one: sign * (one.change or 0.0))
    why = f", which is {sought} by most: {figures.change(most.change)}" if changed else ""
    return f"--benchmark {quote(most.benchmark)}{why}"


def log_change(compared: Compared | None, sought: Sought) -> rules.Compared | None:
    """Return the same as the rules of a step have it; None if there is no change to speak of.

    The rules look for what became slower: in a search for what became faster they are told the opposite of all.
    """
    if compared is None or compared.change is None:
        return None
    if sought == "slower":
        return rules.Compared(compared.verdict, log1p(compared.change))
    return rules.Compared(_OPPOSITE.get(compared.verdict, compared.verdict), -log1p(compared.change))
