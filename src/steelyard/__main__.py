"""`python -m steelyard` is the `steelyard` command."""

from steelyard.cli.main import main

main()
