//! What goes into a system and comes out of it: records, sources, and what bulk calls are told.

use tonnage::arrow::array::{Array, RecordBatch};
use tonnage::{Durability, Result};

/// What YCSB's records look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordShape {
    /// YCSB's default is `usertable`.
    pub(crate) table: String,
    /// Fields of a record, named `field0`, `field1` and so on.
    pub(crate) fields: usize,
    /// Bytes of a field at most.
    pub(crate) field_bytes: usize,
}

/// Fields end to end, in one buffer that is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Record {
    /// Forgets the fields, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn field(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.field(index))
    }
}

/// YCSB's records, batch after batch, made as they are asked for.
pub(crate) trait RecordSource: Send {
    /// Gives the next batch to `sink`, record by record. False, without a call, when there are no
    /// more.
    fn next_batch(&mut self, sink: &mut dyn FnMut(&str, &Record) -> Result<()>) -> Result<bool>;
}

/// Pairs, batch after batch, made as they are asked for. Where keys alone are wanted, values are
/// empty.
pub(crate) trait PairSource: Send {
    /// Gives the next batch to `sink`, pair by pair. False, without a call, when there are no more.
    #[expect(clippy::type_complexity, reason = "a name for it would hide what it takes")]
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool>;

    /// How many batches are left, where that is known.
    fn batches_left(&self) -> Option<usize> {
        None
    }
}

/// Rows or keys of a table, batch after batch, made as they are asked for.
pub(crate) type Rows = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a bulk put is fed with; each source is a stream of its own.
pub(crate) enum PutInput {
    Records(RecordShape, Vec<Box<dyn RecordSource>>),
    Pairs(Vec<Box<dyn PairSource>>),
    Rows(&'static str, Vec<Rows>),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// What a bulk get asks for.
pub(crate) enum GetKeys {
    Pairs(Box<dyn PairSource>),
    /// Rows of one table by whole or partial keys, as record batches of the key columns; rows of
    /// the child tables named come along.
    Rows(&'static str, Rows, &'static [&'static str]),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// How a bulk call is done.
#[derive(Clone)]
pub(crate) struct BulkOptions<'a> {
    /// What an acknowledged entry survives.
    pub(crate) durability: Durability,
    /// Memory that the call may take, by the system's own default when none.
    pub(crate) memory_bytes_max: Option<usize>,
    /// Requests in flight at most, by the system's own default when none: what the parallelism
    /// sweep turns.
    pub(crate) parallelism: Option<usize>,
    /// Whether entries are stored over whatever is there, without a look; else stored ones are
    /// kept, and counted.
    pub(crate) overwrite: bool,
    /// Is told of entries read or found, and their bytes, as the call goes on. Called from several
    /// threads.
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl<'a> BulkOptions<'a> {
    /// A call by the system's own defaults that keeps what is stored.
    pub(crate) fn new(
        durability: Durability,
        progress: &'a (dyn Fn(u64, u64) + Sync),
    ) -> BulkOptions<'a> {
        let (memory_bytes_max, parallelism, overwrite) = (None, None, false);
        BulkOptions { durability, memory_bytes_max, parallelism, overwrite, progress }
    }

    /// The same for a call that nobody looks at.
    pub(crate) fn quiet(durability: Durability) -> BulkOptions<'static> {
        BulkOptions::new(durability, &|_, _| {})
    }
}

/// What a bulk call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BulkDone {
    /// Entries stored, or rows found.
    pub(crate) rows: u64,
    /// Entries whose key was there before and that were left alone.
    pub(crate) existed: u64,
    pub(crate) failed: u64,
    /// Bytes of keys and values that went in or came out.
    pub(crate) bytes: u64,
}

impl BulkDone {
    /// Adds what another part of a call did.
    pub(crate) fn add(&mut self, part: &BulkDone) {
        self.rows += part.rows;
        self.existed += part.existed;
        self.failed += part.failed;
        self.bytes += part.bytes;
    }

    /// Counts what came out, and tells the caller.
    pub(super) fn count(&mut self, rows: u64, bytes: u64, options: &BulkOptions<'_>) {
        self.add(&BulkDone { rows, bytes, ..BulkDone::default() });
        (options.progress)(rows, bytes);
    }

    /// Likewise of a batch: the bytes of its values, without spare room in its buffers.
    pub(super) fn count_batch(&mut self, batch: &RecordBatch, options: &BulkOptions<'_>) {
        let bytes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
        let bytes: usize = bytes.map(|bytes| bytes.unwrap_or(0)).sum();
        self.count(batch.num_rows() as u64, bytes as u64, options);
    }
}
