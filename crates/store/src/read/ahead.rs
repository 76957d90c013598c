//! Bounds how much is read ahead of the reader.
//!
//! 1. A read of ranges begins with small batches. Each that its reader takes doubles those to come,
//!    up to what the options of the read allow.
//! 2. Batches that wait for their readers are counted in bytes, for all reads of a store together.
//!    The closer they come to their bound, the smaller are the batches that are read, down to the
//!    size with which a read begins.
//!
//! So many open, paused scans hold about the bound together, and a few small batches each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// With how many rows the batches of a read begin.
const FIRST_ROWS: usize = 1_024;
/// With how many bytes of keys and values.
const FIRST_BYTES: usize = 128 << 10;
/// How many times the batches of a read double, at most: more than any option allows.
const DOUBLINGS_MAX: usize = 20;
/// A batch takes at most this part of the bytes that are left.
const BATCHES_LEFT_MIN: usize = 8;

/// About how much a batch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchMax {
    pub(crate) rows: usize,
    /// Of keys and values.
    pub(crate) bytes: usize,
}

/// The batches of all reads of a store that wait for their readers.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl ReadAhead {
    /// What a store reads ahead by default.
    pub(crate) const BYTES_MAX: usize = 256 << 20;

    pub(crate) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, bytes: AtomicUsize::new(0) })
    }

    /// How much the next batch of a read holds, `most` at most, whose reader has taken so many.
    pub(crate) fn growing(&self, taken: usize, most: BatchMax) -> BatchMax {
        let doublings = taken.min(DOUBLINGS_MAX);
        let grown = BatchMax {
            rows: most.rows.min(FIRST_ROWS << doublings),
            bytes: most.bytes.min(FIRST_BYTES << doublings),
        };
        self.within_bound(grown)
    }

    /// The same for a read whose batches do not grow.
    pub(crate) fn within_bound(&self, most: BatchMax) -> BatchMax {
        let left = self.bytes_max.saturating_sub(self.bytes());
        BatchMax { bytes: most.bytes.min((left / BATCHES_LEFT_MIN).max(FIRST_BYTES)), ..most }
    }

    /// Counts a piece until it is taken.
    pub(crate) fn count_piece<T: ReadPiece>(self: &Arc<Self>, piece: T) -> CountedPiece<T> {
        let bytes = piece.bytes();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        CountedPiece { piece, _share: AheadShare { of: self.clone(), bytes } }
    }

    /// The bytes of all pieces that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// What a read hands over.
pub(crate) trait ReadPiece {
    /// The memory that it takes, about.
    fn bytes(&self) -> usize;
}

/// A piece that waits for its reader, and is counted meanwhile.
pub(crate) struct CountedPiece<T> {
    piece: T,
    _share: AheadShare,
}

impl<T> CountedPiece<T> {
    pub(crate) fn take(self) -> T {
        self.piece
    }

    pub(crate) fn piece(&self) -> &T {
        &self.piece
    }
}

struct AheadShare {
    of: Arc<ReadAhead>,
    bytes: usize,
}

impl Drop for AheadShare {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: BatchMax = BatchMax { rows: 8_192, bytes: 4 << 20 };

    impl ReadPiece for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn batches_double_with_each_one_taken_up_to_the_most() {
        let ahead = ReadAhead::new(ReadAhead::BYTES_MAX);
        let sizes = |taken| {
            let BatchMax { rows, bytes } = ahead.growing(taken, MOST);
            (rows, bytes >> 10)
        };
        assert_eq!(
            [0, 1, 2, 3].map(sizes),
            [(1_024, 128), (2_048, 256), (4_096, 512), (8_192, 1_024)]
        );
        assert_eq!(ahead.growing(5, MOST), MOST);
        assert_eq!(ahead.growing(usize::MAX, MOST), MOST);
        let small = BatchMax { rows: 10, bytes: 1_000 };
        assert_eq!(ahead.growing(0, small), small);
    }

    #[test]
    fn batches_shrink_as_those_that_wait_come_to_their_bound() {
        let ahead = ReadAhead::new(64 << 20);
        let bytes = || ahead.growing(9, MOST).bytes;
        assert_eq!(bytes(), 4 << 20);
        let first = ahead.count_piece(vec![0; 48 << 20]);
        assert_eq!(bytes(), 2 << 20);
        let second = ahead.count_piece(vec![0; 32 << 20]);
        assert_eq!(bytes(), FIRST_BYTES);
        assert_eq!(first.take().len(), 48 << 20);
        assert_eq!(bytes(), 4 << 20);
        drop(second);
        assert_eq!(ahead.bytes(), 0);
    }
}
