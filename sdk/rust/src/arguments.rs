//! The driver's arguments on the command line.

use crate::partner::Order;

/// The version of the protocol that is spoken here.
pub(crate) const VERSION: u64 = 1;

const PREFIX: &str = "--steelyard-";
const MOST_LOOPS: u64 = 1 << 53;
const MOST_SAMPLES: u64 = 10_000;
const MOST_FD: u64 = i32::MAX as u64;

/// What the driver asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    /// To list the benchmarks.
    List,
    /// To run one.
    Run(Work),
}

/// One benchmark, and how often.
#[derive(Debug, PartialEq)]
pub(crate) struct Work {
    pub(crate) name: String,
    pub(crate) loops: u64,
    pub(crate) samples: usize,
    pub(crate) seed: u64,
    /// Benchmarks that take a sample of so many loops before it, in the same process.
    pub(crate) before: Vec<(String, u64)>,
    /// The socket to the launch that takes samples in turn with this one, and the order of each sample.
    pub(crate) lockstep: Option<(i32, Vec<Order>)>,
}

/// The driver's arguments, as pairs of key and value.
#[derive(Debug)]
pub(crate) struct Arguments<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Arguments<'a> {
    /// Finds the driver's arguments; None if there are none, as the program was not started by a driver then.
    pub(crate) fn among(all: &'a [String]) -> Option<Self> {
        let ours: Vec<_> = all
            .iter()
            .filter_map(|argument| argument.strip_prefix(PREFIX))
            .map(|ours| ours.split_once('=').unwrap_or((ours, "")))
            .collect();
        (!ours.is_empty()).then_some(Self(ours))
    }

    /// The descriptor to write the response to; without it, there is nowhere to say what is wrong.
    pub(crate) fn fd(&self) -> Result<i32, String> {
        let fd = self.number("fd", 0..=MOST_FD)?;
        i32::try_from(fd).map_err(|error| error.to_string())
    }

    /// What the driver asks for.
    pub(crate) fn request(&self) -> Result<Request, String> {
        self.check_version()?;
        match (self.find("list"), self.find("run")) {
            (Some(_), None) => Ok(Request::List),
            (None, Some(name)) => self.work(name).map(Request::Run),
            (Some(_), Some(_)) => Err(format!("{PREFIX}list and {PREFIX}run exclude each other")),
            (None, None) => Err(format!("{PREFIX}list or {PREFIX}run=NAME is missing")),
        }
    }

    fn check_version(&self) -> Result<(), String> {
        let asked = self.need("protocol")?;
        if asked == VERSION.to_string() {
            return Ok(());
        }
        Err(format!(
            "speaks version {VERSION} of the harness protocol, and is asked for {asked:?}"
        ))
    }

    fn work(&self, name: &str) -> Result<Work, String> {
        let samples = self.number("samples", 1..=MOST_SAMPLES)?;
        let samples = usize::try_from(samples).map_err(|error| error.to_string())?;
        Ok(Work {
            name: name.to_owned(),
            loops: self.number("loops", 1..=MOST_LOOPS)?,
            samples,
            seed: self.number("seed", 0..=u64::MAX)?,
            before: self.before()?,
            lockstep: self.lockstep(samples)?,
        })
    }

    fn lockstep(&self, samples: usize) -> Result<Option<(i32, Vec<Order>)>, String> {
        let Some(value) = self.find("lockstep") else {
            return Ok(None);
        };
        let (fd, digits) = value.split_once(':').unwrap_or((value, ""));
        let fd = in_range("lockstep", fd, 0..=MOST_FD)?;
        let orders = digits.bytes().map(|digit| match digit {
            b'0' => Some(Order::First),
            b'1' => Some(Order::Second),
            _ => None,
        });
        let orders: Option<Vec<_>> = orders.collect();
        let orders = orders
            .filter(|orders| orders.len() == samples)
            .ok_or_else(|| {
                format!("{PREFIX}lockstep={fd}: behind it a 0 or 1 is needed for each sample")
            })?;
        let fd = i32::try_from(fd).map_err(|error| error.to_string())?;
        Ok(Some((fd, orders)))
    }

    fn before(&self) -> Result<Vec<(String, u64)>, String> {
        let said = self.0.iter().filter(|(key, _)| *key == "before");
        said.map(|(_, value)| {
            let (loops, name) = value.split_once(':').unwrap_or((value, ""));
            Ok((name.to_owned(), in_range("before", loops, 1..=MOST_LOOPS)?))
        })
        .collect()
    }

    fn number(&self, key: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        in_range(key, self.need(key)?, range)
    }

    fn need(&self, key: &str) -> Result<&'a str, String> {
        self.find(key)
            .ok_or_else(|| format!("{PREFIX}{key} is missing"))
    }

    /// The last value counts, as is usual on a command line.
    fn find(&self, key: &str) -> Option<&'a str> {
        let mut from_the_end = self.0.iter().rev();
        from_the_end
            .find(|(known, _)| *known == key)
            .map(|(_, value)| *value)
    }
}

