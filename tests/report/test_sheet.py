from __future__ import annotations

import io
import shlex

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from steelyard.report.sheet import LABEL_COLUMNS, Sheet

WORDS = st.lists(
    st.one_of(
        st.text("ab-/", max_size=30), st.sampled_from(["12.8 ms", "--pairs 30", "+1 %,", "-2 %", "größe", "日本"])
    ),
    min_size=1,
    max_size=40,
)


@given(WORDS, st.integers(50, 90))
def test_lines_are_broken_alike_with_and_without_colours(words: list[str], width: int) -> None:
    text = Text(" ".join(words))
    text.stylize("bold", 0, 1)
    consoles = (Console(file=io.StringIO(), width=width, color_system=colours) for colours in (None, "256"))
    plain, coloured = ([line.plain.rstrip() for line in Sheet(console).wrap(text)] for console in consoles)
    assert plain == coloured
    assert max(map(len, plain)) <= width - LABEL_COLUMNS


@given(st.lists(st.text("ab-/ '\"\\$é", max_size=40), min_size=1, max_size=20), st.integers(8, 90))
def test_a_shell_takes_a_command_as_it_was_meant_wherever_it_is_broken(words: list[str], width: int) -> None:
    written = io.StringIO()
    sheet = Sheet(Console(file=written, width=width, color_system=None))
    sheet.command("go on", shlex.join(words))
    label, command = written.getvalue().split("go on", 1)
    # A shell joins continued lines, which shlex does not.
    assert (label, shlex.split(command.replace("\\\n", ""))) == ("", words)
    lines = [line.strip() for line in command.splitlines()]
    assert all(line.endswith(" \\") for line in lines[:-1] if line)
    assert all(len(line) <= sheet.text_width or len(shlex.split(line.removesuffix("\\"))) == 1 for line in lines)


@given(st.text("ab日 ", min_size=1, max_size=200), st.integers(20, 90), st.sampled_from([": ", ", "]))
def test_what_stands_behind_a_long_name_is_on_its_line(name: str, width: int, behind: str) -> None:
    sheet = Sheet(Console(file=io.StringIO(), width=width, color_system=None))
    shown = sheet.head_name(f"x{name}x").replace(" ", "_")
    assert sheet.wrap(Text(f"{shown}{behind}said"))[0].plain.startswith(f"{shown}{behind}".rstrip())
