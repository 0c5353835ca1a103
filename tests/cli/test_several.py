"""Several candidates, parameters, controls and repeats, as a user sees them."""

from __future__ import annotations

import shutil

from tests.in_process import InProcess
from tests.tool import TWICE_THE_WORK, WORK, rows, sh, status_of
from tests.world import ScriptedWorld, program_of


def test_several_candidates_are_each_weighed_against_the_first(here: InProcess) -> None:
    words = ("--names", "base,same,double", "--margin", "20%", "--json", "record.json")
    done = here("compare", WORK, WORK, TWICE_THE_WORK, *words)
    assert done.status == 1
    record = here.json()
    assert [subject["name"] for subject in record["subjects"]] == ["base", "same", "double"]
    assert [benchmark["candidate"] for benchmark in record["benchmarks"]] == [1, 2]
    assert [each["verdict"] for each in record["derived"]["verdicts"]] == ["same", "slower"]
    assert record["verdict"] == "same"


def test_parameters_make_a_benchmark_for_each_value(scripted: ScriptedWorld) -> None:
    words = ("-L", "n", "a b,c", "-P", "m", "0.1", "0.3", "0.1", "--pairs", "12", "-o", "record.json")
    assert scripted("compare", "./old {n} {m}", "./new {n} {m}", *words).status == 1
    record = scripted.json()
    expected = [{"n": n, "m": m} for n in ("a b", "c") for m in ("0.1", "0.2", "0.3")]
    assert [benchmark["params"] for benchmark in record["benchmarks"]] == expected
    given = [b" ".join(spec.argv[1:]).decode() for spec in scripted.launched]
    assert set(given) == {f"{each['n']} {each['m']}" for each in expected}
    assert len(given) == len(record["launches"]["pair"]) >= 6 * 2 * 9


def test_a_control_weighs_the_baseline_against_itself(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "./old", "./new", "--control", "--pairs", "8", "-o", "record.json")
    record = scripted.json()
    assert done.status == status_of(record)
    assert "control" in done.text
    assert [benchmark["control"] for benchmark in record["benchmarks"]] == [False, True]
    expected = [
        "new" if (benchmark, side) == (0, 1) else "old" for benchmark, side in rows(record, "benchmark", "side")
    ]
    assert [program_of(spec) for spec in scripted.launched] == expected
    assert len(expected) >= 2 * 2 * 9


def test_a_control_of_a_program_launches_a_copy_of_its_file(here: InProcess) -> None:
    shutil.copy("/bin/true", here.folder / "program")
    record = here.compared("./program", "true", "--control", "--pairs", "8")
    assert "control-copy" in [finding["code"] for finding in record["findings"]]
    assert len(record["launches"]["pair"]) >= 2 * 2 * 9


def test_repeat_makes_one_launch_of_several_processes(here: InProcess) -> None:
    command = sh("echo launched >> log")
    here("run", command, "--launches", "2", "--repeat", "5", "--json", "record.json")
    assert len(here.lines()) == 15
    assert len(here.json()["launches"]["pair"]) == 3


def test_output_of_the_launches_goes_where_it_is_asked_to(here: InProcess) -> None:
    words = ("run", sh("echo printed"), "--launches", "2")
    assert "printed\n" not in here(*words).text
    here(*words, "--output", "printed")
    assert here.lines("printed") == ["printed"]


def test_both_sides_have_to_print_the_same_if_asked_for(here: InProcess) -> None:
    assert here.compared("printf 'a\\nb'", "printf 'a\\nb'", "--reference-output")["settings"]["reference_output"]
    for second in ("printf 'a\\nc'", "printf 'a\\nbb'", "printf 'a\\n'"):
        sentence = here.refuses("compare", "printf 'a\\nb'", second, "--reference-output", status=3)
        assert "print different things, first in line 2" in sentence
    sentence = here.refuses("compare", "printf 'a\\nb'", "printf 'a\\nc\\td\\n'", "--reference-output", status=3)
    assert "first in line 2 ('b' and 'c\\td'): a faster wrong answer is not faster" in sentence
    long = "0" * 100
    assert "first in line 1: a" in here.refuses(
        "compare", f"echo {long}1", f"echo {long}2", "--reference-output", status=3
    )
    assert "exit status 1" in here.refuses("compare", "true", "false", "--reference-output", status=3)
    assert len(here.kept()) == 1


def test_a_program_that_is_replaced_meanwhile_is_a_failed_measurement(here: InProcess) -> None:
    program = here.folder / "program"
    program.write_text("#!/bin/sh\necho x >> log; test $(wc -l < log) -lt 9 || { cp other it; mv it program; }\n")
    (here.folder / "other").write_text("#!/bin/sh\n:\n")
    for file in (program, here.folder / "other"):
        file.chmod(0o755)
    assert "was replaced while it was measured" in here.refuses("compare", "./program", "./program", status=3)
