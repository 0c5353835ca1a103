"""Weighings and runs that watch the heap, too."""

from __future__ import annotations

from dataclasses import replace

from tests.golden.programs import Allocations, Bench, Program
from tests.golden.scenarios.scenario import pair, scenario
from tests.golden.scenarios.timing import OLD_NEW, TWELVE
from tests.golden.world import World

MORE = Allocations(220, 200, 20, 128, 700_000)


@scenario
def heap(world: World) -> None:
    pair(world, 12.6e6)
    world.program("new", Program(wall_ns=lambda _: 12.6e6, heap=MORE))
    world.run(*OLD_NEW, "--heap", *TWELVE, "-o", "record.json", "--markdown", "report.md")
    world.run("show", "record.json")


@scenario
def heap_that_varies(world: World) -> None:
    pair(world)
    world.program("new", Program(heaps={2: replace(MORE, blocks=230)}, heap=MORE))
    world.program("reset")
    world.run(*OLD_NEW, "--heap", *TWELVE, "--prepare", "./reset", "--cleanup", "./reset", "--repeat", "2")


@scenario
def heap_that_is_not_seen(world: World) -> None:
    pair(world)
    world.program("new", Program(heap=None))
    world.program("silent", Program(heap=Allocations(0, 0, 0, 0, 0)))
    world.run(*OLD_NEW, "./silent", "--heap", *TWELVE)


@scenario
def heap_with_a_launch_that_fails(world: World) -> None:
    pair(world)
    world.program("new", Program(at={2: {"exit_code": 1, "stderr": b"out of luck\n"}}))
    world.run(*OLD_NEW, "--heap", *TWELVE, "-o", "record.json")


@scenario
def heap_and_then_a_launch_that_fails(world: World) -> None:
    pair(world)
    world.program("new", Program(at={9: {"exit_code": 1}}))
    world.run(*OLD_NEW, "--heap", *TWELVE, "-o", "record.json")


@scenario
def heap_that_is_interrupted(world: World) -> None:
    pair(world)
    world.program("new", Program(at={3: world.ctrl_c}))
    world.run(*OLD_NEW, "--heap", *TWELVE, "-o", "record.json")


@scenario
def heap_and_then_an_interrupt(world: World) -> None:
    pair(world)
    world.program("new", Program(at={8: world.ctrl_c}))
    world.run(*OLD_NEW, "--heap", *TWELVE, "-o", "record.json")
    world.run("compare", "--resume", "record.json")


@scenario
def heap_that_is_killed(world: World) -> None:
    pair(world)
    world.program("new", Program(at={3: world.kill}))
    world.run(*OLD_NEW, "--heap", *TWELVE)
    world.run("compare", "--resume", world.journal())


@scenario
def heap_shuffle(world: World) -> None:
    pair(world, 12.6e6)
    world.run(*OLD_NEW, "--heap-shuffle", *TWELVE)
    world.run("run", "./old", "--heap-shuffle", "--heap", "--launches", "10")


@scenario
def heap_of_parameters(world: World) -> None:
    world.program("old")
    world.program("new", Program(heap=MORE))
    world.run("compare", "./old {n}", "./new {n}", "-L", "n", "1,2", "--heap", *TWELVE, "--control")


@scenario
def heap_of_a_run(world: World) -> None:
    world.program("old")
    world.run("run", "./old", "--heap", "--launches", "10", "--markdown", "report.md")


@scenario
def heap_of_a_harness(world: World) -> None:
    world.program("old", Program(benchmarks={"a": Bench(), "b": Bench(), "c": Bench()}))
    broken = Bench(heap=Allocations(3, 3), at={7: {"exit_code": 9, "stderr": b"no memory\n"}})
    world.program("new", Program(benchmarks={"a": Bench(heap=Allocations(4, 3)), "b": Bench(), "c": broken}))
    world.run(*OLD_NEW, "--harness", "protocol", "--heap", *TWELVE)


@scenario
def heap_beside_counts(world: World) -> None:
    world.program("old")
    world.program("new", Program(heap=MORE, counts=lambda *_: {"main": 11_000}))
    world.run(*OLD_NEW, "--heap", "--metric", "instructions")
    world.run(*OLD_NEW, "--heap", "--metric", "active,instructions", *TWELVE)
