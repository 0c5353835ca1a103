"""The command line of benchmarks whose arguments are all numbers."""

from __future__ import annotations

import argparse


def whole_numbers(description: str | None, **usual: int) -> list[int]:
    """The numbers on the command line, with defaults for those left out; exits if one is not a number."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    for name, value in usual.items():
        parser.add_argument(name, nargs="?", type=int, default=value, metavar=name.upper(), help=f"default: {value:,}")
    return list(vars(parser.parse_args()).values())
