//! Ways through secondary indexes, and when they pay.
//!
//! 1. For each index the demands on its leading columns become ranges of entries: values for some
//!    columns, a range on the one that follows.
//! 2. The entries of these ranges are estimated. The index with the fewest is the one to take.
//! 3. It is taken when it has few entries, or has one for [`ROWS_PER_ENTRY`] rows of the table or
//!    less: a row costs more when it is looked up than when it is passed by in a scan. Part of a
//!    primary key is left for an index only if that has few entries and the part many rows.

use std::fmt;
use std::sync::Arc;

use tonnage::{BulkGetOptions, Index, IndexRange, IndexRows, IndexScanOptions, KeySource, Result};

use super::SqlTable;
use super::condition::Condition;
use super::index_ranges::ranges_of;
use super::json_path::JsonPathCondition;
use super::path::{Path, Shown, broken, gather};

/// So few entries are always worth it: reading their rows takes less than a millisecond.
const ENTRIES_FEW: u64 = 256;
/// What looking a row up costs, in rows of a scan, and a little more: 9 or 10 of 10 M rows in files
/// that were in memory, by two threads (see `examples/index_rate.rs`).
const ROWS_PER_ENTRY: u64 = 12;

/// Ranges of entries of one index.
#[derive(Clone)]
pub(crate) struct IndexPath {
    index: Index,
    ranges: Arc<Vec<IndexRange>>,
    /// How many leading columns have values.
    values: usize,
    /// About how many entries there are.
    entries: u64,
    /// Whether the rows are held against all conditions above.
    is_checked_above: bool,
}

/// What came of the search for an index.
pub(crate) enum IndexChoice {
    /// This one pays.
    Taken {
        path: IndexPath,
        /// Which of the conditions on columns it answers by itself.
        answered: Vec<bool>,
    },
    /// There is one, but it does not pay; this says why.
    Left(String),
    /// No index is of use.
    None,
}

/// Finds the index to read through, where one is better than `key_path`.
pub(crate) fn choose_index(
    table: &SqlTable,
    conditions: &[Condition],
    places: &[JsonPathCondition],
    key_path: &Path,
) -> Result<IndexChoice> {
    let is_whole = |path: &Path| matches!(path, Path::Keys { keys, .. } if keys.num_columns() == table.schema().key.len());
    if table.indexes.is_empty() || *key_path == Path::Nothing || is_whole(key_path) {
        return Ok(IndexChoice::None);
    }
    let demands = gather(table.schema(), conditions).map_err(broken)?;
    let mut best: Option<IndexPath> = None;
    for index in table.indexes.iter().filter(|index| index.is_ready()) {
        let Some((ranges, values)) = ranges_of(table, index, &demands, places)? else { continue };
        if !table.may_change_by(index, &ranges, values)
            || !adds_to(key_path, index, used(&ranges, values))
        {
            continue;
        }
        let entries = index.estimate_entries(&ranges)?;
        if best.as_ref().is_none_or(|best| entries < best.entries) {
            best = Some(IndexPath {
                index: index.clone(),
                ranges: Arc::new(ranges),
                values,
                entries,
                is_checked_above: true,
            });
        }
    }
    let Some(path) = best else { return Ok(IndexChoice::None) };
    if let Some(reason) = reason_against(table, &path, key_path)? {
        return Ok(IndexChoice::Left(reason));
    }
    let answered = conditions
        .iter()
        .map(|condition| {
            condition.is_decided_by_keys(table.schema()) && path.answers(table, condition)
        })
        .collect();
    Ok(IndexChoice::Taken { path, answered })
}

/// How many leading columns of an index take part in ranges.
fn used(ranges: &[IndexRange], values: usize) -> usize {
    values + usize::from(ranges.iter().any(|range| range.range.is_some()))
}

/// Whether an index answers something that the key does not.
fn adds_to(key_path: &Path, index: &Index, used: usize) -> bool {
    let Path::Keys { keys, range, .. } = key_path else { return true };
    let is_answered = |name: &String| {
        keys.schema_ref().field_with_name(name).is_ok()
            || range.as_ref().is_some_and(|range| range.column == *name)
    };
    index.columns()[..used]
        .iter()
        .any(|column| !column.path.is_empty() || !is_answered(&column.column))
}

/// Why an index does not pay.
fn reason_against(table: &SqlTable, path: &IndexPath, key_path: &Path) -> Result<Option<String>> {
    let name = path.index.name();
    if let Path::Keys { .. } = key_path {
        let is_better = path.entries <= ENTRIES_FEW
            && has_more_rows(table, key_path, path.entries * ROWS_PER_ENTRY)?;
        return Ok((!is_better).then(|| {
            format!(
                "index {name} not used: {} beside the key",
                counted(path.entries, "entry", "entries")
            )
        }));
    }
    if path.entries <= ENTRIES_FEW {
        return Ok(None);
    }
    let rows = table.table.rows_estimate()?;
    let pays = path.entries.saturating_mul(ROWS_PER_ENTRY) <= rows;
    Ok((!pays).then(|| format!("index {name} not used: {} entries for {rows} rows", path.entries)))
}

/// Whether a partial key has more rows than that.
fn has_more_rows(table: &SqlTable, path: &Path, rows: u64) -> Result<bool> {
    let Path::Keys { keys, range, .. } = path else { return Ok(true) };
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
        let mut written =
            (0..index.columns().len()).filter(|place| is_written(&index.columns()[*place].column));
        written.all(|place| ranges.len() == 1 && place < values)
    }

    /// Whether an index might answer something about a column, or a place in it.
    pub(crate) fn is_indexed(&self, column: usize, path: &[String]) -> bool {
        let name = &self.schema().columns[column].name;
        let mut columns = self.indexes.iter().flat_map(|index| index.columns());
        columns.any(|indexed| indexed.column == *name && indexed.path == path)
    }
}

impl IndexPath {
    /// About how many rows come.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// The same for a statement that takes the rows as they come.
    pub(crate) fn unchecked(self) -> Self {
        Self { is_checked_above: false, ..self }
    }

    pub(super) fn is_checked_above(&self) -> bool {
        self.is_checked_above
    }

    /// Whether a condition holds for every row that comes: each row is held against its entry by
    /// the store.
    fn answers(&self, table: &SqlTable, condition: &Condition) -> bool {
        let name = &table.schema().columns[condition.column].name;
        let used = &self.index.columns()[..used(&self.ranges, self.values)];
        used.iter().any(|column| column.path.is_empty() && column.column == *name)
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

    /// How the path is told of by EXPLAIN.
    pub(super) fn describe(&self) -> String {
        let names: Vec<_> =
            self.index.columns()[..self.values].iter().map(ToString::to_string).collect();
        let mut text = format!(
            "index {} of {}",
            self.index.name(),
            counted(self.ranges.len() as u64, "range", "ranges")
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
                text.push_str(&format!(" with {}", Shown(first)))
            }
            [first, ..] => text.push_str(&format!(" with ranges on {}", first.column)),
        }
        format!("{text}, {}", counted(self.entries, "entry", "entries"))
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
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
