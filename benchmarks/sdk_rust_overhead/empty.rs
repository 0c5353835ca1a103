//! Nothing: the benchmarks of this package have empty bodies.
