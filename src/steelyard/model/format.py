"""The format of a record's file, and the names of kept records."""

from __future__ import annotations

import re
from typing import Final

FORMAT: Final = "steelyard"
VERSION: Final = 2
# The name of a record in the store, without its ending, or its time alone.
KEPT_NAME: Final = re.compile(r"\d{8}T\d{6}(?:\.\d{6}(?:-[a-z]+-\d+)?)?")
