"""The words that `compare` and `run` share, and how they become settings. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.checks import in_range
from steelyard.cli.counting import NOT_ASKED, count_settings
from steelyard.cli.heap_words import heap_launches
from steelyard.cli.suite import harness_checked
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.model.records import Settings

Margin = Annotated[
    str, typer.Option(metavar="PERCENT", help="Smallest change that matters; less is `same`. 0.001% to 50%.")
]
Pairs = Annotated[
    int | None, typer.Option(metavar="N", help="Most pairs to measure.  [default: as many as the time allows]")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 4 if it stays undecided.")]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME[,NAME]",
        help="What is measured: active, wall, cpu, user, sys, delay, max_rss, minor_faults, major_faults, "
        "voluntary_switches, involuntary_switches, timeslices; counted under Valgrind: instructions, cost, l1_hits, "
        "ll_hits, ram_hits. Several may be given; the first decides.  "
        "[default: active]",
    ),
]
Alpha = Annotated[float, typer.Option(metavar="P", help="Chance of a wrong verdict that you accept, 0.00001 to 0.2.")]
Family = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What --alpha limits among several benchmarks: holm, the chance of any wrong verdict; fdr, the share of "
        "wrong ones among those found changed (finds more in large suites).",
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Longest time to measure.  [default: 30, or none with a number of launches]"),
]
Repeat = Annotated[
    int, typer.Option(metavar="N", help="Run the command N times in one launch, for commands too short to time.")
]
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the commands' standard output goes.  [default: nowhere]")
]
WaitQuiet = Annotated[
    float, typer.Option(metavar="SECONDS", help="Wait up to so long in all for other work to calm down.")
]
WarmUp = Annotated[int, typer.Option("--warmup", metavar="N", help="Warm-up launches of each command, not judged.")]
Prepare = Annotated[
    list[str] | None,
    typer.Option(metavar="CMD", help="Run before each launch, untimed; given twice, once for each command."),
]
Cleanup = Annotated[
    list[str] | None,
    typer.Option(metavar="CMD", help="Run when all is measured; given twice, once for each command."),
]
Stdin = Annotated[Path | None, typer.Option(metavar="FILE", help="Standard input of each launch.  [default: empty]")]
Shell = Annotated[bool, typer.Option("--shell", help="Run the commands by /bin/sh -c; its start is measured and said.")]
IgnoreFailure = Annotated[bool, typer.Option("--ignore-failure", "-i", help="Accept launches that fail.")]
Timeout = Annotated[float | None, typer.Option(metavar="SECONDS", help="Kill a launch that takes longer; an error.")]
Cpu = Annotated[
    int | None,
    typer.Option("--cpu", metavar="N", help="Pin every launch to processor N (one-threaded programs)."),
]
Env = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[=VALUE]", help="Pass on (or set) an environment variable; may be repeated."),
]
InheritEnv = Annotated[
    bool, typer.Option("--inherit-env", help="Pass on the whole environment instead of the small whitelist.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Repeat the plan of the weighing that showed this seed.")]
Json = Annotated[
    Path | None,
    typer.Option("--json", "-o", metavar="FILE", help="Keep the record: raw numbers and verdicts (.gz compresses)."),
]
Markdown = Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write a Markdown table.")]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the raw launches, or counts, as CSV.")]


# More than anybody will wait for, and still few enough to be kept and judged.
_MOST_LAUNCHES = 1_000_000


def settings_from(
    words: dict[str, Any], *, limit: str, launches: int | None, least: Callable[[float], int] | None = None
) -> Settings:
    """Check the shared options (by parameter name) and make settings of them; raises UsageError naming the option.

    `limit` is the option that says how many `launches`; `least(alpha)` of them can show anything at all.
    """
    from steelyard.design.runner.draws import new_seed
    from steelyard.model.records import Settings
    from steelyard.subjects.command import environment_names

    in_range("--alpha", words["alpha"], 1e-5, 0.2)
    in_range("--warmup", words["warm_up"], 0, 1000)
    in_range("--repeat", words["repeat"], 1, 1_000_000)
    in_range("--wait-quiet", words["wait_quiet"], 0, 86_400)
    if launches is not None:
        in_range(limit, launches, 1, _MOST_LAUNCHES)
        fewest = least(words["alpha"]) if least else 1
        if launches < fewest:
            raise UsageError(
                f"{limit} {launches} can never show anything at alpha {words['alpha']:g}: at least {fewest}"
            )
    for option in ("max_time", "timeout"):
        if words[option] is not None:
            in_range(f"--{option.replace('_', '-')}", words[option], 1e-3, 1e6)
    metrics = metric_names(words["metric"])
    names, values = environment_names(words["env"] or [], os.environ, inherit=words["inherit_env"])
    return Settings(
        margin=words.get("margin", 0.5) / 100,
        alpha=words["alpha"],
        family=_family(words.get("family", "holm")),
        metrics=metrics,
        pairs=launches,
        max_time_s=words["max_time"] if words["max_time"] is not None or launches is not None else 30.0,
        warm_up=words["warm_up"],
        seed=new_seed() if words["seed"] is None else in_range("--seed", words["seed"], 0, 2**63 - 1),
        timeout_s=words["timeout"],
        cpu=_processor(words["cpu"]),
        ignore_failure=words["ignore_failure"],
        environment=names,
        variables=values,
        directory=_directory(),
        stdin=_readable(words["stdin"]),
        output=_output_of_launches(words["output"]),
        repeat=words["repeat"],
        reference_output=words.get("reference_output", False),
        wait_quiet_s=words["wait_quiet"],
        prepare=_hooks("--prepare", words["prepare"]),
        cleanup=_hooks("--cleanup", words["cleanup"]),
        counting=count_settings(words, metrics),
        harness=harness_checked(words),
        heap=heap_launches(words),
        heap_shuffle=bool(words.get("heap_shuffle")),
    )


def plain_settings(
    *, limit: str = "--pairs", launches: int | None = None, least: Callable[[float], int] | None = None, **words: Any
) -> Settings:
    """Settings for a command line that has only some of the shared options: `words`, and for the rest what is plain."""
    plain: dict[str, Any] = {
        "alpha": 0.01,
        "warm_up": 0,
        "repeat": 1,
        "wait_quiet": 0,
        "max_time": None,
        "timeout": None,
        "metric": None,
        "seed": 0,
        "cpu": None,
        "ignore_failure": False,
        "stdin": None,
        "output": None,
        "prepare": None,
        "cleanup": None,
        "env": None,
        "inherit_env": False,
        **NOT_ASKED,
    }
    return settings_from({**plain, **words}, limit=limit, launches=launches, least=least)


def _family(name: str) -> Any:
    if name not in ("holm", "fdr"):
        raise UsageError(f"--family {name!r} is not known: choose from holm, fdr")
    return name


def metric_names(wanted: Iterable[str] | None) -> list[str]:
    """Split and check the names of metrics; the default if none is wanted."""
    from steelyard.model.metrics import DEFAULT_METRIC, METRICS

    names = [name.strip() for word in wanted or [DEFAULT_METRIC] for name in word.split(",")]
    for name in names:
        if name not in METRICS:
            raise UsageError(f"--metric {name!r} is not known: choose from {', '.join(METRICS)}")
    return list(dict.fromkeys(names))


def margin_percent(word: str) -> float:
    """Read a margin: a number of percent, with or without the sign."""
    try:
        percent = float(word.strip().removesuffix("%"))
    except ValueError:
        raise UsageError(f"--margin {word!r} is no percentage: write for example --margin 0.5%") from None
    return in_range("--margin", percent, 0.001, 50, "%")


def check_writable(*paths: Path | None) -> None:
    """Before anything is measured: raise UsageError for an output file that could not be written afterwards."""
    wanted = [path for path in paths if path is not None]
    for path in wanted:
        if refusal := _refusal(path):
            raise UsageError(f"cannot write {path}: {refusal}")
    files = [os.path.realpath(path) for path in wanted if path.is_file() or not path.exists()]
    if len(set(files)) < len(files):
        raise UsageError(f"two outputs would go to the same file, {files[0]}: give each its own")


def _refusal(path: Path) -> str | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return _folder_refusal(Path(os.path.realpath(path)).parent)
    except OSError as error:
        return f"{error.strerror}; give another place"
    if stat.S_ISDIR(found.st_mode):
        return "it is a folder; give a file's name"
    if not stat.S_ISCHR(found.st_mode) and os.path.samestat(found, os.fstat(1)):
        return "the verdict is printed there; give a file's name"
    if not os.access(path, os.W_OK):
        return "it is not writable; give another place"
    return _folder_refusal(Path(os.path.realpath(path)).parent) if stat.S_ISREG(found.st_mode) else None


def _folder_refusal(folder: Path) -> str | None:
    if not folder.is_dir():
        return f"there is no folder {folder}; make it first"
    try:
        # Only the attempt tells: permissions say nothing of quotas, of read-only disks or of /proc.
        with tempfile.NamedTemporaryFile(prefix=".steelyard-", dir=folder):
            return None
    except OSError as error:
        return f"the folder {folder} is not writable ({error.strerror}); give another place"


def _processor(number: int | None) -> int | None:
    if number is not None and number not in os.sched_getaffinity(0):
        allowed = ", ".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
        raise UsageError(f"--cpu {number} is not a processor that may be used here: choose from {allowed}")
    return number


def _directory() -> str:
    try:
        return str(Path.cwd())
    except OSError as error:
        raise UsageError(f"the current directory cannot be used: {error.strerror}; change to another one") from error


def _readable(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"--stdin {path} cannot be read: {error.strerror}; check the path") from error
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise UsageError(f"--stdin {path} cannot be read again for each launch: give the path of a file")
    # Resolved here: for the process that opens it, /dev/stdin would be another file.
    file = os.path.realpath(path)
    if not os.access(file, os.R_OK):
        raise UsageError(f"--stdin {path} cannot be read: check its permissions")
    return file


def _output_of_launches(path: Path | None) -> str | None:
    if path is None:
        return None
    if path.is_fifo():
        raise UsageError(f"--output {path} is a pipe, and each launch writes anew: give the path of a file")
    return os.path.realpath(path)  # resolved here, as the input is


def _hooks(option: str, commands: list[str] | None) -> list[str]:
    if len(commands or []) > 2:
        raise UsageError(
            f"{option} was given {len(commands or [])} times: once for both commands, or twice, one for each"
        )
    return list(commands or [])
