"""Commands that do other work than the program at hand, or less of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.command_findings import shim_findings, starting_tool_findings, unread_output_findings
from steelyard.model.settings import Settings
from tests.design.scripted import subject

GREP = "grep stops at the first match where what it prints goes to /dev/null, as --output has it here"

TAR = "tar reads no files where what it prints goes to /dev/null, as --output has it here"


def told(*argv: str, **settings: object) -> list[str]:
    subjects = [subject("it").model_copy(update={"argv": [*argv]})] * 2
    return [one.message for one in unread_output_findings(subjects, Settings.model_validate({"seed": 1, **settings}))]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("/usr/bin/grep", "a", "in"), GREP),
        (("sh", "-c", "sort in | grep -c a"), GREP),
        (("sh", "-c", "grep a in"), GREP),
        (("tar", "cf", "-", "in"), TAR),
    ],
)
def test_what_does_less_is_named_once(argv: tuple[str, ...], message: str) -> None:
    assert told(*argv, output="/dev/null") == [message]
    assert told(*argv) == told(*argv, output="out") == told(*argv, output="/dev/null", harness="shell") == []


@pytest.mark.parametrize(
    "argv",
    [
        ("grep", "-q", "a", "in"),
        ("sh", "-c", "grep a in | sort"),
        ("sh", "-c", "grep a in > out"),
        ("sh", "-c", ""),
        ("tar", "xf", "-"),
        ("tar", "cf", "out.tar", "in"),
        ("tar", "czf", "-", "in"),
        ("tar",),
    ],
)
def test_what_does_all_is_not(argv: tuple[str, ...]) -> None:
    assert told(*argv, output="/dev/null") == []


def tools_named(*commands: str, **settings: object) -> list[str]:
    subjects = [subject("it").model_copy(update={"argv": one.split()}) for one in commands]
    return [one.message for one in starting_tool_findings(subjects, Settings.model_validate({"seed": 1, **settings}))]


def test_a_build_tool_that_starts_the_program_is_named_as_part_of_every_launch() -> None:
    part = "for what to build and start, which is part of every launch"
    assert tools_named("/usr/bin/go run .", "go run . 5") == [f"`go run` looks {part}"]
    assert tools_named("cargo +nightly -q run", "npm run x") == [f"`cargo run`, `npm run` look {part}"]
    assert tools_named("java -Xint src/A.java 5") == [f"`java src/A.java` looks {part}"]
    assert tools_named("yarn bench", "pnpm run x") == [f"`pnpm run`, `yarn bench` look {part}"]
    assert tools_named("npx --no tsx a.ts") == [f"`npx tsx` looks {part}"]
    by_shell = subject("it").model_copy(update={"argv": ["sh", "-c", "cargo run < in"], "shell": True})
    assert len(starting_tool_findings([by_shell], Settings(seed=1))) == 1
    assert tools_named("go build", "go", "make run", "./go-run", "cargo build --bin run", "java A B.java") == []
    assert tools_named("npx", "yarn install") == []
    assert tools_named("go run .", harness="shell") == []


def test_debian_s_script_before_a_program_of_postgresql_is_named(tmp_path: Path) -> None:
    (tmp_path / "pg_wrapper").touch()
    (tmp_path / "psql").symlink_to("pg_wrapper")
    subjects = [subject("it").model_copy(update={"program": str(tmp_path / name)}) for name in ("psql", "pg_wrapper")]
    (finding,) = shim_findings(subjects)
    assert finding.message == f"{tmp_path}/psql looks for the program and starts it, which is part of every launch"
    assert finding.remedy == "start the program by its own path, /usr/lib/postgresql/VERSION/bin/psql"
