//! The handle of an index.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{Direction, Result, Slices};

use super::clean::{IndexCleanReport, IndexCleaning, MinimumAge, STALE_AFTER};
use super::columns::EntryColumns;
use super::definition::IndexColumn;
use super::list::{OpenIndex, not_ready};
use super::lookup::{IndexRows, read};
use super::options::{IndexRange, IndexScanOptions};
use super::scan::EntryWalk;
use crate::bulk::get::{ItemSource, SINGLE_ITEMS_MAX, has_items_in_memory};
use crate::catalog::TableEntry;
use crate::inner::Inner;
use crate::schema::TableSchema;

/// How many entries a count reads at a time.
const COUNT_ENTRIES: u64 = 4_096;

/// A handle on an index of a table.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{FieldRange, IndexRange, IndexScanOptions, Row, Store, WriteOptions};
///
/// let store = Store::open("memory:")?;
/// store.execute("CREATE TABLE phones (id LONG, maker STRING, price INTEGER, PRIMARY KEY (id)); CREATE INDEX by_price ON phones (maker, price)")?;
/// let phones = store.table("phones")?;
/// for (id, price) in [(1, 300), (2, 90), (3, 700)] {
///     phones.put(&Row::new().with("id", id).with("maker", "Nokia").with("price", price), &WriteOptions::default())?;
/// }
/// let cheap = IndexRange::prefix(["Nokia"]).within(FieldRange::of("price").before(400));
/// let rows: usize = phones.index("by_price")?.scan(&cheap, &IndexScanOptions::default())?.map(|batch| batch.unwrap().rows.num_rows()).sum();
/// assert_eq!(rows, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Index {
    store: Arc<Inner>,
    table: Arc<TableEntry>,
    index: Arc<OpenIndex>,
    columns: Vec<IndexColumn>,
}

impl Index {
    /// How old stale entries on a cluster must be to be removed by [`Index::clean`].
    pub const CLEANED_AGE: Duration = STALE_AFTER;

    pub(crate) fn new(store: Arc<Inner>, table: Arc<TableEntry>, index: Arc<OpenIndex>) -> Self {
        let columns = index.codec.columns.iter().map(|column| column.shown.clone()).collect();
        Self { store, table, index, columns }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.index.stored.name
    }

    /// The path of its table.
    pub fn table_path(&self) -> &str {
        &self.table.schema.path
    }

    /// The columns of its table.
    pub(super) fn schema(&self) -> &TableSchema {
        &self.table.schema
    }

    /// What it orders the rows by.
    pub fn columns(&self) -> &[IndexColumn] {
        &self.columns
    }

    /// Whether it is on parts of arrays or maps, so that a row may have several entries. A scan gives
    /// each row once even so, for the first of its entries within the ranges.
    pub fn has_parts(&self) -> bool {
        self.index.codec.has_parts()
    }

    /// Whether it has every row. One that is being built, or whose build was cut short, cannot be
    /// read.
    pub fn is_ready(&self) -> bool {
        self.index.is_ready()
    }

    /// Whether it can now be read alone for these columns: it holds them, or the primary key does,
    /// and no entry of it is stale ([`IndexScanOptions::index_only`]).
    ///
    /// After the store was opened, and after a load, it is not known whether entries are stale.
    /// Then the answer is false, and who asks again after 2 seconds has the index cleaned in the
    /// background. An index over rows that expire is read alone only where no load has stored any
    /// of them.
    pub fn answers(&self, columns: &[impl AsRef<str>]) -> bool {
        let schema = &self.table.schema;
        let places: Option<Vec<_>> =
            columns.iter().map(|name| schema.column_index(name.as_ref())).collect();
        let is_enough = places.is_some_and(|places| {
            EntryColumns::find(&self.table.codec, &self.index, Some(&places)).is_some()
        });
        if !is_enough || self.store.keeps_entries() {
            return false;
        }
        let is_clean = self.table.indexes.clean.of(self.index.space()).is_some();
        if !is_clean && self.table.indexes.clean.is_worth_cleaning() {
            self.store.cleaner.request_cleaning(&self.table);
        }
        is_clean
    }

    /// The statement that makes it.
    pub fn to_ddl(&self) -> String {
        self.index.to_ddl(self.table_path())
    }

