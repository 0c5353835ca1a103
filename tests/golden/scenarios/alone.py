"""One command measured alone, kept runs and their uses, imports."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.golden.programs import Bench, Program
from tests.golden.scenarios.scenario import scenario
from tests.golden.world import World

IMPORTS = Path(__file__).parents[2] / "data/imports"
TEN = ("--launches", "10")


@scenario
def run_alone(world: World) -> None:
    world.program("old", Program(always={"delay_ns": 100_000}))
    world.run("run", "./old", "--max-time", "0.4", "--name", "it", "-o", "record.json.gz", "--csv", "launches.csv")
    world.run("run", "./old", *TEN, "--metric", "wall,cpu,max_rss", "--markdown", "report.md")
    world.run("show")


@scenario
def run_with_all_options(world: World) -> None:
    for name in ("old", "reset", "sweep"):
        world.program(name)
    options = (
        "--prepare",
        "./reset",
        "--cleanup",
        "./sweep",
        "--shell",
        "--warmup",
        "0",
        "--timeout",
        "5",
        "--cpu",
        "0",
    )
    world.run("run", "./old", *TEN, *options, "--output", "out", "--env", "A=b", "--seed", "3", "--alpha", "0.05")
    world.run("run", "./old", *TEN, "--repeat", "2", "--stdin", "reset", "-i")


@scenario
def run_with_modes(world: World) -> None:
    world.program("old", Program(modes=(1.0, 1.2)))
    world.run("run", "./old", "--launches", "40")


@scenario
def run_on_a_noisy_machine(world: World) -> None:
    world.program("old", Program(always={"delay_ns": 3_000_000, "pressure_ns": 2_000_000}, noise=0.1))
    world.run("run", "./old", "--launches", "12")


@scenario
def run_that_fails(world: World) -> None:
    world.program("old", Program(at={7: {"exit_code": 2, "stderr": b"no\n"}, 20: {"exit_code": None, "signal": 9}}))
    world.run("run", "./old", *TEN, "-o", "record.json", "--markdown", "report.md")
    world.run("show", "record.json")
    world.run("run", "./old", "--launches", "30", "-o", "record.json")
    world.run("diff", "record.json", "record.json")


@scenario
def run_that_hangs(world: World) -> None:
    world.program("old", Program(at={2: {"wall_ns": 10**12}, 4: {"wall_ns": 10**12}}))
    world.run("run", "./old", "--timeout", "3")
    world.run("run", "./old", "--max-time", "3")


@scenario
def run_that_is_interrupted(world: World) -> None:
    world.program("old", Program(at={8: world.ctrl_c, 9: world.ctrl_c, 14: world.kill}))
    world.run("run", "./old", *TEN, "-o", "record.json")
    world.run("run", "./old", *TEN, "-o", "other.json")
    world.run("run", "./old", *TEN)
    world.run("show")


@scenario
def diff_of_runs(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 120e6))
    world.program("new", Program(wall_ns=lambda _: 180e6))
    for name in ("old", "new"):
        world.run("run", f"./{name}", "--launches", "60", "-o", f"{name}.json")
    world.run("diff", "old.json", "new.json", "--markdown", "report.md")
    world.run("diff", "new.json", "old.json", "--metric", "wall,cpu")
    world.run("diff", "old.json", "old.json")


@scenario
def diff_of_runs_that_cannot_tell(world: World) -> None:
    for name, ns in (("old", 12e6), ("new", 12.2e6)):
        world.program(name, Program(wall_ns=lambda _, ns=ns: ns))  # type: ignore[misc]
        world.run("run", f"./{name}", "--launches", "20", "-o", f"{name}.json", "--env", f"NAME={name}")
    world.run("diff", "old.json", "new.json", "--strict")
    world.run("diff", "old.json", "new.json", "--margin", "50", "--alpha", "0.05")
    world.run("diff", "old.json", "new.json", "--metric", "max_rss,minor_faults")


@scenario
def diff_of_harness_runs(world: World) -> None:
    for name, benchmarks in (("old", ("a", "b", "gone")), ("new", ("b", "a", "come"))):
        world.program(name, Program(benchmarks={one: Bench(5000 if one == "a" else 6000) for one in benchmarks}))
        world.run("run", f"./{name}", "--harness", "protocol", "--launches", "12", "-o", f"{name}.json")
    world.run("diff", "old.json", "new.json")


@scenario
def diff_of_what_does_not_fit(world: World) -> None:
    world.program("old")
    world.run("run", "./old", *TEN, "-o", "run.json")
    world.run("compare", "./old", "./old", "--pairs", "8", "-o", "weighing.json")
    world.run("diff", "run.json", "weighing.json")
    world.run("diff", "run.json", "missing.json")
    world.run("diff", "run.json", "run.json", "--same-conditions")


@scenario
def imports(world: World) -> None:
    for name in ("hyperfine-1.15.json", "google-benchmark-1.7.json", "go-1.26.txt", "pyperf-2.10.json"):
        shutil.copy(IMPORTS / name, world.folder / name)
    world.run("import", "hyperfine-1.15.json", "-o", "one.json", "--markdown", "report.md", "--csv", "values.csv")
    world.run("import", "google-benchmark-1.7.json", "--format", "google-benchmark", "-o", "two.json")
    world.run("import", "go-1.26.txt", "-o", "three.json")
    world.run("import", "pyperf-2.10.json")
    world.run("show", "one.json")
    world.run("import", "one.json", "--format", "jmh")


@scenario
def diff_of_imports(world: World) -> None:
    text = (IMPORTS / "pytest-benchmark-5.3.json").read_text()
    (world.folder / "old.json").write_text(text)
    (world.folder / "new.json").write_text(text.replace('"name": "', '"name": "x', 1))
    for name in ("old", "new"):
        world.run("import", f"{name}.json", "-o", f"{name}-imported.json")
    both = ("old-imported.json", "new-imported.json")
    world.run("diff", *both)
    world.run("diff", *both, "--same-conditions", "--markdown", "report.md", "--margin", "20")
