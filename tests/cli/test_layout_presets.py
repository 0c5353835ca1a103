"""The ways to make layouts that docs/layouts.md shows, exactly as shown."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/layouts.md"
PROGRAM = r"""
#include <stdio.h>
__attribute__((noinline)) int one(int n) { return n * 3; }
__attribute__((noinline)) int two(int n) { return n ^ 5; }
__attribute__((noinline)) int three(int n) { return n - 7; }
__attribute__((noinline)) int four(int n) { return n / 9; }
int main(int count, char **words) { printf("%d\n", one(two(three(four(count + 1000))))); return words == 0; }
"""


def places(program: Path) -> list[tuple[str, str]]:
    """Return the functions of a program in the order of their addresses."""
    shown = subprocess.run(["nm", "-n", program], capture_output=True, text=True, check=True).stdout
    return [(place, name) for place, name in re.findall(r"^(\w+) [tT] (one|two|three|four)$", shown, re.MULTILINE)]


@pytest.mark.real
@pytest.mark.skipif(not all(map(shutil.which, ("gcc", "nm", "awk"))), reason="gcc, nm or awk is not here")
def test_the_shell_functions_of_the_page_make_layouts(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL):
        subprocess.run(["sh", "-euc", block], cwd=tmp_path, check=True)
    for kind in ("padded", "ordered"):
        made = [tmp_path / f"{kind}-{layout}" for layout in range(1, 6)]
        outputs = {subprocess.run([each], capture_output=True, check=True).stdout for each in made}
        assert len(outputs) == 1
        assert len({tuple(places(each)) for each in made}) >= 4
    padded, ordered = ([name for _, name in places(tmp_path / f"{kind}-1")] for kind in ("padded", "ordered"))
    assert sorted(padded) == sorted(ordered) == ["four", "one", "three", "two"]
    assert len({tuple(name for _, name in places(tmp_path / f"ordered-{layout}")) for layout in range(1, 6)}) >= 3
