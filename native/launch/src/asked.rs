//! What the driver may ask for: a launch, or two at the same time.

use crate::failure::Failure;
use crate::protocol::Request;
use serde::Deserialize;

/// In shorter turns most of the time goes to switches.
const SHORTEST_TURN_NS: u64 = 50_000;

/// Two launches at the same time on one processor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The launch whose process is made first; its `cpus` apply to both, `None` is one of the server's choice.
    pub first: Request,
    /// The other launch.
    pub second: Request,
    /// Whether the second is let go first, when both stand ready.
    pub second_begins: bool,
    /// Whether each has one end of a common socket on fd 4.
    #[serde(default)]
    pub lockstep: bool,
    /// The longest turn of each before the processor goes to the other one, where the kernel supports that; `None`
    /// leaves it to the scheduler.
    #[serde(default)]
    pub turn_ns: Option<u64>,
    /// How long the one that is let go first has the processor to itself, unless it ends before.
    #[serde(default)]
    pub lead_ns: u64,
    /// Whether to report what each lost as a whole, with all its threads and processes, where that is possible. This
    /// takes some of the time that they share.
    #[serde(default)]
    pub followed: bool,
}

/// What a line of the driver asks for.
#[derive(Debug)]
pub enum Asked {
    /// A launch, with those that follow it.
    One(Box<Request>),
    /// Two launches at the same time.
    Both(Box<Pair>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Together {
    together: Pair,
}

/// How the line of a pair begins, and no other line.
const TOGETHER: &[u8] = b"{\"together\":";

impl Asked {
    /// Reads what is asked from one line.
    ///
    /// # Errors
    /// A [`Failure`] of stage "request" if the line asks for no launch.
    pub fn parse(line: &[u8]) -> Result<Self, Failure> {
        if !line.starts_with(TOGETHER) {
            let request: Request = parsed(line)?;
            return Ok(Self::One(Box::new(request.checked()?)));
        }
        let Together { together } = parsed(line)?;
        let first = together.first.checked()?;
        let second = together.second.checked()?;
        let several = first.cpus.as_ref().is_some_and(|cpus| cpus.len() != 1);
        if first.cpus != second.cpus || (several && !together.lockstep) {
            return Err(Failure::request(
                "two launches at the same time share one processor, or take turns",
            ));
        }
        if first.then.is_some() || second.then.is_some() {
            return Err(Failure::request("nothing can follow one of two launches"));
        }
        if together
            .turn_ns
            .is_some_and(|turn_ns| turn_ns < SHORTEST_TURN_NS)
        {
            return Err(Failure::request(format!(
                "a turn takes {SHORTEST_TURN_NS} ns or more"
            )));
        }
        if together.lockstep && (first.results.is_none() || second.results.is_none()) {
            return Err(Failure::request("without results there is no lockstep"));
        }
        Ok(Self::Both(Box::new(Pair {
            first,
            second,
            ..together
        })))
    }
}

fn parsed<'a, Line: Deserialize<'a>>(line: &'a [u8]) -> Result<Line, Failure> {
    serde_json::from_slice(line)
        .map_err(|error| Failure::request(format!("not a launch request: {error}")))
}
