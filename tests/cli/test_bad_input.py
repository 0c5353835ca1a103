"""Mistakes of users, but for those with files (`test_bad_files`): one clear sentence, the right status, no measurement.

They are tried within this process, which is a hundred times faster. One of each kind goes through the installed
command, too.
"""

from __future__ import annotations

import os

import pytest

from steelyard.model.files import load
from tests.cli.refusing import AWKWARD, LONG, SHOWN, Refuses
from tests.in_process import InProcess
from tests.tool import SOME_TIME, Tool, sh

HUGE = "9" * 400


# --- the command line itself


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nonsense"], ["nonsense", "steelyard --help"]),
        (["slow one", "fast one"], ["no such command 'slow one'; steelyard compare 'OLD' 'NEW' weighs commands, "]),
        (["/bin/true"], ["steelyard run 'COMMAND' measures one"]),
        (["compre"], ["no such command 'compre' (did you mean 'compare'?); see"]),
        (["run", "true", "--max-tim", "3"], ["no such option: --max-tim (did you mean --max-time?); "]),
        (["--nonsense"], ["--nonsense", "steelyard --help"]),
        (["compare"], ["two commands or more"]),
        (["compare", "true"], ["two commands or more"]),
        (["compare", "true", "true", "--nonsense"], ["--nonsense"]),
        (["compare", "true", "true", "--pairs"], ["--pairs"]),
        (["compare", "true", "true", "--chart", "5"], ["--chart"]),
        (["compare", "true", "true", "--family", "bonferroni"], ["--family", "holm, fdr"]),
        (["compare", "true", "true", "--json"], ["--json lacks its value; see steelyard compare --help"]),
        (["compare", "--resume"], ["--resume needs RECORD, as in --resume 2026", "steelyard list"]),
        (["compare", "--resume", "--max-time", "3"], ["--resume needs RECORD, as in --resume 2026", "steelyard list"]),
        (["compare", "true", "true", "--control=1"], ["--control takes no value; see steelyard compare --help"]),
        (["run"], ["COMMAND is missing, as in: steelyard run 'gzip ", "(see steelyard run --help)"]),
        (["gate"], ["RECORD... is missing, as in: steelyard compare ", "; steelyard gate weighing.json (see "]),
        (
            ["bisect", "./prog"],
            ["--good is missing, as in: steelyard bisect --good v1.2 ", "(see steelyard bisect --help)"],
        ),
        (
            ["run", "true", "true"],
            ["words (true); give the command in quotes: ", "; several are weighed by "],
        ),
        (["count", "true 1", "true 2"], ["words (true 2); several are weighed by steelyard compare 'OLD' 'NEW'"]),
        (["compare", "--baseline", "./old", "./new"], ["first of the commands, steelyard compare 'OLD' 'NEW'; of one"]),
        (["show", "a", "b"], ["(b)"]),
        (["", "a"], ["steelyard --help"]),
        ([AWKWARD], ["31m", "steelyard --help"]),
        ([f"--{AWKWARD}"], ["steelyard --help"]),
        (["run", "true", AWKWARD], [SHOWN]),
    ],
    ids=str,
)
def test_words_that_make_no_sense(refuses: Refuses, words: list[str], says: list[str]) -> None:
    sentence = refuses(*words)
    assert all(part in sentence for part in says), sentence


@pytest.mark.parametrize(
    "words",
    [
        [AWKWARD],
        ["compare", "true", "true", "--pairs", "x"],
        ["compare", "true", "no-such-tool"],
        ["run", "true", "--json", "missing/file"],
        ["show", "/dev/zero"],
    ],
    ids=ascii,
)
def test_the_installed_command_says_the_same(tool: Tool, refuses: Refuses, words: list[str]) -> None:
    assert tool.refuses(*words) == refuses(*words)


def test_a_failed_measurement_of_the_installed_command(tool: Tool) -> None:
    assert "false failed with exit status 1" in tool.refuses("run", "false", status=3)


def test_no_words_at_all_are_answered_with_the_help_on_stderr(tool: Tool) -> None:
    done = tool()
    assert (done.status, done.out) == (2, b"")
    assert b"compare" in done.err


# --- the options

