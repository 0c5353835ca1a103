"""`python -m steelyard.model.schema` prints the JSON Schema of a record, with `project` that of a project's file.

`make generated` keeps the shipped copies.
"""

from __future__ import annotations

import json
import sys

from steelyard.model import files, project

if __name__ == "__main__":
    print(json.dumps((project if sys.argv[1:] == ["project"] else files).schema(), indent=2))
