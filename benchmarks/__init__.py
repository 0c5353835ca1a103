"""Steelyard's claims, measured: each file here is one command that prints one table."""
