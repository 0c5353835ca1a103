//! Where in a file of pyperf's a value is: all but the times and some facts of its runs is not read, but kept as text.

/// What is looked at of a run, and where: `subjects/adapters/pyperf.py` and `subjects/formats/pyperf.py`.
const FACTS: [&str; 5] = ["name", "unit", "loops", "inner_loops", "date"];

#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Document,
    Benchmarks,
    Benchmark,
    Runs,
    Run,
    Metadata,
    Values,
    /// What no reader asks for.
    Unread,
    Elsewhere,
}

impl Place {
    /// The place of a field of an object here.
    pub fn field(self, name: &str) -> Self {
        match (self, name) {
            (Self::Document, "benchmarks") => Self::Benchmarks,
            (Self::Benchmark, "runs") => Self::Runs,
            (Self::Run, "values") => Self::Values,
            (Self::Run, "metadata") => Self::Metadata,
            (Self::Run, _) => Self::Unread,
            (Self::Metadata, name) if !FACTS.contains(&name) => Self::Unread,
            _ => Self::Elsewhere,
        }
    }

    /// The place of an item of a list here.
    pub fn item(self) -> Self {
        match self {
            Self::Benchmarks => Self::Benchmark,
            Self::Runs => Self::Run,
            _ => Self::Elsewhere,
        }
    }
}
