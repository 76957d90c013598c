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
}

/// Fields end to end, in one buffer that is used again.
pub(crate) type Record = tonnage_engine::Slices;

/// Gives a batch of keys, each with what belongs to it, to the sink entry by entry, made as they are
/// asked for. False, without a call, when there are no more.
pub(crate) type BatchSource<V> = Box<dyn FnMut(&mut BatchSink<'_, V>) -> Result<bool> + Send>;

/// Takes a key and what belongs to it.
pub(crate) type BatchSink<'a, V> = dyn FnMut(&[u8], &V) -> Result<()> + 'a;

/// YCSB's records.
pub(crate) type RecordSource = BatchSource<Record>;

/// Pairs. Where keys alone are wanted, values are empty.
pub(crate) type PairSource = BatchSource<[u8]>;

/// Rows or keys of a table, batch after batch, made as they are asked for.
pub(crate) type Rows = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a bulk put is fed with; each source is a stream of its own.
pub(crate) enum PutInput {
    Records(RecordShape, Vec<RecordSource>),
    Pairs(Vec<PairSource>),
    Rows(&'static str, Vec<Rows>),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// What a bulk get asks for.
pub(crate) enum GetKeys {
    /// Pairs, with the number of batches where it is known.
    Pairs(PairSource, Option<usize>),
    /// Rows of one table by whole or partial keys, as record batches of the key columns; rows of
    /// the child tables named come along.
    Rows(&'static str, Rows, &'static [&'static str]),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// Is told of rows that go by, and their bytes.
pub(crate) type TellRows<'a> = &'a (dyn Fn(u64, u64) + Sync);

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
    pub(crate) progress: TellRows<'a>,
}

impl<'a> BulkOptions<'a> {
    /// A call by the system's own defaults that keeps what is stored.
    pub(crate) fn new(durability: Durability, progress: TellRows<'a>) -> BulkOptions<'a> {
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
