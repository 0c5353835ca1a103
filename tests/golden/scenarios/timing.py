"""Commands that are weighed by their times."""

from __future__ import annotations

from tests.golden.programs import Program
from tests.golden.scenarios.scenario import pair, scenario
from tests.golden.world import World

OLD_NEW = ("compare", "./old", "./new")
TWELVE = ("--pairs", "12")


@scenario
def compare_slower(world: World) -> None:
    pair(world, 12.6e6)
    world.run(*OLD_NEW, "--json", "record.json", "--markdown", "report.md", "--csv", "launches.csv")


@scenario
def compare_faster(world: World) -> None:
    pair(world, 11.5e6)
    world.run(*OLD_NEW, "--json", "record.json.gz")


@scenario
def compare_same(world: World) -> None:
    pair(world)
    world.run(*OLD_NEW, "--margin", "3%")


@scenario
def compare_undecided(world: World) -> None:
    pair(world, 12.05e6)
    world.run(*OLD_NEW, *TWELVE, "--strict")
    world.run(*OLD_NEW, *TWELVE, "--seed", "7")


@scenario
def compare_that_time_ends(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 300e6, noise=0.05))
    world.program("new", Program(wall_ns=lambda _: 303e6, noise=0.05))
    world.run(*OLD_NEW, "--max-time", "12")


@scenario
def compare_without_hope(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 2e9))
    world.program("new", Program(wall_ns=lambda _: 2e9))
    world.run(*OLD_NEW, "--max-time", "5")


@scenario
def layouts(world: World) -> None:
    for layout, new_ns in enumerate((12.3e6, 11.7e6, 12.2e6, 11.9e6, 12.1e6), start=1):
        pair(world, new_ns, of=f"-{layout}")
    world.run("compare", "./old-{layout}", "./new-{layout}", "--layouts", "5", "--pairs", "30", "--json", "record.json")
    world.run("compare", "./old-{layout}", "./new-{layout}", "--layouts", "5", "--pairs", "30", "--margin", "20%")


@scenario
def compare_a_command_with_itself(world: World) -> None:
    pair(world)
    world.run("compare", "./old", "./old", "--pairs", "20")


@scenario
def several_candidates(world: World) -> None:
    pair(world, 12.7e6)
    world.program("newer", Program(wall_ns=lambda _: 11e6))
    world.run(*OLD_NEW, "./newer", "--names", "old, new,newer", *TWELVE)


@scenario
def looking_at_a_record(world: World) -> None:
    pair(world, 15e6)
    said = ("--bytes", "64M", "--items", "{n}k", "-L", "n", "1,20")
    world.run("compare", "./old {n}", "./new {n}", *said, *TWELVE, "--unit", "us", "--markdown", "report.md")
    world.run("show", "--hist", "--benchmark", "n=1")
    world.run("show", "--pairs", "--runs", "--benchmark", "n=20", "--unit", "s")
    world.run("show", "--sort", "change")
    world.run("show", "--sort", "size")
    world.run("show", "--benchmark", "n=1")
    world.run("run", "./old", "--items", "3", "--launches", "10")
    world.run("show", "--pairs")
    world.run("show", "--sort", "verdict")
    world.run("compare", "./old", "./new", "--bytes", "few")
    world.run("compare", "./old", "./new", "--items", "0")
    world.run("run", "./old", "--unit", "minutes")


@scenario
def parameter_list(world: World) -> None:
    world.program("old", Program(wall_ns=lambda words: 10e6 * int(words[0])))
    world.program("new", Program(wall_ns=lambda words: 10e6 * int(words[0]) ** 1.1))
    world.run("compare", "./old {n}", "./new {n}", "-L", "n", "1,2,4", *TWELVE)


@scenario
def parameter_scan(world: World) -> None:
    pair(world)
    world.run("compare", "./old {n}", "./new {n}", "-P", "n", "1", "2", "0.5", "-L", "mode", "a,b", "--pairs", "8")
    world.run(
        "compare", "./{which} {n}", "./new {n} {which}", "-P", "n", "1", "2", "1", "-L", "which", "old,new", *TWELVE
    )


@scenario
def control(world: World) -> None:
    pair(world, 12.6e6)
    world.run(*OLD_NEW, "--control", *TWELVE)


@scenario
def control_that_alarms(world: World) -> None:
    words = ("compare", "./old", "./new", "--control", *TWELVE, "-o", "record.json")
    pair(world, 12.6e6)
    world.run(*words)
    # The same plan again, in which the second side of the control takes longer.
    launches = world.json("record.json")["launches"]
    places = [place for place in zip(launches["benchmark"], launches["side"], strict=True) if place != (0, 1)]
    slower = {
        len(places) + number: {"wall_ns": 12_300_000} for number, place in enumerate(places, 1) if place == (1, 1)
    }
    pair(world, 12.6e6, Program(at=slower))
    world.run(*words)


@scenario
def several_metrics(world: World) -> None:
    waited = {"delay_ns": 400_000, "involuntary_switches": 3}
    world.program("old", Program(always=waited))
    world.program("new", Program(wall_ns=lambda _: 12.5e6, always={**waited, "max_rss_bytes": 3 << 20}))
    metrics = "cpu,wall,active,user,sys,delay,max_rss,minor_faults,involuntary_switches"
    world.run(*OLD_NEW, "--metric", metrics, *TWELVE, "--markdown", "report.md")


