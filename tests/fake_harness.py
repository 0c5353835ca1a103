"""A program that speaks the harness protocol (docs/protocol.md), or breaks it in the ways that its first argument says.

    python fake_harness.py WAYS [NAME...] --steelyard-...

WAYS are words with commas between them, each a function of `fake_answers.py`; `word@NAME` is for the benchmark NAME
alone, and `well` is no way. All else is over there, as Python keeps compiled what it imports, and not what it runs.
"""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])

from fake_answers import main  # type: ignore[import-not-found]

main()
