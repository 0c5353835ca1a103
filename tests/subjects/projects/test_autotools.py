"""What is found in a project with a configure script: the programs of Automake, of a Makefile.in or of a Makefile."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.projects.autotools import autotools
from steelyard.subjects.projects.discovery import FoundProject

AUTOMAKE = """
TOOLS = one two$(EXEEXT)
noinst_PROGRAMS = helper @GENERATED@ $(UNKNOWN)
if WITH_MORE
  bin_PROGRAMS = $(TOOLS) \\
    three
endif
check_PROGRAMS = checks
EXTRA_PROGRAMS = rare
dist_bin_SCRIPTS = script
"""


def found_in(folder: Path, **files: str) -> FoundProject:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = autotools(folder)
    assert found is not None
    return found


def test_programs_of_automake_are_those_that_are_installed_before_others(tmp_path: Path) -> None:
    found = found_in(tmp_path, configure_ac="", Makefile_am="SUBDIRS = in", in__Makefile_am=AUTOMAKE)
    assert [target.command for target in found.targets] == ["./in/one", "./in/two", "./in/three", "./in/helper"]


def test_programs_of_a_template_are_those_of_its_rules(tmp_path: Path) -> None:
    rules = "all: tool@EXEEXT@ other\ntool: tool.o\n\t$(CC) -o $@ tool.o\nother: tool.o\n"
    found = found_in(tmp_path, configure="", Makefile_in=rules)
    assert [target.command for target in found.targets] == ["./tool", "./other"]


def test_a_script_written_by_hand_is_run_for_a_makefile_that_is_there(tmp_path: Path) -> None:
    rules = "include config.mak\nPROGS = tool$(EXESUF)\nall: $(PROGS)\ntool$(EXESUF): tool.o\n\t$(CC) -o $@ $^\n"
    found = found_in(tmp_path, configure="", Makefile=rules)
    assert ([target.command for target in found.targets], found.build) == (["./tool"], "./configure\nmake")


def test_a_makefile_beside_what_makes_a_script_is_left_to_make(tmp_path: Path) -> None:
    assert found_in(tmp_path, configure_ac="", Makefile="tool: tool.c\n\tcc -o $@ tool.c\n").targets == []


@pytest.mark.parametrize(
    ("files", "build"),
    [
        ({"configure": ""}, "./configure\nmake"),
        ({"configure_ac": ""}, "[ -x configure ] || autoreconf -fi\n./configure\nmake"),
        ({"configure_in": "", "bootstrap": ""}, "[ -x configure ] || ./bootstrap\n./configure\nmake"),
        (
            {"configure_ac": "  LT_INIT([static])\n", "autogen_sh": ""},
            "[ -x configure ] || NOCONFIGURE=1 ./autogen.sh\n./configure --disable-shared\nmake",
        ),
    ],
)
def test_what_is_not_kept_is_made_before_it_is_configured(tmp_path: Path, files: dict[str, str], build: str) -> None:
    assert found_in(tmp_path, **files).build == build


def test_libtool_s_scripts_are_never_weighed(tmp_path: Path) -> None:
    assert "libtool" in found_in(tmp_path, configure_ac="AC_PROG_LIBTOOL\n").comments[0]
    assert found_in(tmp_path, configure_ac="# LT_INIT\n").comments == ()


def test_a_folder_without_a_script_has_none(tmp_path: Path) -> None:
    (tmp_path / "Makefile.am").write_text("bin_PROGRAMS = x\n")
    assert autotools(tmp_path) is None
