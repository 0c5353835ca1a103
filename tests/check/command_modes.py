"""A command that tosses a coin."""

from __future__ import annotations

import os

total = 0
for number in range(200_000 if os.urandom(1)[0] < 128 else 500_000):
    total ^= number
