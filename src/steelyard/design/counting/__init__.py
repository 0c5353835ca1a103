"""Launches that are counted under Valgrind."""
