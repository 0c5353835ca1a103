//! The two calls that the driver makes: to list the benchmarks, and to run one.

use crate::arguments::{Arguments, Request, Work};
use crate::bench::{Bench, Plan};
use crate::entry::{check_names, Entry};
use crate::meter::Sample;
use crate::output::Output;
use crate::partner::Partner;
use crate::response::Response;
use crate::status::{complain, FAILED, WRONG_USE};

/// What went wrong, and the status to exit with.
struct Complaint(u8, String);

fn wrong_use(message: String) -> Complaint {
    Complaint(WRONG_USE, message)
}

/// Does what the driver's arguments say, and writes the response; returns the status to exit with.
pub(crate) fn respond(entries: Vec<Entry<'_>>, arguments: &Arguments<'_>) -> u8 {
    // Done first, so that no child of a benchmark inherits the descriptor.
    let output = match arguments.fd().and_then(Output::on) {
        Ok(output) => output,
        Err(message) => return complain(WRONG_USE, &message),
    };
    let mut response = Response::new();
    let status = match fill(&mut response, entries, arguments) {
        Ok(()) => 0,
        Err(Complaint(status, message)) => {
            response.error(&message);
            complain(status, &message)
        }
    };
    // All at once after the last sample: writing in between would wake the driver.
    match output.write(&response.ended()) {
        Ok(()) => status,
        Err(error) => complain(FAILED, &format!("cannot write the results: {error}")),
    }
}

fn fill(
    response: &mut Response,
    entries: Vec<Entry<'_>>,
    arguments: &Arguments<'_>,
) -> Result<(), Complaint> {
    let request = arguments.request().map_err(wrong_use)?;
    check_names(&entries).map_err(wrong_use)?;
    match request {
        Request::List => entries.iter().for_each(|entry| response.benchmark(entry)),
        Request::Run(work) => {
            let samples = run(entries, &work)?;
            samples.iter().for_each(|sample| response.sample(sample));
        }
    }
    Ok(())
}

fn run(mut entries: Vec<Entry<'_>>, work: &Work) -> Result<Vec<Sample>, Complaint> {
    let Work {
        ref name,
        loops,
        samples,
        seed,
        ref before,
        ref lockstep,
    } = *work;
    // Done first, so that no child of a benchmark inherits the descriptor.
    let partner = lockstep
        .as_ref()
        .map(|(fd, orders)| Partner::on(*fd, orders.clone()));
    let partner = partner.transpose().map_err(wrong_use)?;
    for (earlier, loops) in before {
        let plan = Plan::Asked {
            loops: *loops,
            samples: 1,
        };
        run_entry(called(&mut entries, earlier)?, Bench::new(plan, seed))?;
    }
    let bench = Bench::new(Plan::Asked { loops, samples }, seed);
    run_entry(called(&mut entries, name)?, bench.in_step_with(partner))
}

/// Takes a benchmark out of the list, as its function can be called only once.
fn called<'a>(entries: &mut Vec<Entry<'a>>, name: &str) -> Result<Entry<'a>, Complaint> {
    let place = entries.iter().position(|entry| entry.name == name);
    place
        .map(|place| entries.remove(place))
        .ok_or_else(|| wrong_use(format!("no benchmark is called '{name}'")))
}

fn run_entry(entry: Entry<'_>, mut bench: Bench) -> Result<Vec<Sample>, Complaint> {
    let name = entry.name.clone();
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

    fn responded(entries: Vec<Entry<'_>>, line: &str) -> Result<String, (u8, String)> {
        let all: Vec<_> = line
            .split(' ')
            .map(|argument| format!("--steelyard-{argument}"))
            .collect();
        let arguments = Arguments::among(&all).expect("some of ours");
        let mut response = Response::new();
        fill(&mut response, entries, &arguments)
            .map_err(|Complaint(status, message)| (status, message))?;
        Ok(response.ended())
    }

    fn filled(argument: &str, name: &str) -> Result<String, (u8, String)> {
        let entries = vec![
            Entry::new("a", |bench| bench.run(|| ())),
            Entry::new("idle", |_| ()),
            Entry::new(name, |_| panic!("no")),
        ];
        let line = format!("protocol=1 loops=3 samples=2 seed=0 {argument}");
        responded(entries, &line)
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
        let entry = |name| {
            let order = &order;
            Entry::new(name, move |bench| {
                bench.run(|| order.borrow_mut().push(name));
            })
        };
        let line = "protocol=1 run=a loops=3 samples=1 seed=0 before=2:b";
        assert!(responded(vec![entry("a"), entry("b")], line).is_ok());
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
        for (argument, name, status, message) in cases {
            let (was, error) = filled(argument, name).unwrap_err();
            assert!(was == status && error.contains(message), "{was} {error}");
        }
    }
}
