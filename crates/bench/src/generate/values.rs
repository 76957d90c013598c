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
pub(crate) struct ValueGenerator {
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
    pub(crate) fn new(value_bytes: usize, compressible: f64) -> Self {
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
    pub(crate) fn of(&self, row: u64) -> &[u8] {
        // Keys follow from `mix(row)`. If values did too, neighbours in key order would have slices
        // that overlap, and a file in key order would be compressed to a third.
        self.cut(mix(!row), self.value_bytes)
    }

    /// Some `len` bytes that depend on `seed` alone. Gives fewer when `len` is longer than the
    /// buffer.
    pub(crate) fn cut(&self, seed: u64, len: usize) -> &[u8] {
        let len = len.min(self.buffer.len());
        // The upper half of the product is below the number of places where a slice fits, without a
        // division.
        let places = (self.buffer.len() - len + 1) as u128;
        let start = ((u128::from(seed) * places) >> 64) as usize;
        &self.buffer[start..start + len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_always_has_the_same_value() {
        let [first, second] = [ValueGenerator::new(100, 0.0), ValueGenerator::new(100, 0.0)];
        assert!((0..1000).all(|row| first.of(row) == second.of(row)));
        assert_ne!(first.of(1), first.of(2));
    }

    #[test]
    fn neighbours_in_key_order_have_values_of_their_own() {
        let values = ValueGenerator::new(100, 0.0);
        let mut rows: Vec<u64> = (0..100_000).collect();
        rows.sort_unstable_by_key(|row| mix(*row));
        let start = |row: u64| values.of(row).as_ptr() as usize;
        let overlapping =
            rows.windows(2).filter(|pair| start(pair[0]).abs_diff(start(pair[1])) < 100).count();
        // Two slices drawn from a mebibyte overlap in 2 of 10,000 cases.
        assert!(overlapping < 60, "{overlapping}");
    }

    #[test]
    fn values_have_their_length_and_are_printable() {
        for value_bytes in [0, 1, 100, 3 << 20] {
            let value = ValueGenerator::new(value_bytes, 0.3).of(42).to_vec();
            assert_eq!(value.len(), value_bytes);
            assert!(value.iter().all(|byte| (b' '..0x7f).contains(byte)), "{value_bytes}");
        }
    }

    #[test]
    fn as_much_as_was_asked_for_is_compressible() {
        for compressible in [0.0, 0.25, 0.5, 1.0] {
            let values = ValueGenerator::new(1000, compressible);
            let equal = values.of(3).iter().filter(|&&byte| byte == b' ').count() as f64 / 1000.0;
            assert!((equal - compressible).abs() < 0.05, "{equal} at {compressible}");
        }
    }
}
