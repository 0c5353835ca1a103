"""Other spellings of options, most of them hyperfine's: those that have an equivalent, and advice for the others."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from steelyard.api.untimed import AS_OFTEN, REASONS
from steelyard.model.errors import UsageError

# Each stands for the first of these options that a command has.
_SAME = {
    "--command-name": ["--name"],
    "--pairs": ["--launches"],
    "--launches": ["--pairs"],
    "--max-runs": ["--pairs", "--launches"],
    "--runs": ["--launches"],
    "-r": ["--launches"],
    "--input": ["--stdin"],
    "--export-json": ["--json"],
    "--export-markdown": ["--markdown"],
    "--export-csv": ["--csv"],
}
_SHORT = {"-D": "--parameter-step-size", "-m": "--min-runs", "-r": "--runs", "-u": "--time-unit"}
# Flags of many programs, so that a command that lost its quotes is not split at them.
_LONG_ONLY = {"-C": "--conclude", "-c": "--cleanup", "-p": "--prepare", "-s": "--setup", "-S": "--shell"}
_INSTEAD = {
    "--export-asciidoc": "give --markdown FILE or --csv FILE",
    "--export-orgmode": "give --markdown FILE or --csv FILE",
    "--min-benchmarking-time": "a weighing ends when its answer stands, after --max-time SECONDS at most",
    "--min-runs": "a weighing ends when its answer stands, after --max-time SECONDS at most",
    "--parameter-step-size": "write the step behind the range, as in -P NAME FROM TO STEP",
    "--reference": "give that command first, as the others are compared with the first",
    "--reference-name": "give it as the first --name",
    "--repeats": "give --launches N, or --repeat N for more runs in one launch",
    "--runs": "give --pairs N, the most that are measured; the answer may stand before them",
    "--show-output": "give --output FILE, which says where the commands' output goes",
    "--sort": "results stand in the order of the commands, and several candidates are ranked; show has --sort",
    "--style": "there is progress where stderr is a terminal, and NO_COLOR=1 keeps colours away",
    "--time-unit": "write --unit ns, us, ms or s, of compare, run and show; --json FILE has nanoseconds",
}
_ALL_THE_SAME = (
    "status 1 says that something is slower, which `|| test $? -eq 1` lets pass; steelyard gate holds a record, which "
    "--json keeps, to limits of your own"
)
_LIMITS = "--json FILE keeps the record, and steelyard gate FILE --fail-above 5% holds it to a limit"
_OF_RUN = (
    "it is of one command alone: steelyard run --save-baseline NAME keeps a run, run --baseline NAME compares with it"
)
_OF_A_GATE = "--json FILE keeps the record, and steelyard gate FILE {} says it of that"
_ITERATIONS = "how often a statement runs is found by itself, so that a sample is long against the clock"
_OF_PYPERF = "a weighing ends when its answer stands; --pairs N or --max-time SECONDS limit it"
_OF_COMMANDS = {
    "compare": {
        **dict.fromkeys(("--no-fail", "--no-error", "--exit-zero", "--ignore-slower", "--allow-slower"), _ALL_THE_SAME),
        **dict.fromkeys(("--fail-above", "--fail-on", "--fail-threshold", "--threshold", "--max-slower"), _LIMITS),
        **{option: _OF_A_GATE.format(option) for option in ("--junit", "--github", "--gitlab", "--comment")},
        **dict.fromkeys(("--metrics", "--openmetrics"), _OF_A_GATE.format("--metrics metrics.txt")),
        # From criterion and pytest-benchmark.
        **dict.fromkeys(("--baseline", "--save-baseline", "--benchmark-save", "--benchmark-compare"), _OF_RUN),
    },
    "run": {
        **dict.fromkeys(
            ("-m", "--min-runs", "--min-benchmarking-time"),
            "give --launches N, or --max-time SECONDS for as many as fit",
        ),
        "--benchmark-save": "give --save-baseline NAME",
        "--benchmark-compare": "give --baseline NAME, which --save-baseline NAME kept",
        "--reference": "steelyard compare REFERENCE COMMAND compares two commands",
    },
    "count": {
        **dict.fromkeys(
            ("--base", "--candidate", "--build"),
            "steelyard compare --base REV --build CMD 'COMMAND' --metric instructions counts two revisions",
        ),
        **REASONS,
        "-w": REASONS["--warmup"],
        **dict.fromkeys(("-M", "--pairs", "--launches", "-r", "--runs", "--max-runs", "-m", "--min-runs"), AS_OFTEN),
        "--min-benchmarking-time": REASONS["--max-time"],
    },
    # From Python's own timeit, and from pyperf.
    "timeit": {
        **dict.fromkeys(("--rigorous", "--fast", "--processes", "--values", "-w", "--warmups"), _OF_PYPERF),
        **dict.fromkeys(("-l", "--loops", "--min-time"), _ITERATIONS),
        "--affinity": "give --cpu N",
        "--inherit-environ": "give --env NAME for each, or --inherit-env for all",
        "--copy-env": "give --inherit-env",
        "--compare-to": "give --python OLD --python NEW, which weighs one statement between the two",
        "--python-names": "give --name once for each --python",
        "--number": _ITERATIONS,
        **dict.fromkeys(("-r", "--repeat"), "give --pairs N, the most that are measured, or --max-time SECONDS"),
        **dict.fromkeys(
            ("-p", "--process"), "--metric cpu is the time of the processor, and --pairs N the most pairs of processes"
        ),
        **dict.fromkeys(("-v", "--verbose"), "--csv FILE has every sample"),
    },
}
_SHELLS = ("default", "sh", "/bin/sh")
# By itself each of these only waits for input, so after --shell none of them is a command to weigh.
_SHELL_NAME = re.compile(
    r"none|default|(/[\w/]*/)?(sh|bash|dash|zsh|fish|ksh|mksh|tcsh|csh|busybox|pwsh)"
    r"( +(-[eflpux]+|-o +\w+|--(norc|noprofile|posix|login|no-rcs|no-config)))*"
)


def respelt(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Return the words of a command line in the spellings known to a command with these `options`.

    Raises UsageError for a shell that no option can choose.
    """
    left, spelt = list(words), list[str]()
    while left and left[0] != "--":
        word = left.pop(0)
        shell = _shell(word, left) if "--shell" in options else None
        spelt += [_spelt(word, options)] if shell is None else shell
    return [*spelt, *left]


