//! What is measured: a system that keeps records, behind one trait.
//!
//! A system is open and empty when a workload gets it. Two kinds of data go in and out:
//!
//! - **pairs**: a key and a value, both text or bytes without zero bytes in the key;
//! - **tables**: rows of a schema, as Arrow record batches in bulk and as [`Row`]s one by one.
//!
//! YCSB's records are a kind of their own, because every system keeps them in its own best way: a
//! key and some fields.

mod embedded;
mod kind;
mod library;
mod loopback_server;
mod open;
mod raw;
mod redis;
mod remote;
mod spec;
mod target;

pub use kind::SystemKind;
pub use spec::SystemSpec;
pub use target::Target;
use tonnage::arrow::array::{Array, RecordBatch};
use tonnage::{Durability, Error, Result, Row};

/// What a system may or may not offer, beside YCSB's records and pairs, which all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Tables with bulk put and bulk get of rows, and partial keys.
    Tables,
    /// One call over several tables.
    MultiTable,
    /// Statements in a query language, and several in one call.
    Queries,
}

/// A system under test. Every method may be called from several threads; methods of a feature that
/// it does not offer answer `Unsupported`.
pub trait System: Send + Sync {
    /// Its name in reports: `tonnage-rocksdb`, `rocksdb`, or the address of a server.
    fn name(&self) -> &str;

    /// How it is set up, as names and values for the report.
    fn settings(&self) -> Vec<(String, String)>;

    /// Whether it offers a feature.
    fn offers(&self, feature: Feature) -> bool;

    /// Makes a place for YCSB's records.
    fn create_records(&self, shape: &RecordShape) -> Result<()>;

    /// Opens a session for one thread.
    fn client(&self) -> Result<Box<dyn Client + '_>>;

    /// Puts in bulk, source by source side by side. When it returns, what was put is as durable as
    /// asked for.
    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone>;

    /// Gets in bulk.
    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone>;

    /// Runs a statement of the schema language, such as `CREATE TABLE`.
    fn define(&self, _statement: &str) -> Result<()> {
        Err(self.unsupported("tables"))
    }

    /// Runs a statement and hands the batches of its answer to `sink`.
    fn query(&self, _statement: &str, _sink: &mut RowSink<'_>) -> Result<()> {
        Err(self.unsupported("queries"))
    }

    /// Runs statements in one call and hands the batches of their answers to `sink`, each with the
    /// number of its statement.
    fn multi_query(&self, _statements: &[&str], _sink: &mut AnswerSink<'_>) -> Result<()> {
        Err(self.unsupported("queries"))
    }

    /// Makes everything put so far durable.
    fn sync(&self) -> Result<()>;

    /// Waits until background work has nothing left to do.
    fn settle(&self) -> Result<()>;

    /// A reading of its inner state, for the series by second.
    fn gauges(&self) -> Result<Gauges>;

    /// The error for a feature that it does not offer.
    fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("{} does not offer {what}", self.name()))
    }
}

/// Takes batches of an answer.
pub type RowSink<'a> = dyn FnMut(&RecordBatch) -> Result<()> + 'a;

/// Takes batches of several answers, each with the number of its statement.
pub type AnswerSink<'a> = dyn FnMut(usize, &RecordBatch) -> Result<()> + 'a;

/// Fields of a record, one after the other.
pub type Fields<'i, 'f> = dyn ExactSizeIterator<Item = &'f [u8]> + 'i;

/// Records in key order, from a key on.
pub struct RecordScan<'a> {
    /// The least key.
    pub start: &'a str,
    /// So many at most.
    pub count: usize,
    /// All fields, or those asked for by number.
    pub fields: Option<&'a [usize]>,
}

/// A session of one thread: one record, pair or row at a time.
pub trait Client: Send {
    /// Reads a record: all its fields, or those asked for by number. Gives whether it is there; its
    /// fields stand in `into`.
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool>;

    /// Stores a whole record, new or not.
    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()>;

    /// Changes some fields of a record, by number. Gives whether it is there. Reads the record,
    /// merges it and puts it whole, as YCSB's own binding for RocksDB does; `current` is the
    /// buffer.
    fn update(
        &mut self,
        key: &str,
        fields: &[usize],
        values: &Record,
        current: &mut Record,
    ) -> Result<bool> {
        let found = self.read(key, None, current)?;
        if found {
            let mut merged = current.iter().enumerate().map(|(number, old)| {
                let new = fields.iter().position(|field| *field == number);
                new.map_or(old, |place| values.get(place))
            });
            self.insert(key, &mut merged)?;
        }
        Ok(found)
    }

