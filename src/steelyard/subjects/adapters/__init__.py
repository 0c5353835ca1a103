"""Adapters: one file for each harness of others. What they share is in `steelyard.subjects.responses`.

A class here is a `steelyard.subjects.harness.Harness`, named in pyproject.toml under `steelyard.harnesses`.
"""
