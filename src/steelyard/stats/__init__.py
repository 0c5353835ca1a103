"""Pure functions on arrays: estimators, intervals, sequential looks, verdicts. No I/O, no model types."""
