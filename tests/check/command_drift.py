"""A command that leaves something for the next launch: a growing file, which it reads."""

from __future__ import annotations

import sys

with open(sys.argv[1], "a+") as file:  # noqa: PTH123 - importing pathlib would be most of what it does
    file.write("x" * 20_000)
    file.seek(0)
    total = 0
    for character in file.read():
        total += character == "x"
