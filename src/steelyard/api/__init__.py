"""Steelyard for programs. The command line works through the same functions."""