NUMBERS = {
    "--margin": ["", "x", "5%%", "0,5%", "0", "-1", "0.0009", "51%", "nan", "inf", "-inf", "1e999", HUGE],
    "--alpha": ["", "x", "0", "-0.01", "0.000009", "0.21", "1", "nan", "inf", HUGE],
    "--pairs": ["", "x", "1.5", "0", "-5", "7", "1000001", "nan", "inf", HUGE, "9" * 5000],
    "--max-time": ["", "x", "0", "-1", "0.0009", "1000001", "nan", "inf", "1e999", HUGE],
    "--timeout": ["", "x", "0", "-1", "0.0009", "1000001", "nan", "inf", HUGE],
    "--warmup": ["", "x", "-1", "1001", "0.5", HUGE],
    "--seed": ["", "x", "-1", str(2**63), "0.5", HUGE],
    "--cpu": ["", "x", "-1", "100000", "0,1", HUGE],
    "--metric": ["", ",", "wall,", "WALL", "speed", "wall,speed", AWKWARD],
    "--names": ["", ",", "a", "a,", ",b", "a,a", "a, a", "a,b,c", AWKWARD],
    "--env": ["", "=", "=x", "NOT_SET_HERE", AWKWARD],
}


@pytest.mark.parametrize(
    ("option", "value"),
    [(option, value) for option, values in NUMBERS.items() for value in values],
    ids=lambda value: ascii(value[:20]),
)
def test_a_value_that_is_malformed_or_out_of_range(refuses: Refuses, option: str, value: str) -> None:
    assert option in refuses("compare", "true", "true", f"{option}={value}")


@pytest.mark.parametrize("glued", ["--parameter-list=n", "-Ln", "--parameter-scan=n", "-Pn"])
def test_the_words_of_a_parameter_stand_apart(refuses: Refuses, glued: str) -> None:
    option = glued.partition("=")[0] if "=" in glued else glued[:2]
    assert refuses("run", "echo {n}", glued, "1", "2").startswith(f"{option} takes ")


def test_a_program_named_by_a_parameter_has_to_exist(here: InProcess) -> None:
    assert "'no-such-tool'" in here.refuses("compare", "{tool}", "true", "-L", "tool", "true,no-such-tool")


def test_names_for_every_command(refuses: Refuses) -> None:
    assert "3 different names" in refuses("compare", "true", "true", "true", "--names", "a,b")


@pytest.mark.real
@pytest.mark.parametrize("option", ["--setup", "--prepare", "--conclude", "--cleanup"])
def test_a_hook_that_cannot_be_run(refuses: Refuses, option: str) -> None:
    assert "has 3 commands" in refuses("compare", "true", "true", *[option, "true"] * 3)
    for command, says in (("", "empty"), ("no-such-tool", "not found"), ("'", "quotes")):
        sentence = refuses("compare", "true", "true", option, command)
        assert option in sentence
        assert says in sentence


# --- the commands


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", ["empty"]),
        ("  ", ["empty"]),
        ("'", ["quotes"]),
        ("''", ["not found on PATH"]),
        ("no-such-tool --fast", ["'no-such-tool'", "not found on PATH"]),
        (LONG, ["not found on PATH"]),
        ("./no-such-tool", ["./no-such-tool", "No such file"]),
        (f"./{LONG}", ["too long"]),
        ("./folder", ["no program"]),
        ("./file", ["not executable", "chmod +x"]),
        ("~/no-such-tool", ["No such file", "a shell's to understand: --shell runs it by one"]),
        ("./file.py", ["not executable: name its interpreter first, in quotes: 'python3 ./file.py'"]),
        ("./file.c", ["not executable: compile it, and give the program that this makes"]),
        ("./file.txt", ["not executable: if it holds what was measured, steelyard diff A B compares two such files"]),
        ("./file/x", ["Not a directory"]),
        ("./pipe", ["no program"]),
        (AWKWARD, [r"\x1b[31m\udcff"]),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_command_that_cannot_be_run(asked: InProcess, refuses: Refuses, command: str, says: list[str]) -> None:
    (asked.folder / "folder").mkdir()
    (asked.folder / "file").touch()
    (asked.folder / "file.py").touch()
    (asked.folder / "file.c").touch()
    (asked.folder / "file.txt").touch()
    os.mkfifo(asked.folder / "pipe", 0o755)
    for words, side in (
        (["compare", command, "true"], "baseline"),
        (["compare", "true", command], "candidate"),
        (["compare", "true", "true", command], "candidate"),
        (["run", command], "command"),
    ):
        sentence = refuses(*words)
        called = "the command" if side == "command" else f"the {side} command"
        assert sentence.startswith(called)
        assert all(part in sentence for part in says), sentence


