"""What is found in a Makefile: the programs that its rules make."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.subjects.projects.makefile import make

WITH_ENDINGS = """
ifdef CONFIG_WIN32
EXE:=.exe
else
EXE:=
endif
PROGS=prog$(EXE) tool$(EXE) # what all is for
PROGS+=libprog.a \\
  in/other
all: made $(PROGS)
OBJECTS = prog.o \\
  more.o
prog$(EXE): $(OBJECTS)
\t$(CC) -o $@ $^
tool$(EXE): tool.o
\t$(CC) $^ -o tool
in/other: helper
helper: helper.c
\t$(HOST_CC) -o $@ $<
in/other: in/other.o
fuzz: fuzz.o
\t$(CC) -fsanitize=fuzzer -o $@ $<
stats: prog
\t./prog --stats
testall: all test stats
v1.0 : x.c
\tcc -o $@ x.c
made: ; mkdir -p made
"""


def targets(folder: Path, makefile: str) -> list[str]:
    (folder / "Makefile").write_text(makefile)
    (folder / "prog.c").touch()
    found = make(folder)
    assert found is not None
    return [one.command for one in found.targets]


def test_what_the_first_goal_needs_is_named_by_what_its_variables_say(tmp_path: Path) -> None:
    assert targets(tmp_path, WITH_ENDINGS) == ["./prog", "./tool", "./helper", "./in/other"]


@pytest.mark.parametrize(
    ("makefile", "named"),
    [
        ("prog: x.c\n\tcc -o prog x.c\nother: y.c\n\tcc -o other y.c\n", ["./prog", "./other"]),
        ("all:\n\tcc -o w w.c\nprog: x.o\n", ["./prog"]),
        ("OUT = in/w\nall: made\nmade:\n\tcc -c -o w.o w.c; cc -o $(OUT) w.o\nother:\n\tcc -o other o.c\n", ["./in/w"]),
        ("bench-all: prog\n\t./prog 5\nprog: $(patsubst %.c,%.o,$(SOURCES))\n", ["./prog"]),
        ("speed: prog other\nprog other: x.c\n\tcc x.c -o $(@)\n", ["./prog", "./other"]),
        (".PHONY: prog run sub\nrun: prog\nprog: x.c\n\tcp x.c $@\nsub: x.c\n\t$(MAKE) -C $@\n", ["./prog"]),
        ("run: prog\n\t./prog\ntestall: run more\n", []),
        ("a.out: $(OBJS)\n\tcc $(OBJS)\nb.out: a.out\n\t./a.out > $@\n", ["./a.out"]),
        (".done:\n\ttouch .done\nlint: .done\n\truff check .\ninstall-dev: .done in/.done\n", []),
        ("NONE =\n$(NONE): x.c\n\tcc x.c -o $@\nprog: x.c\n\tcc x.c -o prog\n", ["./prog"]),
    ],
)
def test_a_program_is_what_a_recipe_writes_or_what_is_made_of_files(
    tmp_path: Path, makefile: str, named: list[str]
) -> None:
    assert targets(tmp_path, makefile) == named


def test_lists_with_other_endings_give_no_rule_the_recipe_of_the_next(tmp_path: Path) -> None:
    makefile = "prog: x.o\n\tcc -o $@ x.o\nall-tests: test more\nin/prog: $(OBJS:%=in/%) ${A:.c=.o}\n\tcc -o $@ $^\n"
    assert targets(tmp_path, makefile) == ["./prog", "./in/prog"]


def test_words_of_functions_are_no_names(tmp_path: Path) -> None:
    makefile = (
        "TOOL ?= $(shell { command -v cat || (echo a b); } 2>&1)\nin/$(TOOL) prog: x.c ${if y,z w}\n\tcc -o $@ x.c\n"
    )
    assert targets(tmp_path, makefile) == ["./prog"]


def test_a_rule_without_a_recipe_makes_a_program_only_of_what_make_itself_links(tmp_path: Path) -> None:
    makefile = "prog: $(OBJECTS)\ndocs: prog.pdf\ncross: $(CROSS)\nother: other.o\n"
    assert targets(tmp_path, makefile) == ["./prog", "./other"]


@pytest.mark.real
def test_programs_with_an_ending_in_a_variable_are_built(tmp_path: Path) -> None:
    makefile = "EXE =\nall: a$(EXE) b\na$(EXE): x\n\tcp x $@\nb: x\n\tcp x $@\nx:\n\techo > x\n"
    assert targets(tmp_path, makefile) == ["./a", "./b"]
    found = make(tmp_path)
    assert found is not None
    for one in found.targets:
        subprocess.run(["/bin/sh", "-c", one.build or "false"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "makefile",
    [
        "A = x\n" + "A += $(A)$(A)\n" * 60 + "$(A): a.c\n",
        "a: b.c\n" * 5_000,
        "a:" + " $(b" * 40_000,
        "a " * 90_000,
        "".join(f"a{n}: a{n + 1}\n" for n in range(20_000)),
    ],
)
def test_what_goes_on_for_ever_is_read_to_some_end(tmp_path: Path, makefile: str) -> None:
    targets(tmp_path, makefile)
