"""What is said about a launch that did not end well, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from signal import Signals
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.design.runner.failure import (
    Interrupted,
    TookTooLongError,
    check_ended,
    check_hook_ended,
    with_prepare_hint,
)
from steelyard.design.runner.target import COMMAND_REMEDY, LEFT_BEHIND, LIST_REMEDY, Target, no_module_remedy
from steelyard.model.errors import LaunchError, MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.subjects.harness import Harness
from tests.design.scripted import PLAIN

WORK = LaunchSpec(b"/work", (b"work",), ())
TARGET = Target("work", WORK)
OF_A_LIST = replace(TARGET, remedy=LIST_REMEDY)
OF_A_HARNESS = replace(TARGET, harness=cast("Harness", SimpleNamespace(complaint=lambda _: None)))
WITH_INPUT = replace(TARGET, spec=replace(WORK, stdin=b"/rows"))
NO_INPUT = b"Traceback\nEOFError: EOF when reading a line\n"
NO_TERMINAL = b"stty: 'standard input': Inappropriate ioctl for device\n"
SANITIZED = b"==7==ASan runtime does not come first in initial library list; you should either link runtime\n"
CR_OF_GNU = b"/usr/bin/env: 'python3\\r': No such file or directory\n/usr/bin/env: use -[v]S to pass options\n"
CR_OF_BUSYBOX = b"env: can't execute 'python3\r': No such file or directory\n"
NO_CR = b"env: 'pythn3': No such file or directory\r\n"
NO_MODULE = b"ModuleNotFoundError: No module named 'rows.late'\n"
NO_LIBRARY = b"./work: error while loading shared libraries: libw.so: cannot open shared object file: No such file\n"
EMPTY_INPUT = "standard input is empty: --stdin FILE has each launch read a file"
LATE = {"timed_out": True, "exit_code": None, "signal": 9}


@pytest.mark.parametrize(
    ("target", "how", "said"),
    [
        (TARGET, {"stopped": Signals.SIGTTIN}, "work stopped itself (SIGTTIN), did not go on and was killed: it wants"),
        (TARGET, {"stopped": Signals.SIGTTOU}, "work stopped itself (SIGTTOU), did not go on and was killed: it wants"),
        (TARGET, {"stopped": Signals.SIGSTOP}, "did not go on and was killed: take out what stops it"),
        (replace(TARGET, spec=replace(WORK, timeout_ns=3 * 10**9)), LATE, "work did not end within 3 s and was"),
        (
            replace(TARGET, spec=replace(WORK, repeat=2)),
            LATE,
            "work did not end 2 times within 12 ms and was killed: a",
        ),
        (TARGET, {"exit_code": 1, "stderr": NO_INPUT}, EMPTY_INPUT),
        (TARGET, {"exit_code": 1, "stderr": NO_TERMINAL}, "a launch has no terminal: run it in its batch mode, or by"),
        (TARGET, {"exit_code": 1, "stderr": SANITIZED}, "): a library was preloaded, as counts, --heap and"),
        (TARGET, {"exit_code": 127, "stderr": CR_OF_GNU}, r"): the first line of its script ends in CR LF, which env"),
        (TARGET, {"exit_code": 127, "stderr": CR_OF_BUSYBOX}, r"interpreter's name: sed -i 's/\r$//' FILE takes"),
        (TARGET, {"exit_code": 127, "stderr": NO_CR}, COMMAND_REMEDY),
        (TARGET, {"exit_code": 2, "stderr": b"gzip: rows.gz already exists;\tnot overwritten\n"}, LEFT_BEHIND),
        (TARGET, {"exit_code": None, "signal": Signals.SIGPROF}, "SIGPROF, a profiler's timer: gcc -pg has a program"),
        (TARGET, {"exit_code": 1, "stderr": NO_TERMINAL + b"no rows"}, COMMAND_REMEDY),
        (OF_A_HARNESS, {"exit_code": 1, "stderr": NO_TERMINAL}, COMMAND_REMEDY),
        (WITH_INPUT, {"exit_code": 1, "stderr": NO_INPUT}, COMMAND_REMEDY),
        (OF_A_HARNESS, {"exit_code": 1, "stderr": NO_INPUT}, COMMAND_REMEDY),
        (OF_A_LIST, {"exit_code": 1, "stdout": b"usage: work all\n"}, "status 1 (its last words: usage: work all): "),
        (OF_A_LIST, {"exit_code": 1, "stdout": b"a\n", "stderr": b"no rows"}, "status 1 (its last words: no rows): "),
        (OF_A_HARNESS, {"exit_code": 1, "stdout": b"a\n"}, "work failed with exit status 1: "),
        (OF_A_LIST, {"exit_code": 1, "stderr": NO_MODULE}, no_module_remedy("rows.late").partition(" (A ")[0]),
        (OF_A_LIST, {"exit_code": 1, "stderr": NO_MODULE}, "environment: --env PYTHONPATH passes yours on, --env PYT"),
        (TARGET, {"exit_code": 1, "stderr": NO_MODULE}, "environment: --env PYTHONPATH passes yours on, --env PYTHON"),
        (TARGET, {"exit_code": 127, "stderr": NO_LIBRARY}, "a small environment: --env LD_LIBRARY_PATH passes yours"),
        (
            replace(TARGET, spec=replace(WORK, env=(b"PYTHONPATH=src",))),
            {"exit_code": 1, "stderr": NO_MODULE},
            COMMAND_REMEDY,
        ),
    ],
)
def test_how_it_failed_and_what_to_do(target: Target, how: dict[str, Any], said: str) -> None:
    with pytest.raises(LaunchError) as error:
        check_ended(replace(PLAIN, **how), target, "wait longer")
    assert said in str(error.value)


def test_a_revision_without_its_packages_of_node_is_told_to_install_them(tmp_path: Path) -> None:
    target = replace(TARGET, spec=replace(WORK, cwd=bytes(tmp_path / "a")))

    def said(name: str, target: Target = target) -> str:
        stderr = f"Error: Cannot find module '{name}'\n  code: 'MODULE_NOT_FOUND'\n".encode()
        with pytest.raises(LaunchError) as error:
            check_ended(replace(PLAIN, exit_code=1, stderr=stderr), target, "wait longer")
        return str(error.value)

    assert "the folder where it runs has no node_modules: npm ci installs" in said("rows")
    assert COMMAND_REMEDY in said("./rows")
    assert COMMAND_REMEDY in said("rows", TARGET)
    (tmp_path / "node_modules").mkdir()
    assert COMMAND_REMEDY in said("rows")


def test_what_was_cut_short_is_no_failure() -> None:
    cut = replace(PLAIN, cancelled=True, exit_code=None, signal=9)
    with pytest.raises(Interrupted):
        check_ended(cut, TARGET, "wait longer")
    with pytest.raises(Interrupted):
        check_hook_ended("--prepare", WORK, cut)


def test_a_command_around_launches_that_stops_itself_is_named() -> None:
    with pytest.raises(MeasurementError, match=r"the --prepare command 'work' stopped itself \(SIGSTOP\)"):
        check_hook_ended("--prepare", WORK, replace(PLAIN, stopped=Signals.SIGSTOP))


def test_what_was_killed_before_a_launch_changes_nothing_of_how_it_failed() -> None:
    late = with_prepare_hint(["7 server"], TookTooLongError("work was late", 1))
    assert isinstance(late, TookTooLongError)
    assert late.subject == 1
    assert type(with_prepare_hint(["7 server"], LaunchError("work failed"))) is LaunchError
    assert str(late).startswith("work was late (What --prepare left running was killed when its command ended: ")
