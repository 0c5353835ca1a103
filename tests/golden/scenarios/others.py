"""Checks, calibrations and refusals."""

from __future__ import annotations

from tests.golden.programs import Allocations, Bench, Event, Program, Words
from tests.golden.scenarios.scenario import pair, scenario
from tests.golden.scenarios.timing import OLD_NEW
from tests.golden.world import World

PROTOCOL = ("--harness", "protocol")


@scenario
def check_a_command(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 100e6))
    world.run("check", "./old", "-o", "checked.json", "--heap")


@scenario
def check_a_command_with_modes(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 200e6, modes=(1.0, 1.2)))
    world.run("check", "./old", "--seed", "5", "--timeout", "9")


@scenario
def check_a_command_too_short(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 1.1e6))
    world.run("check", "./old", "--max-time", "0.5")


@scenario
def check_a_command_that_fails(world: World) -> None:
    world.program("old", Program(at={4: {"exit_code": 5, "stderr": b"no room\n"}}))
    world.run("check", "./old", "-o", "checked.json")


@scenario
def check_a_suite(world: World) -> None:
    benchmarks = {
        "sound": Bench(),
        "set up": Bench(set_up_ns=500_000),
        "fast": Bench(each_ns=1e-9),
        "failing": Bench(error="out of luck"),
        "leaking": Bench(heap=Allocations(3, 2)),
        "bumpy": Bench(at={number: {"exit_code": 1} for number in range(30, 200)}),
    }
    world.program("old", Program(benchmarks=benchmarks))
    world.run("check", "./old", *PROTOCOL, "--heap", "-o", "checked.json")
    world.run("check", "./old", *PROTOCOL, "-b", "s*", "--max-time", "2")
    world.run("check", "./old", *PROTOCOL, "-b", "none")


@scenario
def gate(world: World) -> None:
    ours = {"kept": Bench(), "slow": Bench(), "fast": Bench(), "gone": Bench()}
    theirs = {"kept": Bench(), "slow": Bench(each_ns=1200.0), "fast": Bench(each_ns=900.0), "new": Bench()}
    world.program("old", Program(benchmarks=ours))
    world.program("new", Program(benchmarks=theirs))
    world.run("compare", "./old", "./new", *PROTOCOL, "--pairs", "20", "--json", "weighing.json.gz")
    world.run("gate", "weighing.json.gz", "--markdown", "page.md", "--junit", "junit.xml", "--metrics", "metrics.txt")
    world.run("gate", "weighing.json.gz", "--fail-above", "*s*=never", "--require", "gone")
    world.run("gate", "missing.json", "--fail-above", "cost=1%", "--markdown", "-")
    said = {"benchmark": "slow", "change": "30%", "reason": "checks its | *input*"}
    entry = "".join(f"{key} = '{value}'\n" for key, value in said.items())
    (world.folder / "steelyard.toml").write_text(f"[[gate.accepted]]\n{entry}")
    world.run("gate", "weighing.json.gz")


@scenario
def check_the_protocol(world: World) -> None:
    world.program("old", Program(benchmarks={"a": Bench(), "b": Bench()}))
    world.program("new", Program(benchmarks={"a": Bench(error="out of luck")}, at={4: {"results": b"what?\n"}}))
    world.program("plain")
    for name in ("old", "new", "plain"):
        world.run("check", f"./{name}", "--protocol")


@scenario
def check_that_is_interrupted(world: World) -> None:
    world.program("old", Program(at={9: world.ctrl_c}))
    world.program("new", Program(benchmarks={"a": Bench()}, at={5: world.ctrl_c, 40: world.ctrl_c}))
    world.run("check", "./old", "-o", "checked.json")
    world.run("check", "./new", "--protocol")
    world.run("check", "./new", *PROTOCOL)


def accesses(words: Words) -> tuple[int, int, int]:
    """Return the accesses of a probe's whole walk, and how many of them miss the first and the last level."""
    size, iterations = int(words[1]) * (64 if words[0] == "chase" else 16), int(words[2])
    beyond = [max(0.0, 1 - level / size) for level in (32 << 10, 8 << 20)]
    return 4 * iterations, int(iterations * beyond[0]), int(iterations * beyond[1])


