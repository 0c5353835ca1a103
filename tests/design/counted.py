"""Records with counts, and a counter that counts what a script says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.counting import stage as counting
from steelyard.design.counting.stage import CountingStage, CountingTools
from steelyard.design.counting.tool import with_tool
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Hooks
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.profile import FunctionCost
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.counting import Count, Counting, CountSettings, CountTool, Functions
from steelyard.model.errors import SteelyardError
from steelyard.model.findings import Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.progress import Progress
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from tests.design.scripted import PLAIN, run_header, weighing

TOOL = CountTool(tool="cachegrind", version="3.19.0", program="valgrind", flags=["--tool=cachegrind"])
COUNTED = {"metrics": ["instructions"], "counting": CountSettings().model_dump()}
VALGRIND = Valgrind(Path("/usr/bin/valgrind"), "3.19.0")
# A program that exists, because its file is looked at.
PROGRAM = Subject(name="work", command="true", argv=["/bin/true"], program="/bin/true")


def count(side: int, instructions: int, benchmark: int = 0, **events: int) -> Count:
    return Count(benchmark=benchmark, side=side, events={"Ir": instructions, **events}, seconds=1.0)


def counts(baseline: Sequence[int], candidate: Sequence[int], benchmark: int = 0) -> list[Count]:
    """Return both sides' counts of instructions, alternating for as long as both have one left."""
    sides = [
        [count(side, number, benchmark) for number in numbers] for side, numbers in ((0, baseline), (1, candidate))
    ]
    length = min(map(len, sides))
    turns = [one for pair in zip(*(side[:length] for side in sides), strict=True) for one in pair]
    return [*turns, *sides[0][length:], *sides[1][length:]]


def functions(side: int, own: Mapping[str, int], benchmark: int = 0) -> Functions:
    return Functions(
        benchmark=benchmark,
        side=side,
        name=list(own),
        file=["work.c"] * len(own),
        object=["/work"] * len(own),
        line=[7] * len(own),
        events={"Ir": list(own.values())},
    )


def counted_weighing(
    counted: Sequence[Count], parts: Sequence[Functions] = (), benchmarks: int = 1, **settings: Any
) -> Weighing:
    record = weighing(benchmarks, **{**COUNTED, **settings})
    made = Counting(tool=TOOL, counts=list(counted), functions=list(parts))
    return record.model_copy(update={"counting": made, "subjects": [PROGRAM, PROGRAM]})


def counted_run(counted: Sequence[Count], parts: Sequence[Functions] = (), **settings: Any) -> Run:
    made = Counting(tool=TOOL, counts=list(counted), functions=list(parts))
    record = run_header(**{**COUNTED, **settings})
    return record.model_copy(update={"counting": made, "subjects": [PROGRAM]})


def own(name: str, instructions: int) -> FunctionCost:
    return FunctionCost(name, "work.c", "/work", 7, {"Ir": instructions}, None)


def launched(instructions: int, *parts: FunctionCost, **measured: Any) -> Counted:
    """Return what is counted of one launch."""
    costs = list(parts) or [own("main", instructions)]
    return Counted({"Ir": instructions}, costs, [], 0, replace(PLAIN, **measured), 1.0)


@dataclass
class ScriptedPool:
    """Does one task after the other; script(number of the launch, from 0, and its spec) says what the launch counts.

    It stands in for the pool, for the launcher of its only runner, and for the counter.
    """

    script: Callable[[int, LaunchSpec], Counted]
    specs: list[LaunchSpec] = field(default_factory=list)
    hooks: list[bytes] = field(default_factory=list)
    when_late = Counter.when_late
    waiting: Callable[[], None] | None = None
    _counted: Counted | None = None

    def __call__(self, launcher: object, jobs: int, hooks: Hooks) -> ScriptedPool:
        del launcher
        self.jobs = WorkerPool(lambda: nullcontext(self), jobs, hooks).jobs  # type: ignore[arg-type]
        self.runner = Runner(self, hooks=hooks)  # type: ignore[arg-type] # it counts no two at once
        return self

    def __enter__(self) -> ScriptedPool:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def cancel(self) -> None:
        pass

    def forget_cancel(self) -> None:
        pass

    def do_all(self, tasks: Sequence[Callable[[Runner], Any]]) -> Iterator[tuple[int, Any]]:
        for number, task in enumerate(tasks):
            try:
                done = task(self.runner)
            except Interrupted:
                return
            yield number, done

    @contextmanager
    def attached(self, spec: LaunchSpec) -> Iterator[ScriptedPool]:
        self.specs.append(spec)
        self._counted = self.script(len(self.specs) - 1, spec)
        self.spec = spec
        yield self
        self._counted = None

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:  # noqa: ARG002
        if self._counted is not None:
            return self._counted.measured
        self.hooks.append(spec.program)
        return PLAIN

    def without_instrument(self, measured: Measured) -> Measured:
        return measured

    def read(self, measured: Measured) -> Counted:
        assert self._counted is not None
        assert self._counted.measured == measured
        return self._counted


@dataclass
class Outcome:
    """What came of one scripted stage."""

    record: Weighing | Run
    error: SteelyardError | None
    pool: ScriptedPool
    kept: list[tuple[Count, Functions | None]]
    failed: list[tuple[int, str]]
    """(benchmark, message) of each benchmark that failed, in the order in which they were kept."""
    noted: list[Finding]
    """What was kept of single counts, as they came."""

    def codes(self) -> list[str]:
        return [finding.code for finding in self.record.findings]

    def message(self, code: str) -> str:
        (found,) = (finding.message for finding in self.record.findings if finding.code == code)
        return found

    def instructions(self, side: int) -> list[int]:
        made = self.record.counting.counts if self.record.counting else []
        return [one.events["Ir"] for one in made if one.side == side]


@dataclass
class Stage:
    """Runs the counting stage on a record, with a script in place of Valgrind."""

    monkeypatch: pytest.MonkeyPatch
    shown: list[Progress] = field(default_factory=list)
    """The progress that was told meanwhile."""
    pool: ScriptedPool | None = None

    def __call__(
        self, record: Weighing | Run, script: Callable[[int, LaunchSpec], Counted] | Sequence[int], jobs: int = 2
    ) -> Outcome:
        numbers = script if isinstance(script, Sequence) else ()
        pool = ScriptedPool((lambda number, _: launched(numbers[number])) if numbers else script)  # type: ignore[arg-type]
        self.pool = pool
        self.monkeypatch.setattr(counting, "WorkerPool", pool)
        self.monkeypatch.setattr(counting, "Counter", lambda valgrind, settings, clock: pool)  # noqa: ARG005
        kept: list[tuple[Count, Functions | None]] = []
        failed: list[tuple[int, str]] = []
        noted: list[Finding] = []

        class Sink:
            def count(self, count: Count, functions: Functions | None) -> None:
                kept.append((count, functions))

            def note(self, finding: Finding) -> None:
                noted.append(finding)

            def fail(self, benchmark: int, message: str) -> None:
                failed.append((benchmark, message))

        tools = CountingTools(VALGRIND, {"PATH": "/bin"}, jobs, lambda: nullcontext(pool), time.monotonic)  # type: ignore[arg-type]
        one = CountingStage(with_tool(record, VALGRIND), tools, Sink(), self.shown.append)  # type: ignore[arg-type]
        ended, error = one.run()
        return Outcome(ended, error, pool, kept, failed, noted)
