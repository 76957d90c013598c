//! Which stretches of the store were read before.
//!
//! To keep a block costs more than to read it from the operating system's cache, and most large
//! reads come once. So the blocks of a stretch go into the store's cache when it is read for the
//! second time.
//!
//! A read notes each boundary between stretches that lies among its keys. Reads that follow one
//! another, as those of a bulk get do, thus note each boundary once. The notes are bits under a hash:
//! they may err, and cost or save a little time then. When half of them are set all are forgotten.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tonnage_engine::SpaceId;

/// How many bytes of files lie between two boundaries: fewer than most reads cover.
const STRETCH_BYTES: u64 = 128 << 10;
/// 128 KiB of notes, for some 64 GiB of files.
const BITS_LOG2: u32 = 20;

/// What was read.
pub(crate) struct ReadHistory {
    bits: Box<[AtomicU64]>,
    set: AtomicUsize,
}

impl ReadHistory {
    pub(crate) fn new() -> Self {
        let bits = (0..1 << (BITS_LOG2 - 6)).map(|_| AtomicU64::new(0)).collect();
        Self { bits, set: AtomicUsize::new(0) }
    }

    /// Whether most of these bytes of a space's files were read before; notes that they are now. A
    /// read that is too small to tell counts as repeated.
    pub(super) fn is_repeated(&self, space: SpaceId, bytes: Range<u64>) -> bool {
        let boundaries = bytes.start.div_ceil(STRETCH_BYTES)..bytes.end.div_ceil(STRETCH_BYTES);
        let all = boundaries.end.saturating_sub(boundaries.start);
        let new = boundaries.filter(|boundary| self.note(space, *boundary)).count() as u64;
        if self.set.fetch_add(new as usize, Ordering::Relaxed) > 1 << (BITS_LOG2 - 1) {
            self.set.store(0, Ordering::Relaxed);
            self.bits.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
        }
        new * 2 <= all
    }

    /// Whether this was not noted yet.
    fn note(&self, space: SpaceId, boundary: u64) -> bool {
        let mixed = (boundary ^ u64::from(space.0) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = (mixed >> (64 - BITS_LOG2)) as usize;
        let bit = 1 << (place % 64);
        self.bits[place / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: SpaceId = SpaceId(7);

    #[test]
    fn a_stretch_is_repeated_when_it_is_read_again() {
        let history = ReadHistory::new();
        let reads = [0..3_000_000, 3_000_000..7_000_000, 7_000_000..7_200_000];
        for is_repeated in [false, true, true] {
            for read in reads.clone() {
                assert_eq!(history.is_repeated(SPACE, read), is_repeated);
            }
        }
        assert!(!history.is_repeated(SpaceId(8), 0..3_000_000), "another space");
        assert!(!history.is_repeated(SPACE, 6_000_000..9_000_000), "most of it is new");
        assert!(history.is_repeated(SPACE, 1_000_000..1_000_100), "too small to tell");
    }

    #[test]
    fn what_was_read_long_ago_is_forgotten() {
        let history = ReadHistory::new();
        let read = |number: u64| number << 30..(number + 1) << 30;
        assert!(!history.is_repeated(SPACE, read(0)));
        for number in 1..200 {
            history.is_repeated(SPACE, read(number));
        }
        assert!(!history.is_repeated(SPACE, read(0)));
    }
}
