//! The contents of a JSON text, in the form in which Python reads them.

use crate::json::{Json, Kind, Number, Refused};
use crate::pickle::Pickle;
use crate::place::Place;
use std::io::{self, Write};

/// Shorter lists are not packed.
const FEWEST_PACKED: usize = 16;
/// Deeper nesting is left to Python's own reader, which reports its own limit.
const DEEPEST: usize = 100;

/// The most values, lists and texts that may become Python objects.
pub struct Limits {
    pub values: u64,
    pub lists: u64,
    pub texts: u64,
}

/// The packed numbers, the lengths of the packed lists, the rest of what is read, and the text without the values.
pub struct Told<'a> {
    text: &'a str,
    numbers: Vec<u8>,
    lengths: Vec<u64>,
    rest: Pickle,
    /// The text up to `kept_to`, with the values of the runs replaced by their number.
    kept: String,
    kept_to: usize,
    left: Limits,
}

impl<'a> Told<'a> {
    /// Reads a text; an error if it is not JSON, or JSON that Python would read differently.
    pub fn of(text: &'a str, limits: Limits) -> Result<Self, Refused> {
        let mut told = Self {
            text,
            numbers: Vec::new(),
            lengths: Vec::new(),
            rest: Pickle::new(),
            kept: String::new(),
            kept_to: 0,
            left: limits,
        };
        let mut json = Json::new(text);
        told.value(&mut json, 0, Place::Document)?;
        json.end()?;
        if told.kept_to > 0 {
            told.kept.push_str(text[told.kept_to..].trim_end());
        }
        Ok(told)
    }

    /// Write everything in the format that `main` describes.
    pub fn write(self, output: &mut impl Write) -> io::Result<()> {
        let rest = self.rest.finished();
        for size in [self.lengths.len(), rest.len(), self.kept.len()] {
            output.write_all(&(size as u64).to_ne_bytes())?;
        }
        let lengths: Vec<u8> = self
            .lengths
            .iter()
            .flat_map(|one| one.to_ne_bytes())
            .collect();
        output.write_all(&rest)?;
        output.write_all(self.kept.as_bytes())?;
        output.write_all(&lengths)?;
        output.write_all(&self.numbers)
    }

    /// Take the next value; returns whether it was a float.
    fn value(&mut self, json: &mut Json, depth: usize, place: Place) -> Result<bool, Refused> {
        one_less(&mut self.left.values)?;
        match json.kind()? {
            Kind::Number => return self.number(json),
            Kind::Text => {
                one_less(&mut self.left.texts)?;
                self.rest.text(&json.text()?).ok_or("a long text")?;
            }
            Kind::List => {
                let start = json.at() - 1;
                let count = self.list(json, depth + 1, place)?;
                if place == Place::Values && count > 0 {
                    self.kept.push_str(&self.text[self.kept_to..start]);
                    self.kept.push_str(&count.to_string());
                    self.kept_to = json.at();
                }
            }
            Kind::Object => self.object(json, depth + 1, place)?,
            Kind::Word(b"null") => self.rest.none(),
            Kind::Word(word) => self.rest.boolean(word == b"true"),
        }
        Ok(false)
    }

    fn number(&mut self, json: &mut Json) -> Result<bool, Refused> {
        match json.number()? {
            Number::Integer(value) => self.rest.integer(value),
            Number::Float(value) => {
                self.rest.float(value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Take a list, and return how many items it has.
    fn list(&mut self, json: &mut Json, depth: usize, place: Place) -> Result<usize, Refused> {
        self.enter(depth)?;
        let start = self.rest.begin_list();
        let (mut count, mut floats) = (0, 0);
        while json.has_next(b']', count == 0)? {
            count += 1;
            floats += usize::from(self.value(json, depth, place.item())?);
        }
        if count >= FEWEST_PACKED && floats == count {
            self.rest.pack_list(start, &mut self.numbers);
            self.lengths.push(count as u64);
        } else {
            self.rest.end_list();
        }
        Ok(count)
    }

    fn object(&mut self, json: &mut Json, depth: usize, place: Place) -> Result<(), Refused> {
        self.enter(depth)?;
        self.rest.begin_dict();
        let mut is_first = true;
        while json.has_next(b'}', is_first)? {
            is_first = false;
            one_less(&mut self.left.texts)?;
            let name = json.name()?;
            let place = place.field(&name);
            if place == Place::Unread {
                self.skip(json, depth)?;
                continue;
            }
            self.rest.name(&name).ok_or("a long text")?;
            self.value(json, depth, place)?;
        }
        self.rest.end_dict();
        Ok(())
    }

    /// Skip a value that is only kept as text, checking that it is valid.
    fn skip(&mut self, json: &mut Json, depth: usize) -> Result<(), Refused> {
        one_less(&mut self.left.values)?;
        let (closes, has_names) = match json.kind()? {
            Kind::Number => return json.number().map(drop),
            Kind::Text => {
                json.text()?;
                return one_less(&mut self.left.texts);
            }
            Kind::Word(_) => return Ok(()),
            Kind::List => (b']', false),
            Kind::Object => (b'}', true),
        };
        self.enter(depth + 1)?;
        let mut is_first = true;
        while json.has_next(closes, is_first)? {
            is_first = false;
            if has_names {
                json.name()?;
                one_less(&mut self.left.texts)?;
            }
            self.skip(json, depth + 1)?;
        }
        Ok(())
    }

    fn enter(&mut self, depth: usize) -> Result<(), Refused> {
        if depth > DEEPEST {
            return Err("deep nesting");
        }
        one_less(&mut self.left.lists)
    }
}

fn one_less(left: &mut u64) -> Result<(), Refused> {
    *left = left.checked_sub(1).ok_or("more than may be")?;
    Ok(())
}
