"""The doctor of benchmarks: rules, each tried on launches that all rules share (docs/check.md)."""
