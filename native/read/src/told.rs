//! What a text of JSON tells, in the form in which Python takes it.

use crate::json::{Json, Kind, Refused};
use crate::pickle::Pickle;
use std::io::{self, Write};

/// Shorter lists stay what they are.
const FEWEST_PACKED: usize = 16;
/// Python's own reader goes deeper, and says where it ends.
const DEEPEST: usize = 100;

/// How much there may be of what Python makes objects of.
pub struct Limits {
    pub values: u64,
    pub lists: u64,
    pub texts: u64,
}

/// The packed numbers, how many of them each packed list has, and all the rest.
pub struct Told {
    numbers: Vec<u8>,
    lengths: Vec<u64>,
    rest: Pickle,
    left: Limits,
}

impl Told {
    /// What a text tells; an error for what is no JSON, and for JSON that Python would read as something else.
    pub fn of(text: &str, limits: Limits) -> Result<Self, Refused> {
        let mut told = Self {
            numbers: Vec::new(),
            lengths: Vec::new(),
            rest: Pickle::new(),
            left: limits,
        };
        let mut json = Json::new(text);
        told.value(&mut json, 0)?;
        json.end()?;
        Ok(told)
    }

    /// Write it, as `main` says.
    pub fn write(self, output: &mut impl Write) -> io::Result<()> {
        let rest = self.rest.finished();
        for size in [self.lengths.len(), rest.len()] {
            output.write_all(&(size as u64).to_ne_bytes())?;
        }
        let lengths: Vec<u8> = self
            .lengths
            .iter()
            .flat_map(|one| one.to_ne_bytes())
            .collect();
        output.write_all(&rest)?;
        output.write_all(&lengths)?;
        output.write_all(&self.numbers)
    }

    /// Take the next value; whether it was a float.
    fn value(&mut self, json: &mut Json, depth: usize) -> Result<bool, Refused> {
        one_less(&mut self.left.values)?;
        match json.kind()? {
            Kind::Number => return self.number(json),
            Kind::Text => {
                one_less(&mut self.left.texts)?;
                self.rest.text(&json.text()?).ok_or("a long text")?;
            }
            Kind::List => self.list(json, depth + 1)?,
            Kind::Object => self.object(json, depth + 1)?,
            Kind::Word(b"null") => self.rest.none(),
            Kind::Word(word) => self.rest.boolean(word == b"true"),
        }
        Ok(false)
    }

    fn number(&mut self, json: &mut Json) -> Result<bool, Refused> {
        if let Some(integer) = json.integer()? {
            self.rest.integer(integer);
            return Ok(false);
        }
        self.rest.float(json.float()?);
        Ok(true)
    }

    fn list(&mut self, json: &mut Json, depth: usize) -> Result<(), Refused> {
        self.enter(depth)?;
        let start = self.rest.begin_list();
        let (mut count, mut floats) = (0, 0);
        while json.has_next(b']', count == 0)? {
            count += 1;
            floats += usize::from(self.value(json, depth)?);
        }
        if count >= FEWEST_PACKED && floats == count {
            self.rest.pack_list(start, &mut self.numbers);
            self.lengths.push(count as u64);
        } else {
            self.rest.end_list();
        }
        Ok(())
    }

    fn object(&mut self, json: &mut Json, depth: usize) -> Result<(), Refused> {
        self.enter(depth)?;
        self.rest.begin_dict();
        let mut is_first = true;
        while json.has_next(b'}', is_first)? {
            is_first = false;
            one_less(&mut self.left.texts)?;
            self.rest.name(&json.name()?).ok_or("a long text")?;
            self.value(json, depth)?;
        }
        self.rest.end_dict();
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
