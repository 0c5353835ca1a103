"""Other spellings of options, most of them hyperfine's: those that have an equivalent, and advice for the others."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from steelyard.api.untimed import WHY_NO_NUMBER_OF_COUNTS, WHY_NOT_FOR_COUNTS
from steelyard.model.errors import UsageError

# Each stands for the first of these options that a command has.
_EQUIVALENTS = {
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
_LONG_FORMS = {"-D": "--parameter-step-size", "-m": "--min-runs", "-r": "--runs", "-u": "--time-unit"}
# Flags of many programs, so that a command that lost its quotes is not split at them.
_LONG_ONLY = {"-C": "--conclude", "-c": "--cleanup", "-p": "--prepare", "-s": "--setup", "-S": "--shell"}
_ADVICE = {
    "--export-asciidoc": "give --markdown FILE or --csv FILE",
    "--export-orgmode": "give --markdown FILE or --csv FILE",
    # Of hyperfine, pyperf and Go.
    **dict.fromkeys(
        ("--min-benchmarking-time", "--min-runs", "--rigorous", "--fast", "--benchtime", "--count"),
        "a weighing ends when its answer stands, after --max-time SECONDS at most",
    ),
    "--affinity": "give --cpu N",
    "--parameter-step-size": "write the step behind the range, as in -P NAME FROM TO STEP",
    "--reference": "give that command first, as the others are compared with the first",
    "--reference-name": "give it as the first --name",
    "--repeats": "give --launches N, or --repeat N for more runs in one launch",
    "--report": "give --html FILE",
    "--runs": "give --pairs N, the most that are measured; the answer may stand before them",
    "--show-output": "give --output FILE, which says where the commands' output goes",
    "--sort": "results stand in the order of the commands, and several candidates are ranked; show has --sort",
    "--style": "there is progress where stderr is a terminal, and NO_COLOR=1 keeps colours away",
    "--time-unit": "write --unit ns, us, ms or s, of compare, run and show; --json FILE has nanoseconds",
}
_GIVEN_OPTION = re.compile(r"(?:give|or|after) (--[a-z-]+)")
"""An option that advice tells to give."""
_STATUS_ADVICE = (
    "status 1 says that something is slower, which `|| test $? -eq 1` lets pass; steelyard gate holds a record, which "
    "--json keeps, to limits of your own"
)
_LIMITS_ADVICE = "--json FILE keeps the record, and steelyard gate FILE --fail-above 5% holds it to a limit"
_BASELINE_ADVICE = (
    "the baseline is the first of the commands, steelyard compare 'OLD' 'NEW'; of one command alone, steelyard run "
    "--save-baseline NAME keeps a run, and run --baseline NAME compares with it"
)
_GATE_ADVICE = "--json FILE keeps the record, and steelyard gate FILE {} says it of that"
_ITERATIONS_ADVICE = "how often a statement runs is found by itself, so that a sample is long against the clock"
_BUDGET_ADVICE = "a weighing ends when its answer stands; --pairs N or --max-time SECONDS limit it"
_ADVICE_BY_COMMAND = {
    "compare": {
        **dict.fromkeys(
            ("--no-fail", "--no-error", "--exit-zero", "--ignore-slower", "--allow-slower"), _STATUS_ADVICE
        ),
        **dict.fromkeys(
            ("--fail-above", "--fail-on", "--fail-threshold", "--threshold", "--max-slower"), _LIMITS_ADVICE
        ),
        **{option: _GATE_ADVICE.format(option) for option in ("--junit", "--github", "--gitlab", "--comment")},
        **dict.fromkeys(("--metrics", "--openmetrics"), _GATE_ADVICE.format("--metrics metrics.txt")),
        # From criterion and pytest-benchmark.
        **dict.fromkeys(("--baseline", "--save-baseline", "--benchmark-save", "--benchmark-compare"), _BASELINE_ADVICE),
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
        **WHY_NOT_FOR_COUNTS,
        "-w": WHY_NOT_FOR_COUNTS["--warmup"],
        **dict.fromkeys(
            ("-M", "--pairs", "--launches", "-r", "--runs", "--max-runs", "-m", "--min-runs"), WHY_NO_NUMBER_OF_COUNTS
        ),
        "--min-benchmarking-time": WHY_NOT_FOR_COUNTS["--max-time"],
    },
    # From Python's own timeit, and from pyperf.
    "timeit": {
        **dict.fromkeys(("--rigorous", "--fast", "--processes", "--values", "-w", "--warmups"), _BUDGET_ADVICE),
        **dict.fromkeys(("-l", "--loops", "--min-time"), _ITERATIONS_ADVICE),
        "--affinity": "give --cpu N",
        "--inherit-environ": "give --env NAME for each, or --inherit-env for all",
        "--copy-env": "give --inherit-env",
        "--compare-to": "give --python OLD --python NEW, which weighs one statement between the two",
        "--python-names": "give --name once for each --python",
        "--number": _ITERATIONS_ADVICE,
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


def normalised(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Return the words of a command line in the spellings known to a command with these `options`.

    Raises UsageError for a shell that no option can choose.
    """
    remaining, result = list(words), list[str]()
    while remaining and remaining[0] != "--":
        word = remaining.pop(0)
        shell = _shell_words(word, remaining) if "--shell" in options else None
        result += [_normalised_word(word, options)] if shell is None else shell
    return [*result, *remaining]


def advice_for(option: str, command: str | None, options: Collection[str], quotes: str | None) -> str | None:
    """Return what to do instead of giving a `command` with these `options` one of another tool; None if no tool has it.

    `quotes` says how to quote the program to measure, if it seems to be an option of that.
    """
    advice = _ADVICE_BY_COMMAND.get(command or "", {}).get(option)
    if advice is None:
        general = _ADVICE.get(_LONG_FORMS.get(option, option), "")
        advised = {_normalised_word(advised_option, options) for advised_option in _GIVEN_OPTION.findall(general)}
        advice = general if general and advised <= {*options} else None
    if advice is None and option in _LONG_ONLY:
        advice = f"write {_LONG_ONLY[option]}" + ("" if quotes else ", or give each command in quotes")
    if advice is None:
        return None
    if quotes:
        return f"there is no {option} here: if it is your command's, {quotes}; if not, {advice}"
    return f"there is no {option} here: {advice}"


def _normalised_word(word: str, options: Collection[str]) -> str:
    name, equals, value = word.partition("=")
    if name in options:
        return word
    known = next((same for same in _EQUIVALENTS.get(name, []) if same in options), name)
    return f"{known}{equals}{value}"


def _shell_words(word: str, remaining: list[str]) -> list[str] | None:
    """Return the words for one that chooses a shell, or None; its name may be taken from the `remaining` words."""
    name, equals, value = word.partition("=")
    if word == "-N":
        return []
    if (word == "-S" and remaining) or (word == "--shell" and remaining and _SHELL_NAME.fullmatch(remaining[0])):
        value = remaining.pop(0)
    elif name != "--shell" or not equals:
        return None
    if value not in ("none", *_SHELLS):
        raise UsageError(
            f"--shell runs commands by /bin/sh; for {value!r} write it into them, as in \"{value} -c '...'\""
        )
    return [] if value == "none" else ["--shell"]
