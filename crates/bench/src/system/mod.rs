//! What is measured: a system that keeps records, behind one trait.
//!
//! A system is open and empty when a workload gets it. Two kinds of data go in and out:
//!
//! - **pairs**: a key and a value, both text or bytes without zero bytes in the key;
//! - **tables**: rows of a schema, as Arrow record batches in bulk and as [`Row`]s one by one.
//!
//! YCSB's records are a kind of their own, because every system keeps them in its own best way: a
//! key and some fields.

mod budget;
mod bulk_put;
mod done;
mod embedded;
#[cfg(test)]
pub(crate) mod fake;
mod feeds;
mod raw;
mod remote;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::{SystemKind, SystemSpec};
use tonnage::arrow::array::RecordBatch;
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
    /// Durability [`Durability::Fsync`], and through it data that outlives the process.
    Durable,
}

/// A system under test.
///
/// Every method may be called from several threads.
pub trait System: Send + Sync {
    /// Its name in reports: `tonnage-rocksdb`, `tonnage-memory`, `rocksdb`.
    fn name(&self) -> &str;

    /// How it is set up, as names and values for the report.
    fn settings(&self) -> Vec<(String, String)>;

    /// Whether it offers a feature. Methods of one that it does not offer answer `Unsupported`.
    fn offers(&self, feature: Feature) -> bool;

    /// Makes a place for YCSB's records.
    fn create_records(&self, shape: &RecordShape) -> Result<()>;

    /// Opens a session for one thread.
    fn client(&self) -> Result<Box<dyn Client + '_>>;

    /// Puts YCSB's records in bulk: what the load phase does with `bulk`.
    fn bulk_put_records(
        &self,
        shape: &RecordShape,
        sources: Vec<Box<dyn RecordSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone>;

    /// Puts pairs in bulk, source by source side by side. When it returns, what was put is as
    /// durable as asked for.
    fn bulk_put_pairs(
        &self,
        sources: Vec<Box<dyn PairSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone>;

    /// Gets pairs in bulk by whole keys.
    fn bulk_get_pairs(&self, keys: Box<dyn KeySource>, options: &BulkOptions) -> Result<BulkDone>;

    /// Runs a statement of the schema language, such as `CREATE TABLE`.
    fn define(&self, statement: &str) -> Result<()> {
        let _ = statement;
        Err(self.unsupported("tables"))
    }

    /// Puts rows of one table in bulk.
    fn bulk_put_rows(
        &self,
        table: &str,
        sources: Vec<Box<dyn RowSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        let _ = (table, sources, options);
        Err(self.unsupported("tables"))
    }

    /// Gets rows of one table by whole or partial keys, as record batches of the key columns;
    /// `children` names child tables whose rows come along.
    fn bulk_get_rows(
        &self,
        table: &str,
        keys: Box<dyn RowSource>,
        children: &[&str],
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        let _ = (table, keys, children, options);
        Err(self.unsupported("tables"))
    }

    /// Puts rows of several tables in one call.
    fn multi_put(
        &self,
        rows: Vec<(String, RecordBatch)>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        let _ = (rows, options);
        Err(self.unsupported("calls over several tables"))
    }

    /// Gets rows of several tables by their keys in one call.
    fn multi_get(
        &self,
        keys: Vec<(String, RecordBatch)>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        let _ = (keys, options);
        Err(self.unsupported("calls over several tables"))
    }

    /// Runs statements in one call and hands the batches of their answers to `sink`, each with the
    /// number of its statement.
    fn multi_query(
        &self,
        statements: &[&str],
        sink: &mut dyn FnMut(usize, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let _ = (statements, sink);
        Err(self.unsupported("queries"))
    }

    /// Makes everything put so far durable.
    fn sync(&self) -> Result<()>;

    /// Waits until background work has nothing left to do.
    fn settle(&self) -> Result<()>;

    /// A reading of its inner state, for the series by second.
    fn gauges(&self) -> Result<Gauges>;

    /// The answer to what is not offered.
    fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("{} does not offer {what}", self.name()))
    }
}

/// A session of one thread: one record, pair or row at a time.
pub trait Client: Send {
    /// Reads a record: all its fields, or those asked for by number. Gives whether it is there; its
    /// fields stand in `into`.
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool>;

    /// Stores a whole record, new or not.
    fn insert(&mut self, key: &str, record: &Record) -> Result<()>;

