//! The benchmarks of a program.

use crate::words::Words;
use crate::{driven, person, Bench};
use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::process::ExitCode;

/// A benchmark could not be run.
pub(crate) const FAILED: u8 = 1;
/// The words or the names are wrong.
pub(crate) const WRONG_USE: u8 = 2;

const MOST_NAME_BYTES: usize = 500;

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

    /// Adds a benchmark. Its name is 1 to 500 bytes without control characters, and no other's;
    /// [`Suite::main`] checks that.
    ///
    /// Add them in the same order each time: every launch lists them anew, or runs one.
    #[track_caller]
    pub fn bench(
        &mut self,
        name: impl Into<String>,
        body: impl FnOnce(&mut Bench) + 'a,
    ) -> &mut Entry<'a> {
        let place = Location::caller();
        let added = self.entries.len();
        self.entries.push(Entry {
            name: name.into(),
            params: Vec::new(),
            tags: Vec::new(),
            source: format!("{}:{}", place.file(), place.line()),
            body: Box::new(body),
        });
        &mut self.entries[added]
    }

    /// Does what the command line says, and gives the status to exit with.
    ///
    /// `steelyard` has the benchmarks listed, or one of them run. A person sees each run briefly;
    /// words without a dash choose those with one of them in the name. Under `cargo test` each
    /// body is run once.
    #[must_use]
    pub fn main(self) -> ExitCode {
        let words: Vec<_> = env::args_os().skip(1).map(readable).collect();
        let status = match Words::among(&words) {
            Some(words) => driven::answer(self, &words),
            None => person::show(self, &words),
        };
        ExitCode::from(status)
    }

    pub(crate) fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries
    }

    /// Says what is wrong with the names.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut seen = HashSet::new();
        for Entry { name, source, .. } in &self.entries {
            if name.is_empty() {
                return Err(format!("a benchmark has an empty name ({source})"));
            }
            if name.len() > MOST_NAME_BYTES {
                return Err(format!(
                    "a benchmark's name is longer than {MOST_NAME_BYTES} bytes: '{name}' ({source})"
                ));
            }
            if name.chars().any(char::is_control) {
                return Err(format!(
                    "a benchmark's name has control characters: {name:?} ({source})"
                ));
            }
            if !seen.insert(name) {
                return Err(format!("two benchmarks are called '{name}' ({source})"));
            }
        }
        Ok(())
    }
}

fn readable(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}

/// One benchmark of a [`Suite`], to say more about it.
pub struct Entry<'a> {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) tags: Vec<String>,
    pub(crate) source: String,
    body: Box<dyn FnOnce(&mut Bench) + 'a>,
}

impl Entry<'_> {
    /// Says what a parameter is. A second value under the same name replaces the first.
    pub fn param(&mut self, name: impl Into<String>, value: impl Display) -> &mut Self {
        let name = name.into();
        self.params.retain(|(known, _)| *known != name);
        self.params.push((name, value.to_string()));
        self
    }

    /// Adds a tag, by which benchmarks can be chosen.
    pub fn tag(&mut self, tag: impl Into<String>) -> &mut Self {
        self.tags.push(tag.into());
        self
    }

    /// Runs the benchmark; if it panics, its name and the message.
    pub(crate) fn run(self, bench: &mut Bench) -> Result<(), String> {
        // Nothing that the panic may have left half done is looked at again.
        let ended = catch_unwind(AssertUnwindSafe(|| (self.body)(bench)));
        ended.map_err(|payload| {
            let message = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "with something that is no text".to_owned());
            format!("'{}' panicked: {message}", self.name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Plan;

    fn checked(names: &[&str]) -> Result<(), String> {
        let mut suite = Suite::new();
        for name in names {
            suite.bench(*name, |_| ());
        }
        suite.check()
    }

    fn panicking(body: impl FnOnce(&mut Bench)) -> String {
        let mut suite = Suite::new();
        suite.bench("x", body);
        let entry = suite.into_entries().remove(0);
        let mut bench = Bench::new(Plan::QuickLook, 0);
        entry.run(&mut bench).expect_err("it panics")
    }

    #[test]
    fn any_text_is_a_name() {
        let long = "é".repeat(250);
        let names = ["a", "A", "a ", "say \"é\" \\ 漢", &long];
        assert_eq!(checked(&names), Ok(()));
    }

    #[test]
    fn what_is_no_name_is_said() {
        let long = "é".repeat(251);
        let cases = [
            (["a", "a"], "two benchmarks are called 'a'"),
            (["a", ""], "empty name"),
            (["a", "b\nc"], "control characters: \"b\\nc\""),
            (["a", "\u{7f}"], "control characters"),
            (["a", &long], "longer than 500 bytes"),
        ];
        for (names, message) in cases {
            let error = checked(&names).unwrap_err();
            assert!(error.contains(message), "{error}");
            assert!(error.contains("suite.rs:"), "{error}");
        }
    }

    #[test]
    fn a_parameter_has_one_value() {
        let mut suite = Suite::new();
        let entry = suite.bench("x", |_| ());
        entry.param("n", 1).param("m", 2).param("n", 3);
        let expected = [("m", "2"), ("n", "3")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(entry.params, expected);
    }

    #[test]
    fn a_panic_is_told() {
        assert_eq!(panicking(|_| panic!("no")), "'x' panicked: no");
        let number = 7;
        assert_eq!(panicking(|_| panic!("no {number}")), "'x' panicked: no 7");
        let told = panicking(|_| std::panic::panic_any(7));
        assert_eq!(told, "'x' panicked: with something that is no text");
    }
}
