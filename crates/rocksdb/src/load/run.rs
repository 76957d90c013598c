//! Runs in memory: entries as they come in, then sorted.

use super::lane::Lane;
use super::record::{LoadRecord, NewRecord, Precedence, common_len};
use super::sort::{SORT_BYTES_PER_RECORD, sorted_offsets};

/// What a run allocates first; it then doubles.
const FIRST_BYTES: usize = 64 << 10;

/// Entries of one lane, in the order in which they were pushed.
#[derive(Debug)]
pub(super) struct RunBuffer {
    pub(super) lane: Lane,
    arena: Vec<u8>,
    records: usize,
    /// Where the first key begins.
    first_key: usize,
    /// How many leading bytes all keys so far share with the first.
    common: usize,
    bytes_max: usize,
}

impl RunBuffer {
    /// An empty run, full when it needs about `bytes_max` of memory.
    pub(super) fn new(lane: Lane, bytes_max: usize) -> Self {
        Self { lane, arena: Vec::new(), records: 0, first_key: 0, common: 0, bytes_max }
    }

    /// Whether there is no room for `record`. An empty run has room for anything.
    #[inline]
    pub(super) fn is_full_for(&self, record: &NewRecord<'_>) -> bool {
        self.records > 0
            && self.bytes() + record.encoded_len_max() + SORT_BYTES_PER_RECORD > self.bytes_max
    }

    /// Copies an entry into the run.
    #[inline]
    pub(super) fn push(&mut self, record: &NewRecord<'_>) {
        self.make_room(record.encoded_len_max());
        let key = record.append_to(&mut self.arena);
        if self.records == 0 {
            (self.first_key, self.common) = (key.start, key.len());
        } else {
            self.common = common_len(
                &self.arena[self.first_key..self.first_key + self.common],
                &self.arena[key],
            );
        }
        self.records += 1;
    }

    /// Grows by doubling, but never past what the run may hold unless one entry alone is larger.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        let needed = self.arena.len() + bytes;
        if needed > self.arena.capacity() {
            let capacity =
                (2 * self.arena.capacity()).max(FIRST_BYTES).min(self.bytes_max).max(needed);
            self.arena.reserve_exact(capacity - self.arena.len());
        }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.records
    }

    /// The memory that the run needs until it is sorted.
    pub(super) fn bytes(&self) -> usize {
        self.arena.len() + self.records * SORT_BYTES_PER_RECORD
    }

    /// Sorts the run.
    pub(super) fn sort(self, precedence: Precedence) -> SortedRun {
        let offsets = sorted_offsets(&self.arena, self.records, self.common, precedence);
        SortedRun { lane: self.lane, arena: self.arena, offsets }
    }
}

/// Entries of one lane, sorted by key; of equal keys the one to be stored comes first.
#[derive(Debug)]
pub(super) struct SortedRun {
    pub(super) lane: Lane,
    arena: Vec<u8>,
    offsets: Vec<u32>,
}

impl SortedRun {
    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The bytes of all records.
    pub(super) fn bytes(&self) -> u64 {
        self.arena.len() as u64
    }

    /// The entry at `index`.
    #[inline]
    pub(super) fn record(&self, index: usize) -> LoadRecord<'_> {
        LoadRecord::at(&self.arena, self.offsets[index] as usize)
    }

    /// The bytes that offsets point into.
    pub(super) fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// Where each record starts, in order.
    pub(super) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The index of the first entry whose key is not less than `key`.
    pub(super) fn lower_bound(&self, key: &[u8]) -> usize {
        self.offsets
            .partition_point(|offset| LoadRecord::at(&self.arena, *offset as usize).key < key)
    }
}
