//! The response to the driver: JSON, one object per line.

use crate::arguments::VERSION;
use crate::entry::Entry;
use crate::meter::Sample;
use crate::partner::Order;

/// The lines of one response, from the hello to the end.
pub(crate) struct Response(String);

impl Response {
    /// Begins with the hello.
    pub(crate) fn new() -> Self {
        let harness = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
        let mut response = Self(String::new());
        response.line(&[
            ("steelyard", VERSION.to_string()),
            ("harness", text(harness)),
            ("language", text("Rust")),
            ("before", "true".to_owned()),
            ("lockstep", "true".to_owned()),
        ]);
        response
    }

    pub(crate) fn benchmark(&mut self, entry: &Entry<'_>) {
        let params = entry
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), text(value)));
        let tags: Vec<_> = entry.tags.iter().map(|tag| text(tag)).collect();
        self.line(&[
            ("benchmark", text(&entry.name)),
            ("params", object(params)),
            ("tags", format!("[{}]", tags.join(", "))),
            ("source", text(&entry.source)),
        ]);
    }

    pub(crate) fn sample(&mut self, sample: &Sample) {
        let mut fields = vec![
            ("loops", sample.loops.to_string()),
            ("ns", sample.ns.to_string()),
        ];
        if let Some(scheduled) = sample.scheduled {
            fields.push(("cpu_ns", scheduled.cpu_ns.to_string()));
            fields.push(("delay_ns", scheduled.delay_ns.to_string()));
        }
        if let Some(order) = sample.order {
            fields.push(("order", u8::from(order == Order::Second).to_string()));
        }
        self.line(&fields);
    }

    pub(crate) fn error(&mut self, message: &str) {
        self.line(&[("error", text(message))]);
    }

    /// Adds the end line, and returns the whole response.
    pub(crate) fn ended(mut self) -> String {
        self.line(&[("end", "true".to_owned())]);
        self.0
    }

    fn line(&mut self, fields: &[(&str, String)]) {
        let fields = fields.iter().map(|(name, value)| (*name, value.clone()));
        self.0 += &object(fields);
        self.0.push('\n');
    }
}

/// An object whose values are JSON already.
fn object<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> String {
    let fields: Vec<_> = fields
        .map(|(name, value)| format!("{}: {value}", text(name)))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// A string in JSON.
fn text(plain: &str) -> String {
    let mut quoted = String::with_capacity(plain.len() + 2);
    quoted.push('"');
    for character in plain.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\0'..='\x1f' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Scheduled;

    const HELLO: &str = concat!(
        r#"{"steelyard": 1, "harness": "steelyard-bench "#,
        env!("CARGO_PKG_VERSION"),
        r#"", "language": "Rust", "before": true, "lockstep": true}"#,
        "\n"
    );

    fn written(add: impl FnOnce(&mut Response)) -> String {
        let mut response = Response::new();
        add(&mut response);
        let lines = response.ended();
        let inner = lines
            .strip_prefix(HELLO)
            .expect("the hello comes first")
            .strip_suffix("{\"end\": true}\n")
            .expect("the end comes last");
        inner.to_owned()
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(
            text("a \"b\" \\ \n\t\u{1} é 漢"),
            r#""a \"b\" \\ \u000a\u0009\u0001 é 漢""#
        );
    }

    #[test]
    fn samples_have_what_is_known() {
        let sample = Sample {
            loops: 10,
            ns: 1234,
            scheduled: None,
            order: None,
        };
        let scheduled = Some(Scheduled {
            cpu_ns: 1200,
            delay_ns: 3,
        });
        assert_eq!(
            written(|response| response.sample(&sample)),
            "{\"loops\": 10, \"ns\": 1234}\n"
        );
        assert_eq!(
            written(|response| response.sample(&Sample {
                scheduled,
                ..sample
            })),
            "{\"loops\": 10, \"ns\": 1234, \"cpu_ns\": 1200, \"delay_ns\": 3}\n"
        );
        let order = Some(Order::Second);
        assert_eq!(
            written(|response| response.sample(&Sample { order, ..sample })),
            "{\"loops\": 10, \"ns\": 1234, \"order\": 1}\n"
        );
    }

    #[test]
    fn benchmarks_have_all_their_fields() {
        let mut entry = Entry::new("a \"b\"", |_| ());
        entry
            .param("n", 10)
            .param("kind", "x")
            .tag("one")
            .tag("two");
        entry.source = "file.rs:1".to_owned();
        assert_eq!(
            written(|response| response.benchmark(&entry)),
            "{\"benchmark\": \"a \\\"b\\\"\", \"params\": {\"n\": \"10\", \"kind\": \"x\"}, \
             \"tags\": [\"one\", \"two\"], \"source\": \"file.rs:1\"}\n"
        );
    }

    #[test]
    fn errors_are_a_line() {
        assert_eq!(
            written(|response| response.error("no 'x'")),
            "{\"error\": \"no 'x'\"}\n"
        );
    }
}
