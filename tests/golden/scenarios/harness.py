"""Benchmarks inside programs."""

from __future__ import annotations

from steelyard.model.errors import MeasurementError
from tests.golden.programs import Allocations, Bench, Program
from tests.golden.scenarios.scenario import scenario
from tests.golden.scenarios.timing import OLD_NEW, TWELVE
from tests.golden.world import World

PROTOCOL = ("--harness", "protocol")


def suites(world: World, old: dict[str, Bench], new: dict[str, Bench]) -> None:
    world.program("old", Program(benchmarks=old))
    world.program("new", Program(benchmarks=new))


def three(**changed: Bench) -> dict[str, Bench]:
    return {"a": Bench(tags=("quick",)), "b": Bench(2e6, tags=("slow", "io")), "c": Bench(30.0), **changed}


@scenario
def harness(world: World) -> None:
    suites(world, three(), three(b=Bench(2.1e6), c=Bench(28.5)))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json", "--markdown", "report.md")
    world.run("show", "record.json")


@scenario
def harness_that_is_recognised(world: World) -> None:
    suites(world, three(), three())
    world.run(*OLD_NEW, "--harness", "auto", "-b", "a", *TWELVE)
    world.program("other")
    world.run("compare", "./old", "./other", "--harness", "auto")


@scenario
def harness_with_one_that_fails(world: World) -> None:
    broken = Bench(at={9: {"exit_code": 7, "stderr": b"assertion failed\n"}})
    complaint = b'{"steelyard": 1}\n{"error": "the table is gone"}\n{"end": true}\n'
    complaining = Bench(30.0, at={12: {"exit_code": 1, "results": complaint}})
    suites(
        world,
        {**three(), "d": Bench()},
        three(a=broken, b=Bench(error="the input is missing"), c=complaining, d=Bench()),
    )
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json", "--markdown", "report.md")
    world.run("show", "record.json")


@scenario
def harness_whose_benchmarks_all_fail(world: World) -> None:
    suites(world, {"a": Bench(error="no luck"), "b": Bench()}, {"a": Bench(), "b": Bench(at={1: {"signal": 11}})})
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json")


@scenario
def harness_that_added_and_removed(world: World) -> None:
    suites(world, {"a": Bench(), "b": Bench(), "gone": Bench()}, {"a": Bench(), "b": Bench(), "come": Bench()})
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "--markdown", "report.md")
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-b", "gone")


@scenario
def harness_chosen_by_name_and_tag(world: World) -> None:
    suites(world, three(), three())
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-b", "a", "-b", "c", "--tag", "qu*")
    world.run(*OLD_NEW, *PROTOCOL, "-b", "none")
    world.run(*OLD_NEW, *PROTOCOL, "--tag", "none")
    world.run(*OLD_NEW, *PROTOCOL, "-b", "c", "--tag", "slow")


@scenario
def harness_with_several_candidates(world: World) -> None:
    suites(world, three(), three(a=Bench(1050)))
    world.program("newer", Program(benchmarks={"a": Bench(990)}))
    world.run(*OLD_NEW, "./newer", *PROTOCOL, *TWELVE, "--control", "--names", "old,new,newer")


@scenario
def harness_of_long_benchmarks(world: World) -> None:
    suites(world, {"long": Bench(1.4e9), "shorter": Bench(2e7)}, {"long": Bench(1.6e9), "shorter": Bench(9e8)})
    world.run(*OLD_NEW, *PROTOCOL)


@scenario
def harness_of_many_benchmarks(world: World) -> None:
    many = {f"n={number}": Bench(1e8 + 1e6 * number, noise=0.001) for number in range(11)}
    suites(world, many, {**many, "n=3": Bench(1.2e8)})
    world.run(*OLD_NEW, *PROTOCOL, "--family", "fdr")


@scenario
def harness_without_processor_times(world: World) -> None:
    suites(world, {"a": Bench(kernel=False)}, {"a": Bench(kernel=False)})
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE)
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "--metric", "cpu")
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "--metric", "wall,max_rss")


