//! Writes input for Python's `pickle.loads`: the few operations of protocol 5 that JSON needs.

use std::collections::HashMap;

const NONE: u8 = b'N';
const TRUE: u8 = 0x88;
const FALSE: u8 = 0x89;
const INTEGER_32: u8 = b'J';
const INTEGER: u8 = 0x8a;
const FLOAT: u8 = b'G';
const TEXT: u8 = b'X';
const MARK: u8 = b'(';
const LIST: u8 = b']';
const APPEND_ALL: u8 = b'e';
const DICT: u8 = b'}';
const SET_ALL: u8 = b'u';
const REMEMBER: u8 = 0x94;
const REMEMBERED: u8 = b'j';
const NEXT_BUFFER: u8 = 0x97;
const PROTOCOL: [u8; 2] = [0x80, 5];
const STOP: u8 = b'.';

/// The size of a float in a pickle.
const FLOAT_BYTES: usize = 9;

/// A pickle that is written value by value.
pub struct Pickle {
    bytes: Vec<u8>,
    /// Names of fields, which are often repeated, with the order in which they first came.
    names: HashMap<String, u32>,
}

impl Pickle {
    pub fn new() -> Self {
        Self {
            bytes: PROTOCOL.into(),
            names: HashMap::new(),
        }
    }

    pub fn none(&mut self) {
        self.bytes.push(NONE);
    }

    pub fn boolean(&mut self, value: bool) {
        self.bytes.push(if value { TRUE } else { FALSE });
    }

    pub fn integer(&mut self, value: i64) {
        if let Ok(small) = i32::try_from(value) {
            self.bytes.push(INTEGER_32);
            self.bytes.extend(small.to_le_bytes());
        } else {
            self.bytes.extend([INTEGER, 8]);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    pub fn float(&mut self, value: f64) {
        self.bytes.push(FLOAT);
        self.bytes.extend(value.to_be_bytes());
    }

    /// Writes a text; None if it is longer than any file that is read.
    pub fn text(&mut self, text: &str) -> Option<()> {
        self.bytes.push(TEXT);
        self.bytes
            .extend(u32::try_from(text.len()).ok()?.to_le_bytes());
        self.bytes.extend(text.as_bytes());
        Some(())
    }

    /// Writes the name of a field; None if there are too many or it is too long.
    pub fn name(&mut self, name: &str) -> Option<()> {
        if let Some(number) = self.names.get(name) {
            self.bytes.push(REMEMBERED);
            self.bytes.extend(number.to_le_bytes());
            return Some(());
        }
        self.names
            .insert(name.to_owned(), u32::try_from(self.names.len()).ok()?);
        self.text(name)?;
        self.bytes.push(REMEMBER);
        Some(())
    }

    /// Begin a list, and return its position.
    pub fn begin_list(&mut self) -> usize {
        self.bytes.extend([LIST, MARK]);
        self.bytes.len() - 2
    }

    pub fn end_list(&mut self) {
        self.bytes.push(APPEND_ALL);
    }

    /// Replace a list that began at `start` and has only floats in it by a buffer; the floats go to `numbers`.
    pub fn pack_list(&mut self, start: usize, numbers: &mut Vec<u8>) {
        for float in self.bytes[start + 2..].chunks_exact(FLOAT_BYTES) {
            let mut value = [0; FLOAT_BYTES - 1];
            value.copy_from_slice(&float[1..]);
            numbers.extend(f64::from_be_bytes(value).to_ne_bytes());
        }
        self.bytes.truncate(start);
        self.bytes.push(NEXT_BUFFER);
    }

    pub fn begin_dict(&mut self) {
        self.bytes.extend([DICT, MARK]);
    }

    pub fn end_dict(&mut self) {
        self.bytes.push(SET_ALL);
    }

    /// The whole pickle.
    pub fn finished(mut self) -> Vec<u8> {
        self.bytes.push(STOP);
        self.bytes
    }
}
