//! Reads the rows of a store, by key and through an index.

use std::collections::BTreeMap;

use tonnage::{Direction, IndexRange, IndexScanOptions, Row, Store, TableScanOptions};

use crate::content::long;

/// Rows of a table by their key `k`.
pub(super) type RowsByKey = BTreeMap<i64, Row>;

/// All rows of a table, by key, in the order of a forward scan.
pub(super) fn rows_of(store: &Store, table: &str) -> tonnage::Result<Vec<Row>> {
    let options = TableScanOptions { direction: Direction::Forward, ..TableScanOptions::default() };
    let rows = store.table(table)?.scan(&options)?.into_rows();
    rows.map(|found| found.map(|found| found.row)).collect()
}

pub(super) fn by_key(rows: Vec<Row>) -> RowsByKey {
    rows.into_iter().filter_map(|row| Some((long(&row, "k")?, row))).collect()
}

/// The rows that an index leads to, and how many of them came more than once.
pub(super) fn rows_through(
    store: &Store,
    table: &str,
    index: &str,
) -> tonnage::Result<(RowsByKey, usize)> {
    let index = store.table(table)?.index(index)?;
    let (mut found, mut twice) = (RowsByKey::new(), 0);
    for batch in index.scan(&IndexRange::default(), &IndexScanOptions::default())? {
        let rows = batch?.rows;
        for at in 0..rows.num_rows() {
            let row = Row::from_batch(&rows, at)?;
            let key = long(&row, "k").unwrap_or(i64::MIN);
            twice += usize::from(found.insert(key, row).is_some());
        }
    }
    Ok((found, twice))
}
