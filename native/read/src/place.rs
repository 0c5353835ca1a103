//! Where in a pyperf file a value is: of its runs, only the times and some facts are read; the rest is kept as text.

/// The facts of a run that are read, by `subjects/adapters/pyperf.py` and `subjects/formats/pyperf.py`.
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
    /// A value that nothing reads.
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
