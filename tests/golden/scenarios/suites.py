"""Suites over several sessions and machines: going on, shards, named baselines, and the store."""

from __future__ import annotations

from tests.golden.programs import Bench, Program
from tests.golden.scenarios.harness import PROTOCOL, suites, three
from tests.golden.scenarios.scenario import pair, scenario
from tests.golden.scenarios.timing import OLD_NEW
from tests.golden.world import World

NOISY, SLOWER = Program(noise=0.02), Program(wall_ns=lambda _: 12.1e6, noise=0.02)


@scenario
def an_undecided_weighing_goes_on(world: World) -> None:
    world.program("old", NOISY)
    world.program("new", SLOWER)
    world.run(*OLD_NEW, "--pairs", "16", "-o", "record.json")
    world.run("compare", "--resume", "record.json", "--pairs", "14", "-o", "second.json")
    world.run("compare", "--resume", "second.json", "--max-time", "9", "-o", "third.json", "--markdown", "report.md")
    world.run("show", "third.json")


@scenario
def a_suite_goes_on(world: World) -> None:
    suites(world, three(a=Bench(noise=0.02)), three(a=Bench(1004.0, noise=0.02), b=Bench(2.1e6)))
    world.run(*OLD_NEW, *PROTOCOL, "--pairs", "15", "-o", "record.json")
    world.run("compare", "--resume", "record.json", "--pairs", "20")


@scenario
def a_suite_that_the_time_is_too_short_for(world: World) -> None:
    suites(world, three(b=Bench(3e9), c=Bench(3e9)), three(b=Bench(3e9), c=Bench(3e9)))
    world.run(*OLD_NEW, *PROTOCOL, "--max-time", "5", "--strict", "-o", "record.json")
    world.run("gate", "record.json", "--require", "b", "--junit", "-")
    world.run("compare", "--resume", "record.json", "--max-time", "200", "-o", "whole.json")
    world.run("gate", "whole.json", "--strict")


@scenario
def not_to_go_on(world: World) -> None:
    pair(world, new_ns=13e6)
    world.run(*OLD_NEW, "--pairs", "16", "-o", "decided.json")
    world.run("compare", "--resume", "decided.json")
    world.run("compare", "--resume", "decided.json", "--max-time", "60")
    world.run("compare", "--resume", "decided.json", "--max-time", "0")
    world.run("run", "./old", "--launches", "9", "-o", "run.json")
    world.run("compare", "--resume", "run.json", "--pairs", "10")
    world.program("old", NOISY)
    world.program("new", SLOWER)
    world.run(*OLD_NEW, "--pairs", "9", "-o", "record.json")
    (world.folder / "new").write_text("#!/bin/sh\necho another\n")
    world.run("compare", "--resume", "record.json", "--pairs", "10")


@scenario
def shards(world: World) -> None:
    suites(world, three(d=Bench(50.0)), three(b=Bench(2.1e6), d=Bench(50.0)))
    for number in (1, 2):
        world.run(*OLD_NEW, *PROTOCOL, "--pairs", "30", "--shard", f"{number}/2", "-o", f"{number}.json")
    world.run("merge", "2.json", "1.json", "-o", "all.json", "--markdown", "report.md")
    world.run("show", "all.json")
    world.run("merge", "1.json")
    world.run("merge", "1.json", "1.json")
    world.run("merge", "1.json", "2.json", "all.json")
    world.run("compare", "--resume", "all.json", "--pairs", "10")
    world.run(*OLD_NEW, *PROTOCOL, "--pairs", "30", "--shard", "2/2", "--margin", "1%", "-o", "other.json")
    world.run("merge", "1.json", "other.json")
    world.run(*OLD_NEW, *PROTOCOL, "--shard", "5/5")
    world.run(*OLD_NEW, *PROTOCOL, "--shard", "3/2")


@scenario
def shards_of_parameters(world: World) -> None:
    world.program("old")
    world.program("new", Program(wall_ns=lambda words: 12e6 + 1e5 * len(words[-1])))
    words = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,10,100", "--pairs", "20")
    for number in (1, 2):
        world.run(*words, "--shard", f"{number}/2", "-o", f"{number}.json")
    world.run("merge", "1.json", "2.json")


@scenario
def baselines_by_name(world: World) -> None:
    pair(world, new_ns=16e6)
    world.run("list")
    world.run("run", "./old", "--baseline", "main")
    world.run("run", "./old", "--launches", "200", "--save-baseline", "main")
    world.run("run", "./new", "--launches", "200", "--baseline", "main", "-o", "new.json")
    world.run("diff", "main", "new.json", "--margin", "20%")
    world.run("show", "main")
    world.run("run", "./old", "--save-baseline", "../main")
    world.run(*OLD_NEW, "--pairs", "16")
    world.run("list")
    world.run("list", "--json", "-")
