//! A table: single rows, atomic groups of rows, and the way to bulk reads.

pub(crate) mod column_parts;
mod conditional;
mod delete;
mod exchange;
mod many;
mod session;
mod update;
mod write;

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Condition, Deadline, Engine, Error, Part, Ranges, Result, Rows, Slices, WriteBatch,
};

use column_parts::{kept_rows, open_parts};
pub(crate) use conditional::{judge_and_write, write_each};
pub use delete::{DeleteOptions, DeleteReport};
pub use exchange::ExchangeResult;
pub use session::{RowScan, RowSession};
pub use write::RowOperation;
pub(crate) use write::atomic_write;

use crate::bulk::get::{BulkGet, BulkGetOptions, KeySource, TableScanOptions};
use crate::catalog::{TableEntry, unknown_index};
use crate::codec::FieldRange;
use crate::columns::{ColumnPart, ColumnRange, ColumnSnapshot};
use crate::geo::{Coordinates, Region};
use crate::index::{Index, IndexScanOptions, NearbyRows, RowsWithin};
use crate::inner::Inner;
use crate::row::Row;
use crate::schema::TableSchema;
use crate::single_calls::{GetOptions, StoredRow, WriteOptions, WriteResult};
use crate::terms::check_timeout;

/// A handle on a table. It keeps the schema that the table had when the handle was opened, whatever
/// ALTER TABLE does since: rows written through an older handle stay readable, and an older handle
/// gives newer rows in its own view. A column that was dropped since holds its default, or NULL, in
/// rows written after that; where it may not be NULL they are a `Conflict`.
#[derive(Clone)]
pub struct Table {
    store: Arc<Inner>,
    entry: Arc<TableEntry>,
}

impl Table {
    pub(crate) fn new(store: Arc<Inner>, entry: Arc<TableEntry>) -> Self {
        Self { store, entry }
    }

    /// The table's path, such as `phones.images`.
    pub fn path(&self) -> &str {
        &self.entry.schema.path
    }