@scenario
def metric_wall(world: World) -> None:
    pair(world, 12.6e6)
    world.run(*OLD_NEW, "--metric", "wall", *TWELVE)


@scenario
def threads(world: World) -> None:
    world.program("old", Program(always={"others_ns": 9_000_000, "pressure_ns": 100_000}))
    world.program("new", Program(always={"others_ns": 9_000_000, "pressure_ns": 100_000}))
    world.run(*OLD_NEW, *TWELVE)
    world.run(*OLD_NEW, *TWELVE, "--metric", "wall,cpu")


@scenario
def shell(world: World) -> None:
    pair(world, 12.6e6)
    world.run("compare", "./old | cat", "./new | cat", "--shell", *TWELVE)


@scenario
def prepare_and_cleanup(world: World) -> None:
    pair(world, 12.6e6)
    for name in ("reset-old", "reset-new", "sweep"):
        world.program(name)
    world.run(*OLD_NEW, "--prepare", "./reset-old", "--prepare", "./reset-new 1", "--cleanup", "./sweep", *TWELVE)


@scenario
def prepare_that_fails(world: World) -> None:
    pair(world)
    world.program("reset", Program(at={5: {"exit_code": 2, "stderr": b"no such table\n"}}))
    world.run(*OLD_NEW, "--prepare", "./reset", *TWELVE)


@scenario
def cleanup_that_fails(world: World) -> None:
    pair(world)
    world.program("sweep", Program(always={"exit_code": None, "signal": 15}))
    world.run(*OLD_NEW, "--cleanup", "./sweep", *TWELVE)


@scenario
def repeat(world: World) -> None:
    pair(world, 12.6e6)
    world.run(*OLD_NEW, "--repeat", "3", *TWELVE)


@scenario
def family_fdr(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 10e6))
    world.program("new", Program(wall_ns=lambda words: 10e6 * (1.02 if words[0] < "c" else 1.002)))
    for family in ("fdr", "holm"):
        world.run(
            "compare", "./old {x}", "./new {x}", "-L", "x", "a,b,c,d", *TWELVE, "--family", family, "--alpha", "0.05"
        )


@scenario
def reference_output(world: World) -> None:
    world.program("old", Program(prints=lambda _: "1\n2\n3\n"))
    world.program("new", Program(prints=lambda words: f"1\n{2 if words else 4}\n3\n"))
    world.run("compare", "./old", "./new well", "--reference-output", "--pairs", "8")
    world.run("compare", "./old", "./new", "--reference-output", "--pairs", "8")


@scenario
def disturbed_pairs(world: World) -> None:
    world.program("old", Program(at={4: {"steal_ns": 20_000_000}, 9: {"steal_ns": 20_000_000}}))
    world.program("new", Program(at={12: {"steal_ns": 20_000_000, "wall_ns": 20_000_000}}))
    world.run(*OLD_NEW, "--pairs", "16", "--csv", "launches.csv")


@scenario
def disturbed_pairs_by_waiting(world: World) -> None:
    world.program("old", Program(at={number: {"delay_ns": 2_000_000} for number in range(3, 9)}))
    world.program("new")
    world.run(*OLD_NEW, *TWELVE, "--metric", "wall")


@scenario
def tandem(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 45e6))
    world.program("new", Program(wall_ns=lambda _: 46e6))
    world.run(*OLD_NEW, *TWELVE, "--pairing", "tandem", "--csv", "launches.csv")
    world.run("show", "--markdown", "table.md")


@scenario
def tandem_as_it_turns_out(world: World) -> None:
    world.program("old", Program(wall_ns=lambda _: 45e6, noise=0.03))
    world.program("new", Program(wall_ns=lambda _: 45e6, noise=0.03))
    world.run(*OLD_NEW, "--pairing", "auto", "--pairs", "52")


@scenario
def wait_quiet(world: World) -> None:
    pair(world, 12.6e6)
    world.program("old", Program(at={4: {"steal_ns": 20_000_000}}))
    world.quiet_after_s = [3.5, 9.0]
    world.run(*OLD_NEW, *TWELVE, "--wait-quiet", "10")


@scenario
def surroundings(world: World) -> None:
    pair(world)
    (world.folder / "input").write_text("words")
    options = ("--stdin", "input", "--output", "output", "--cpu", "0", "--timeout", "7", "--warmup", "3")
    world.run("compare", "./old", "./new", *options, "--env", "HOME=/", "--env", "WORD=a b", *TWELVE)


@scenario
def inherited_environment(world: World) -> None:
    pair(world)
    world.run(*OLD_NEW, "--inherit-env", "--warmup", "0", *TWELVE)


@scenario
def something_left_behind(world: World) -> None:
    pair(world)
    world.program("new", Program(always={"left_behind": ("77 sleep",)}))
    world.run(*OLD_NEW, "--pairs", "8")


@scenario
def modes_of_a_side(world: World) -> None:
    pair(world)
    world.program("new", Program(modes=(1.0, 1.3)))
    world.run(*OLD_NEW, "--pairs", "40")
