from __future__ import annotations

import itertools

import pytest

from steelyard.design.unpaired.counts import compare_counts
from steelyard.design.unpaired.terms import Terms
from steelyard.model.counting import Count, Counting, CountSettings, CountTool, Functions, Weights
from steelyard.model.errors import UsageError
from steelyard.model.launches import Launches
from steelyard.model.records import Run
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from tests.design.scripted import MACHINE

SECONDS = itertools.count(1.0, 0.001)  # no two counts take the same time
TERMS = Terms(margin=0.005, alpha=0.01)
FLAGS = ["--tool=cachegrind", "--cache-sim=no", "--LL=8388608,16,64"]


def counted(
    instructions: int, version: str = "3.19.0", flags: list[str] = FLAGS, libc: str = "a", loops: int | None = None
) -> Run:
    tool = CountTool(tool="cachegrind", version=version, program="v", flags=flags, fingerprint={"libc.so.6": libc})
    functions = Functions(
        benchmark=0, side=0, name=["main"], file=["m.c"], object=[""], line=[1], events={"Ir": [instructions]}
    )
    counts = [Count(benchmark=0, side=0, events={"Ir": instructions}, seconds=next(SECONDS)) for _ in range(2)]
    return Run(
        tool="test",
        created="2026-01-01T00:00:00+00:00",
        machine=MACHINE,
        settings=Settings(metrics=["instructions"], counting=CountSettings(loops=loops)),
        subjects=[Subject(name="work", command="work", argv=["work"], program="/work")],
        benchmarks=[Benchmark(name="work", candidate=0)],
        stop=["decided"],
        seconds=1.0,
        launches=Launches(),
        counting=Counting(tool=tool, counts=counts, functions=[functions]),
    )


def compare(one: Run, other: Run, *, metrics: tuple[str, ...] = ("instructions",), force: bool = False) -> str | None:
    record = compare_counts(one, other, Terms(margin=0.005, alpha=0.01, metrics=metrics, force=force))
    return record.verdict


def test_counts_of_two_runs_are_judged_as_if_counted_together() -> None:
    record = compare_counts(counted(1000), counted(1010), TERMS)
    assert record.verdict == "slower"
    assert record.change == pytest.approx(0.01)
    assert record.counting is not None
    assert [(count.side, count.events["Ir"]) for count in record.counting.counts] == [
        (0, 1000),
        (0, 1000),
        (1, 1010),
        (1, 1010),
    ]
    assert [part.side for part in record.counting.functions] == [0, 1]


@pytest.mark.parametrize(("one", "other"), [(1000, 1013), (1013, 1000), (1000, 1000)])
def test_of_a_harness_one_iteration_is_compared_however_many_each_run_counted(one: int, other: int) -> None:
    def of(loops: int) -> Run:
        run = counted(777 * loops)
        settings = run.settings.model_copy(update={"harness": "steelyard"})
        benchmarks = [Benchmark(name="work", candidate=0, loops=loops)]
        return run.model_copy(update={"settings": settings, "benchmarks": benchmarks})

    record = compare_counts(of(one), of(other), TERMS)
    assert (record.verdict, record.change) == ("same", 0.0)
    assert record.derived is not None
    assert record.derived.verdicts[0].baseline is not None
    assert record.derived.verdicts[0].baseline.median == 777
    assert record.counting is not None
    assert [part.events["Ir"] for part in record.counting.functions] == [[777 * other]] * 2
    assert [finding.code for finding in record.findings] == ([] if one == other else ["iterations"])


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (counted(1000, version="3.21.0"), "Valgrind's version 3.19.0 in A, 3.21.0 in B"),
        (counted(1000, libc="b"), "another libc.so.6"),
        (counted(1000, loops=7), "loops None in A, 7 in B"),
        (counted(1000, flags=["--tool=cachegrind", "--main-stacksize=1"]), "--main-stacksize=1 in B"),
    ],
)
def test_mixtures_are_refused_with_what_differs_unless_forced(other: Run, named: str) -> None:
    with pytest.raises(UsageError, match="counted differently") as refused:
        compare(counted(1000), other)
    assert named in str(refused.value)
    assert compare(counted(1000), other, force=True) == "same"


def asked(run: Run, **settings: object) -> Run:
    return run.model_copy(update={"settings": run.settings.model_copy(update=settings)})


def test_what_begins_to_count_is_one_flag_of_valgrind_and_two_counts() -> None:
    one = asked(counted(1000), counting=CountSettings(body=True))
    other = asked(counted(1000), counting=CountSettings(after_start=True))
    with pytest.raises(UsageError, match="what begins to count --body in A, --after-start in B"):
        compare(one, other)


def test_weights_are_of_the_cost_alone() -> None:
    other = asked(counted(1000), counting=CountSettings(weights=Weights(name="own", ram=3)))
    assert compare(counted(1000), other) == "same"
    with pytest.raises(UsageError, match="weights name='default'"):
        compare(counted(1000), other, metrics=("instructions", "cost"))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (asked(counted(1000), stdin="large.txt"), "--stdin differs: none in A, large.txt in B"),
        (asked(counted(1000), variables={"N": "2"}), "environment variables set differently: N"),
        (asked(counted(1000), environment=["N"]), "names passed on from the environment differs: none of these in A"),
        (
            counted(1000).model_copy(update={"machine": MACHINE.model_copy(update={"cpu_model": "Abacus 9"})}),
            "processor differs",
        ),
    ],
)
def test_what_changes_the_work_of_both_is_said(other: Run, said: str) -> None:
    record = compare_counts(counted(1000), other, TERMS)
    assert any(finding.message.startswith(said) for finding in record.findings)
    record = compare_counts(counted(1000), asked(counted(1000), cpu=1), TERMS)
    assert not record.findings


def test_benchmarks_of_one_run_alone_are_named() -> None:
    def of(*names: str) -> Run:
        run = counted(1000)
        counts = [
            Count(benchmark=number, side=0, events={"Ir": 1000}, seconds=next(SECONDS))
            for number in range(len(names))
            for _ in range(2)
        ]
        update = {
            "settings": run.settings.model_copy(update={"harness": "steelyard"}),
            "benchmarks": [Benchmark(name=name, candidate=0, loops=1) for name in names],
            "stop": ["decided"] * len(names),
            "counting": Counting(tool=run.counting.tool, counts=counts) if run.counting else None,
        }
        return run.model_copy(update=update)

    record = compare_counts(of("a", "b"), of("a", "c"), TERMS)
    assert [one.name for one in record.benchmarks] == ["a"]
    assert [finding.message for finding in record.findings] == [
        "measured in A only, so not compared: b",
        "measured in B only, so not compared: c",
    ]


def test_instructions_do_not_depend_on_simulated_caches_but_cost_does() -> None:
    simulated = counted(1000, flags=["--tool=cachegrind", "--cache-sim=yes", "--LL=1024,1,64"])
    assert compare(counted(1000), simulated) == "same"
    with pytest.raises(UsageError, match="flags --cache-sim=no --LL=8388608,16,64 in A"):
        compare(counted(1000), simulated, metrics=("instructions", "cost"))


def test_counts_and_themselves_are_refused() -> None:
    run = counted(1000)
    with pytest.raises(UsageError, match="are the same run"):
        compare(run, run)
    assert compare(run, counted(1000)) == "same"


def test_a_run_that_was_not_counted_is_refused() -> None:
    with pytest.raises(UsageError, match="steelyard count"):
        compare(counted(1000), counted(1000).model_copy(update={"counting": None}))
