//! An empty body through `steelyard-bench`.

use steelyard_bench::Bench;

fn empty(bench: &mut Bench) {
    bench.run(|| ());
}

steelyard_bench::main! { empty }
