"""What keeps a library of ours from being preloaded into a program, and how it is preloaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.measure.native import HEAP
from steelyard.measure.preloading import preloaded, refusal
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from tests import c_programs
from tests.c_programs import compiled


@pytest.mark.real
def test_a_static_program_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "static", c_programs.NOTHING, "-static")
    assert "statically" in (refusal(program, HEAP) or "")
    script = tmp_path / "script"
    script.write_text(f"#!{program} -x\n")
    assert f"its interpreter {program}" in (refusal(script, HEAP) or "")


@pytest.mark.real
def test_a_program_of_musl_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "musl", c_programs.NOTHING, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    assert "musl" in (refusal(program, HEAP) or "")


@pytest.mark.real
def test_the_loader_may_be_named_at_the_end_of_the_program(tmp_path: Path) -> None:
    program = compiled(tmp_path, "patched", c_programs.NOTHING)
    data = bytearray(program.read_bytes())
    entry = next(place for place in range(64, 64 + 20 * 56, 56) if data[place] == 3)
    data += bytes(1 << 16)
    for place, number in ((8, len(data)), (32, 25)):
        data[entry + place : entry + place + 8] = number.to_bytes(8, "little")
    program.write_bytes(data + b"/lib/ld-musl-x86_64.so.1\0")
    assert "musl" in (refusal(program, HEAP) or "")


@pytest.mark.real
def test_a_program_of_another_machine_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "other", c_programs.NOTHING)
    data = bytearray(program.read_bytes())
    data[18] = 243  # RISC-V
    program.write_bytes(data)
    assert "another machine" in (refusal(program, HEAP) or "")


@pytest.mark.real
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_program_with_anothers_privileges_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "other", c_programs.NOTHING)
    os.chown(program, 12345, -1)
    program.chmod(0o4755)
    assert "privileges" in (refusal(program, HEAP) or "")


@pytest.mark.real
def test_a_plain_program_is_not_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "plain", c_programs.NOTHING)
    script = tmp_path / "script"
    script.write_text(f"#! {program}\n")
    circle = tmp_path / "circle"
    circle.write_text(f"#!{circle}\n")
    for path in (program, script, circle, tmp_path / "missing", Path("/bin/sh")):
        assert refusal(path, HEAP) is None


def test_a_path_that_the_loader_would_split_is_refused() -> None:
    with pytest.raises(MeasurementError, match="blank"):
        preloaded(LaunchSpec(b"a", (b"a",), ()), Path("/a b/c.so"), {})
