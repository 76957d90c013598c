//! Which secondary index to read through, and when one pays.
//!
//! 1. For each index the domains of its leading columns become ranges of entries: values for some
//!    columns, a range on the next one.
//! 2. The index with the fewest entries in its ranges is chosen. An index that holds all wanted
//!    columns, and no stale entry, is read without the rows. Its entries cost less.
//! 3. It is used when it has few entries, or at most one for [`ROWS_PER_ENTRY`] rows of the table:
//!    a lookup costs more than a row of a scan. A partial primary key is left for an index only if
//!    the index has few entries and the key has many rows.

use std::sync::Arc;

use tonnage::{BulkGetOptions, Index, IndexRange, KeySource, Result};

use super::SqlTable;
use super::access_path::AccessPath;
use super::domains::{column_domains, comparison_error};
use super::index_conditions::IndexConditions;
use super::index_path::{ENTRIES_FEW, IndexPath, ROWS_PER_ENTRY, columns_used, count_with_noun};
use super::index_ranges::ranges_of;

/// What an entry costs whose row need not be looked up: about as much as a row of a scan, which has
/// more readers.
const ROWS_PER_ENTRY_ALONE: u64 = 2;

/// What came of the search for an index.
pub(crate) enum IndexChoice {
    /// This one pays.
    Chosen {
        path: IndexPath,
        /// Which of the conditions on columns it answers by itself.
        answered: Vec<bool>,
    },
    /// There is one, but it does not pay; this says why.
    Rejected(String),
    /// No index is of use.
    None,
}

/// Finds the index to read through for some columns, where one is better than `key_path`.
pub(crate) fn choose_index(
    table: &SqlTable,
    conditions: IndexConditions<'_>,
    key_path: &AccessPath,
    columns: &[usize],
) -> Result<IndexChoice> {
    let is_whole = |path: &AccessPath| matches!(path, AccessPath::Keys { keys, .. } if keys.num_columns() == table.schema().key.len());
    // A whole key names its rows already: no index leads to fewer.
    if table.indexes.is_empty() || *key_path == AccessPath::Nothing || is_whole(key_path) {
        return Ok(IndexChoice::None);
    }
    let domains = column_domains(table.schema(), conditions.columns).map_err(comparison_error)?;
    let mut best: Option<IndexPath> = None;
    // An index that is still being built lacks entries, and rows would be missing.
    for index in table.indexes.iter().filter(|index| index.is_ready()) {
        let Some((ranges, values)) = ranges_of(table, index, &domains, conditions)? else {
            continue;
        };
        if !table.may_change_by(index, &ranges, values)
            || !adds_to_key(key_path, index, columns_used(&ranges, values))
        {
            continue;
        }
        let path = IndexPath {
            index: index.clone(),
            values,
            entries: index.estimate_entries(&ranges)?,
            ranges: Arc::new(ranges),
            is_checked_above: true,
            is_index_only: table.is_answered_by(index, columns),
            order: None,
        };
        if best.as_ref().is_none_or(|best| cost_in_rows(&path) < cost_in_rows(best)) {
            best = Some(path);
        }
    }
    let Some(path) = best else { return Ok(IndexChoice::None) };
    if let Some(reason) = reason_to_reject(table, &path, key_path)? {
        return Ok(IndexChoice::Rejected(reason));
    }
    // What the keys decide otherwise than SQL is never taken off the filters above.
    let answered = conditions
        .columns
        .iter()
        .map(|condition| {
            condition.is_decided_by_keys(table.schema()) && path.answers(table, condition)
        })
        .collect();
    Ok(IndexChoice::Chosen { path, answered })
}

/// What the entries of a path cost, in rows of a scan.
fn cost_in_rows(path: &IndexPath) -> u64 {
    let rows = if path.is_index_only { ROWS_PER_ENTRY_ALONE } else { ROWS_PER_ENTRY };
    path.entries.saturating_mul(rows)
}

/// Whether an index answers something that the key does not.
fn adds_to_key(key_path: &AccessPath, index: &Index, used: usize) -> bool {
    let AccessPath::Keys { keys, range, .. } = key_path else { return true };
    let is_answered = |name: &String| {
        keys.schema_ref().field_with_name(name).is_ok()
            || range.as_ref().is_some_and(|range| range.column == *name)
    };
    index.columns()[..used].iter().any(|column| !column.is_plain() || !is_answered(&column.column))
}

/// Why an index does not pay.
fn reason_to_reject(
    table: &SqlTable,
    path: &IndexPath,
    key_path: &AccessPath,
) -> Result<Option<String>> {
    let name = path.index.name();
    // The rows of a partial key are not estimated, so they are counted, up to what the index costs.
    if let AccessPath::Keys { .. } = key_path {
        let is_better =
            path.entries <= ENTRIES_FEW && has_more_rows(table, key_path, cost_in_rows(path))?;
        return Ok((!is_better).then(|| {
            format!(
                "index {name} not used: {} beside the key",
                count_with_noun(path.entries, "entry", "entries")
            )
        }));
    }
    if path.entries <= ENTRIES_FEW && *key_path == AccessPath::All {
        return Ok(None);
    }
    let rows = match key_path {
        AccessPath::Range { rows, .. } => *rows,
        _ => table.table.rows_estimate()?,
    };
    let pays = cost_in_rows(path) <= rows;
    Ok((!pays).then(|| format!("index {name} not used: {} entries for {rows} rows", path.entries)))
}

/// Whether a partial key has more rows than that.
fn has_more_rows(table: &SqlTable, path: &AccessPath, rows: u64) -> Result<bool> {
    let AccessPath::Keys { keys, range, .. } = path else { return Ok(true) };
    let options = BulkGetOptions {
        keys_only: true,
        range: range.clone(),
        limit_per_key: Some(rows + 1),
        batch_rows_max: 1_024,
        max_concurrent_requests: Some(1),
        ..BulkGetOptions::default()
    };
    let mut found = 0;
    for batch in table.table.bulk_get(KeySource::batches([Ok(keys.clone())]), &options)? {
        found += batch?.rows.num_rows() as u64;
        if found > rows {
            return Ok(true);
        }
    }
    Ok(false)
}

impl SqlTable {
    /// Whether rows may be written while they are read through these ranges: none may come again,
    /// further on, under its new values.
    fn may_change_by(&self, index: &Index, ranges: &[IndexRange], values: usize) -> bool {
        let is_written = |name: &str| {
            self.written.iter().any(|column| self.schema().columns[*column].name == name)
        };
        let mut written = (0..index.columns().len())
            .filter(|place| index.columns()[*place].sources().any(is_written));
        written.all(|place| ranges.len() == 1 && place < values)
    }

    /// Whether an index can be read alone for some columns. What is noted of each row beside its
    /// columns is only in the row.
    fn is_answered_by(&self, index: &Index, columns: &[usize]) -> bool {
        let own = &self.schema().columns;
        let names: Option<Vec<_>> =
            columns.iter().map(|column| Some(&own.get(*column)?.name)).collect();
        names.is_some_and(|names| index.answers(&names))
    }

    /// Whether an index might answer something about a column, or a path in it.
    pub(crate) fn is_indexed(&self, column: usize, path: &[String]) -> bool {
        let name = &self.schema().columns[column].name;
        let mut columns = self.indexes.iter().flat_map(|index| index.columns());
        columns
            .any(|indexed| indexed.sources().any(|source| source == name) && indexed.is_place(path))
    }
}