    /// The rows of a range. Each is checked: a row that changed since its entry was written does
    /// not come. A row whose indexed columns change while the scan runs may be missed, or come
    /// twice: it is no snapshot.
    ///
    /// # Errors
    /// `Invalid` for values or options that do not fit; `Unavailable` for an index that is not
    /// ready; `NotFound` for one that was dropped, before or while it is read.
    pub fn scan(&self, range: &IndexRange, options: &IndexScanOptions) -> Result<IndexRows> {
        self.index.codec.bounds(&range.prefix, range.range.as_ref())?;
        self.bulk_get([range.clone()], options)
    }

    /// The rows of many ranges, which may be drawn from a source that never ends. A row of two of
    /// them may come twice.
    ///
    /// # Errors
    /// As [`Index::scan`]; what is wrong with a range comes out of the iterator.
    pub fn bulk_get<I>(&self, ranges: I, options: &IndexScanOptions) -> Result<IndexRows>
    where
        I: IntoIterator<Item = IndexRange>,
        I::IntoIter: Send + 'static,
    {
        self.check_ready()?;
        let ranges = ItemSource::new(ranges.into_iter().map(Ok), SINGLE_ITEMS_MAX)
            .at_hand(has_items_in_memory::<I::IntoIter>());
        read(&self.store, &self.table, &self.index, ranges, options)
    }

    /// Deletes its stale entries, which lead to no row or to one that changed: loads that replace
    /// rows leave them, and rows that expire. They take room and time, and never show. Returns how
    /// many there were. The table stays in use. The store does so by itself where loads have left
    /// many: see [`StoreBuilder::clean_in_background`](crate::StoreBuilder::clean_in_background).
    ///
    /// On a cluster, where others may write beside it, entries younger than an hour stay: their rows
    /// may be on their way.
    ///
    /// # Errors
    /// `Unavailable` for an index that is not ready, or while a bulk put into the table does not
    /// pause, or a node of a cluster is down: what was deleted before stays deleted.
    pub fn clean(&self) -> Result<u64> {
        self.clean_older(STALE_AFTER).map(|cleaned| cleaned.removed)
    }

    /// The same on a cluster with another age than an hour, and with the number of those that were
    /// too young. A shorter one is for tables without writers: an entry may then be taken away
    /// before its row comes, and the index misses the row.
    ///
    /// # Errors
    /// As [`Index::clean`].
    pub fn clean_older(&self, age: Duration) -> Result<IndexCleanReport> {
        self.check_ready()?;
        let threads = self.store.lend_all_threads();
        let cleaning = IndexCleaning {
            engine: &*self.store.engine,
            gate: &self.store.gate,
            table: &self.table,
            index: &self.index,
            threads: threads.amount(),
            give_up: &|| false,
            age: Some(MinimumAge { least: age, catalog: &self.store.catalog }),
        };
        cleaning.run()
    }

    /// How many entries a range has, counted up to `most`. It may be a few more than there are
    /// rows: entries of rows that changed are among them.
    ///
    /// # Errors
    /// As [`Index::scan`].
    pub fn count_entries(&self, range: &IndexRange, most: u64) -> Result<u64> {
        self.check_ready()?;
        let engine = &*self.store.engine;
        let mut walk = EntryWalk::new(engine, self.index.space(), Direction::Unordered);
        walk.add(self.index.codec.bounds(&range.prefix, range.range.as_ref())?);
        let (mut count, mut entries) = (0, Slices::new());
        while count < most && !walk.is_over() {
            entries.clear();
            walk.read(engine, (most - count).min(COUNT_ENTRIES) as usize, &mut entries)?;
            count += entries.len() as u64;
        }
        self.table.indexes.check_kept_up(&self.index)?;
        Ok(count.min(most))
    }

    /// About how many entries many ranges have together, found by reading some thousands at most:
    /// few are counted, of a large range its share of the index is weighed, of many ranges some are
    /// looked at.
    ///
    /// # Errors
    /// As [`Index::scan`].
    pub fn estimate_entries(&self, ranges: &[IndexRange]) -> Result<u64> {
        self.check_ready()?;
        let bounds =
            |range: &IndexRange| self.index.codec.bounds(&range.prefix, range.range.as_ref());
        let sample = super::estimate::sample(ranges).map(bounds).collect::<Result<Vec<_>>>()?;
        super::estimate::entries(&*self.store.engine, self.index.space(), &sample, ranges.len())
    }

    fn check_ready(&self) -> Result<()> {
        self.table.indexes.check_kept_up(&self.index)?;
        match self.index.is_ready() {
            true => Ok(()),
            false => Err(not_ready(self.name(), self.table_path())),
        }
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("name", &self.name())
            .field("table", &self.table_path())
            .finish_non_exhaustive()
    }
}
