"""The options that say how launches are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import Options
from steelyard.model.errors import UsageError
from steelyard.model.values import in_range

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.counting import Caches, CountSettings, Weights


@dataclass(frozen=True, kw_only=True)
class CountingOptions(Options):
    """How launches are counted, where a metric is chosen that is."""

    panel: ClassVar[str] = "Counting under Valgrind"

    caches: Annotated[
        str,
        typer.Option(
            metavar="NAME|SIZES",
            help="Simulated caches: article (32K L1, 8M last level), haswell, small, host, or "
            "I1=32K,8,64:D1=32K,8,64:LL=8M,16,64.",
        ),
    ] = "article"
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            metavar="NAME|L1,LL,RAM",
            help="What a hit of each level costs: default (1,5,35), article (1,5,30), calibrated (see steelyard "
            "calibrate; with the caches of the calibration), or three numbers.",
        ),
    ] = "default"
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Launches counted at once.  [default: one for each processor]")
    ] = None
    loops: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Count with {loops} = N and 2N in the command and take the difference: N loops alone."
        ),
    ] = None
    call_graph: Annotated[
        bool, typer.Option("--call-graph", help="Count what each function calls too (Callgrind, slower).")
    ] = False
    body: Annotated[
        bool,
        typer.Option("--body", help="Count only between the target's own Callgrind start and stop requests."),
    ] = False
    after_start: Annotated[
        bool,
        typer.Option("--after-start", help="Count only once the program is loaded (Callgrind; not static programs)."),
    ] = False


_CACHE_METRICS = {"cost", "l1_hits", "ll_hits", "ram_hits"}
_MOST_WEIGHT = 1e6
_LOOPS = "{loops}"


def count_settings(
    options: CountingOptions,
    metrics: Sequence[str],
    commands: Sequence[str],
    world: World,
    *,
    harness: bool,
    control: bool,
) -> CountSettings | None:
    """How the counted ones of `metrics` are to be counted; None if there are none.

    Raises UsageError naming the option, also where an option has nothing to count.
    """
    from steelyard.measure.count.valgrind import caches_named
    from steelyard.model.counting import CountSettings
    from steelyard.model.metrics import counted, timed

    if not counted(list(metrics)):
        _refuse_idle(options)
        return None
    if control and not timed(list(metrics)):
        raise UsageError("--control is for times: counts are of each side twice anyway, so leave it out")
    _check_loops(options.loops, commands)
    if options.after_start and (options.body or harness):
        other = "--body" if options.body else "--harness"
        raise UsageError(f"{other} and --after-start both say when counting begins: give one of them")
    caches = caches_named(options.caches, world.facts().caches if options.caches == "host" else None)
    if options.weights == "calibrated":
        weights, caches = _calibrated(options, caches, world)
    else:
        weights = weights_named(options.weights)
    # A harness marks what it measures, and its start is none of that.
    body = options.body or harness
    requests = body or options.after_start
    return CountSettings(
        tool="callgrind" if options.call_graph or requests else "cachegrind",
        cache_simulation=bool(_CACHE_METRICS & set(metrics)),
        caches=caches,
        weights=weights,
        call_graph=options.call_graph,
        body=body,
        after_start=options.after_start,
        loops=options.loops,
    )


def _check_loops(loops: int | None, commands: Sequence[str]) -> None:
    if loops is None:
        return
    in_range("--loops", loops, 1, 10**12)
    for command in commands:
        if _LOOPS not in command:
            raise UsageError(f"--loops: the command {command!r} has no {_LOOPS}, which stands for how often it loops")


def jobs_checked(jobs: int | None) -> int | None:
    """A number of launches counted at once; None for as many as there are processors."""
    return None if jobs is None else in_range("--jobs", jobs, 1, 256)


def weights_named(name: str) -> Weights:
    """A preset's name, or three numbers with commas; raises UsageError."""
    from steelyard.model.counting import Weights

    if name == "default":
        return Weights()
    if name == "article":
        return Weights(name="article", ram=30)
    try:
        l1, ll, ram = (float(part) for part in name.split(","))
        if not all(0 <= weight <= _MOST_WEIGHT for weight in (l1, ll, ram)) or l1 + ll + ram == 0:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--weights {name!r} is not known: choose default, article or calibrated, or write --weights 1,5,35 (0 to "
            "1,000,000 each, not all of them 0)"
        ) from None
    return Weights(name="own", l1=l1, ll=ll, ram=ram)


def _calibrated(options: CountingOptions, caches: Caches, world: World) -> tuple[Weights, Caches]:
    """The weights of this machine's calibration, and the caches that they were fitted with: they say little of others.

    Raises UsageError without a calibration, or if other `caches` were asked for.
    """
    from steelyard.history.calibrations import load_calibration

    calibration = load_calibration(world.facts().key, world.environment)
    if calibration is None:
        raise UsageError("--weights calibrated: this machine was not calibrated; run steelyard calibrate first")
    fitted = calibration.caches
    if "caches" in options.given and _shapes(caches) != _shapes(fitted):
        raise UsageError(
            f"--weights calibrated were fitted with the caches {_spelt(fitted)}, not with --caches {options.caches}: "
            "leave --caches out, or run steelyard calibrate with the same --caches"
        )
    return calibration.weights, fitted


def _shapes(caches: Caches) -> tuple[tuple[int, int, int], ...]:
    return caches.i1, caches.d1, caches.ll


def _spelt(caches: Caches) -> str:
    return ":".join(
        f"{name}={','.join(map(str, shape))}" for name, shape in zip(("I1", "D1", "LL"), _shapes(caches), strict=True)
    )


def _refuse_idle(options: CountingOptions) -> None:
    idle = {
        "--loops": options.loops,
        "--call-graph": options.call_graph,
        "--body": options.body,
        "--after-start": options.after_start,
        "--jobs": options.jobs,
    }
    for option, value in idle.items():
        if value:
            raise UsageError(f"{option} is about counting: add --metric instructions or --metric cost")
