from __future__ import annotations

import pytest

from steelyard.model.toml_lines import Place, line_of, lines_of

TEXT = '''# a comment
[build]
command = """
[not.a.table]
x = 1
"""
environment = [
  "A=1", # "["
  "B",
]

[[target]]
name = "one"
parameters = { size = [1, 2] }

[[target]]  # another
name = "two"
"quoted key".'and.this' = 1
[target.parameters]
size = 3
[ tool . other ]
x.y.z = 1
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("build",), 2),
        (("build", "command"), 3),
        (("build", "environment"), 7),
        (("build", "environment", 1), 7),
        (("build", "x"), 2),
        (("target", 0), 12),
        (("target", 0, "name"), 13),
        (("target", 0, "parameters", "size"), 14),
        (("target", 1), 16),
        (("target", 1, "name"), 17),
        (("target", 1, "quoted key", "and.this"), 18),
        (("target", 1, "parameters", "size"), 20),
        (("tool", "other", "x", "y", "z"), 22),
        (("nowhere",), 1),
    ],
)
def test_the_line_of_a_place(place: Place, line: int) -> None:
    assert line_of(lines_of(TEXT), place) == line


def test_an_empty_file_has_none() -> None:
    assert lines_of("") == {}


@pytest.mark.parametrize("mark", ["\u2028", "\u0085"])
def test_no_other_mark_than_toml_s_ends_a_line(mark: str) -> None:
    text = f'# see{mark}[this\na = "b{mark}[c"\nd = 1\n'
    assert lines_of(text) == {("a",): 2, ("d",): 3}


@pytest.mark.parametrize("lines", [20, 3000])
def test_a_long_value_is_passed_over(lines: int) -> None:
    inner = '  ["a", "b"],\n' * lines
    found = lines_of(f'[tool.other]\nlong = [\n{inner}]\n[tool.steelyard]\nname = "x"\n')
    assert found["tool", "other", "long"] == 2 if lines < 500 else ("tool", "other", "long") not in found
    assert found["tool", "steelyard", "name"] == lines + 5


def test_a_list_of_many_lines_takes_no_longer_for_each() -> None:
    """A line that cannot end the list is not tried as its end: trying all of them took minutes."""
    entries = '  "one",\n' * 100_000
    assert lines_of(f"a = [\n{entries}]\n[b]\nc = 1\n")["b", "c"] == 100_004