@pytest.mark.parametrize("command", ["cd bench && ./suite", "./suite-*"])
def test_a_harness_is_offered_no_shell_as_none_can_run_it(refuses: Refuses, command: str) -> None:
    for words in (["compare", command, "true"], ["compare", "true", command], ["run", command]):
        assert "--shell" in refuses(*words)
        sentence = refuses(*words, "--harness", "protocol")
        assert "a shell's to understand" in sentence
        assert "--shell" not in sentence


@pytest.mark.parametrize(
    ("content", "says"),
    [("echo hello\n", "#!/bin/sh"), ("#!/no/such/interpreter\n", "interpreter"), ("\0", "Exec format error")],
)
def test_a_file_that_the_system_cannot_execute(here: InProcess, content: str, says: str) -> None:
    (here.folder / "script").write_text(content)
    (here.folder / "script").chmod(0o755)
    sentence = here.refuses("run", "./script", status=3)
    assert sentence.startswith("cannot execute ./script")
    assert says in sentence
    assert not here.kept()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("false", ["false failed with exit status 1", "--ignore-failure"]),
        (sh("echo first >&2; echo the last words >&2; exit 7"), ["exit status 7", "(its last words: the last words)"]),
        (sh("kill -11 $$"), ["was killed by SIGSEGV, a segmentation fault"]),
        (sh("kill -9 $$"), ["was killed by SIGKILL, as by the kernel where memory runs out"]),
        (sh("kill -40 $$"), ["was killed by signal 40"]),
        (sh(r"printf \\033[31mred\\007\\377\\r\\n >&2; exit 1"), [r"\x1b[31mred\x07"]),
    ],
    ids=ascii,
)
def test_a_command_that_fails(here: InProcess, command: str, says: list[str]) -> None:
    sentence = here.refuses("run", command, "--json", "record.json", status=3)
    assert all(part in sentence for part in says), sentence
    record = here.json()
    assert (record["kind"], record["stop"], record["launches"]["pair"]) == ("run", ["failed"], [])
    assert not here.kept()


def test_a_command_that_never_ends(here: InProcess) -> None:
    sentence = here.refuses("run", "sleep 600", "--timeout", "0.3", status=3)
    assert sentence.startswith("sleep 600 did not end within 0.3")
    assert "--timeout" in sentence


# The launches before the failure are a warm-up pair and one pair.
FAILS_LATER = sh(f"{SOME_TIME}; echo x >> log; test $(wc -l < log) -lt 5")


def test_what_was_measured_before_a_failure_is_kept(here: InProcess) -> None:
    words = ("compare", FAILS_LATER, FAILS_LATER, "--json", "record.json", "--csv", "launches.csv")
    sentence = here.refuses(*words, "--markdown", "table.md", status=3)
    assert "failed with exit status 1" in sentence
    (kept,) = here.kept()
    assert str(kept) in sentence
    for file in (kept, here.folder / "record.json"):
        assert load(file).stop == ["failed"]
        assert len(load(file).launches) == 4
    assert len(here.lines("launches.csv")) == 5
    assert "failed with exit status 1" in (here.folder / "table.md").read_text()
    assert "failed with exit status 1" in here.refuses("show", status=3)


def test_a_hook_that_fails(here: InProcess) -> None:
    sentence = here.refuses("compare", "true", "true", "--prepare", sh("echo no disk >&2; exit 3"), status=3)
    assert "the --prepare command " in sentence
    assert "exit 3'\" failed with exit status 3 (its last words: no disk): fix it, or have it exit" in sentence
    assert not here.kept()
    sentence = here.refuses("run", "true", "--launches", "2", "--cleanup", "false", status=3)
    assert "the --cleanup command 'false' failed with exit status 1" in sentence
    assert len(load(here.kept()[0]).launches) == 3


# --- the surroundings


def test_a_current_folder_that_is_gone(asked: InProcess, refuses: Refuses, monkeypatch: pytest.MonkeyPatch) -> None:
    (asked.folder / "gone").mkdir()
    monkeypatch.chdir(asked.folder / "gone")
    (asked.folder / "gone").rmdir()
    assert "the current directory cannot be used" in refuses("run", "true")
