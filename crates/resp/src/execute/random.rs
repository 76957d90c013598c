//! Numbers by chance.

/// Numbers by chance, for commands that choose. They are not secrets.
pub(super) struct Chance(u64);

impl Chance {
    /// Begins with an unpredictable number.
    pub(super) fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // 0 would stay 0.
        Self(RandomState::new().hash_one(0_u8) | 1)
    }

    /// A number below `end`; 0 where there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.checked_rem(end).unwrap_or(0)
    }
}
