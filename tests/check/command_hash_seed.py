"""A command whose work depends on the order of a set."""

from __future__ import annotations

first = next(iter({f"word {number}" for number in range(200)}))
total = 0
for number in range(200_000 + 50_000 * (int(first.split()[1]) % 5)):
    total ^= number
