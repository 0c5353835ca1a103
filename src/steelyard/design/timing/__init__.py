"""Launches that are timed: random pairs, or one subject alone."""