    /// Changes some fields of a record, by number. Gives whether it is there.
    fn update(&mut self, key: &str, fields: &[usize], values: &Record) -> Result<bool>;

    /// Reads up to `count` records in key order, from a key on. Gives how many came.
    fn scan(
        &mut self,
        start: &str,
        count: usize,
        fields: Option<&[usize]>,
        into: &mut Record,
    ) -> Result<usize>;

    /// Deletes a record. Gives whether it was there.
    fn delete(&mut self, key: &str) -> Result<bool>;

    /// Stores a pair, new or not.
    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()>;

    /// Reads a pair. Gives the bytes of its value, or nothing if it is not there.
    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>>;

    /// Stores a row, new or not.
    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        let _ = (table, row, durability);
        Err(Error::unsupported("this target does not offer tables"))
    }

    /// Gets the rows of a whole or partial key, and of the child tables named. Gives how many rows
    /// came.
    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        let _ = (table, key, children);
        Err(Error::unsupported("this target does not offer tables"))
    }

    /// Runs a statement and hands the batches of its answer to `sink`.
    fn query(
        &mut self,
        statement: &str,
        sink: &mut dyn FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let _ = (statement, sink);
        Err(Error::unsupported("this target does not offer queries"))
    }
}

/// What YCSB's records look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// The table's name; YCSB's default is `usertable`.
    pub table: String,
    /// Fields of a record, named `field0`, `field1` and so on.
    pub fields: usize,
    /// Bytes of a field, for sizing buffers; fields may be shorter.
    pub field_bytes: usize,
}

/// The fields of a record end to end, in one buffer that is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl BulkDone {
    /// Adds what another part of a call did.
    pub(crate) fn add(&mut self, part: &BulkDone) {
        self.rows += part.rows;
        self.existed += part.existed;
        self.failed += part.failed;
        self.bytes += part.bytes;
    }
}

impl Record {
    /// Forgets the fields, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends a field.
    pub fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.ends.push(self.bytes.len());
    }

    /// Appends a field of `len` bytes that `fill` writes.
    pub fn push_with(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) {
        let start = self.bytes.len();
        self.bytes.resize(start + len, 0);
        fill(&mut self.bytes[start..]);
        self.ends.push(self.bytes.len());
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A field. Panics when there is none of that number.
    pub fn field(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// All fields in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.field(index))
    }

    /// All fields, end to end.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// YCSB's records, batch after batch, made as they are asked for.
pub trait RecordSource: Send {
    /// Gives the next batch to `sink`, record by record. False, without a call, when there are no
    /// more.
    fn next_batch(&mut self, sink: &mut dyn FnMut(&str, &Record) -> Result<()>) -> Result<bool>;
}

/// Pairs, batch after batch, made as they are asked for.
pub trait PairSource: Send {
    /// Gives the next batch to `sink`, pair by pair. False, without a call, when there are no more.
    #[expect(clippy::type_complexity, reason = "a name for it would hide what it takes")]
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool>;
}

/// Keys of pairs, batch after batch, made as they are asked for.
pub trait KeySource: Send {
    /// Gives the next batch to `sink`, key by key. False, without a call, when there are no more.
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool>;

    /// How many batches are left, where that is known.
    fn batches_left(&self) -> Option<usize> {
        None
    }
}

/// Rows or keys of a table, batch after batch, made as they are asked for.
pub trait RowSource: Send {
    /// The next batch, or nothing when there are no more.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;
}

impl<I: Iterator<Item = RecordBatch> + Send> RowSource for I {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.next())
    }
}

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
    /// Is told of entries read or found, and their bytes, as the call goes on. Called from several
    /// threads.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// What a bulk call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkDone {
    /// Entries stored, or rows found.
    pub rows: u64,
    /// Entries whose key was there before and that were left alone.
    pub existed: u64,
    /// Entries that failed.
    pub failed: u64,
    /// Bytes of keys and values that went in or came out.
    pub bytes: u64,
}

/// A reading of a system's inner state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Bytes of data on disk.
    pub disk_bytes: u64,
    /// Bytes of memory that hold recent writes.
    pub memtable_bytes: u64,
    /// Bytes of memory that cache blocks.
    pub cache_bytes: u64,
    /// Bytes that compaction still has to rewrite.
    pub compaction_pending_bytes: u64,
    /// Whether writes are being slowed down or held up at this moment.
    pub stalled: bool,
}
