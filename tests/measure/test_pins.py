"""What is fixed for a counted launch: its environment, and the lengths of the strings on its stack."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.measure.count import pins
from steelyard.measure.count.pins import PADDING_NAMES, environment, is_dynamic, is_program, padded, padded_path
from steelyard.measure.native import PRELOAD
from steelyard.model.launch_spec import LaunchSpec
from tests.c_programs import NOTHING, compiled


def made(source: dict[str, str], **options: bool) -> dict[str, str]:
    return environment(source, [], {}, **{"preload": True, "start": False, **options})


def test_no_more_names_whatever_the_users_environment_holds() -> None:
    plain = made({"PATH": "/bin", "HOME": "/root"})
    crowded = made({"PATH": "/opt/bin", "LANG": "de_DE", "PYTHONHASHSEED": "7", **{f"V{i}": "x" for i in range(50)}})
    assert list(plain) == list(crowded)
    values = [crowded[name] for name in ("PATH", "HOME", "PYTHONHASHSEED", "LC_ALL")]
    assert values == ["/opt/bin", "/", "0", "C"]
    assert plain["LD_PRELOAD"].lstrip("/") == str(PRELOAD).lstrip("/")


def test_where_steelyard_is_installed_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = []
    for folder in ("/a", "/home/somebody/of/long/name"):
        monkeypatch.setattr(pins, "PRELOAD", Path(folder, "preload.so"))
        values.append(made({})["LD_PRELOAD"])
        assert values[-1].endswith(f"/{folder}/preload.so")
    assert len(set(map(len, values))) == 1


def test_what_is_asked_for_is_passed_on_or_set() -> None:
    source = {"PATH": "/bin", "WANTED": "1", "OTHER": "2", "PYTHONHASHSEED": "7"}
    wanted = ["WANTED", "ABSENT", "PATH", "PYTHONHASHSEED"]
    found = environment(source, wanted, {"TZ": "CET"}, preload=False, start=True)
    assert (found["WANTED"], found["TZ"]) == ("1", "CET")
    assert found["PYTHONHASHSEED"] == "0", "what moves counts is passed on by no name alone"
    assert not {"OTHER", "ABSENT", "LD_PRELOAD", "STEELYARD_START"} & found.keys()


def test_counting_begins_with_the_preload_if_it_shall() -> None:
    assert made({}, start=True)["STEELYARD_START"] == "1"
    assert "STEELYARD_START" not in made({})


@given(
    st.text("ab/._", min_size=1, max_size=300),
    st.lists(st.binary(max_size=400), max_size=3),
    st.lists(st.binary(max_size=3000), max_size=3),
)
def test_the_strings_of_a_launch_and_their_pointers_have_one_of_few_lengths(
    program: str, words: list[bytes], env: list[bytes]
) -> None:
    path = b"/" + program.encode()
    spec = padded(LaunchSpec(path, (path, *words), tuple(env), cwd=b"/"))
    assert spec.argv[1:] == tuple(words)
    assert spec.env[1:-1] == tuple(env)
    assert [text.partition(b"=")[0] for text in (spec.env[0], spec.env[-1])] == list(PADDING_NAMES)
    ends = [len(text) + 1 + 8 for text in spec.argv], [len(text) + 1 + 8 for text in spec.env]
    fixed = 8  # the pointer to either padding, and to the path at the end
    assert (sum(ends[0]) + ends[1][0] - fixed) % 8192 == 0
    assert (sum(ends[1][1:]) + len(spec.program) + 1) % 8192 == 0
    assert (spec.program.rfind(b"/") + 1) % 512 == 0
    assert spec.program == spec.argv[0]


def test_a_padded_path_leads_to_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "folder/inner").mkdir(parents=True)
    (tmp_path / "folder/file").write_text("the one")
    (tmp_path / "file").write_text("another")
    (tmp_path / "link").symlink_to("folder/inner")
    for way in (b"./folder/file", b"folder/file", b"link/../file"):
        path = padded_path(way, os.fsencode(tmp_path))
        assert (path.rfind(b"/") + 1) % 512 == 0
        assert Path(os.fsdecode(path)).read_text() == "the one"


def test_a_path_that_would_become_too_long_stays_as_it_is() -> None:
    longest = b"/" + b"a/" * 2046 + b"b"
    assert padded_path(longest) == longest


@pytest.mark.real
def test_what_the_loader_starts(tmp_path: Path) -> None:
    assert is_dynamic(compiled(tmp_path, "dynamic", NOTHING)) is True
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert is_dynamic(tmp_path / "script") is None
    assert is_dynamic(tmp_path / "absent") is None
    (tmp_path / "short").write_bytes(b"\x7fELF")
    assert is_dynamic(tmp_path / "short") is None
    if sys.platform == "linux":
        assert is_dynamic(compiled(tmp_path, "static", NOTHING, "-static")) is False


@pytest.mark.parametrize("content", [b"\x7fELF" + bytes(200), b"\x7fELF" + b"\xff" * 200])
def test_a_damaged_program_is_no_dynamic_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "damaged").write_bytes(content)
    assert is_dynamic(tmp_path / "damaged") is False


@pytest.mark.real
def test_what_the_kernel_would_execute(tmp_path: Path) -> None:
    assert is_program(compiled(tmp_path, "dynamic", NOTHING))
    for content, program in ((b"#!/bin/sh\n", True), (b"", False), (b"echo\n", False), (b"\x7fELF", False)):
        (tmp_path / "file").write_bytes(content)
        assert is_program(tmp_path / "file") is program
    # What is missing, or cannot be read, is reported elsewhere.
    assert is_program(tmp_path / "absent")
