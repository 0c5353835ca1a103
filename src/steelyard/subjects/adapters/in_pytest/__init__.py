"""The folder that the adapter for pytest-benchmark puts on pytest's PYTHONPATH: nothing in it may import Steelyard."""
