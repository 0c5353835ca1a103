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
