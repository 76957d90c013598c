//! Deletes the rows of a partial key, and those of relatives with them.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Acks, Capability, Condition, Deadline, Direction, Durability, Error, Projection, Ranges,
    ReadOptions, Result, Rows, ScanOptions, Slices, WriteBatch,
};

use super::Table;
use crate::bulk::get::{ResumePoint, ResumeToken};
use crate::catalog::{Relatives, TableEntry};
use crate::codec::FieldRange;
use crate::levels::check_acks;
use crate::row::Row;
use crate::terms::{WriteTerms, check_timeout, deadline_after};

/// How to delete the rows of a partial key.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// A range of the first key column that the key leaves open.
    pub range: Option<FieldRange>,
    /// Tables whose rows go along, by path: child tables with all rows below those deleted, and
    /// ancestors with the rows above them.
    pub relatives: Vec<String>,
    /// At most this many rows of the table itself in one call. Rows of relatives go with theirs,
    /// and are not counted. The answer says where to continue.
    pub limit: Option<u64>,
    /// Resumes after this position: of an earlier call ([`DeleteReport::rest`]), or of a scan or
    /// another read of the table.
    pub start_after: Option<ResumeToken>,
    /// When the deletion is acknowledged.
    pub durability: Durability,
    /// How many copies must have it by then; as the store was opened without it.
    pub acks: Option<Acks>,
    /// The longest that the deletion may take; then it ends with `TimedOut`. The batches that went
    /// before stay deleted, and the same call deletes the rest.
    pub timeout: Option<Duration>,
}

/// What a deletion with a limit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteReport {
    /// How many rows went, those of relatives among them.
    pub rows: u64,
    /// Where to resume when the limit was reached: rows after it may be left.
    pub rest: Option<ResumeToken>,
}

/// The most rows deleted by one atomic batch.
const BATCH_ROWS_MAX: usize = 10_000;

/// How many rows one atomic batch deletes, where each may take its ancestors of so many tables
/// along.
fn batch_rows(capability: &Capability, ancestors: usize) -> usize {
    (capability.batch_operations_max / (1 + ancestors)).clamp(1, BATCH_ROWS_MAX)
}

impl Table {
    /// Deletes all rows under a partial key, within a range of its first open column if one is
    /// given, and with them the rows of the relatives named. Returns how many rows went, those of
    /// relatives among them. Rows go in batches, each atomic, of ten thousand rows, or of about 4
    /// MiB of keys where these are long; on a cluster of a thousand rows.
    ///
    /// # Errors
    /// `Invalid` for a key without its whole shard key, naming the column; for a limit, which needs
    /// [`Table::delete_some`]; `TimedOut`.
    pub fn delete_range(&self, partial_key: &Row, options: &DeleteOptions) -> Result<u64> {
        if options.limit.is_some() {
            return Err(Error::invalid(
                "delete_range deletes all rows: give limit to delete_some, which tells where to go on",
            ));
        }
        self.delete_some(partial_key, options).map(|deleted| deleted.rows)
    }

