"""Weighings and runs over time."""
