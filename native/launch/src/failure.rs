//! The reasons for which a launch could not be made.

use serde::Serialize;

/// At which step a launch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The program, or the interpreter it names, could not be executed.
    Spawn,
    /// The file for standard input could not be opened.
    Stdin,
    /// The file or pipe for standard output could not be opened.
    Stdout,
    /// The file or pipe for standard error could not be opened.
    Stderr,
    /// The pipe for results could not be made.
    Results,
    /// The directory to start in cannot be entered.
    Cwd,
    /// The CPUs asked for cannot be had.
    Affinity,
    /// An event cannot be counted.
    Counters,
    /// The target was to be killed and goes on.
    Kill,
    /// The line was not a request.
    Request,
}

/// Why a launch could not be made.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The step that failed.
    pub stage: Stage,
    /// The system's error number, if a system call failed.
    pub errno: Option<i32>,
    /// The reason in words.
    pub message: String,
}

impl Failure {
    /// A failed system call.
    #[must_use]
    pub fn system(stage: Stage, doing: &str, error: &std::io::Error) -> Self {
        Self {
            stage,
            errno: error.raw_os_error(),
            message: format!("{doing}: {error}"),
        }
    }

    /// A line that is not a request.
    #[must_use]
    pub fn request(message: impl Into<String>) -> Self {
        Self {
            stage: Stage::Request,
            errno: None,
            message: message.into(),
        }
    }
}
