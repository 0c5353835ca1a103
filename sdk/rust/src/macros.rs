//! The macros that declare benchmarks.

/// Makes a `main` function from benchmarks.
///
/// Each entry is one of
///
/// | entry | meaning |
/// | --- | --- |
/// | `sort` | the function `sort`, under its own name |
/// | `"sort/std" => sort` | under another name |
/// | `"sort/n={n}" for n in [10, 1000] => sort` | one benchmark for each `n`, run as `sort(bench, n)` |
/// | `"{kind}/n={n}" for kind in ["map", "set"], n in 1..4 => fill` | each `kind` with each `n`, run as `fill(bench, kind, n)` |
///
/// and may have tags after its name: `"sort/std" tags ["containers", "slow"] => sort`.
///
/// A benchmark is any function or closure that takes a [`&mut Bench`](crate::Bench). Parameters can be
/// anything that can be cloned and displayed; names are built from them as by `format!`, and must be
/// unique.
///
/// ```no_run
/// use steelyard_bench::Bench;
///
/// fn fill(bench: &mut Bench, kind: &str, n: usize) {
///     match kind {
///         "vector" => bench.run(|| vec![1_u8; n]),
///         _ => bench.run(|| "x".repeat(n)),
///     }
/// }
///
/// steelyard_bench::main! {
///     "fill/{kind}/n={n}" tags ["memory"] for kind in ["vector", "string"], n in [10, 1000] => fill,
///     "nothing at all" => |bench| bench.run(|| ()),
/// }
/// ```
#[macro_export]
macro_rules! main {
    ($(
        $name:tt
        $(tags [$($tag:expr),* $(,)?])?
        $($(for $($param:ident in $values:expr),+)? => $body:expr)?
    ),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            let mut suite = $crate::Suite::new();
            // A function for each: compiling one that registers hundreds takes minutes.
            $({
                #[inline(never)]
                fn add(suite: &mut $crate::Suite<'_>) {
                    $crate::bench!(
                        suite,
                        $name $(tags [$($tag),*])? $($(for $($param in $values),+)? => $body)?
                    );
                }
                add(&mut suite);
            })+
            suite.main()
        }
    };
}

/// Adds one entry to a [`Suite`](crate::Suite), for those who write `main` themselves.
///
/// The entry has the same form as in [`main!`](crate::main).
///
/// ```no_run
/// use steelyard_bench::{bench, Bench, Suite};
///
/// fn sum(bench: &mut Bench, n: u64) {
///     bench.run(|| (0..n).sum::<u64>());
/// }
///
/// fn main() -> std::process::ExitCode {
///     let mut suite = Suite::new();
///     bench!(suite, "sum/n={n}" for n in [10, 1000] => sum);
///     suite.main()
/// }
/// ```
#[macro_export]
macro_rules! bench {
    ($suite:expr, $name:ident $(tags [$($tag:expr),* $(,)?])?) => {
        $suite.bench(::std::stringify!($name), $name)$($(.tag($tag))*)?
    };
    ($suite:expr, $name:literal $(tags [$($tag:expr),* $(,)?])? => $body:expr) => {
        $suite.bench($name, $body)$($(.tag($tag))*)?
    };
    (
        $suite:expr,
        $name:literal $(tags [$($tag:expr),* $(,)?])?
        for $($param:ident in $values:expr),+ => $body:expr
    ) => {
        $crate::__each!($suite, $name, [$($($tag),*)?], $body, ($($param)+), $($param in $values),+)
    };
    ($suite:expr, $($entry:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "not a benchmark: `", ::std::stringify!($($entry)*), "`; write one of `function`, ",
            "`\"name\" => function` and `\"name/n={n}\" for n in [1, 10] => function`",
        ))
    };
}

/// One loop around the registration for each parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! __each {
    ($suite:expr, $name:literal, $tags:tt, $body:expr, $all:tt, $param:ident in $values:expr $(, $($rest:tt)+)?) => {
        for $param in $values {
            $crate::__each!($suite, $name, $tags, $body, $all, $($($rest)+)?);
        }
    };
    ($suite:expr, $name:literal, [$($tag:expr),*], $body:expr, ($($param:ident)+),) => {{
        let name = ::std::format!($name);
        $(let $param = ::std::clone::Clone::clone(&$param);)+
        let shown = [$((::std::stringify!($param), ::std::string::ToString::to_string(&$param))),+];
        let entry = $suite.bench(name, move |bench: &mut $crate::Bench| ($body)(bench, $($param),+));
        for (param, value) in shown {
            entry.param(param, value);
        }
        $(entry.tag($tag);)*
    }};
}
