"""Where Valgrind is found, what it is asked for, and what it cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.measure.count.valgrind import PRESETS, Valgrind, caches_named, host_caches
from steelyard.model.counting import Caches, CountSettings
from steelyard.model.errors import MeasurementError, UsageError
from tests.c_programs import need_valgrind


def says(folder: Path, answer: str) -> str:
    """Put a valgrind into a folder that tells its version by this shell command; return the folder as a PATH."""
    program = folder / "valgrind"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    return str(folder)


@pytest.mark.real
def test_the_installed_one_is_found_and_says_its_version() -> None:
    need_valgrind()
    found = Valgrind.found()
    assert found.program.is_file()
    assert found.version[0] == "3"


@pytest.mark.real
def test_the_program_goes_before_its_wrapper(tmp_path: Path) -> None:
    path = says(tmp_path, "exit 1")
    (tmp_path / "valgrind.bin").write_text("#!/bin/sh\necho valgrind-3.24.0.GIT-lbmacos\n")
    (tmp_path / "valgrind.bin").chmod(0o755)
    found = Valgrind.found(path)
    assert (found.program.name, found.version) == ("valgrind.bin", "3.24.0.GIT-lbmacos")


def test_none_on_the_path_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"not found on PATH.*Debian.*Fedora.*package valgrind.*macOS.*Linux"):
        Valgrind.found(str(tmp_path))


@pytest.mark.real
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("echo valgrind-3.14.0", "is version 3.14.0, and counting needs 3.15 or later: upgrade"),
        ("echo valgrind-2.4", "is version 2.4, and counting needs"),
        ("echo hello", "does not say its version .'hello'.: install valgrind"),
        ("exit 1", "does not say its version"),
        ("printf '\\377'", "does not say its version"),
        ("printf 'hm\\nno /proc\\nbye\\n' >&2; exit 1", "does not run here .'no /proc bye'.: fix that, or reinstall"),
    ],
)
def test_one_that_cannot_be_used(tmp_path: Path, answer: str, sentence: str) -> None:
    with pytest.raises(MeasurementError, match=sentence):
        Valgrind.found(says(tmp_path, answer))


@pytest.mark.real
def test_one_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "valgrind").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "valgrind").chmod(0o755)
    with pytest.raises(MeasurementError, match="does not run"):
        Valgrind.found(str(tmp_path))


def test_the_simulation_is_always_said_outright() -> None:
    flags = Valgrind(Path("valgrind"), "3.19.0").flags(CountSettings())
    assert "--cache-sim=no" in flags
    flags = Valgrind(Path("valgrind"), "3.19.0").flags(CountSettings(cache_simulation=True, tool="callgrind"))
    assert {"--cache-sim=yes", "--tool=callgrind", "--LL=8388608,16,64"} <= set(flags)
    assert "--instr-atstart=no" not in flags


@pytest.mark.parametrize("field", ["body", "after_start"])
def test_counting_waits_for_a_request_where_it_shall(field: str) -> None:
    settings = CountSettings(tool="callgrind").model_copy(update={field: True})
    assert "--instr-atstart=no" in Valgrind(Path("valgrind"), "3.19.0").flags(settings)


def test_caches_are_named_or_spelt_out() -> None:
    assert caches_named("article") == PRESETS["article"] == Caches()
    own = caches_named("LL=1M,16,64:i1=16k,4,64")
    assert (own.name, own.i1, own.d1, own.ll) == ("own", (16384, 4, 64), Caches().d1, (1 << 20, 16, 64))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("", "not known: choose from article"),
        ("huge", "not known"),
        ("I1=32K,8,64:", "not known"),
        ("L9=32K,8,64", "not known"),
        ("I1=32K,8", "each is a size, ways and bytes a line"),
        ("I1=32K,8,64,1", "each is a size"),
        ("I1=½K,8,64", "each is a size"),
        ("I1=nan,8,64", "each is a size"),
        ("I1=-1,8,64", "I1 of -1 bytes.*cannot be simulated"),
        ("I1=30000,8,64", "powers of two"),
        ("D1=0,0,0", "D1 of 0 bytes"),
        ("LL=8M,0,64", "0 ways"),
        ("LL=8M,16,0", "0 bytes a line"),
        ("I1=32K,32768,1", "cannot be simulated"),
        ("LL=1000000000000000,8,64", "cannot be simulated"),
        ("LL=2048M,16,64", "too large: valgrind simulates up to 1024M"),
        ("I1=32K,8,64:i1=64K,8,64", "gives i1 twice"),
    ],
)
def test_caches_that_cannot_be_simulated(word: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=f"--caches.*{sentence}"):
        caches_named(word)


@pytest.mark.parametrize(
    ("size", "nearest"), [("32K", 32 << 10), ("48K", 48 << 10), ("35M", 35 << 20), ("1M", 1 << 20)]
)
def test_a_hosts_caches_become_shapes_that_can_be_simulated(size: str, nearest: int) -> None:
    shapes = host_caches({"L1i": size, "L1d": size, "L3": size})
    assert shapes.name == "host"
    for bytes_, ways, line in (shapes.i1, shapes.d1, shapes.ll):
        sets = bytes_ // (ways * line)
        assert bytes_ == pytest.approx(nearest, rel=0.1)
        assert sets & (sets - 1) == 0
        assert sets * ways * line == bytes_


@pytest.mark.parametrize(
    "said", [{}, {"L1i": "32K"}, {"L1i": "32K", "L1d": "?", "L3": "1M"}, {"L1i": "1K", "L1d": "1K"}]
)
def test_a_host_that_does_not_say(said: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="does not say how large its caches are: give them with --caches"):
        host_caches(said)
