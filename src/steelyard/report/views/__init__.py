"""What `show` draws of the raw launches, one file a view: histogram, pairs, launches."""

from typing import Final

HIST, PAIRS, RUNS = "--hist", "--pairs", "--runs"
VIEWS: Final = (HIST, PAIRS, RUNS)
"""Their names, which are those of their options."""
