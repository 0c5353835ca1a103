from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from steelyard.cli import refusals


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libstdc++.so.6: failed to map segment from shared object"),
        ImportError("numpy cannot be imported\n\nOriginal error was: libm.so.6: cannot allocate memory in static TLS"),
    ],
    ids=str,
)
@pytest.mark.parametrize("limited", [None, ("-v", 100 << 20)], ids=["free", "limited"])
def test_no_memory(error: Exception, limited: tuple[str, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_memory_limit", lambda: limited)
    way_out = "100 MiB (ulimit -v); allow it more" if limited else "end other programs"
    assert refusals.refusal(error).startswith("there is not enough memory: ")  # type: ignore[union-attr]
    assert way_out in refusals.refusal(error)  # type: ignore[operator]


def test_the_reason_of_an_error_counts() -> None:
    error = ImportError("import failed")
    error.__cause__ = MemoryError()
    assert refusals.refusal(error).startswith("there is not enough memory")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "error",
    [RuntimeError("can't start new thread"), BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")],
    ids=str,
)
def test_no_processes(error: Exception) -> None:
    assert refusals.refusal(error).endswith("allow more (ulimit -u, pids.max of a container)")  # type: ignore[union-attr]


def test_a_library_that_is_broken() -> None:
    said = refusals.refusal(ImportError("read this!\n\nOriginal error was: libgfortran.so.5: no such file\n"))
    assert said is not None
    assert "libgfortran.so.5" in said
    assert said.endswith("reinstall steelyard")


def test_files() -> None:
    assert refusals.refusal(OSError(errno.EIO, "Input/output error", "a.json")) == "Input/output error: a.json"
    unnamed = OSError(errno.ENOSPC, "No space left on device")
    assert refusals.refusal(unnamed) == (
        "No space left on device while the output was written; a weighing, run or count is kept all the same "
        "(steelyard list)"
    )


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_a_system_call_that_a_filter_refuses_is_not_the_output(number: int) -> None:
    said = refusals.refusal(OSError(number, os.strerror(number)))
    assert said is not None
    assert said.startswith(f"a system call that steelyard needs is refused here ({os.strerror(number)}): allow it")
    assert "output" not in said


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError) as raised:
        os.path.realpath("record.json")
    assert refusals.refusal(raised.value) == (
        "the current directory cannot be used: No such file or directory; change to another one"
    )


@pytest.mark.parametrize("error", [ValueError("x"), RuntimeError("x"), KeyError("x")], ids=repr)
def test_our_own_mistakes_are_none(error: Exception) -> None:
    assert refusals.refusal(error) is None
