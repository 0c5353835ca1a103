"""A program that speaks the harness protocol (docs/protocol.md), or breaks it in the way that its first argument says.

    python fake_harness.py WAYS [NAME...] --steelyard-...

WAYS are words separated by commas, each a function of `fake_answers.py`; `word@NAME` is for the benchmark NAME alone,
and `well` changes nothing. The rest is in that module because Python caches the bytecode of imported modules only.
"""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])

from fake_answers import main  # type: ignore[import-not-found]

main()