    /// The same up to a limit, and says where to continue. Rows that are put before that place
    /// meanwhile are not visited again, so that going on ends.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{DeleteOptions, Row, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE logs (host STRING, n LONG, PRIMARY KEY (SHARD(host), n))")?;
    /// let logs = store.table("logs")?;
    /// for n in 0..25 {
    ///     logs.put(&Row::new().with("host", "a").with("n", n), &WriteOptions::default())?;
    /// }
    /// let mut options = DeleteOptions { limit: Some(10), ..DeleteOptions::default() };
    /// let mut calls = 0;
    /// loop {
    ///     let deleted = logs.delete_some(&Row::new().with("host", "a"), &options)?;
    ///     calls += 1;
    ///     options.start_after = deleted.rest;
    ///     if options.start_after.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!((calls, logs.count()?), (3, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::delete_range`]; `Invalid` for a limit of 0 and for a place of another read.
    pub fn delete_some(&self, partial_key: &Row, options: &DeleteOptions) -> Result<DeleteReport> {
        if options.limit == Some(0) {
            return Err(Error::invalid("limit is 0: allow at least one row"));
        }
        check_acks(options.acks, options.durability, self.store.engine.capability())?;
        check_timeout(options.timeout)?;
        let deadline = deadline_after(options.timeout);
        let terms = WriteTerms { durability: options.durability, acks: options.acks, deadline };
        let catalog = &self.store.catalog;
        let relatives = Relatives::find(catalog, self.entry.clone(), &options.relatives)?;
        let (mut prefix, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
        let codec = &self.entry.codec;
        let Some(columns) = codec.lookup_partial_row(partial_key, &mut prefix)? else {
            return Ok(DeleteReport::default());
        };
        match &options.range {
            Some(range) => codec.range_bounds(&prefix, columns, range, &mut start, &mut end)?,
            None => codec.prefix_bounds(&prefix, &mut start, &mut end),
        }
        if let Some(token) = &options.start_after {
            let point = ResumePoint::of_any(token, self.entry.space)?;
            point.narrow(&mut start, &mut end);
        }
        let mut ranges = Ranges::new();
        ranges.push(&start, &end);
        // Keys are enough: where the table has indexes, the write reads the rows to remove their
        // entries.
        let scan = ScanOptions {
            projection: Projection::KeysOnly,
            filter: Some(relatives.filter()),
            batch_rows_max: batch_rows(self.store.engine.capability(), relatives.ancestors.len()),
            deadline,
            // `rest` is one key, so everything before it must be gone.
            direction: Direction::Forward,
            limit_per_range: options.limit,
            ..ScanOptions::default()
        };
        let mut scanner = self.store.engine.scan(self.entry.space, ranges, scan)?;
        let (mut rows, mut deleted) = (Rows::new(), DeleteReport::default());
        let (mut visited, mut last) = (0, Vec::new());
        while scanner.next_batch(&mut rows)? {
            let mut batch = WriteBatch::new(self.entry.space);
            let mut owners = relatives.owners(&rows.keys)?;
            visited += self.own_rows(&owners, rows.len());
            rows.keys.iter().for_each(|key| batch.delete(key, Condition::Always));
            self.push_ancestors(&relatives, &rows.keys, deadline, &mut batch, &mut owners)?;
            self.store.write_rows(&batch, &owners, terms)?;
            deleted.rows += batch.len() as u64;
            last = rows.keys.last().unwrap_or_default().to_vec();
        }
        // Whether more rows follow is not looked up: the next call finds out.
        if options.limit.is_some_and(|limit| visited >= limit) {
            let point =
                ResumePoint { space: self.entry.space, is_reverse: false, number: None, key: last };
            deleted.rest = Some(point.token());
        }
        Ok(deleted)
    }

    /// How many of some rows are of this table.
    fn own_rows(&self, owners: &[Arc<TableEntry>], rows: usize) -> u64 {
        let is_own = |owner: &&Arc<TableEntry>| owner.schema.table_id == self.entry.schema.table_id;
        match owners {
            [_] => rows as u64,
            owners => owners.iter().filter(is_own).count() as u64,
        }
    }

    /// [`Table::delete_range`] by the name and with the arguments that it had before.
    ///
    /// # Errors
    /// As [`Table::delete_range`].
    pub fn multi_delete(
        &self,
        partial_key: &Row,
        range: Option<&FieldRange>,
        relatives: &[String],
        durability: Durability,
    ) -> Result<u64> {
        let options = DeleteOptions {
            range: range.cloned(),
            relatives: relatives.to_vec(),
            durability,
            ..DeleteOptions::default()
        };
        self.delete_range(partial_key, &options)
    }

    /// Adds the stored rows of wanted ancestors of some keys.
    fn push_ancestors(
        &self,
        relatives: &Relatives,
        keys: &Slices,
        deadline: Deadline,
        batch: &mut WriteBatch,
        owners: &mut Vec<Arc<TableEntry>>,
    ) -> Result<()> {
        let space = self.entry.space;
        if !relatives.ancestors.is_empty() {
            // One table for all operations holds no longer.
            owners.resize(keys.len(), self.entry.clone());
        }
        for ancestor in &relatives.ancestors {
            let mut above = Slices::new();
            for key in keys.iter() {
                let len = self.entry.classifier.ancestor_key_len(key, ancestor.schema.table_id)?;
                if above.last() != Some(&key[..len]) {
                    above.push(&key[..len]);
                }
            }
            let options = ReadOptions {
                projection: Projection::KeysOnly,
                keys: 0..above.len(),
                bytes_max: usize::MAX,
                deadline,
            };
            let mut found = Rows::new();
            // Looked up, since each operation of the batch is counted as a row that was deleted.
            self.store.engine.read_some(space, &above, &options, &mut found)?;
            for key in found.keys.iter() {
                batch.delete(key, Condition::Always);
                owners.push(ancestor.clone());
            }
        }
        Ok(())
    }
}
