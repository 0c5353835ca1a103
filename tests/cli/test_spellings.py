"""Other spellings of options, above all hyperfine's: they mean the same, or the error says what to give instead."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import TWO, Asked, CommandLine, command_line

# The options of hyperfine 1.12 to 1.19, as its `--help` lists them.
OF_HYPERFINE = """
    -w --warmup -m --min-runs -M --max-runs -r --runs -s --setup --reference --reference-name -p --prepare -C --conclude
    -c --cleanup -P --parameter-scan -D --parameter-step-size -L --parameter-list -S --shell -N -i --ignore-failure
    --style --sort -u --time-unit --export-asciidoc --export-csv --export-json --export-markdown --export-orgmode
    --show-output --output --input -n --command-name --min-benchmarking-time
"""
OURS = ("--pairs", "--launches", "--name", "--stdin", "--json", "--csv", "--markdown", "--unit")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return command_line(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("spelt", "usual"),
    [
        ("-w 3", "--warmup 3"),
        ("-M 9", "--pairs 9"),
        ("-M9", "--pairs 9"),
        ("--max-runs 9", "--pairs 9"),
        ("--max-runs=9", "--pairs 9"),
        ("--launches 9", "--pairs 9"),
        ("-i", "--ignore-failure"),
        ("--input /dev/null", "--stdin /dev/null"),
        ("--input null", ""),
        ("--output null", ""),
        ("-N", ""),
        ("--shell=none", ""),
        ("--shell none", ""),
        ("-S none", ""),
        ("--shell=default", "--shell"),
        ("--shell default", "--shell"),
        ("-S sh", "--shell"),
        ("--shell sh", "--shell"),
        ("--shell /bin/sh", "--shell"),
        ("--shell=/bin/sh", "--shell"),
        ("--max-time 2m", "--max-time 120"),
        ("--timeout 500ms", "--timeout 0.5"),
        ("--wait-quiet 1h", "--wait-quiet 3600"),
        ("--alpha 5%", "--alpha 0.05"),
        ("--pairs 1e1", "--pairs 10"),
    ],
)
def test_a_spelling_means_the_same(asked: CommandLine, spelt: str, usual: str) -> None:
    one, other = (asked("compare", *TWO, *words.split()) for words in (spelt, usual))
    assert (one.settings, one.subjects) == (other.settings, other.subjects)


def test_the_shell_is_not_forgotten(asked: CommandLine) -> None:
    assert [asked("compare", *TWO, *words).subjects[0].shell for words in (["-S", "sh"], ["-N"])] == [True, False]


def test_a_shell_that_is_named_is_no_command(asked: CommandLine) -> None:
    known = asked("compare", "--shell", "sh", *TWO)
    assert ([one.command for one in known.subjects], known.subjects[0].shell) == ([*TWO], True)
    assert [one.command for one in asked("compare", "--shell", "bash -c :", *TWO).subjects] == ["bash -c :", *TWO]


@pytest.mark.parametrize("shell", ["bash --norc", "bash --norc -eu -o pipefail", "/bin/zsh -f"])
def test_nor_is_one_with_options(asked: CommandLine, shell: str) -> None:
    assert f"for {shell!r} write it into them" in asked.refused("compare", "--shell", shell, *TWO)


def test_a_run_takes_exactly_so_many(asked: CommandLine) -> None:
    for words in ("-r 3", "--runs 3", "--runs=3", "-M 3", "--pairs 3", "--launches 3"):
        assert asked.settings("run", "true", *words.split()).pairs == 3


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ("-r 3", "there is no -r here: give --pairs N"),
        ("--runs 3", "there is no --runs here: give --pairs N"),
        ("-s a", "write --setup, or give each command in quotes"),
        ("-p a", "write --prepare, or"),
        ("-C a", "write --conclude, or"),
        ("-c a", "write --cleanup, or"),
        ("-m 3", "--max-time SECONDS"),
        ("--min-runs=3", "--max-time SECONDS"),
        ("--rigorous", "--max-time SECONDS"),
        ("--benchtime=2s", "--max-time SECONDS"),
        ("--affinity=1", "--cpu N"),
        ("--report=a.html", "--html FILE"),
        ("--repeats 3", "give --launches N, or --repeat N"),
        ("--style basic", "NO_COLOR=1"),
        ("--show-output", "--output FILE"),
        ("--output inherit", "give the path of a file"),
        ("--output pipe", "'| cat'"),
        ("--output -", "give the path of a file"),
        ("--input -", "--stdin -: standard input cannot be read again"),
        ("--shell=bash", "\"bash -c '...'\""),
        ("-S zsh", "\"zsh -c '...'\""),
        ("--shell bash", "\"bash -c '...'\""),
        ("--shell /usr/bin/fish", "\"/usr/bin/fish -c '...'\""),
        ("--baseline main", "run --baseline NAME compares with it"),
        ("--save-baseline main", "steelyard run --save-baseline NAME"),
        ("--benchmark-compare=0001", "run --baseline NAME"),
        ("-u second", "--json FILE has nanoseconds"),
        ("--sort command", "in the order of the commands"),
        ("-D 2", "-P NAME FROM TO STEP"),
        ("--export-asciidoc f", "--markdown FILE or --csv FILE"),
        ("--export-orgmode f", "--markdown FILE or --csv FILE"),
        ("--reference true", "give that command first"),
        ("--reference-name x", "the first --name"),
        ("--min-benchmarking-time 3", "--max-time SECONDS"),
        ("--no-fail", "which `|| test $? -eq 1` lets pass; steelyard gate"),
        ("--exit-zero", "which `|| test $? -eq 1` lets pass; steelyard gate"),
        ("--fail-above 5%", "steelyard gate FILE --fail-above 5%"),
        ("--fail-above=5%", "steelyard gate FILE --fail-above 5%"),
        ("--junit f", "steelyard gate FILE --junit"),
        ("--openmetrics f", "steelyard gate FILE --metrics metrics.txt"),
    ],
)
def test_another_option_of_hyperfine_is_told_its_place_here(asked: CommandLine, words: str, instead: str) -> None:
    error = asked.refused("compare", *TWO, *words.split())
    assert instead in error
    assert error.startswith("steelyard: ")
    assert error.count("\n") == 1


def test_no_command_is_told_to_take_an_option_that_it_lacks(asked: CommandLine) -> None:
    assert "give the command in quotes: steelyard check 'sort -r x'" in asked.refused("check", "sort", "-r", "x")
    for words in (["check", "sort", "-r", "x"], ["check", "true", "--runs", "3"], ["doctor", "--runs", "3"]):
        assert "--pairs" not in asked.refused(*words)


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ("-n 5", "-n and --name name a statement here, and 5 is no name"),
        ("--number 5", "how often a statement runs is found by itself"),
        ("-r 5", "there is no -r here: give --pairs N"),
        ("--repeat 5", "there is no --repeat here: give --pairs N"),
        ("-u ms", "write --unit ns, us, ms or s, of compare, run and show"),
        ("-p", "--metric cpu"),
        ("-p 5", "--pairs N the most pairs of processes"),
        ("-v", "--csv FILE"),
        ("--rigorous", "--pairs N or --max-time SECONDS"),
        ("-w 1", "--pairs N or --max-time SECONDS"),
        ("--values=3", "--pairs N or --max-time SECONDS"),
        ("-l 9", "how often a statement runs is found by itself"),
        ("--affinity 0", "give --cpu N"),
        ("--inherit-environ A,B", "give --env NAME for each"),
        ("--compare-to python3", "give --python OLD --python NEW"),
    ],
)
def test_an_option_of_another_timeit_is_told_its_place_here(asked: CommandLine, words: str, instead: str) -> None:
    assert instead in asked.refused("timeit", *words.split(), "pass")


def test_what_says_how_long_a_run_goes_on_is_told_of_runs(asked: CommandLine) -> None:
    for words in ("-m 3", "--min-runs 3", "--min-benchmarking-time 3"):
        assert "give --launches N, or --max-time SECONDS" in asked.refused("run", "true", *words.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--max-time 5", "counts end by themselves, and --timeout limits each launch"),
        ("--warmup 3", "first counts that differ from later ones are set aside anyway"),
        ("-w 3", "first counts that differ from later ones are set aside anyway"),
        ("--runs 5", "everything is counted twice, and more often where --alpha asks for it"),
        ("-r 5", "everything is counted twice, and more often where --alpha asks for it"),
        ("--launches 5", "everything is counted twice, and more often where --alpha asks for it"),
        ("--isolate", "other work does not disturb counts"),
    ],
)
def test_a_count_says_why_it_has_no_option_for_times(asked: CommandLine, words: str, why: str) -> None:
    assert asked.refused("count", "true", *words.split()).endswith(f" here: {why}\n")


def test_the_other_command_of_a_run_is_told_its_place(asked: CommandLine) -> None:
    assert "steelyard compare REFERENCE COMMAND" in asked.refused("run", "true", "--reference", "echo")
    assert "--baseline NAME, which" in asked.refused("run", "true", "--benchmark-compare")


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_an_option_of_the_tool_itself_is_told_its_place(asked: CommandLine, option: str) -> None:
    of_the_tool = f"steelyard: {option} is of the tool itself: steelyard {option}"
    assert asked.refused("compare", option) == f"{of_the_tool}\n"
    assert asked.refused("run", "python3", option).startswith(f"{of_the_tool}; give the command in quotes: ")


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("-L", "c", "gcc,clang", "{c} -O2 a.c"), "'gcc -O2 a.c' 'clang -O2 a.c'"),
        (("-L", "a", "x,y", "-P", "n", "1", "2", "{a} {n}"), "'x 1' 'x 2' 'y 1' 'y 2'"),
        (("-L", "s", "a b,c", "./p {s}"), "\"./p 'a b'\" './p c'"),
        (("-L", "s", "a b,c", "--shell", "./p {s}"), "'./p a b' './p c'"),
        (("-P", "n", "1", "8", "make -j {n}"), "'make -j 1' 'make -j 2' 'make -j 3' 'make -j 4' and so on"),
    ],
)
def test_values_of_one_command_are_written_out(asked: CommandLine, words: tuple[str, ...], written: str) -> None:
    error = asked.refused("compare", *words)
    assert error.endswith(f"the values against the first, write them out: steelyard compare {written}\n")


def test_no_option_of_hyperfine_is_unheard_of(asked: CommandLine) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/hyperfine.md").read_text()
    for option in OF_HYPERFINE.split():
        with pytest.raises(Asked) if option in ("-N", "-i", "--ignore-failure", "--shell") else nullcontext():
            error = asked.refused("compare", *TWO, option)
            assert "no such option" not in error, option
    for option in re.findall(r"`(--?[a-zA-Z-]+)", page.partition("\n\n| ")[2].partition("\n\nWhat differs")[0]):
        assert option in {*OF_HYPERFINE.split(), *OURS}, option


@pytest.mark.parametrize("option", ["json", "markdown", "csv"])
def test_exports_are_our_files(asked: CommandLine, option: str) -> None:
    assert f"cannot write /proc/{option}" in asked.refused("compare", *TWO, f"--export-{option}", f"/proc/{option}")


def test_words_behind_two_hyphens_are_left_alone(asked: CommandLine) -> None:
    assert "'-N'" in asked.refused("compare", "true", "--", "-N")


# --- names


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((), ["true", "echo"]),
        (("-n", "old", "-n", "new"), ["old", "new"]),
        (("--name", "old", "--command-name=new"), ["old", "new"]),
        (("-n", " old "), ["old", "echo"]),
        (("--names", "old, new"), ["old", "new"]),
    ],
)
def test_names(asked: CommandLine, words: tuple[str, ...], names: list[str]) -> None:
    assert [one.name for one in asked("compare", "true", "echo", *words).subjects] == names


def test_statements_have_names_too(asked: CommandLine) -> None:
    for words in (["-n", "old", "-n", "new"], ["--names", "old,new"]):
        assert [one.name for one in asked("timeit", "1", "2", *words).subjects] == ["old", "new"]
    assert [one.name for one in asked("timeit", "1", "1").subjects] == ["1 (1)", "1 (2)"]


def test_the_name_of_one(asked: CommandLine) -> None:
    for command in ("run", "count"):
        for words in (["-n", "one"], ["--name", "one"], ["--command-name", "one"]):
            assert [one.name for one in asked(command, "true", *words).subjects] == ["one"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-n", "a", "-n", "a"), "'a' would be the name of two commands"),
        (("-n", "echo"), "'echo' would be the name of two commands"),
        (("-n", "a", "-n", "b", "-n", "c"), "--name was given 3 times for 2 commands"),
        (("-n", " "), "--name '' is empty"),
        (("-n", "a", "--names", "a,b"), "--name and --names are the same"),
    ],
)
def test_names_that_do_not_fit(asked: CommandLine, words: tuple[str, ...], says: str) -> None:
    assert says in asked.refused("compare", "true", "echo", *words)


@pytest.mark.parametrize(
    ("words", "quotes", "otherwise"),
    [
        ("run python3 -c code", "give the command in quotes: steelyard run 'python3 -c code'", "write --cleanup"),
        (
            "compare python3 -m a python3 -m b",
            "give each command in quotes: ",
            "a weighing ends when its answer stands",
        ),
        ("count sort -w", "give the command in quotes: steelyard count 'sort -w'", "first counts that differ"),
    ],
)
def test_a_flag_right_behind_a_program_may_be_its_own(
    asked: CommandLine, words: str, quotes: str, otherwise: str
) -> None:
    refused = asked.refused(*words.split())
    assert f" here: if it is your command's, {quotes}" in refused
    assert f"; if not, {otherwise}" in refused


@pytest.mark.parametrize("words", ["compare ./a ./b -m 5", "count true -w 3", "compare -c true ./a"])
def test_a_flag_in_another_place_is_taken_for_the_tool_s(asked: CommandLine, words: str) -> None:
    assert "if it is your command's" not in asked.refused(*words.split())


@pytest.mark.parametrize("command", ["run", "count"])
def test_a_flag_of_a_command_without_its_quotes_is_no_name(
    asked: CommandLine, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("data", "prog"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert "in quotes: 'sort -n data'" in asked.refused(command, "sort", "-n", "data")
    assert asked(command, "sort data", "-n", "data").subjects[0].name == "data"
    assert asked(command, "./prog", "-n", "prog").subjects[0].name == "prog"


def test_nor_is_it_where_there_are_several(asked: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").touch()
    assert "in quotes: 'sort -n data'" in asked.refused("compare", "sort", "-n", "data", "sort", "data")
    assert asked("compare", "sort data", "cat data", "-n", "data").subjects[0].name == "data"


# --- parameters


@pytest.mark.parametrize("command", [["run", "true {n}"], ["count", "true {n}"], ["compare", "true {n}", "echo {n}"]])
@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("-L", "n", "a,b"), ["a", "b"]),
        (("-P", "n", "1", "3"), ["1", "2", "3"]),
        (("-P", "n", "1", "3", "2"), ["1", "3"]),
        (("-P", "n", "1", "3", "2", "--seed", "5"), ["1", "3"]),
        (("-P", "n", "1", "2", "--seed", "5"), ["1", "2"]),
    ],
)
def test_parameters(asked: CommandLine, command: list[str], words: tuple[str, ...], values: list[Any]) -> None:
    for line in ([*command, *words], [command[0], *words, *command[1:]]):
        if "--seed" not in words or command[0] != "count":
            assert [one.params["n"] for one in asked(*line).benchmarks] == values
