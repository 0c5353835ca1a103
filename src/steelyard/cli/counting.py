"""The words that say how launches are counted; `compare`, `count` and `calibrate` share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.checks import in_range, is_given
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.model.counting import Caches as Simulated
    from steelyard.model.counting import CountSettings, Weights

Caches = Annotated[
    str,
    typer.Option(
        metavar="NAME|SIZES",
        help="Simulated caches: article (32K L1, 8M last level), haswell, small, host, or "
        "I1=32K,8,64:D1=32K,8,64:LL=8M,16,64.",
    ),
]
WeightsWord = Annotated[
    str,
    typer.Option(
        "--weights",
        metavar="NAME|L1,LL,RAM",
        help="What a hit of each level costs: default (1,5,35), article (1,5,30), calibrated (see steelyard "
        "calibrate; with the caches of the calibration), or three numbers.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", help="Launches counted at once.  [default: one for each processor]")
]
Loops = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Count with {loops} = N and 2N in the command and take the difference: N loops alone."
    ),
]
CallGraph = Annotated[
    bool, typer.Option("--call-graph", help="Count what each function calls too (Callgrind, slower).")
]
Body = Annotated[
    bool, typer.Option("--body", help="Count only between the target's own Callgrind start and stop requests.")
]
AfterStart = Annotated[
    bool, typer.Option("--after-start", help="Count only once the program is loaded (Callgrind; not static programs).")
]
ShownFunctions = Annotated[
    int, typer.Option("--functions", metavar="N", min=0, help="Functions shown, the largest first.")
]

NOT_ASKED: dict[str, Any] = {
    "caches": "article",
    "weights": "default",
    "jobs": None,
    "loops": None,
    "call_graph": False,
    "body": False,
    "after_start": False,
}
"""For commands that count if such a metric is asked for, and leave how to `count` and `compare`."""

_CACHE_METRICS = {"cost", "l1_hits", "ll_hits", "ram_hits"}
_MOST_WEIGHT = 1e6
_LOOPS = "{loops}"


def count_settings(words: Mapping[str, Any], metrics: Sequence[str]) -> CountSettings | None:
    """How the counted ones of `metrics` are to be counted; None if there are none.

    Raises UsageError naming the option, also where an option has nothing to count.
    """
    from steelyard.measure.count.valgrind import caches_named
    from steelyard.model.counting import CountSettings
    from steelyard.model.metrics import counted, timed

    if not counted(list(metrics)):
        _refuse_idle(words)
        return None
    if words.get("control") and not timed(list(metrics)):
        raise UsageError("--control is for times: counts are of each side twice anyway, so leave it out")
    _check_loops(words)
    if words["after_start"] and (words["body"] or words.get("harness")):
        other = "--body" if words["body"] else "--harness"
        raise UsageError(f"{other} and --after-start both say when counting begins: give one of them")
    host = _host_caches() if words["caches"] == "host" else None
    caches = caches_named(words["caches"], host)
    if words["weights"] == "calibrated":
        weights, caches = _calibrated(words, caches)
    else:
        weights = weights_named(words["weights"])
    # A harness marks what it measures, and its start is none of that.
    body = words["body"] or words.get("harness") is not None
    requests = body or words["after_start"]
    return CountSettings(
        tool="callgrind" if words["call_graph"] or requests else "cachegrind",
        cache_simulation=bool(_CACHE_METRICS & set(metrics)),
        caches=caches,
        weights=weights,
        call_graph=words["call_graph"],
        body=body,
        after_start=words["after_start"],
        loops=words["loops"],
    )


def _check_loops(words: Mapping[str, Any]) -> None:
    loops = words["loops"]
    if loops is None:
        return
    in_range("--loops", loops, 1, 10**12)
    for command in words.get("commands") or [words.get("command") or _LOOPS]:
        if _LOOPS not in command:
            raise UsageError(f"--loops: the command {command!r} has no {_LOOPS}, which stands for how often it loops")


def jobs_of(words: Mapping[str, Any]) -> int | None:
    """How many launches are counted at once, checked."""
    return jobs_checked(words["jobs"])


def jobs_checked(jobs: int | None) -> int | None:
    """A number of launches counted at once; None for as many as there are processors."""
    return None if jobs is None else in_range("--jobs", jobs, 1, 256)


def weights_named(word: str) -> Weights:
    """A preset's name, or three numbers with commas; raises UsageError."""
    from steelyard.model.counting import Weights

    if word == "default":
        return Weights()
    if word == "article":
        return Weights(name="article", ram=30)
    try:
        l1, ll, ram = (float(part) for part in word.split(","))
        if not all(0 <= weight <= _MOST_WEIGHT for weight in (l1, ll, ram)) or l1 + ll + ram == 0:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--weights {word!r} is not known: choose default, article or calibrated, or write --weights 1,5,35 (0 to "
            "1,000,000 each, not all of them 0)"
        ) from None
    return Weights(name="own", l1=l1, ll=ll, ram=ram)


def _calibrated(words: Mapping[str, Any], caches: Simulated) -> tuple[Weights, Simulated]:
    """The weights of this machine's calibration, and the caches that they were fitted with: they say little of others.

    Raises UsageError without a calibration, or if other `caches` were asked for.
    """
    from steelyard.history.calibrations import load_calibration
    from steelyard.machine.facts import read_facts

    calibration = load_calibration(read_facts().key)
    if calibration is None:
        raise UsageError("--weights calibrated: this machine was not calibrated; run steelyard calibrate first")
    fitted = calibration.caches
    context: typer.Context | None = words.get("context")
    if context and is_given(context, "caches") and _shapes(caches) != _shapes(fitted):
        raise UsageError(
            f"--weights calibrated were fitted with the caches {_spelt(fitted)}, not with --caches {words['caches']}: "
            "leave --caches out, or run steelyard calibrate with the same --caches"
        )
    return calibration.weights, fitted


def _shapes(caches: Simulated) -> tuple[tuple[int, int, int], ...]:
    return caches.i1, caches.d1, caches.ll


def _spelt(caches: Simulated) -> str:
    return ":".join(
        f"{name}={','.join(map(str, shape))}" for name, shape in zip(("I1", "D1", "LL"), _shapes(caches), strict=True)
    )


def _host_caches() -> dict[str, str]:
    from steelyard.machine.facts import read_facts

    return read_facts().caches


def _refuse_idle(words: Mapping[str, Any]) -> None:
    for name in ("loops", "call_graph", "body", "after_start", "jobs"):
        if words.get(name):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is about counting: add --metric instructions or --metric cost")
