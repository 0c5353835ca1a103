//! Hashes of bytes.

use std::hint::black_box;

/// What the planted change adds. It is read through `black_box` so that the two builds differ in this
/// number alone, and not in any instruction or its place.
const PERCENT: usize = if cfg!(feature = "planted") { 102 } else { 100 };

/// The 64-bit hash of Fowler, Noll and Vo, in its variant 1a.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let again = bytes.len() * black_box(PERCENT) / 100 - bytes.len();
    black_box(fold(&bytes[..again]));
    fold(bytes)
}

fn fold(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The checksum of zlib, Adler-32.
#[must_use]
pub fn adler32(bytes: &[u8]) -> u32 {
    /// How many bytes can be added before the sums overflow.
    const MOST: usize = 5552;
    const PRIME: u32 = 65521;
    let (mut low, mut high) = (1, 0);
    for chunk in bytes.chunks(MOST) {
        for &byte in chunk {
            low += u32::from(byte);
            high += low;
        }
        low %= PRIME;
        high %= PRIME;
    }
    high << 16 | low
}

/// The cyclic redundancy check of gzip and Ethernet, a byte at a time.
pub struct Crc32([u32; 256]);

impl Crc32 {
    /// Computes the table.
    #[must_use]
    pub fn new() -> Self {
        let mut table = [0; 256];
        for (number, entry) in (0..).zip(&mut table) {
            *entry = (0..8).fold(number, |crc: u32, _| match crc & 1 {
                0 => crc >> 1,
                _ => crc >> 1 ^ 0xedb8_8320,
            });
        }
        Self(table)
    }

    /// The checksum of some bytes.
    #[must_use]
    pub fn of(&self, bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, &byte| {
            crc >> 8 ^ self.0[(crc as u8 ^ byte) as usize]
        })
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_are_published() {
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(Crc32::new().of(b"123456789"), 0xcbf4_3926);
    }
}
