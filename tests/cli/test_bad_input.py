"""What users get wrong: one clear sentence, the right status, and nothing measured."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.model.files import load
from tests.cli.tool import Tool, sh

HUGE = "9" * 400
LONG = "x" * 300
# The Unicode escape of a name that tries to colour the terminal, and of a byte that is no UTF-8.
SHOWN = r"\x1b[31m\xff"
AWKWARD = "\x1b[31m\udcff"


def refuses(tool: Tool, *words: str | Path, says: Sequence[str] = (), status: int = 2) -> None:
    sentence = tool.refuses(*words, status=status)
    for part in says:
        assert part in sentence
    assert not tool.kept()


# --- the command line itself


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nonsense"], ["nonsense", "steelyard --help"]),
        (["--nonsense"], ["--nonsense", "steelyard --help"]),
        (["compare"], ["two commands or more"]),
        (["compare", "true"], ["two commands or more"]),
        (["compare", "true", "true", "--nonsense"], ["--nonsense"]),
        (["compare", "true", "true", "--pairs"], ["--pairs"]),
        (["compare", "true", "true", "--launches", "5"], ["--launches"]),
        (["run"], ["COMMAND", "steelyard run --help"]),
        (["run", "true", "true"], ["(true)"]),
        (["show", "a", "b"], ["(b)"]),
        (["", "a"], ["steelyard --help"]),
        ([AWKWARD], [SHOWN]),
        ([f"--{AWKWARD}"], ["steelyard --help"]),
        (["run", "true", AWKWARD], [SHOWN]),
    ],
    ids=str,
)
def test_words_that_make_no_sense(tool: Tool, words: list[str], says: list[str]) -> None:
    refuses(tool, *words, says=says)


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
def test_a_value_that_is_malformed_or_out_of_range(tool: Tool, option: str, value: str) -> None:
    refuses(tool, "compare", "true", "true", f"{option}={value}", says=[option])


def test_a_limit_of_launches_out_of_range(tool: Tool) -> None:
    refuses(tool, "run", "true", "--launches", "0", says=["--launches 0", "1 to 1,000,000"])


def test_too_few_pairs_are_told_how_many_would_do(tool: Tool) -> None:
    refuses(tool, "compare", "true", "true", "--pairs", "7", says=["--pairs 7", "alpha 0.01", "at least 8"])
    refuses(tool, "compare", "true", "true", "--pairs", "17", "--alpha", "1e-5", says=["at least 18"])


@pytest.mark.parametrize("option", ["--prepare", "--cleanup"])
def test_a_hook_is_for_both_commands_or_for_each(tool: Tool, option: str) -> None:
    refuses(tool, "compare", "true", "true", *[option, "true"] * 3, says=[option, "3 times"])
    refuses(tool, "compare", "true", "true", option, "", says=[option, "empty"])
    refuses(tool, "compare", "true", "true", option, "no-such-tool", says=[option, "not found"])
    refuses(tool, "compare", "true", "true", option, "'", says=[option, "quotes"])


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
        ("./file/x", ["Not a directory"]),
        ("./pipe", ["no program"]),
        (AWKWARD, [r"\x1b[31m\udcff"]),
    ],
    ids=lambda value: ascii(value)[:30],
)
@pytest.mark.parametrize("side", ["baseline", "candidate", "command"])
def test_a_command_that_cannot_be_run(tool: Tool, side: str, command: str, says: list[str]) -> None:
    if side != "candidate" and command not in ("", "no-such-tool --fast"):
        pytest.skip("one side is enough")
    (tool.folder / "folder").mkdir()
    (tool.folder / "file").touch()
    os.mkfifo(tool.folder / "pipe", 0o755)
    words = {"baseline": ["compare", command, "true"], "candidate": ["compare", "true", command]}
    refuses(tool, *words.get(side, ["run", command]), says=[f"the {side} command", *says])


@pytest.mark.parametrize(
    ("content", "says"),
    [("echo hello\n", "#!/bin/sh"), ("#!/no/such/interpreter\n", "interpreter"), ("\0", "Exec format error")],
)
def test_a_file_that_the_system_cannot_execute(tool: Tool, content: str, says: str) -> None:
    (tool.folder / "script").write_text(content)
    (tool.folder / "script").chmod(0o755)
    refuses(tool, "run", "./script", says=["cannot execute ./script", says], status=3)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("false", ["false failed with exit status 1", "--ignore-failure"]),
        (sh("echo first >&2; echo the last words >&2; exit 7"), ["exit status 7", "(its last words: the last words)"]),
        (sh("kill -11 $$"), ["was killed by SIGSEGV"]),
        (sh("kill -9 $$"), ["was killed by SIGKILL"]),
        (sh("kill -40 $$"), ["was killed by signal 40"]),
        (sh(r"printf \\033[31mred\\007\\377\\r\\n >&2; exit 1"), [r"\x1b[31mred\x07"]),
    ],
    ids=ascii,
)
def test_a_command_that_fails(tool: Tool, command: str, says: list[str]) -> None:
    refuses(tool, "run", command, "--json", "record.json", says=says, status=3)
    assert not (tool.folder / "record.json").exists()


def test_a_command_that_never_ends(tool: Tool) -> None:
    says = ["sleep 600 did not end within 0.3", "--timeout"]
    refuses(tool, "run", "sleep 600", "--timeout", "0.3", says=says, status=3)


# The launches until then are a warm-up pair and two pairs.
FAILS_LATER = sh("echo x >> log; test $(wc -l < log) -lt 5")


def test_what_was_measured_before_a_failure_is_kept(tool: Tool) -> None:
    words = ("compare", FAILS_LATER, FAILS_LATER, "--json", "record.json", "--csv", "launches.csv")
    sentence = tool.refuses(*words, "--markdown", "table.md", status=3)
    assert "failed with exit status 1" in sentence
    (kept,) = tool.kept()
    assert str(kept) in sentence
    for file in (kept, tool.folder / "record.json"):
        assert load(file).stop == ["failed"]
        assert len(load(file).launches) == 4
    assert len(tool.lines("launches.csv")) == 5
    assert not (tool.folder / "table.md").exists()
    assert "failed with exit status 1" in tool.refuses("show", status=3)


def test_a_hook_that_fails(tool: Tool) -> None:
    says = ["the --prepare command failed with exit status 3 (its last words: no disk)"]
    refuses(tool, "compare", "true", "true", "--prepare", sh("echo no disk >&2; exit 3"), says=says, status=3)
    sentence = tool.refuses("run", "true", "--launches", "2", "--cleanup", "false", status=3)
    assert "the --cleanup command failed with exit status 1" in sentence
    assert len(load(tool.kept()[0]).launches) == 3


# --- the files


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("missing", "does not exist|No such file"),
        ("folder", "the path of a file"),
        ("pipe", "the path of a file"),
        (LONG, "too long"),
        ("", "the path of a file"),
        (AWKWARD, "No such file"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_an_input_that_cannot_be_read_again_and_again(tool: Tool, file: str, says: str) -> None:
    (tool.folder / "folder").mkdir()
    os.mkfifo(tool.folder / "pipe")
    sentence = tool.refuses("run", "cat", "--stdin", file)
    assert "--stdin" in sentence
    assert any(part in sentence for part in says.split("|"))


def test_an_input_from_a_pipe_is_refused(tool: Tool) -> None:
    sentence = tool.refuses("run", "cat", "--stdin", "/dev/stdin", stdin=None, input=b"once")
    assert "cannot be read again for each launch" in sentence


@pytest.mark.parametrize("option", ["--json", "--markdown", "--csv"])
@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("missing/file", "there is no folder"),
        ("file/file", "Not a directory"),
        ("folder", "is a folder"),
        ("", "is a folder"),
        ("/proc/file", "not writable"),  # where not even root can make one
        (LONG, "too long"),
        ("dangling", "there is no folder"),
        ("/dev/stdout", "the verdict is printed there"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_measured(
    tool: Tool, option: str, file: str, says: str
) -> None:
    if option != "--json" and file not in ("missing/file", "folder"):
        pytest.skip("one option is enough")
    (tool.folder / "file").touch()
    (tool.folder / "folder").mkdir()
    (tool.folder / "dangling").symlink_to("missing/file")
    refuses(tool, "run", sh("echo launched >> log"), option, file, says=["cannot write", says])
    assert not (tool.folder / "log").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_in_a_folder_without_permission(tool: Tool) -> None:
    (tool.folder / "folder").mkdir(mode=0o500)
    refuses(tool, "run", "true", "--json", "folder/file", says=["not writable"])


def test_two_outputs_in_one_file(tool: Tool) -> None:
    (tool.folder / "link").symlink_to("record")
    for other in ("record", "./record", "link"):
        refuses(tool, "run", "true", "--json", "record", "--csv", other, says=["same file"])
    assert not (tool.folder / "record").exists()


def test_an_output_that_fails_in_the_end_costs_neither_the_verdict_nor_the_record(tool: Tool) -> None:
    os.mkfifo(tool.folder / "pipe")  # that nobody will read
    done = tool.compare("--json", "pipe")
    assert done.status == 3
    assert "baseline" in done.text
    assert b"cannot write pipe" in done.err
    assert tool("show").status == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"#!/bin/sh\n", "no JSON"),
        (b'{"results": []}', "no weighing"),
        (b"[]", "no weighing"),
        (b"[" * 100_000, "no weighing"),
        (b"\x1f\x8b\x08", "truncated gzip"),
        (b"\x1f\x8b" + b"x" * 100, "damaged gzip"),
        (b'{"format": "steelyard", "version": 2}', "upgrade"),
        (b'{"format": "steelyard", "version": 1, "kind": "run", "launches": {}}', "damaged"),
        (b'{"format": "steelyard", "version": 1, "kind": "\\u001b[31m", "launches": {}}', "damaged"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_show_of_what_is_no_record(tool: Tool, content: bytes | None, says: str) -> None:
    if content is not None:
        (tool.folder / "record").write_bytes(content)
    refuses(tool, "show", "record", says=["record", says])


@pytest.mark.parametrize("file", ["/dev/zero", "/", "", LONG, AWKWARD], ids=lambda value: ascii(value)[:20])
def test_show_of_what_is_no_file(tool: Tool, file: str) -> None:
    refuses(tool, "show", file, says=["cannot read"])


# --- the surroundings


def test_a_current_folder_that_is_gone(tool: Tool) -> None:
    (tool.folder / "gone").mkdir()
    script = 'cd gone && rmdir ../gone && exec "$0" run true'
    done = tool("compare", "--", "true", executable="/bin/sh", args=["sh", "-c", script, "steelyard"])
    assert done.status == 2
    assert "the current directory" in done.sentence
