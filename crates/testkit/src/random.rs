//! Numbers in no order: SplitMix64.

/// Numbers that look random and are the same in each run: they follow from the seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit
    }

    /// Bytes that do not compress.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.number() as u8).collect()
    }
}

/// Another number, which looks random: no two numbers have the same one.
#[inline]
pub fn mix(number: u64) -> u64 {
    Random(number).number()
}
