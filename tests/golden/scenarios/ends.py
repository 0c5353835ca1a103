"""Weighings of commands that do not end as they should."""

from __future__ import annotations

from steelyard.model.errors import MeasurementError
from tests.golden.programs import Program
from tests.golden.scenarios.scenario import pair, scenario
from tests.golden.scenarios.timing import OLD_NEW, TWELVE
from tests.golden.world import World

KEPT = "state/steelyard/20260101T120100.000000-weighing-4321"


@scenario
def a_launch_that_fails(world: World) -> None:
    pair(world)
    world.program("new", Program(at={6: {"exit_code": 3, "stderr": b"reading\nno such file: input\n"}}))
    world.run(*OLD_NEW, *TWELVE, "--json", "record.json", "--markdown", "report.md", "--csv", "launches.csv")
    world.run("show", "record.json")


@scenario
def the_first_launch_fails(world: World) -> None:
    pair(world)
    world.program("old", Program(at={1: {"exit_code": None, "signal": 11}}))
    world.run(*OLD_NEW, *TWELVE, "--json", "record.json")


@scenario
def a_launch_that_cannot_be_begun(world: World) -> None:
    pair(world)
    world.program("new", Program(at={9: MeasurementError("cannot execute ./new: Text file busy; try again")}))
    world.run(*OLD_NEW, *TWELVE)


@scenario
def a_launch_that_times_out(world: World) -> None:
    pair(world)
    world.program("new", Program(at={4: {"wall_ns": 10**12}}))
    world.run(*OLD_NEW, *TWELVE, "--timeout", "2")


@scenario
def a_launch_that_takes_all_the_time(world: World) -> None:
    pair(world)
    world.program("new", Program(at={4: {"wall_ns": 10**12}}))
    world.run(*OLD_NEW)


@scenario
def ignore_failure(world: World) -> None:
    world.program("old", Program(always={"exit_code": 1}))
    world.program("new", Program(always={"exit_code": None, "signal": 6}))
    world.run(*OLD_NEW, *TWELVE, "-i")
    world.program("new", Program(at={20: {"wall_ns": 10**12}}))
    world.run(*OLD_NEW, *TWELVE, "-i", "--timeout", "1")


@scenario
def a_program_that_is_replaced(world: World) -> None:
    pair(world)
    world.program("old", Program(at={7: lambda: (world.folder / "new").write_text("#!/bin/sh\necho another\n")}))
    world.run(*OLD_NEW, *TWELVE)


@scenario
def interrupted(world: World) -> None:
    pair(world)
    world.program("new", Program(wall_ns=lambda _: 12.02e6, at={6: world.ctrl_c}))
    world.run(*OLD_NEW, "--pairs", "16", "--json", "record.json", "--markdown", "report.md")
    world.run("show", "record.json", "--csv", "launches.csv")
    world.run("compare", "--resume", "record.json", "--json", "whole.json")


@scenario
def interrupted_after_a_verdict_could_stand(world: World) -> None:
    pair(world)
    world.program("new", Program(wall_ns=lambda _: 12.1e6, at={14: world.ctrl_c}))
    world.run(*OLD_NEW, "--pairs", "40", "--margin", "1")
    world.run("compare", "--resume", f"{KEPT}.json.gz", "--strict")


@scenario
def interrupted_before_anything(world: World) -> None:
    pair(world, old=Program(at={1: world.ctrl_c}))
    world.program("new", Program(at={1: world.ctrl_c}))
    world.run(*OLD_NEW, *TWELVE, "--json", "record.json")


@scenario
def interrupted_in_a_hook(world: World) -> None:
    pair(world)
    world.program("reset", Program(at={9: world.ctrl_c}))
    world.run(*OLD_NEW, *TWELVE, "--prepare", "./reset")


@scenario
def killed(world: World) -> None:
    pair(world)
    world.program("new", Program(wall_ns=lambda _: 12.02e6, at={12: world.kill}))
    world.program("old", Program(at={4: {"steal_ns": 20_000_000}}))
    world.run(*OLD_NEW, "--pairs", "16")
    world.run("show", world.journal())
    world.run("show")
    world.run("compare", "--resume", world.journal())


@scenario
def not_to_be_resumed(world: World) -> None:
    pair(world, 12.6e6)
    world.program("sometime", Program(at={6: world.ctrl_c}))
    world.run(*OLD_NEW, *TWELVE, "-o", "decided.json")
    world.run("compare", "--resume", "decided.json")
    world.run("compare", "./sometime", "./new", *TWELVE, "-o", "interrupted.json")
    world.run("compare", "--resume", "interrupted.json", "--margin", "1")
    (world.folder / "new").write_text("#!/bin/sh\necho another\n")
    world.run("compare", "--resume", "interrupted.json")
    world.run("run", "./old", "--launches", "10", "-o", "run.json")
    world.run("compare", "--resume", "run.json")
