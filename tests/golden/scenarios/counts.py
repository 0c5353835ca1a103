"""Counts under Valgrind."""

from __future__ import annotations

from collections.abc import Mapping

from tests.golden.programs import Bench, Program, Words
from tests.golden.scenarios.scenario import scenario
from tests.golden.scenarios.timing import OLD_NEW, TWELVE
from tests.golden.world import World

INSTRUCTIONS = ("--metric", "instructions")


def work(many: int, *wobbles: int) -> Program:
    """Return a program of three functions, one of which takes `many` instructions, and in some launches a few more."""

    def counts(_: Words, number: int) -> Mapping[str, int]:
        more = wobbles[number % len(wobbles)] if wobbles else 0
        return {"main": 2000, "parse": many + more, "emit": 5000}

    return Program(counts=counts)


def looping(each: int) -> Program:
    """Return a program whose first argument says how often it loops."""
    return Program(counts=lambda words, _: {"main": 2000, "body": each * int(words[0])})


@scenario
def count_slower(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", work(103_000))
    files = ("-o", "record.json", "--markdown", "report.md", "--csv", "counts.csv")
    world.run(*OLD_NEW, *INSTRUCTIONS, *files)
    world.run("show", "record.json")


@scenario
def count_same(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", Program(counts=work(100_001).counts, prints=lambda _: "printed\n"))
    world.run(*OLD_NEW, *INSTRUCTIONS, "--output", "out", "--env", "WORD=x", "--stdin", "bin/true")


@scenario
def count_noisy(world: World) -> None:
    world.program("old", work(100_000, 0, 40, 700, 20, 5))
    world.program("new", work(101_000, 300, 4, 70, 0))
    world.run(*OLD_NEW, *INSTRUCTIONS, "--functions", "2")
    world.run(*OLD_NEW, *INSTRUCTIONS, "--margin", "5", "--functions", "0")


@scenario
def count_beside_times(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", work(99_000))
    world.run(*OLD_NEW, "--metric", "active,instructions,cost", *TWELVE, "--prepare", "./old x", "--cleanup", "./new x")


@scenario
def count_cost(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", work(103_000))
    world.run(*OLD_NEW, "--metric", "cost,ram_hits,l1_hits,ll_hits", "--caches", "small", "--weights", "1,4,50")
    world.run(
        "count", "./old", "--metric", "cost", "--caches", "host", "--weights", "article", "--markdown", "report.md"
    )


@scenario
def count_alone(world: World) -> None:
    world.program("old", work(100_000))
    world.run("count", "./old", "-o", "record.json", "--name", "it", "--csv", "counts.csv")
    world.run("count", "./old", "--call-graph", "--functions", "2")
    world.run("count", "./old", "--body")
    world.run("count", "./old", "--after-start")
    world.run("show", "record.json")


@scenario
def count_several_at_once(world: World) -> None:
    world.program("old", work(100_000))
    world.run("count", "./old", "--jobs", "3")
    world.run("count", "./old", "--jobs", "3", "--prepare", "true")


@scenario
def count_with_loops(world: World) -> None:
    world.program("old", looping(700))
    world.program("new", looping(710))
    world.run("compare", "./old {loops}", "./new {loops}", *INSTRUCTIONS, "--loops", "100")
    world.run("count", "./old {loops}", "--loops", "10")
    world.run("count", "./old", "--loops", "10")


@scenario
def count_with_loops_that_do_not_grow(world: World) -> None:
    world.program("old", Program())
    world.run("count", "./old {loops}", "--loops", "10")


@scenario
def count_several_candidates(world: World) -> None:
    for name, many in (("old", 100_000), ("new", 103_000), ("newer", 98_000)):
        world.program(name, work(many))
    world.run(*OLD_NEW, "./newer", *INSTRUCTIONS, "--names", "old,new,newer")


@scenario
def count_parameters(world: World) -> None:
    world.program("old", looping(700))
    world.program("new", looping(650))
    world.run("compare", "./old {n}", "./new {n}", "-L", "n", "1,20,300", *INSTRUCTIONS, "--shell")


@scenario
def count_where_a_launch_fails(world: World) -> None:
    world.program("old", work(100_000))
    failing = {"exit_code": 4, "stderr": b"no input\n"}
    world.program("new", Program(counts=work(100_000).counts, at={2: failing}))
    world.run(*OLD_NEW, *INSTRUCTIONS, "-o", "record.json")
    world.run(*OLD_NEW, *INSTRUCTIONS, "-i")


@scenario
def count_where_the_first_launch_fails(world: World) -> None:
    world.program("old", Program(at={1: {"exit_code": None, "signal": 6}}))
    world.run("count", "./old", "-o", "record.json")


@scenario
def count_where_a_launch_times_out(world: World) -> None:
    world.program("old", Program(at={2: {"wall_ns": 10**12}}))
    world.run("count", "./old", "--timeout", "20")


@scenario
def count_where_nothing_is_executed(world: World) -> None:
    world.program("old", Program(counts=lambda *_: {"main": 0}))
    world.run("count", "./old", "--body")
    world.run("count", "./old", "--after-start")


@scenario
def count_that_is_interrupted(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", Program(counts=work(102_000).counts, at={2: world.ctrl_c}))
    world.run(*OLD_NEW, *INSTRUCTIONS, "-o", "record.json")
    world.run("compare", "--resume", "record.json")


@scenario
def count_that_is_interrupted_at_once(world: World) -> None:
    world.program("old", Program(at={1: world.ctrl_c}))
    world.run("count", "./old", "-o", "record.json")


@scenario
def count_that_is_killed(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", Program(counts=work(102_000).counts, at={2: world.kill}))
    world.run(*OLD_NEW, "--metric", "instructions,active", *TWELVE)
    world.run("compare", "--resume", world.journal())


@scenario
def count_and_then_an_interrupt(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", Program(counts=work(102_000).counts, at={9: world.ctrl_c}))
    world.run(*OLD_NEW, "--metric", "instructions,active", *TWELVE, "-o", "record.json")
    world.run("compare", "--resume", "record.json")


@scenario
def count_a_harness(world: World) -> None:
    slower = Bench(counts=lambda _: 120)
    shaky = Bench(counts=lambda number: 100 + number % 3)
    broken = Bench(at={7: {"exit_code": 1}})
    nothing = Bench(counts=lambda _: 0)
    world.program("old", Program(benchmarks={"a": Bench(), "b": Bench(), "c": Bench(), "d": Bench(), "e": Bench()}))
    world.program("new", Program(benchmarks={"a": slower, "b": shaky, "c": broken, "d": nothing, "e": Bench()}))
    world.run(*OLD_NEW, "--harness", "protocol", *INSTRUCTIONS, "-o", "record.json")
    world.run("show", "record.json")
    world.run("count", "./old", "--harness", "protocol", "-b", "[ab]", "--metric", "instructions,cost")


@scenario
def count_a_harness_that_is_killed(world: World) -> None:
    failing = Bench(at={4: {"exit_code": 1}})
    world.program("old", Program(benchmarks={"a": Bench(), "b": Bench(at={9: world.kill})}))
    world.program("new", Program(benchmarks={"a": failing, "b": Bench(counts=lambda _: 105)}))
    world.run(*OLD_NEW, "--harness", "protocol", *INSTRUCTIONS)
    world.run("compare", "--resume", world.journal())


@scenario
def diff_of_counts(world: World) -> None:
    world.program("old", work(100_000))
    world.program("new", work(103_000))
    world.run("count", "./old", "-o", "old.json")
    world.run("count", "./new", "-o", "new.json")
    world.run("diff", "old.json", "new.json", "--markdown", "report.md")
    world.run("diff", "new.json", "old.json", "--functions", "1", "--margin", "40")
