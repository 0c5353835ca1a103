"""Work for CPython: calls of a function that does nothing, and lookups in small dictionaries of strings.

python calls.py ROUNDS
"""

import sys

NAMES = ["shape", "colour", "weight", "price", "owner", "origin", "maker", "grade", "batch", "label"]


def nothing(one: int, two: int, three: int, four: int) -> None:
    """Do nothing."""


def work(rounds: int) -> int:
    """Call the function, and look up each name in each thing."""
    things = [dict.fromkeys(NAMES[: 3 + number % 8], number) for number in range(64)]
    found = 0
    for _ in range(rounds):
        nothing(1, 2, 3, 4)
        nothing(1, 2, 3, 4)
        nothing(1, 2, 3, 4)
        nothing(1, 2, 3, 4)
        for thing in things:
            for name in NAMES:
                if name in thing:
                    found += thing[name]
    return found


if __name__ == "__main__":
    work(int(sys.argv[1]))
