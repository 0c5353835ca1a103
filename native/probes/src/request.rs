//! The request on the command line.

/// This many already take gigabytes; more is a typing mistake.
const MOST_ELEMENTS: usize = 1 << 28;

/// How memory is walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every index in turn, in four arrays of i32.
    LinearI32,
    /// Jumping about in four arrays of i32.
    RandomI32,
    /// Every index in turn, in four arrays of u64.
    LinearU64,
    /// Jumping about in four arrays of u64.
    RandomU64,
    /// From node to node, each in a cache line of its own.
    Chase,
}

impl Pattern {
    const ALL: [(&'static str, Self); 5] = [
        ("linear-i32", Self::LinearI32),
        ("random-i32", Self::RandomI32),
        ("linear-u64", Self::LinearU64),
        ("random-u64", Self::RandomU64),
        ("chase", Self::Chase),
    ];
}

/// One probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How to walk.
    pub pattern: Pattern,
    /// Elements of each array, or nodes.
    pub elements: usize,
    /// The steps of the walk; with 0 only the set-up is done.
    pub iterations: u64,
}

impl Request {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let [pattern, elements, iterations] = words else {
            return Err(String::from(
                "three words are needed: PATTERN ELEMENTS ITERATIONS",
            ));
        };
        Ok(Self {
            pattern: parse_pattern(pattern)?,
            elements: parse_elements(elements)?,
            iterations: iterations
                .parse()
                .map_err(|_| format!("ITERATIONS has to be a whole number, not {iterations:?}"))?,
        })
    }
}

fn parse_pattern(word: &str) -> Result<Pattern, String> {
    let found = Pattern::ALL.iter().find(|(name, _)| *name == word);
    found.map(|&(_, pattern)| pattern).ok_or_else(|| {
        let names = Pattern::ALL.map(|(name, _)| name).join(", ");
        format!("PATTERN has to be one of {names}, not {word:?}")
    })
}

fn parse_elements(word: &str) -> Result<usize, String> {
    match word.parse() {
        Ok(elements) if (1..=MOST_ELEMENTS).contains(&elements) => Ok(elements),
        _ => Err(format!(
            "ELEMENTS has to be a whole number from 1 to {MOST_ELEMENTS}, not {word:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Request, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Request::parse(&words)
    }

    #[test]
    fn each_pattern_has_a_name() {
        for (name, pattern) in Pattern::ALL {
            let expected = Request {
                pattern,
                elements: 5,
                iterations: 0,
            };
            assert_eq!(parse(&[name, "5", "0"]), Ok(expected));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, about) in [
            (&[][..], "three words"),
            (&["chase", "5", "5", "5"], "three words"),
            (&["square", "5", "5"], "\"square\""),
            (&["chase", "0", "5"], "\"0\""),
            (&["chase", "268435457", "5"], "\"268435457\""),
            (&["chase", "5", "-1"], "\"-1\""),
        ] {
            let message = parse(words).expect_err("it is wrong");
            assert!(message.contains(about), "{message}");
        }
    }
}
