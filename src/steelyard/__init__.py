"""Steelyard weighs two versions of a program against each other on machines that nobody can keep quiet."""

__version__ = "0.1.0"