def instead_of(option: str, command: str | None) -> str | None:
    """Return what to do instead of giving a `command` an option of another tool; None if no tool has it."""
    if instead := _OF_COMMANDS.get(command or "", {}).get(option):
        return f"there is no {option} here: {instead}"
    if option in _LONG_ONLY:
        return f"there is no {option} here: write {_LONG_ONLY[option]}, or give each command in quotes"
    name = _SHORT.get(option, option)
    return f"there is no {option} here: {_INSTEAD[name]}" if name in _INSTEAD else None


def _spelt(word: str, options: Collection[str]) -> str:
    name, equals, value = word.partition("=")
    if name in options:
        return word
    known = next((same for same in _SAME.get(name, []) if same in options), name)
    return f"{known}{equals}{value}"


def _shell(word: str, left: list[str]) -> list[str] | None:
    """Return the words for one that chooses a shell, or None; the shell's name may be taken from the words `left`."""
    name, equals, value = word.partition("=")
    if word == "-N":
        return []
    if (word == "-S" and left) or (word == "--shell" and left and _SHELL_NAME.fullmatch(left[0])):
        value = left.pop(0)
    elif name != "--shell" or not equals:
        return None
    if value not in ("none", *_SHELLS):
        raise UsageError(
            f"--shell runs commands by /bin/sh; for {value!r} write it into them, as in \"{value} -c '...'\""
        )
    return [] if value == "none" else ["--shell"]
