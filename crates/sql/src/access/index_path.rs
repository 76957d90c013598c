//! Access paths through secondary indexes.

use std::fmt;
use std::sync::Arc;

use tonnage::{FieldRange, Index, IndexRange, IndexRows, IndexScanOptions, Result};

use super::SqlTable;
use super::column_order::ColumnOrder;
use super::condition::ColumnCondition;
use super::domains::RangeText;

/// So few entries are always worth it: reading their rows takes less than a millisecond.
pub(crate) const ENTRIES_FEW: u64 = 256;
/// What looking a row up costs, in rows of a scan, and a little more: 9 or 10 of 10 M rows in files
/// that were in memory, by two threads (see `examples/index_rate.rs`).
pub(crate) const ROWS_PER_ENTRY: u64 = 12;

/// Ranges of entries of one index.
#[derive(Clone)]
pub(crate) struct IndexPath {
    pub(super) index: Index,
    pub(super) ranges: Arc<Vec<IndexRange>>,
    /// How many leading columns have values.
    pub(super) values: usize,
    /// About how many entries there are.
    pub(super) entries: u64,
    /// Whether the rows are held against all conditions above.
    pub(super) is_checked_above: bool,
    /// Whether it was planned to look no row up. Where entries may have become stale since, rows
    /// are looked up all the same.
    pub(super) is_index_only: bool,
    /// The column that rows are to come in the order of, if any.
    pub(super) order: Option<ColumnOrder>,
}

/// How many leading columns of an index take part in ranges.
pub(super) fn columns_used(ranges: &[IndexRange], values: usize) -> usize {
    values + usize::from(ranges.iter().any(|range| range.range.is_some()))
}

impl IndexPath {
    pub(crate) fn name(&self) -> &str {
        self.index.name()
    }

    /// The column that rows come in the order of, if any.
    pub(crate) fn order(&self) -> Option<ColumnOrder> {
        self.order
    }

    /// Whether conditions choose among its entries, and these are looked up for less than a scan of
    /// so many rows.
    pub(super) fn pays_for(&self, rows: u64) -> bool {
        let has_end = |range: &FieldRange| range.low.is_some() || range.high.is_some();
        let is_chosen = self.values > 0
            || self.ranges.iter().any(|range| range.range.as_ref().is_some_and(has_end));
        let is_cheap =
            self.entries <= ENTRIES_FEW || self.entries.saturating_mul(ROWS_PER_ENTRY) <= rows;
        is_chosen && is_cheap
    }

    /// About how many rows come.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Whether no row is looked up, unless entries become stale.
    pub(crate) fn is_index_only(&self) -> bool {
        self.is_index_only
    }

    /// The same for a statement that takes the rows as they come.
    pub(crate) fn unchecked(self) -> Self {
        Self { is_checked_above: false, ..self }
    }

    /// Whether a condition holds for every row that comes: each row is held against its entry by
    /// the store.
    pub(super) fn answers(&self, table: &SqlTable, condition: &ColumnCondition) -> bool {
        let name = &table.schema().columns[condition.column].name;
        let used = &self.index.columns()[..columns_used(&self.ranges, self.values)];
        used.iter().any(|column| column.is_plain() && column.column == *name)
    }

    /// Starts to read. `None` when the index was dropped since.
    pub(super) fn open(
        &self,
        table: &SqlTable,
        options: &IndexScanOptions,
    ) -> Result<Option<IndexRows>> {
        let current =
            table.table.indexes()?.into_iter().find(|index| index.name() == self.index.name());
        let Some(index) =
            current.filter(|index| index.is_ready() && index.columns() == self.index.columns())
        else {
            return Ok(None);
        };
        let ranges = self.ranges.clone();
        index.bulk_get((0..ranges.len()).map(move |place| ranges[place].clone()), options).map(Some)
    }

    /// The path as EXPLAIN shows it.
    pub(super) fn describe(&self) -> String {
        let names: Vec<_> =
            self.index.columns()[..self.values].iter().map(ToString::to_string).collect();
        let mut text = format!(
            "index {} of {}",
            self.index.name(),
            count_with_noun(self.ranges.len() as u64, "range", "ranges")
        );
        if !names.is_empty() {
            text.push_str(&format!(" ({})", names.join(", ")));
        }
        let ranged: Vec<_> = self.ranges.iter().filter_map(|range| range.range.as_ref()).collect();
        match ranged.as_slice() {
            [] => {}
            [first, others @ ..]
                if ranged.len() == self.ranges.len()
                    && others.iter().all(|other| other == first) =>
            {
                text.push_str(&format!(" with {}", RangeText(first)))
            }
            [first, ..] => text.push_str(&format!(" with ranges on {}", first.column)),
        }
        let alone = if self.is_index_only { ", index only" } else { "" };
        format!("{text}, {}{alone}", count_with_noun(self.entries, "entry", "entries"))
    }
}

/// A number with its noun.
pub(super) fn count_with_noun(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl PartialEq for IndexPath {
    fn eq(&self, other: &Self) -> bool {
        self.index.name() == other.index.name() && self.ranges == other.ranges
    }
}

impl fmt::Debug for IndexPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