@scenario
def harness_with_hooks(world: World) -> None:
    suites(world, three(), three())
    for name in ("reset", "reset-new", "sweep"):
        world.program(name)
    hooks = ("--prepare", "./reset", "--prepare", "./reset-new", "--cleanup", "./sweep")
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-b", "a", *hooks, "--timeout", "9", "--stdin", "reset", "--heap-shuffle")


@scenario
def harness_that_does_not_list(world: World) -> None:
    world.program("old", Program(at={1: {"exit_code": 2, "stderr": b"usage: old\n"}}))
    world.program("new", Program(benchmarks=three()))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE)
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE)
    world.program("old", Program(benchmarks=three(), at={1: {"results": b'{"steelyard": 2}\n', "exit_code": 2}}))
    world.run("compare", "./new", "./old", *PROTOCOL, *TWELVE)


@scenario
def harness_that_breaks_the_protocol(world: World) -> None:
    lines = (b'{"steelyard": 1}', b'{"loops": 1, "ns": 1000}', b'{"end": true}')
    cut_off = Bench(at={3: {"results": b"\n".join(lines[:2])}})
    no_json = Bench(at={3: {"results": b"Running 3 benchmarks ...\n"}})
    too_few = Bench(at={3: {"results": b"\n".join(lines)}})
    none = Bench(at={3: {"results": None}})
    fast = Bench(1e-9)
    old = {"cut off": Bench(), "no JSON": Bench(), "too few": Bench(), "none": Bench(), "fast": fast, "well": Bench()}
    suites(world, old, {**old, "cut off": cut_off, "no JSON": no_json, "too few": too_few, "none": none})
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE)


@scenario
def harness_that_cannot_be_begun(world: World) -> None:
    suites(world, three(), three(b=Bench(at={6: MeasurementError("cannot execute ./new: Text file busy; try again")})))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json")


@scenario
def harness_that_is_interrupted(world: World) -> None:
    suites(world, three(), three(c=Bench(30.1, at={7: world.ctrl_c})))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json")
    world.run("compare", "--resume", "record.json")


@scenario
def harness_that_is_interrupted_while_it_is_tried(world: World) -> None:
    suites(world, three(), three(b=Bench(at={1: world.ctrl_c})))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE, "-o", "record.json")


@scenario
def harness_that_is_killed(world: World) -> None:
    failing = Bench(at={4: {"exit_code": 1}})
    suites(world, three(), three(a=failing, c=Bench(30.1, at={9: world.kill})))
    world.run(*OLD_NEW, *PROTOCOL, *TWELVE)
    world.run("compare", "--resume", world.journal())


@scenario
def harness_alone(world: World) -> None:
    suites(world, three(), three(b=Bench(error="no such table")))
    world.run("run", "./old", *PROTOCOL, "--launches", "10", "-o", "record.json", "--markdown", "report.md")
    world.run("run", "./new", *PROTOCOL, "--launches", "2", "-b", "[ab]", "--csv", "samples.csv")
    world.run("show", "record.json")


@scenario
def harness_alone_with_its_heap(world: World) -> None:
    world.program("old", Program(benchmarks={"a": Bench(heap=Allocations(5, 5, 1)), "b": Bench()}))
    world.run("run", "./old", *PROTOCOL, "--launches", "10", "--heap", "--metric", "wall,instructions")


@scenario
def timeit(world: World) -> None:
    world.program("python", Program(benchmarks={"timeit": Bench(5000.0)}))
    world.program("python4", Program(benchmarks={"timeit": Bench(4500.0)}))
    python = ("--python", "./python")
    world.run("timeit", "sum(data)", "min(data)", "-s", "data = list(range(99))", *python, "--pairs", "12", "--strict")
    world.run("timeit", "sum(data)", "-s", "data = []", *python, "--pairs", "5", "-o", "record.json")
    world.run("timeit", "pass", *python, "--python", "./python4", "--pairs", "12", "--markdown", "report.md")
    world.run("timeit", "a", "b", *python, "--python", "./python4")
    world.run("timeit", "a", "a", "-s", "x", "-s", "y", "-s", "z")
