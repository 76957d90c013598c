//! A row session: reads and writes row by row without an allocation for each cell.

use std::sync::Arc;

use tonnage_engine::{
    Condition, Direction, Error, Ranges, Result, Rows, ScanOptions, Scanner, Slices, WriteBatch,
};

use crate::catalog::Relatives;
use crate::catalog::TableEntry;
use crate::codec::{RowView, TableCodec};
use crate::inner::Inner;
use crate::single_calls::WriteOptions;
use crate::value::ValueRef;

/// Reads and writes single rows of a table, one after another, in memory that is used again.
/// Created by [`crate::Table::session`]; a thread has its own.
///
/// Rows go in as the cells of all columns in the table's order, keys as cells in key order, and
/// rows come out as views.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{Store, ValueRef, WriteOptions};
///
/// let store = Store::open("memory:")?;
/// store.execute("CREATE TABLE ships (name STRING, speed DOUBLE, PRIMARY KEY (name))")?;
/// let mut ships = store.table("ships")?.session();
/// for (name, speed) in [("ARGO", 7.5), ("BEAGLE", 11.0), ("CALYPSO", 10.5)] {
///     ships.put(&[name.into(), speed.into()], &WriteOptions::default())?;
/// }
/// let beagle = ships.get(&["BEAGLE".into()])?.expect("it was put");
/// assert_eq!(beagle.get(1)?, ValueRef::Double(11.0));
///
/// let mut scan = ships.scan(&["B".into()], 10)?;
/// while let Some(ship) = scan.next_row()? {
///     assert!(ship.to_row()?.get("name") != Some(&"ARGO".into()));
/// }
/// # Ok(())
/// # }
/// ```
pub struct RowSession {
    store: Arc<Inner>,
    entry: Arc<TableEntry>,
    key: Vec<u8>,
    value: Vec<u8>,
    keys: Slices,
    rows: Rows,
    batch: WriteBatch,
}

impl RowSession {
    pub(super) fn new(store: Arc<Inner>, entry: Arc<TableEntry>) -> Self {
        let batch = WriteBatch::new(entry.space);
        Self {
            store,
            entry,
            key: Vec::new(),
            value: Vec::new(),
            keys: Slices::new(),
            rows: Rows::new(),
            batch,
        }
    }

    /// How many columns a row has.
    pub fn columns(&self) -> usize {
        self.entry.schema.columns.len()
    }

    /// The row with this key.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole, naming the column.
    pub fn get(&mut self, key: &[ValueRef<'_>]) -> Result<Option<RowView<'_>>> {
        if !self.entry.codec.lookup_key_cells(key, &mut self.key)? {
            return Ok(None);
        }
        self.keys.clear();
        self.keys.push(&self.key);
        let engine = self.store.reader(None);
        engine.read(self.entry.space, &self.keys, Default::default(), &mut self.rows)?;
        if self.rows.is_empty() {
            Ok(None)
        } else {
            view(&self.entry.codec, &self.rows, 0).map(Some)
        }
    }

    /// Stores a row, over one with the same key if there is one. Gives its version.
    ///
    /// # Errors
    /// `Invalid` for a row that does not fit, naming the column.
    pub fn put(&mut self, row: &[ValueRef<'_>], options: &WriteOptions) -> Result<u64> {
        options.check_blind(self.store.engine.capability())?;
        let row = self.store.numbered_cells(&self.entry, row)?;
        self.entry.codec.encode_cells(&row, &mut self.key, &mut self.value)?;
        self.batch.clear();
        self.batch.put(
            &self.key,
            &self.value,
            self.store.write_expiry_ms(&self.entry, options),
            Condition::Always,
        );
        let written = self.store.write_rows(
            &self.batch,
            std::slice::from_ref(&self.entry),
            options.terms(),
        )?;
        written.version().ok_or_else(|| Error::internal("a put without a condition was refused"))
    }

    /// Deletes the row with this key. Returns whether there was one. Rows of child tables stay.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole, naming the column.
    pub fn delete(&mut self, key: &[ValueRef<'_>], options: &WriteOptions) -> Result<bool> {
        if !self.entry.codec.lookup_key_cells(key, &mut self.key)? {
            return Ok(false);
        }
        self.batch.clear();
        self.batch.delete(&self.key, Condition::IfPresent);
        let written = self.store.write_rows(
            &self.batch,
            std::slice::from_ref(&self.entry),
            options.terms(),
        )?;
        Ok(written.version().is_some())
    }

    /// The first rows, up to a limit, whose keys are this one or come after it, in the order of
    /// their keys across all shard keys.
    ///
    /// # Errors
    /// `Invalid` for a key that is not whole, naming the column; `Unsupported` when the rows of the
    /// store lie in several data directories, or its engine keeps no order across shard keys.
    pub fn scan(&mut self, start: &[ValueRef<'_>], limit: usize) -> Result<RowScan<'_>> {
        check_order(&self.store)?;
        self.entry.codec.encode_key_cells(start, &mut self.key)?;
        let relatives = Relatives::find(&self.store.catalog, self.entry.clone(), &[])?;
        let options = ScanOptions {
            direction: Direction::Forward,
            limit_per_range: Some(limit as u64),
            batch_rows_max: limit.clamp(1, SCAN_BATCH_ROWS_MAX),
            filter: Some(relatives.filter()),
            ..ScanOptions::default()
        };
        let mut ranges = Ranges::new();
        ranges.push(&self.key, &[]);
        let scanner = self.store.engine.scan(self.entry.space, ranges, options)?;
        self.rows.clear();
        Ok(RowScan { scanner, codec: &self.entry.codec, rows: &mut self.rows, next: 0 })
    }
}

/// Rows that a scan reads at once.
const SCAN_BATCH_ROWS_MAX: usize = 1_024;

fn check_order(store: &Inner) -> Result<()> {
    let capability = store.engine.capability();
    if capability.total_order && capability.shards == 1 {
        return Ok(());
    }
    Err(Error::unsupported(
        "a scan in the order of keys across shard keys: this store keeps rows in order only under each \
         shard key; scan the table in any order, or the rows of one shard key",
    ))
}

fn view<'a>(codec: &'a TableCodec, rows: &'a Rows, index: usize) -> Result<RowView<'a>> {
    codec.view(rows.keys.get(index), rows.values.get(index), rows.versions[index])
}

/// The rows of a scan, one after another.
pub struct RowScan<'a> {
    scanner: Box<dyn Scanner>,
    codec: &'a TableCodec,
    rows: &'a mut Rows,
    next: usize,
}

impl RowScan<'_> {
    /// The next row, nothing at the end.
    ///
    /// # Errors
    /// What the engine says, and `Corruption` for a damaged row.
    pub fn next_row(&mut self) -> Result<Option<RowView<'_>>> {
        if self.next == self.rows.len() {
            self.next = 0;
            if !self.scanner.next_batch(self.rows)? {
                return Ok(None);
            }
        }
        self.next += 1;
        view(self.codec, self.rows, self.next - 1).map(Some)
    }
}

impl std::fmt::Debug for RowSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowSession").field("table", &self.entry.schema.path).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RowScan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowScan").field("next", &self.next).finish_non_exhaustive()
    }
}