fn in_range(key: &str, value: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    // `parse` alone would let a plus sign pass.
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.filter(|_| digits).ok_or_else(|| {
        let (least, most) = range.into_inner();
        format!("{PREFIX}{key}={value} has to be a whole number from {least} to {most}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "--steelyard-protocol=1 --steelyard-fd=3 --steelyard-run=a=b \
                       --steelyard-loops=10 --steelyard-samples=2 --steelyard-seed=5";

    fn split(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn request(line: &str) -> Result<Request, String> {
        let all = split(line);
        Arguments::among(&all).expect("one of ours").request()
    }

    #[test]
    fn without_ours_there_is_no_driver() {
        assert!(Arguments::among(&split("--bench sort --steel")).is_none());
    }

    #[test]
    fn they_come_in_any_order_among_others() {
        let line = "mine --steelyard-list --bench --steelyard-later=x --steelyard-protocol=1";
        assert_eq!(request(line), Ok(Request::List));
    }

    #[test]
    fn a_run_has_all_its_arguments() {
        let work = Work {
            name: "a=b".to_owned(),
            loops: 10,
            samples: 2,
            seed: 5,
            before: vec![("c:d".to_owned(), 3), ("e".to_owned(), 4)],
            lockstep: Some((4, vec![Order::First, Order::Second])),
        };
        let run = format!(
            "{RUN} --steelyard-before=3:c:d --steelyard-before=4:e --steelyard-lockstep=4:01"
        );
        assert_eq!(request(&run), Ok(Request::Run(work)));
    }

    #[test]
    fn the_widest_numbers_pass() {
        let line = RUN
            .replace("loops=10", "loops=9007199254740992")
            .replace("samples=2", "samples=10000")
            .replace("seed=5", "seed=18446744073709551615");
        assert!(request(&line).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            (
                "loops=10",
                "loops=0",
                "loops=0 has to be a whole number from 1",
            ),
            ("loops=10", "loops=abc", "loops=abc has to be"),
            ("loops=10", "loops=+5", "loops=+5 has to be"),
            ("loops=10", "loops=", "loops= has to be"),
            ("loops=10", "loops=9007199254740993", "to 9007199254740992"),
            ("loops=10", "rounds=10", "--steelyard-loops is missing"),
            ("samples=2", "samples=10001", "from 1 to 10000"),
            ("seed=5", "seed=18446744073709551616", "seed="),
            ("seed=5", "seed=-1", "seed=-1"),
            ("protocol=1", "protocol=2", "is asked for \"2\""),
            ("protocol=1", "other=1", "--steelyard-protocol is missing"),
            ("run=a=b", "other", "--steelyard-run=NAME is missing"),
            ("seed=5", "list", "exclude each other"),
            (
                "loops=10",
                "loops=10 --steelyard-lockstep=4",
                "a 0 or 1 is needed",
            ),
            (
                "loops=10",
                "loops=10 --steelyard-lockstep=4:012",
                "a 0 or 1 is needed",
            ),
            (
                "loops=10",
                "loops=10 --steelyard-lockstep=4:02",
                "a 0 or 1 is needed",
            ),
            (
                "loops=10",
                "loops=10 --steelyard-lockstep=x:01",
                "lockstep=x has to be",
            ),
        ];
        for (part, wrong, message) in cases {
            let error = request(&RUN.replace(part, wrong)).unwrap_err();
            assert!(error.contains(message), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_descriptor_is_a_number() {
        let fd = |line: &str| Arguments::among(&split(line)).expect("one of ours").fd();
        assert_eq!(fd(RUN), Ok(3));
        assert!(fd("--steelyard-fd=-1").is_err());
        assert!(fd("--steelyard-fd=2147483648").is_err());
        assert_eq!(
            fd("--steelyard-list"),
            Err("--steelyard-fd is missing".into())
        );
    }
}
