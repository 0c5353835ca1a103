"""Counting: one launch executed under Valgrind, and what its output files say."""