def walk_ns(words: Words) -> float:
    all_, first, last = accesses(words)
    return 1e6 + 0.5 * all_ + 3.0 * first + 60.0 * last


def walk_counts(words: Words, _: int) -> dict[str, tuple[int, ...]]:
    all_, first, last = accesses(words)
    return {"main": (5000 + 9 * int(words[2]), 50, 50, all_, first, last, 0, 0, 0)}


@scenario
def calibrate(world: World) -> None:
    world.known("steelyard-probes", Program(wall_ns=walk_ns, counts=walk_counts))
    world.run("calibrate", "--launches", "2", "-o", "calibration.json", "--chart", "chart.svg")
    world.program("old")
    world.run("count", "./old", "--metric", "cost", "--weights", "calibrated")
    world.run("count", "./old", "--metric", "cost", "--weights", "calibrated", "--caches", "small")


@scenario
def calibrate_that_ends_early(world: World) -> None:
    failing: dict[int, Event] = {7: {"exit_code": 1}, 20: world.ctrl_c}
    world.known("steelyard-probes", Program(wall_ns=walk_ns, counts=walk_counts, at=failing))
    world.run("calibrate")
    world.run("calibrate", "-o", "calibration.json")
    world.program("old")
    world.run("count", "./old", "--metric", "cost", "--weights", "calibrated")


@scenario
def refusals_of_commands(world: World) -> None:
    pair(world)
    world.run("compare", "./old")
    world.run("compare", "./old", "./missing")
    world.run("compare", "./old", "no-such-command")
    world.run("compare", "./old", "./new 'x")
    world.run("compare", "./old", "")
    world.run("compare", "./old", ".")
    world.run("show", "missing.json")
    world.run("show")
    world.run("show", "old")
    world.run("count", "./old", "--caches", "I1=1,2")
    world.run("check", "./missing")


@scenario
def refusals_of_options(world: World) -> None:
    pair(world)
    for words in (
        ("--pairs", "5"),
        ("--margin", "60"),
        ("--margin", "small"),
        ("--alpha", "0.5"),
        ("--metric", "speed"),
        ("--metric", "cost", "--control"),
        ("--loops", "3"),
        ("--jobs", "3"),
        ("--metric", "instructions", "--jobs", "0"),
        ("--metric", "instructions", "--loops", "3"),
        ("--metric", "instructions", "--after-start", "--body"),
        ("--metric", "instructions", "--weights", "heavy"),
        ("--metric", "instructions", "--caches", "large"),
        ("--family", "smith"),
        ("--names", "a,a"),
        ("--cpu", "77"),
        ("--env", "NOT_SET"),
        ("--stdin", "missing"),
        ("--json", "missing/record.json"),
        ("--json", "r.json", "--csv", "r.json"),
        ("--prepare", "./missing"),
        ("--prepare", "a", "--prepare", "b", "--prepare", "c"),
        ("-L", "n"),
        ("-L", "n", "1,2"),
        ("--benchmark", "a"),
        ("--harness", "nonsense"),
        ("--harness", "protocol", "--repeat", "2"),
        ("--resume", "missing"),
        ("--timeout", "0"),
        ("--warmup", "-1"),
        ("--seed", "-1"),
        ("--wait-quiet", "-1"),
    ):
        world.run(*OLD_NEW, *words)


@scenario
def refusals_of_others(world: World) -> None:
    pair(world)
    world.run("count", "./old", "--metric", "wall")
    world.run("count", "./old", "--weights", "calibrated", "--metric", "cost")
    world.run("check", "./old", "--protocol", "--heap")
    world.run("check", "./old", "--max-time", "0")
    world.run("calibrate", "--launches", "0")
    world.run("calibrate", "--caches", "large")
    world.run("diff", "old", "new")
    world.run("import", "old")
    world.run("run", "./old", "--launches", "0")
    world.run("run", "./old", "--tag", "x")
    world.run("timeit", "pass", "--python", "./missing")
    (world.folder / "static").write_bytes(b"\x7fELF\x02\x01" + bytes(58))
    (world.folder / "static").chmod(0o755)
    world.run("compare", "./old", "./static", "--heap")
    world.run("run", "./static", "--heap-shuffle")
