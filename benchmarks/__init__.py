"""Steelyard's claims, measured: each file here is one command that prints one table."""

import os

# As in the tool itself, libraries use one thread: two would wait for each other at each product of matrices,
# and a weighing of 252 pairs took 2.3 s of the processors instead of 0.2 s.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