    /// The table's columns and keys.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.entry.schema
    }

    /// Schema, codec and space of the table.
    pub fn entry(&self) -> &Arc<TableEntry> {
        &self.entry
    }

    /// Stores a row, over one with the same key if there is one. Gives its version.
    ///
    /// # Errors
    /// `Invalid` for a row that does not fit, naming the column.
    pub fn put(&self, row: &Row, options: &WriteOptions) -> Result<u64> {
        let written = self.put_if(row, Condition::Always, options)?;
        written.version().ok_or_else(|| Error::internal("a put without a condition was refused"))
    }

    /// Stores a row if there is none with its key.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put_if_absent(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.put_if(row, Condition::IfAbsent, options)
    }

    /// Stores a row if there is one with its key.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put_if_present(&self, row: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.put_if(row, Condition::IfPresent, options)
    }

    /// Stores a row if the one with its key has this version.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put_if_version(
        &self,
        row: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(row, Condition::IfVersion(version), options)
    }

    /// Stores a row if a condition holds of the one with its key. [`Table::put`] and the
    /// `put_if_...` are this with a condition each.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Condition, Row, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE ships (name STRING, speed DOUBLE, PRIMARY KEY (name))")?;
    /// let ships = store.table("ships")?;
    /// let ship = |speed: f64| Row::new().with("name", "ARGO").with("speed", speed);
    /// let now = WriteOptions::default();
    /// let put = |speed, condition| ships.put_if(&ship(speed), condition, &now);
    /// let first = put(7.5, Condition::IfAbsent)?.version().expect("there was none");
    /// assert!(put(8.0, Condition::IfVersion(first))?.is_stored());
    /// assert!(!put(8.5, Condition::IfVersion(first))?.is_stored());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put_if(
        &self,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        options.check(self.store.engine.capability())?;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let (row, _) = self.store.with_generated_values(&self.entry, row, condition)?;
        self.entry.codec.encode_row(&row, &mut key, &mut value)?;
        if options.keep_ttl {
            return Ok(self.exchange(&key, Some(&value), condition, options)?.result);
        }
        let mut batch = WriteBatch::new(self.entry.space);
        batch.put(&key, &value, self.store.write_expiry_ms(&self.entry, options), condition);
        Ok(self
            .store
            .write_rows(&batch, std::slice::from_ref(&self.entry), options.terms())?
            .into())
    }

    /// Deletes the row with this key. Returns whether there was one. Rows of child tables stay.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn delete(&self, key: &Row, options: &WriteOptions) -> Result<bool> {
        Ok(self.delete_if(key, Condition::IfPresent, options)?.version().is_some())
    }

    /// Deletes the row with this key if it has this version.
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete_if_version(
        &self,
        key: &Row,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.delete_if(key, Condition::IfVersion(version), options)
    }

    /// Deletes the row with this key if a condition holds of it. Without one, deleting a row that
    /// is not there is carried out, too.
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete_if(
        &self,
        key: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        options.check(self.store.engine.capability())?;
        let mut bytes = Vec::new();
        if !self.entry.codec.lookup_key(key, &mut bytes)? {
            return Ok(WriteResult::ConditionFailed { operation: 0, current: None });
        }
        let mut batch = WriteBatch::new(self.entry.space);
        batch.delete(&bytes, condition);
        Ok(self
            .store
            .write_rows(&batch, std::slice::from_ref(&self.entry), options.terms())?
            .into())
    }

    /// The row with this key. Columns outside the key may be named too; they are not looked at. A
    /// value that its column would have to round is the key of no row.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole, naming the column, and for a column that the table
    /// does not have.
    pub fn get(&self, key: &Row) -> Result<Option<StoredRow>> {
        self.get_by(&**self.store.reader(None), key, Deadline::NONE)
    }

    fn get_by(
        &self,
        engine: &dyn Engine,
        key: &Row,
        deadline: Deadline,
    ) -> Result<Option<StoredRow>> {
        let mut bytes = Vec::new();
        if !self.entry.codec.lookup_key(key, &mut bytes)? {
            return Ok(None);
        }
        let keys: Slices = [&bytes[..]].into_iter().collect();
        self.stored(engine, &keys, deadline, &mut Rows::new())
    }

    /// The same with a consistency and a deadline.
    ///
    /// # Errors
    /// As [`Table::get`]; `TimedOut`; `Invalid` for a consistency that no read can keep to.
    pub fn get_with(&self, key: &Row, options: &GetOptions) -> Result<Option<StoredRow>> {
        let deadline = options.checked_deadline()?;
        self.get_by(&**self.store.reader(options.consistency), key, deadline)
    }

    /// When a row of that version was written, in milliseconds since 1970: exact to about 100 ms, of
    /// old rows to about an 8,000th of their age. 0 where that is not known: the store kept no times
    /// then ([`Store::keep_write_times`](crate::Store::keep_write_times)).
    pub fn written_ms(&self, row: &Row, version: u64) -> u64 {
        let engine = &*self.store.engine;
        let shard = || {
            let mut key = Vec::new();
            let encoded = self.entry.codec.encode_key(row, &mut key);
            let shape = self.entry.schema.key_shape();
            let len = encoded.and_then(|()| shape.shard_key_len(&key)).unwrap_or(0);
            engine.shard_of(&key[..len])
        };
        self.store.version_clock.written_ms(engine, shard, version)
    }

    /// A session for one thread that reads and writes row after row: it keeps its memory, so that
    /// no row costs an allocation for each of its columns.
    pub fn session(&self) -> RowSession {
        RowSession::new(self.store.clone(), self.entry.clone())
    }

    /// An index of the table.
    ///
    /// # Errors
    /// `NotFound`, naming the indexes that there are.
    pub fn index(&self, name: &str) -> Result<Index> {
        let indexes = self.indexes()?;
        let found = indexes.into_iter().find(|index| index.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| unknown_index(&self.entry, name))
    }

    /// All indexes of the table, in the order of their creation.
    ///
    /// # Errors
    /// `NotFound` when the table was dropped.
    pub fn indexes(&self) -> Result<Vec<Index>> {
        // Not the entry of this handle: an index may be on a column that came later.
        let entry = self.store.catalog.table(self.path())?;
        let set = entry.indexes.set();
        Ok(set
            .indexes
            .iter()
            .map(|index| Index::new(self.store.clone(), entry.clone(), index.clone()))
            .collect())
    }

    /// The index that finds rows by their places: one that begins with `geo_cell(lon, lat)`, of
    /// several the one with the finest cells.
    ///
    /// # Errors
    /// `NotFound` where there is none, with the statement that makes one.
    pub fn place_index(&self) -> Result<Index> {
        let level = |index: &Index| Some(index.columns().first()?.cells.as_ref()?.level);
        let indexes = self.indexes()?.into_iter().filter(|index| level(index).is_some());
        // One that is being built is better than none: its error says so.
        let best = indexes.max_by_key(|index| (index.is_ready(), level(index)));
        best.ok_or_else(|| {
            let path = self.path();
            Error::not_found(format!(
                "table {path} has no index on places: make one with CREATE INDEX ON {path} (geo_cell(lon, lat)), longitude first"
            ))
        })
    }

    /// [`Index::nearest`] of the [index on places](Table::place_index).
    ///
    /// # Errors
    /// Of both.
    pub fn nearest(
        &self,
        place: Coordinates,
        count: usize,
        options: &IndexScanOptions,
    ) -> Result<NearbyRows> {
        self.place_index()?.nearest(place, count, options)
    }

    /// [`Index::bulk_get_within`] of the [index on places](Table::place_index).
    ///
    /// # Errors
    /// Of both.
    pub fn bulk_get_within<I>(&self, regions: I, options: &IndexScanOptions) -> Result<RowsWithin>
    where
        I: IntoIterator<Item = Region>,
        I::IntoIter: Send + 'static,
    {
        self.place_index()?.bulk_get_within(regions, options)
    }

    /// Reads the rows of many whole or partial keys.
    ///
    /// - Batches come as they are ready, or in the order of the keys
    ///   ([`BulkGetOptions::direction`]). A key that is given twice is answered twice with a
    ///   direction, with [`BulkGetOptions::origins`], and where it is a partial key. Otherwise keys
    ///   that are read together are read once each.
    /// - [`BulkGetOptions::max_concurrent_requests`] workers read ahead, within
    ///   [`BulkGetOptions::memory_bytes_max`]: the reader's pace is the limit.
    /// - A failing key source, or a bad key, is reported after the rows of the keys before it.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{BulkGetOptions, BulkPutOptions, KeySource, Row, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE heat (sensor LONG, at LONG, PRIMARY KEY (SHARD(sensor), at))")?;
    /// let row = |n| Row::new().with("sensor", n % 10).with("at", n);
    /// let rows: Vec<Row> = (0..100).map(row).collect();
    /// store.multi_put([("heat", rows)], &BulkPutOptions::default())?;
    /// // A partial key stands for all rows below it.
    /// let sensors = KeySource::keys([3, 4].map(|sensor| Row::new().with("sensor", sensor)));
    /// let mut count = 0;
    /// for batch in store.table("heat")?.bulk_get(sensors, &BulkGetOptions::default())? {
    ///     count += batch?.rows.num_rows();
    /// }
    /// assert_eq!(count, 20);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for options that do not fit the table. What is wrong with a key comes out of the
    /// iterator.
    pub fn bulk_get(&self, keys: KeySource, options: &BulkGetOptions) -> Result<BulkGet> {
        crate::bulk::get::bulk_get(&self.store, self.entry.clone(), keys, options)
    }

    /// Reads all rows: large tables by several workers at a time.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Row, Store, TableScanOptions, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE heat (at LONG, level DOUBLE, PRIMARY KEY (at))")?;
    /// let heat = store.table("heat")?;
    /// heat.put(&Row::new().with("at", 1).with("level", 20.5), &WriteOptions::default())?;
    /// let options = TableScanOptions { columns: Some(vec!["level".into()]), ..Default::default() };
    /// for batch in heat.scan(&options)? {
    ///     assert_eq!(batch?.rows.num_columns(), 1);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for options that do not fit the table.
    pub fn scan(&self, options: &TableScanOptions) -> Result<BulkGet> {
        crate::bulk::get::scan(&self.store, self.entry.clone(), options)
    }

    /// Reads all rows by several results, for callers that read each in a thread of its own: at
    /// most `parts`, each with about as much to read and a single worker, the rows of each after
    /// those of the one before. A small table gives one. Limits hold for each of them.
    ///
    /// # Errors
    /// As [`Table::scan`].
    pub fn scan_parts(&self, options: &TableScanOptions, parts: usize) -> Result<Vec<BulkGet>> {
        crate::bulk::get::scan_parts(&self.store, &self.entry, options, parts)
    }

    /// The store now, for the scans of a query; nothing where its engine cannot give it.
    ///
    /// # Errors
    /// What the engine says.
    #[doc(hidden)]
    pub fn column_snapshot(&self) -> Result<Option<ColumnSnapshot>> {
        ColumnSnapshot::take(&self.store.columns, &*self.store.engine)
    }

    /// All rows at a snapshot, in parts for callers that read each in a thread of its own: those that
    /// are kept as columns, and about `parts` more. Columns are places in the schema. Rows come in no
    /// order. Those outside of the ranges wanted may be left out.
    ///
    /// # Errors
    /// As [`Table::scan`].
    #[doc(hidden)]
    pub fn column_parts(
        &self,
        snapshot: &ColumnSnapshot,
        columns: &[usize],
        wanted: &[ColumnRange],
        parts: usize,
    ) -> Result<Vec<ColumnPart>> {
        open_parts(&self.store, &self.entry, snapshot, (columns, wanted), parts)
    }

    /// How many rows are kept as columns that have these. Columns are places in the schema.
    #[doc(hidden)]
    pub fn kept_rows(&self, columns: &[usize]) -> u64 {
        kept_rows(&self.store, &self.entry, columns)
    }

    /// Cuts the table into at most `parts` parts for [`Table::scan_part`], each with about as much
    /// to read now. Parts of one cut have each row once together, whatever is written meanwhile;
    /// those of another one may begin elsewhere.
    ///
    /// # Errors
    /// As [`Table::scan`].
    pub fn cut(&self, options: &TableScanOptions, parts: usize) -> Result<Vec<Part>> {
        crate::bulk::get::cut(&self.store, &self.entry, options, parts)
    }

    /// Reads the rows of a part that [`Table::cut`] gave for the same options, by a single worker.
    ///
    /// # Errors
    /// As [`Table::scan`]; `Invalid` for a part of a store of another kind.
    pub fn scan_part(&self, options: &TableScanOptions, part: Part) -> Result<BulkGet> {
        crate::bulk::get::scan_part(&self.store, self.entry.clone(), options, part)
    }

    /// An estimate of the rows that a scan of the table passes: it includes those of its relatives,
    /// which are stored between its own. Small tables are counted, large ones weighed.
    ///
    /// # Errors
    /// What the engine says.
    pub fn rows_estimate(&self) -> Result<u64> {
        self.store.engine.rows_estimate(self.entry.space, &Ranges::whole_space())
    }

    /// About how many rows a range of the first key column has at most.
    ///
    /// # Errors
    /// `Invalid` for a range of another column, or of values of another type.
    pub fn rows_estimate_in(&self, range: &FieldRange) -> Result<u64> {
        crate::bulk::get::rows_in_range(&self.store, &self.entry, range)
    }

    /// How often rows of this table or of its relatives were changed since the store was opened,
    /// about; nothing while one is being changed, or where the store cannot tell, as on a cluster.
    /// Where two answers are the same, all that was read between them still holds, but for rows
    /// that have expired: so a reader may keep it.
    ///
    /// # Errors
    /// `NotFound` once the table was dropped.
    pub fn change_count(&self) -> Result<Option<u64>> {
        self.store.engine.change_count(self.entry.space)
    }

    /// Counts the rows, by reading their keys.
    ///
    /// # Errors
    /// What the engine says.
    pub fn count(&self) -> Result<u64> {
        crate::bulk::get::count(&self.store, self.entry.clone(), None)
    }

    /// The same, for no longer than `timeout`.
    ///
    /// # Errors
    /// As [`Table::count`]; `TimedOut`.
    pub fn count_within(&self, timeout: Duration) -> Result<u64> {
        check_timeout(Some(timeout))?;
        crate::bulk::get::count(&self.store, self.entry.clone(), Some(timeout))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("path", &self.path()).finish_non_exhaustive()
    }
}
