//! Reads a JSON text value by value, and refuses what Python's own reader refuses or would read differently.

use std::borrow::Cow;

/// What was refused.
pub type Refused = &'static str;

/// The kind of the next value; a word is `null`, `true` or `false`, and has been read already.
pub enum Kind {
    Number,
    Text,
    List,
    Object,
    Word(&'static [u8]),
}

/// A number, as Python would read it.
pub enum Number {
    Integer(i64),
    Float(f64),
}

const WORDS: [&[u8]; 3] = [b"null", b"true", b"false"];
/// This many digits fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// A text and the place of its next value.
pub struct Json<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Json<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// The kind of the next value; a list or an object has then been entered, and must be left by `has_next`.
    pub fn kind(&mut self) -> Result<Kind, Refused> {
        match self.next_byte() {
            Some(b'-' | b'0'..=b'9') => return Ok(Kind::Number),
            Some(b'"') => return Ok(Kind::Text),
            Some(b'[') => {
                self.at += 1;
                return Ok(Kind::List);
            }
            Some(b'{') => {
                self.at += 1;
                return Ok(Kind::Object);
            }
            _ => {}
        }
        let rest = &self.bytes[self.at..];
        let word = WORDS.into_iter().find(|word| rest.starts_with(word));
        let word = word.ok_or("no value")?;
        self.at += word.len();
        Ok(Kind::Word(word))
    }

    /// Whether a list or an object has one more item before the byte that `closes` it.
    pub fn has_next(&mut self, closes: u8, is_first: bool) -> Result<bool, Refused> {
        match self.next_byte() {
            Some(byte) if byte == closes => self.at += 1,
            Some(b',') if !is_first => {
                self.at += 1;
                return Ok(true);
            }
            Some(_) if is_first => return Ok(true),
            _ => return Err("no end"),
        }
        Ok(false)
    }

    /// Reads the name of a field, and its colon.
    pub fn name(&mut self) -> Result<Cow<'a, str>, Refused> {
        if self.next_byte() != Some(b'"') {
            return Err("no name");
        }
        let name = self.text()?;
        if self.next_byte() != Some(b':') {
            return Err("no colon");
        }
        self.at += 1;
        Ok(name)
    }

    /// Reads a text, from its opening quote.
    pub fn text(&mut self) -> Result<Cow<'a, str>, Refused> {
        self.at += 1;
        let plain = self.until_special()?;
        if self.bytes[self.at] == b'"' {
            self.at += 1;
            return Ok(plain.into());
        }
        let mut text = plain.to_owned();
        while self.bytes[self.at] != b'"' {
            text.push(self.escaped()?);
            text.push_str(self.until_special()?);
        }
        self.at += 1;
        Ok(text.into())
    }

    /// How far the text has been read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Reads an integer of at most 64 bits, or the nearest float for a number with a fraction or an exponent.
    pub fn number(&mut self) -> Result<Number, Refused> {
        let start = self.at;
        let sign = usize::from(self.bytes[start] == b'-');
        let digits = self.digits_at(start + sign);
        if digits == 0 || (digits > 1 && self.bytes[start + sign] == b'0') {
            return Err("no number");
        }
        let end = start + sign + digits;
        match self.bytes.get(end) {
            Some(b'.') if !self.is_digit_at(end + 1) => return Err("no number"),
            Some(b'.' | b'e' | b'E') => return self.float().map(Number::Float),
            _ => {}
        }
        if digits > MOST_DIGITS {
            return Err("a large integer");
        }
        self.at = end;
        let parsed = self.text[start..end].parse();
        parsed.map(Number::Integer).map_err(|_| "no number")
    }

    fn float(&mut self) -> Result<f64, Refused> {
        let rest = &self.bytes[self.at..];
        let (value, length): (f64, usize) =
            fast_float2::parse_partial(rest).map_err(|_| "no number")?;
        // A number beyond all floats has an error message of its own.
        if !rest[length - 1].is_ascii_digit() || !value.is_finite() {
            return Err("no number");
        }
        self.at += length;
        Ok(value)
    }

    /// Make sure that nothing follows.
    pub fn end(&mut self) -> Result<(), Refused> {
        self.next_byte().map_or(Ok(()), |_| Err("more behind it"))
    }

    fn is_digit_at(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(u8::is_ascii_digit)
    }

    fn digits_at(&self, start: usize) -> usize {
        let digits = self.bytes[start..].iter();
        digits.take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn next_byte(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Reads up to a quote or a backslash, and stays there.
    fn until_special(&mut self) -> Result<&'a str, Refused> {
        let start = self.at;
        let length = self.bytes[start..]
            .iter()
            .position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ');
        self.at += length.ok_or("no quote")?;
        if self.bytes[self.at] < b' ' {
            return Err("a control character");
        }
        Ok(&self.text[start..self.at])
    }

    fn escaped(&mut self) -> Result<char, Refused> {
        let which = *self.bytes.get(self.at + 1).ok_or("a cut escape")?;
        self.at += 2;
        Ok(match which {
            b'"' | b'\\' | b'/' => which.into(),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err("no escape"),
        })
    }

    /// Reads the character of `\uXXXX`, or of two of them.
    fn unicode(&mut self) -> Result<char, Refused> {
        let first = self.four_digits()?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            units.push(self.four_digits()?);
        }
        let mut characters = char::decode_utf16(units);
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err("half a character"), // which Python keeps
        }
    }

    fn four_digits(&mut self) -> Result<u16, Refused> {
        let digits = self.text.get(self.at..self.at + 4).ok_or("a cut escape")?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("no escape");
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).map_err(|_| "no escape")
    }
}
