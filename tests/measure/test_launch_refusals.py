"""What cannot be launched is refused in a sentence, and the launcher can go on."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from tests.measure.launching import program, sh


def refusal(launcher: Launcher, kind: type[SteelyardError], spec: LaunchSpec) -> str:
    with pytest.raises(SteelyardError) as error:
        launcher.launch(spec)
    assert type(error.value) is kind
    assert launcher.launch(sh(b"exit 3")).exit_code == 3, "the launcher does not go on after an error"
    message = str(error.value)
    assert "os error" not in message
    return message


def test_a_program_that_does_not_exist(launcher: Launcher) -> None:
    message = refusal(launcher, MeasurementError, program(b"/no/where"))
    assert message.startswith("cannot execute /no/where: No such file")
    assert message.count("cannot execute") == 1


def test_a_program_that_may_not_be_executed(launcher: Launcher, script: Callable[[str, int], bytes]) -> None:
    assert "Permission denied" in refusal(launcher, MeasurementError, program(script("#!/bin/sh\n", 0o644)))


def test_a_script_without_an_interpreter(launcher: Launcher, script: Callable[[str, int], bytes]) -> None:
    message = refusal(launcher, MeasurementError, program(script("echo hello\n", 0o755)))
    assert os.strerror(errno.ENOEXEC) in message
    assert "#!/bin/sh" in message


def test_a_script_whose_interpreter_is_missing(launcher: Launcher, script: Callable[[str, int], bytes]) -> None:
    assert "interpreter" in refusal(launcher, MeasurementError, program(script("#!/no/where\n", 0o755)))


def test_a_path_that_is_not_whole_is_looked_for_where_it_begins(
    launcher: Launcher, script: Callable[[str, int], bytes], tmp_path: Path
) -> None:
    name = os.path.basename(script("#!/no/where\n", 0o755))  # noqa: PTH119 - bytes
    there = refusal(launcher, MeasurementError, program(b"./" + name, cwd=os.fsencode(tmp_path)))
    assert "its interpreter or loader does not" in there
    here = next(one.name for one in Path.cwd().iterdir())
    elsewhere = refusal(launcher, MeasurementError, program(os.fsencode(f"./{here}"), cwd=os.fsencode(tmp_path)))
    assert "exists" not in elsewhere


def test_arguments_that_are_too_many(launcher: Launcher) -> None:
    assert "arguments" in refusal(launcher, MeasurementError, program(b"/bin/true", b"x" * (1 << 20)))


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"cwd": b"/no/where"}, "/no/where: No such file"),
        ({"cwd": b"/dev/null"}, "/dev/null: Not a directory"),
        ({"stdin": b"/no/where"}, "/no/where: No such file"),
        ({"stdout": b"/no/where"}, "/no/where: No such file"),
        ({"stderr": b"/no/where"}, "/no/where: No such file"),
        ({"cpus": (9999,)}, "9999"),
        ({"cpus": ()}, "CPU"),
        ({"cwd": b"/\0"}, "NUL"),
    ],
    ids=str,
)
def test_surroundings_that_cannot_be_had(launcher: Launcher, change: dict[str, Any], about: str) -> None:
    assert about in refusal(launcher, UsageError, sh(b"exit 0", **change))


def test_where_no_more_files_can_be_opened_nothing_was_asked_wrongly(launcher: Launcher) -> None:
    limit = resource.prlimit(launcher.server_pid, resource.RLIMIT_NOFILE)
    resource.prlimit(launcher.server_pid, resource.RLIMIT_NOFILE, (3, limit[1]))
    try:
        with pytest.raises(MeasurementError, match="ulimit -n"):
            launcher.launch(sh(b"exit 0"))
    finally:
        resource.prlimit(launcher.server_pid, resource.RLIMIT_NOFILE, limit)


def test_a_launch_without_any_words(launcher: Launcher) -> None:
    assert "argv" in refusal(launcher, UsageError, LaunchSpec(program=b"/bin/true", argv=(), env=()))
