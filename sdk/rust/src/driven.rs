//! The driver's two calls.

use crate::answer::Answer;
use crate::bench::{Bench, Plan};
use crate::meter::Sample;
use crate::output::Output;
use crate::suite::{Entry, Suite, FAILED, WRONG_USE};
use crate::words::{Call, Words, Work};

/// What went wrong, and the status to exit with.
struct Complaint(u8, String);

fn wrong_use(message: String) -> Complaint {
    Complaint(WRONG_USE, message)
}

/// Answers the driver; the status to exit with.
pub(crate) fn answer(suite: Suite<'_>, words: &Words<'_>) -> u8 {
    // First of all, so that no child of a benchmark gets the descriptor.
    let output = match words.fd().and_then(Output::on) {
        Ok(output) => output,
        Err(message) => return tell(WRONG_USE, &message),
    };
    let mut answer = Answer::new();
    let status = match fill(&mut answer, suite, words) {
        Ok(()) => 0,
        Err(Complaint(status, message)) => {
            answer.error(&message);
            tell(status, &message)
        }
    };
    // All at once after the last sample: writing in between would wake the driver.
    match output.write(&answer.ended()) {
        Ok(()) => status,
        Err(error) => tell(FAILED, &format!("cannot write the results: {error}")),
    }
}

/// People who look for what went wrong see it, too.
fn tell(status: u8, message: &str) -> u8 {
    eprintln!("{}: {message}", env!("CARGO_PKG_NAME"));
    status
}

fn fill(answer: &mut Answer, suite: Suite<'_>, words: &Words<'_>) -> Result<(), Complaint> {
    let call = words.call().map_err(wrong_use)?;
    suite.check().map_err(wrong_use)?;
    match call {
        Call::List => {
            let entries = suite.into_entries();
            entries.iter().for_each(|entry| answer.benchmark(entry));
        }
        Call::Run(work) => {
            let samples = run(suite, &work)?;
            samples.iter().for_each(|sample| answer.sample(sample));
        }
    }
    Ok(())
}

fn run(suite: Suite<'_>, work: &Work) -> Result<Vec<Sample>, Complaint> {
    let Work {
        ref name,
        loops,
        samples,
        seed,
        ref before,
    } = *work;
    let mut entries = suite.into_entries();
    for (earlier, loops) in before {
        let plan = Plan::Asked {
            loops: *loops,
            samples: 1,
        };
        run_entry(called(&mut entries, earlier)?, plan, seed)?;
    }
    run_entry(
        called(&mut entries, name)?,
        Plan::Asked { loops, samples },
        seed,
    )
}

/// Takes the benchmark out: its function can be called once.
fn called<'a>(entries: &mut Vec<Entry<'a>>, name: &str) -> Result<Entry<'a>, Complaint> {
    let place = entries.iter().position(|entry| entry.name == name);
    place
        .map(|place| entries.remove(place))
        .ok_or_else(|| wrong_use(format!("no benchmark is called '{name}'")))
}

fn run_entry(entry: Entry<'_>, plan: Plan, seed: u64) -> Result<Vec<Sample>, Complaint> {
    let name = entry.name.clone();
    let mut bench = Bench::new(plan, seed);
    entry
        .run(&mut bench)
        .map_err(|message| Complaint(FAILED, message))?;
    let taken = bench.into_samples();
    if taken.is_empty() {
        let message = format!("'{name}' took no samples: its function has to call `Bench::run`");
        return Err(Complaint(FAILED, message));
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(word: &str, name: &str) -> Result<String, (u8, String)> {
        let mut suite = Suite::new();
        suite.bench("a", |bench| bench.run(|| ()));
        suite.bench("idle", |_| ());
        suite.bench(name, |_| panic!("no"));
        let words: Vec<String> = "protocol=1 loops=3 samples=2 seed=0"
            .split(' ')
            .chain([word])
            .map(|word| format!("--steelyard-{word}"))
            .collect();
        let mut answer = Answer::new();
        let words = Words::among(&words).expect("words of ours");
        fill(&mut answer, suite, &words).map_err(|Complaint(status, message)| (status, message))?;
        Ok(answer.ended())
    }

    #[test]
    fn the_list_is_in_order() {
        let list = filled("list", "b").expect("a list");
        let at = |name: &str| list.find(&format!("{{\"benchmark\": \"{name}\"")).unwrap();
        assert!(at("a") < at("idle") && at("idle") < at("b"));
        assert_eq!(list.lines().count(), 5);
    }

    #[test]
    fn a_run_gives_its_samples() {
        let samples = filled("run=a", "b").expect("samples");
        assert_eq!(samples.matches("{\"loops\": 3, \"ns\": ").count(), 2);
        assert_eq!(samples.lines().count(), 4);
    }

    #[test]
    fn others_run_before() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut suite = Suite::new();
        for name in ["a", "b"] {
            let order = &order;
            suite.bench(name, move |bench| {
                bench.run(|| order.borrow_mut().push(name))
            });
        }
        let words: Vec<String> = "protocol=1 run=a loops=3 samples=1 seed=0 before=2:b"
            .split(' ')
            .map(|word| format!("--steelyard-{word}"))
            .collect();
        let mut answer = Answer::new();
        let words = Words::among(&words).expect("words of ours");
        assert!(fill(&mut answer, suite, &words).is_ok());
        assert_eq!(*order.borrow(), ["b", "b", "a", "a", "a"]);
    }

    #[test]
    fn what_goes_wrong_has_a_status() {
        let cases = [
            ("run=c", "b", 2, "no benchmark is called 'c'"),
            ("run=b", "b", 1, "'b' panicked: no"),
            ("run=idle", "b", 1, "'idle' took no samples"),
            ("list", "a", 2, "two benchmarks are called 'a'"),
            ("run=a", "a", 2, "two benchmarks are called 'a'"),
            ("seed=x", "b", 2, "is missing"),
        ];
        for (word, name, status, message) in cases {
            let (was, error) = filled(word, name).unwrap_err();
            assert!(was == status && error.contains(message), "{was} {error}");
        }
    }
}
