//! What is measured: a system that keeps records, behind one trait.
//!
//! A system is open and empty when a workload gets it. Two kinds of data go in and out:
//!
//! - **pairs**: a key and a value, both text or bytes without zero bytes in the key;
//! - **tables**: rows of a schema, as Arrow record batches in bulk and as [`Row`]s one by one.
//!
//! YCSB's records are a kind of their own, because every system keeps them in its own best way: a
//! key and some fields.

mod data;
mod embedded;
mod library;
mod raw;
mod remote;
mod spec;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use data::{
    BatchSource, BulkDone, BulkOptions, GetKeys, PairSource, PutInput, Record, RecordShape,
    RecordSource, Rows, TellRows,
};
pub use spec::SystemKind;
pub(crate) use spec::SystemSpec;
use tonnage::arrow::array::RecordBatch;
use tonnage::{Durability, Error, Result, Row};

/// What a system may or may not offer, beside YCSB's records and pairs, which all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Tables with bulk put and bulk get of rows, and partial keys.
    Tables,
    /// One call over several tables.
    MultiTable,
    /// Statements in a query language, and several in one call.
    Queries,
}

/// A system under test. Every method may be called from several threads; methods of a feature that
/// it does not offer answer `Unsupported`.
pub(crate) trait System: Send + Sync {
    /// Its name in reports: `tonnage-rocksdb`, `tonnage-memory`, `rocksdb`.
    fn name(&self) -> &str;

    /// How it is set up, as names and values for the report.
    fn settings(&self) -> Vec<(String, String)>;

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

    fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("{} does not offer {what}", self.name()))
    }
}

/// Takes batches of an answer.
pub(crate) type RowSink<'a> = dyn FnMut(&RecordBatch) -> Result<()> + 'a;

/// Takes batches of several answers, each with the number of its statement.
pub(crate) type AnswerSink<'a> = dyn FnMut(usize, &RecordBatch) -> Result<()> + 'a;

/// Fields of a record, one after the other.
pub(crate) type Fields<'i, 'f> = dyn ExactSizeIterator<Item = &'f [u8]> + 'i;

/// Records in key order, from a key on.
pub(crate) struct RecordScan<'a> {
    pub(crate) start: &'a str,
    /// So many at most.
    pub(crate) count: usize,
    /// All fields, or those asked for by number.
    pub(crate) fields: Option<&'a [usize]>,
}

/// A session of one thread: one record, pair or row at a time.
pub(crate) trait Client: Send {
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
pub(crate) struct Gauges {
    /// Bytes of data on disk.
    pub(crate) disk_bytes: u64,
    /// Bytes that compaction still has to rewrite.
    pub(crate) compaction_pending_bytes: u64,
    /// Whether writes are being slowed down or held up at this moment.
    pub(crate) stalled: bool,
}
