//! One benchmark, and the rules for its name.

use crate::bench::Bench;
use crate::ended::unless_ended;
use std::collections::HashSet;
use std::fmt::Display;
use std::panic::{catch_unwind, AssertUnwindSafe, Location};

const MOST_NAME_BYTES: usize = 500;

/// One benchmark of a [`Suite`](crate::Suite), to say more about it.
pub struct Entry<'a> {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) tags: Vec<String>,
    pub(crate) source: String,
    body: Box<dyn FnOnce(&mut Bench) + 'a>,
}

impl<'a> Entry<'a> {
    /// Makes a benchmark whose source is the place of this call.
    #[track_caller]
    pub(crate) fn new(name: impl Into<String>, body: impl FnOnce(&mut Bench) + 'a) -> Self {
        let place = Location::caller();
        Self {
            name: name.into(),
            params: Vec::new(),
            tags: Vec::new(),
            source: format!("{}:{}", place.file(), place.line()),
            body: Box::new(body),
        }
    }

    /// Sets a parameter. A second value under the same name replaces the first.
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

    /// Runs the benchmark; if it panics, returns its name and the message.
    pub(crate) fn run(self, bench: &mut Bench) -> Result<(), String> {
        // Nothing that a panic may have left half done is used again.
        let body = AssertUnwindSafe(|| (self.body)(bench));
        let ended = unless_ended(&self.name, || catch_unwind(body));
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

/// Checks the names; an error says what is wrong with them.
pub(crate) fn check_names(entries: &[Entry<'_>]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for Entry { name, source, .. } in entries {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Plan;

    fn checked(names: &[&str]) -> Result<(), String> {
        let entries: Vec<_> = names.iter().map(|name| Entry::new(*name, |_| ())).collect();
        check_names(&entries)
    }

    fn panicking(body: impl FnOnce(&mut Bench)) -> String {
        let mut bench = Bench::new(Plan::QuickLook, 0);
        let ended = Entry::new("x", body).run(&mut bench);
        ended.expect_err("it panics")
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
            assert!(error.contains("entry.rs:"), "{error}");
        }
    }

    #[test]
    fn a_parameter_has_one_value() {
        let mut entry = Entry::new("x", |_| ());
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
