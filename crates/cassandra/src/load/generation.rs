//! A generation: entries that are stored together, sorted by partition.

use std::ops::Range;
use std::sync::Arc;

use tonnage_engine::{Entries, StoredRun};

use crate::bucket::Bucket;
use crate::load::entry_result::EntryResult;
use crate::table::SpaceTable;

/// The most bytes and rows of a chunk: one batch of Cassandra.
const CHUNK_BYTES: usize = 64 << 10;
const CHUNK_ROWS: usize = 500;

/// What an entry costs besides its bytes: ends, position, expiry, origin, its place in the order.
const ENTRY_BYTES: usize = 80;

/// Where an entry came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushOrigin {
    /// The place of its space among those of the buffer.
    pub(crate) table: u32,
    pub(crate) stream: u32,
    pub(crate) bucket: Bucket,
    /// Taken when it was pushed.
    pub(crate) version: u64,
}

/// Entries in the order in which they were pushed.
#[derive(Default)]
pub(crate) struct EntryBuffer {
    entries: Entries,
    origins: Vec<PushOrigin>,
    tables: Vec<Arc<SpaceTable>>,
}

impl EntryBuffer {
    /// The position of a table, which is added if it is new.
    pub(crate) fn table(&mut self, table: &Arc<SpaceTable>) -> u32 {
        let known = self.tables.iter().position(|known| Arc::ptr_eq(known, table));
        let place = known.unwrap_or_else(|| {
            self.tables.push(Arc::clone(table));
            self.tables.len() - 1
        });
        place as u32
    }

    /// Copies an entry.
    pub(crate) fn push(&mut self, origin: PushOrigin, from: &Entries, index: usize) {
        let (key, value) = (from.key(index), from.value(index));
        self.entries.push(key, value, from.position(index), from.expires_at_ms(index));
        self.origins.push(origin);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// What the buffer may take up: twice what it holds, since its vectors grow by doubling.
    pub(crate) fn memory_bytes(&self) -> usize {
        (self.entries.bytes() + self.origins.len() * ENTRY_BYTES) * 2
    }
}

/// Entries by table, partition and key; equal keys in the order in which they were pushed.
pub(crate) struct Generation {
    buffer: EntryBuffer,
    order: Vec<u32>,
}

impl Generation {
    pub(crate) fn of(buffer: EntryBuffer) -> Self {
        let mut order: Vec<u32> = (0..buffer.origins.len() as u32).collect();
        let place = |index: u32| {
            let PushOrigin { table, bucket, .. } = buffer.origins[index as usize];
            (table, bucket)
        };
        let key = |index: u32| buffer.entries.key(index as usize);
        order.sort_unstable_by(|left, right| {
            place(*left)
                .cmp(&place(*right))
                .then_with(|| key(*left).cmp(key(*right)))
                .then_with(|| left.cmp(right))
        });
        Self { buffer, order }
    }

    /// The chunks: each of one partition, and all entries of a key in one of them.
    pub(crate) fn chunks(&self) -> Vec<Range<usize>> {
        let mut chunks = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for at in 0..self.order.len() {
            if at > start {
                let is_full = at - start >= CHUNK_ROWS || bytes >= CHUNK_BYTES;
                let is_other = !self.is_same_partition(at - 1, at);
                if is_other || (is_full && self.key(at - 1) != self.key(at)) {
                    chunks.push(start..at);
                    (start, bytes) = (at, 0);
                }
            }
            bytes += self.key(at).len() + self.value(at).len();
        }
        if start < self.order.len() {
            chunks.push(start..self.order.len());
        }
        chunks
    }

    fn is_same_partition(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.origin(left), self.origin(right));
        left.table == right.table && left.bucket == right.bucket
    }

    fn index(&self, at: usize) -> usize {
        self.order[at] as usize
    }

    pub(crate) fn origin(&self, at: usize) -> PushOrigin {
        self.buffer.origins[self.index(at)]
    }

    pub(crate) fn table(&self, at: usize) -> &Arc<SpaceTable> {
        &self.buffer.tables[self.origin(at).table as usize]
    }

    pub(crate) fn key(&self, at: usize) -> &[u8] {
        self.buffer.entries.key(self.index(at))
    }

    pub(crate) fn value(&self, at: usize) -> &[u8] {
        self.buffer.entries.value(self.index(at))
    }

    pub(crate) fn position(&self, at: usize) -> u64 {
        self.buffer.entries.position(self.index(at))
    }

    pub(crate) fn expires_at_ms(&self, at: usize) -> u64 {
        self.buffer.entries.expires_at_ms(self.index(at))
    }

    /// The entries of a chunk that are stored or overtaken, one run a stream.
    pub(crate) fn runs_stored(
        &self,
        chunk: &Range<usize>,
        results: &[EntryResult],
    ) -> Vec<StoredRun> {
        let mut runs: Vec<StoredRun> = Vec::new();
        for (at, result) in chunk.clone().zip(results) {
            // Entries that existed are reported one by one, and undecided ones not at all.
            if matches!(result, EntryResult::Existed | EntryResult::Undecided) {
                continue;
            }
            let stream = self.origin(at).stream;
            let place = runs.iter().rposition(|run| run.stream == stream).unwrap_or_else(|| {
                runs.push(StoredRun::none_of(stream));
                runs.len() - 1
            });
            let run = &mut runs[place];
            match result {
                EntryResult::Inserted => run.inserted += 1,
                EntryResult::Overtaken => run.overtaken += 1,
                _ => run.replaced += 1,
            }
            // Overtaken entries are counted, but no bytes of them were sent.
            if result.is_stored() {
                run.bytes += (self.key(at).len() + self.value(at).len()) as u64;
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use tonnage_engine::{KeyShape, SpaceId, SpaceInfo};

    use super::*;

    fn generation(rows: &[(u32, &[u8], &[u8])]) -> Generation {
        let mut buffer = EntryBuffer::default();
        let shape = KeyShape::new([]);
        let info = SpaceInfo { id: SpaceId(1), name: "t".into(), shape };
        let table = buffer.table(&Arc::new(SpaceTable::new("ks", info)));
        for (position, (bucket, key, value)) in (0..).zip(rows) {
            let mut one = Entries::new();
            one.push(key, value, position, 0);
            let origin = PushOrigin { table, stream: 0, bucket: Bucket(*bucket), version: 1 };
            buffer.push(origin, &one, 0);
        }
        Generation::of(buffer)
    }

    #[test]
    fn a_chunk_is_of_one_partition() {
        let rows: [(u32, &[u8], &[u8]); 4] =
            [(2, b"b", b""), (1, b"c", b""), (2, b"a", b""), (1, b"c", b"")];
        let generation = generation(&rows);
        assert_eq!(generation.chunks(), [0..2, 2..4]);
        let positions: Vec<u64> = (0..4).map(|at| generation.position(at)).collect();
        assert_eq!(positions, [1, 3, 2, 0]);
    }

    /// Two chunks of one key could be stored in either order.
    #[test]
    fn a_full_chunk_ends_where_a_key_ends() {
        let value = vec![7; CHUNK_BYTES];
        let rows: [(u32, &[u8], &[u8]); 3] =
            [(1, b"a", &value), (1, b"a", &value), (1, b"b", &value)];
        assert_eq!(generation(&rows).chunks(), [0..2, 2..3]);
    }
}
