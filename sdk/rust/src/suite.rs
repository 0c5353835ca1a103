//! The benchmarks of a program, and what its command line does with them.

use crate::arguments::Arguments;
use crate::bench::Bench;
use crate::entry::Entry;
use crate::{driven, interactive};
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// The benchmarks of a program, for those who write `main` themselves; [`main!`](crate::main) is
/// shorter.
///
/// ```no_run
/// use std::process::ExitCode;
/// use steelyard_bench::Suite;
///
/// fn main() -> ExitCode {
///     let mut suite = Suite::new();
///     for n in [10, 1000] {
///         let bytes = vec![1_u8; n];
///         suite
///             .bench(format!("sum/n={n}"), move |bench| {
///                 bench.run(|| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>());
///             })
///             .param("n", n)
///             .tag("numbers");
///     }
///     suite.main()
/// }
/// ```
#[derive(Default)]
pub struct Suite<'a> {
    entries: Vec<Entry<'a>>,
}

impl<'a> Suite<'a> {
    /// A suite without benchmarks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a benchmark. Its name has 1 to 500 bytes without control characters, and is unique;
    /// [`Suite::main`] checks that.
    ///
    /// Add benchmarks in the same order each time: every launch lists them anew, or runs one.
    #[track_caller]
    pub fn bench(
        &mut self,
        name: impl Into<String>,
        body: impl FnOnce(&mut Bench) + 'a,
    ) -> &mut Entry<'a> {
        let added = self.entries.len();
        self.entries.push(Entry::new(name, body));
        &mut self.entries[added]
    }

    /// Does what the command line says, and returns the status to exit with.
    ///
    /// Started by `steelyard`, it lists the benchmarks, or runs one of them. Started by anybody else, it
    /// runs each briefly and shows its time; arguments without a dash choose the benchmarks that have
    /// one of them in their name (with `--exact`, as their name), and `--skip PART` leaves some out. `--list`
    /// names them and runs none. Under `cargo test` it runs each body once.
    #[must_use]
    pub fn main(self) -> ExitCode {
        let all: Vec<_> = env::args_os().skip(1).map(readable).collect();
        let status = match Arguments::among(&all) {
            Some(arguments) => driven::respond(self.entries, &arguments),
            None => interactive::show(self.entries, &all),
        };
        ExitCode::from(status)
    }
}

fn readable(argument: OsString) -> String {
    argument.to_string_lossy().into_owned()
}
