"""Finds which of many commits made a benchmark slower."""
