"""`python -m steelyard.model.schema` prints the JSON Schema of a record; `make generated` keeps the shipped copy."""

from __future__ import annotations

import json

from steelyard.model.files import schema

if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))
