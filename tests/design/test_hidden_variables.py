from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.hidden_variables import hidden_variables_finding
from steelyard.model.findings import Finding
from steelyard.model.settings import Settings
from tests.design.scripted import subject
from tests.elf_heads import needing

SET_HERE = {
    "PATH": "/a",
    "PYTHONPATH": "src",
    "PERL5LIB": "lib",
    "NODE_PATH": "a",
    "CLASSPATH": "a.jar",
    "JAVA_TOOL_OPTIONS": "-Xint",
}


def hidden(program: str, set_here: dict[str, str], *argv: str, **settings: object) -> list[Finding]:
    subjects = [subject("it").model_copy(update={"program": program, "argv": [program, *argv]})] * 2
    return hidden_variables_finding(subjects, Settings.model_validate({"seed": 1, **settings}), set_here)


@pytest.mark.parametrize(
    ("program", "variable"), [("/a/python3.11", "PYTHONPATH"), ("/a/perl", "PERL5LIB"), ("/a/node", "NODE_PATH")]
)
def test_an_interpreter_without_its_variable_is_named_once(program: str, variable: str) -> None:
    (finding,) = hidden(program, SET_HERE)
    assert finding.message == (
        f"{variable} is set here, but a launch does not see it: {Path(program).name} may not have run as it does in "
        "your shell"
    )
    assert finding.remedy == f"--env {variable} passes it on"
    assert hidden(program, {**SET_HERE, variable: ""}) == hidden(program, {"PATH": "/a"}) == []
    assert hidden(program, SET_HERE, environment=["PATH", variable]) == []
    assert hidden(program, SET_HERE, variables={variable: "other"}) == []


def test_several_variables_are_passed_on_together() -> None:
    (finding,) = hidden("/a/java", SET_HERE)
    assert finding.message.startswith("CLASSPATH, JAVA_TOOL_OPTIONS are set here, but a launch does not see them: java")
    assert finding.remedy == "--env CLASSPATH --env JAVA_TOOL_OPTIONS passes them on"


@pytest.mark.parametrize(
    ("program", "variable"),
    [("psql", "PGDATABASE"), ("pgbench", "PGHOST"), ("tclsh8.6", "TCLLIBPATH"), ("node", "NODE_ENV")],
)
def test_what_tells_a_program_where_and_in_which_way_to_work_is_named(program: str, variable: str) -> None:
    (finding,) = hidden(f"/a/{program}", {variable: "b", "PGPASSWORD": "c"})
    assert finding.message.startswith(f"{variable} is set here, but a launch does not see it: {program} may not")
    assert hidden("/a/awk", {variable: "b"}) == []


@pytest.mark.parametrize("option", ["-jar", "-cp", "--class-path"])
def test_a_jvm_that_is_told_its_classes_reads_no_variable_for_them(option: str) -> None:
    assert "CLASSPATH" not in hidden("/a/java", SET_HERE, option, "b.jar")[0].message


def test_any_program_may_be_run_by_what_its_libraries_read(tmp_path: Path) -> None:
    for variable in ("LD_PRELOAD", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOGC"):
        assert f"{variable} is set here" in hidden(str(tmp_path / "missing"), {variable: "1"})[0].message


def test_a_folder_of_libraries_is_missed_where_it_has_one_that_the_program_asks_for(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(needing("libfirst.so", "libsecond.so"))
    set_here = {"LD_LIBRARY_PATH": f"/nowhere:{tmp_path / 'lib'}"}
    assert hidden(str(program), set_here) == []
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libsecond.so").touch()
    assert "LD_LIBRARY_PATH is set here" in hidden(str(program), set_here)[0].message
    program.write_bytes(needing("l" * 300))
    assert hidden(str(program), set_here) == []


def test_a_script_is_known_by_its_interpreter_and_other_programs_need_no_variable(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/python3 -O\n")
    set_here = {"PYTHONPATH": "src"}
    assert len(hidden(str(script), set_here)) == 1
    script.write_text("#!/bin/sh\n")
    assert hidden(str(script), set_here) == hidden("/a/pythonic", set_here) == hidden(str(tmp_path), set_here) == []
