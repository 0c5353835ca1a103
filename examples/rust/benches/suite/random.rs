//! Inputs that are drawn at random from a benchmark's seed.

/// The generator SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.take() % limit
    }

    pub fn take(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn numbers(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.take()).collect()
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.take() as u8).collect()
    }

    /// Letters from a to z; early ones are more frequent.
    pub fn word(&mut self, length: usize) -> String {
        let letter = |random: &mut Self| {
            let place = random.below(26).min(random.below(26));
            char::from(b'a' + place as u8)
        };
        (0..length).map(|_| letter(self)).collect()
    }

    /// Words of 1 to 8 letters.
    pub fn words(&mut self, count: usize) -> Vec<String> {
        let lengths: Vec<_> = (0..count).map(|_| 1 + self.below(8) as usize).collect();
        lengths
            .into_iter()
            .map(|length| self.word(length))
            .collect()
    }
}
