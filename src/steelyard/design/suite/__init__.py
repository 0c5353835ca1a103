"""The benchmarks inside programs."""