    /// Reads records in key order. Gives how many came.
    fn scan(&mut self, scan: &RecordScan<'_>, into: &mut Record) -> Result<usize>;

    /// Stores a pair, new or not.
    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()>;

    /// Reads a pair. Gives the bytes of its value, or nothing if it is not there.
    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>>;

    /// Stores a row, new or not.
    fn put_row(&mut self, _table: &str, _row: &Row, _durability: Durability) -> Result<()> {
        Err(Error::unsupported("this target does not offer tables"))
    }

    /// Gets the rows of a whole or partial key, and of the child tables named. Gives how many rows
    /// came.
    fn get_rows(&mut self, _table: &str, _key: &Row, _children: &[&str]) -> Result<u64> {
        Err(Error::unsupported("this target does not offer tables"))
    }
}

/// A reading of a system's inner state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    /// Bytes of data on disk.
    pub disk_bytes: u64,
    /// Bytes that compaction still has to rewrite.
    pub compaction_pending_bytes: u64,
    /// Whether writes are being slowed down or held up at this moment.
    pub stalled: bool,
}

/// What YCSB's records look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// YCSB's default is `usertable`.
    pub table: String,
    /// Fields of a record, named `field0`, `field1` and so on.
    pub fields: usize,
}

/// Fields end to end, in one buffer that is used again.
pub type Record = tonnage_engine::Slices;

/// Gives a batch of keys, each with what belongs to it, to the sink entry by entry, made as it is
/// asked for. False, without a call, when there are no more.
pub type BatchSource<V> = Box<dyn FnMut(&mut BatchSink<'_, V>) -> Result<bool> + Send>;

/// Takes a key and what belongs to it.
pub type BatchSink<'a, V> = dyn FnMut(&[u8], &V) -> Result<()> + 'a;

/// YCSB's records.
pub type RecordSource = BatchSource<Record>;

/// Pairs. Where keys alone are wanted, values are empty.
pub type PairSource = BatchSource<[u8]>;

/// Rows or keys of a table, batch after batch, made as they are asked for.
pub type Rows = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a bulk put is fed with; each source is a stream of its own.
pub enum PutInput {
    /// YCSB's records.
    Records(RecordShape, Vec<RecordSource>),
    /// Pairs.
    Pairs(Vec<PairSource>),
    /// Rows of one table.
    Rows(&'static str, Vec<Rows>),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// What a bulk get asks for.
pub enum GetKeys {
    /// Pairs, with the number of batches where it is known.
    Pairs(PairSource, Option<usize>),
    /// Rows of one table by whole or partial keys, as record batches of the key columns; rows of
    /// the child tables named come along.
    Rows(&'static str, Rows, &'static [&'static str]),
    /// Rows of several tables in one call.
    Tables(Vec<(String, RecordBatch)>),
}

/// Is told of rows that go by, and their bytes.
pub type TellRows<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// How a bulk call is done.
#[derive(Clone)]
pub struct BulkOptions<'a> {
    /// What an acknowledged entry survives.
    pub durability: Durability,
    /// Memory that the call may take, by the system's own default when none.
    pub memory_bytes_max: Option<usize>,
    /// Requests in flight at most, by the system's own default when none: what the parallelism
    /// sweep turns.
    pub parallelism: Option<usize>,
    /// Whether entries are stored over whatever is there, without a look; else stored ones are
    /// kept, and counted.
    pub overwrite: bool,
    /// Is told of entries read or found, and their bytes, as the call continues. Called from
    /// several threads.
    pub progress: TellRows<'a>,
}

impl<'a> BulkOptions<'a> {
    /// A call by the system's own defaults that keeps what is stored.
    pub fn new(durability: Durability, progress: TellRows<'a>) -> BulkOptions<'a> {
        let (memory_bytes_max, parallelism, overwrite) = (None, None, false);
        BulkOptions { durability, memory_bytes_max, parallelism, overwrite, progress }
    }

    /// The same for a call that nobody looks at.
    pub fn quiet(durability: Durability) -> BulkOptions<'static> {
        BulkOptions::new(durability, &|_, _| {})
    }
}

/// What a bulk call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkDone {
    /// Entries stored, or rows found.
    pub rows: u64,
    /// Entries whose key was there before and that were left alone.
    pub existed: u64,
    /// Entries that were refused.
    pub failed: u64,
    /// Bytes of keys and values that went in or came out.
    pub bytes: u64,
}

impl BulkDone {
    /// Adds what another part of a call did.
    pub fn add(&mut self, part: &BulkDone) {
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
