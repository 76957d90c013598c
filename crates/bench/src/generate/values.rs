//! Values that cost next to nothing to make.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::mix;

/// Values of one length: slices of a buffer that is filled once, so that making them does not stand
/// beside what is measured.
///
/// They are printable ASCII, six random bits a byte: matchers such as LZ4 find nothing in them, an
/// entropy coder such as Zstandard's saves a quarter.
#[derive(Clone, Debug)]
pub struct ValueGenerator {
    buffer: Vec<u8>,
    value_bytes: usize,
}

impl ValueGenerator {
    /// Large enough that values in one block of a file seldom overlap, small enough for a core's
    /// own cache.
    const BUFFER_BYTES: usize = 1 << 20;
    /// Random bytes and equal ones take turns within so many bytes, so that every value gets its
    /// part of both.
    const TURN_BYTES: usize = 64;

    /// Values of `value_bytes` bytes of which the part `compressible`, from 0 to 1, is one byte
    /// again and again.
    pub fn new(value_bytes: usize, compressible: f64) -> Self {
        let mut random = SmallRng::seed_from_u64(mix(value_bytes as u64));
        let random_bytes =
            ((1.0 - compressible.clamp(0.0, 1.0)) * Self::TURN_BYTES as f64).round() as usize;
        let printable = |at: usize| match at % Self::TURN_BYTES < random_bytes {
            true => b'0' + random.random_range(0..64),
            false => b' ',
        };
        let buffer_bytes = Self::BUFFER_BYTES.max(value_bytes.saturating_mul(2));
        ValueGenerator { buffer: (0..buffer_bytes).map(printable).collect(), value_bytes }
    }

    /// The value of a row: always the same one for the same row.
    pub fn of(&self, row: u64) -> &[u8] {
        // Keys follow from `mix(row)`. If values did too, neighbours in key order would have slices
        // that overlap, and a file in key order would be compressed to a third.
        self.cut(mix(!row), self.value_bytes)
    }

    /// Some `len` bytes that depend on `seed` alone. Gives fewer when `len` is longer than the
    /// buffer.
    pub fn cut(&self, seed: u64, len: usize) -> &[u8] {
        let len = len.min(self.buffer.len());
        // The upper half of the product is below the number of places where a slice fits, without a
        // division.
        let places = (self.buffer.len() - len + 1) as u128;
        let start = ((u128::from(seed) * places) >> 64) as usize;
        &self.buffer[start..start + len]
    }
}
