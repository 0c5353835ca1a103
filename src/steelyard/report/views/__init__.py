"""What `show` draws of the raw launches, one module per view: histogram, pairs, launches."""

from typing import Final

HIST, PAIRS, RUNS = "--hist", "--pairs", "--runs"
VIEWS: Final = (HIST, PAIRS, RUNS)
"""The views' names, which are those of their options."""
