//! The table `_statistics`: one row for each table that was analysed.

use std::time::Duration;

use arrow::datatypes::DataType;
use serde::{Deserialize, Serialize};
use tonnage::{
    Column, Error, ErrorKind, Result, Row, Store, Table, TableScanOptions, Value, WriteOptions,
};

use super::scalar_text::scalar_of;
use super::table::{ColumnStatistics, TableStatistics};

/// The table that holds them.
pub(crate) const TABLE: &str = "_statistics";
/// What makes it.
const DEFINITION: &str = "CREATE TABLE IF NOT EXISTS _statistics (table_path STRING, space LONG, \
    number LONG, analysed TIMESTAMP(3), row_count LONG, row_estimate LONG, columns JSON, \
    PRIMARY KEY (SHARD(table_path)))";
/// Its columns.
const COLUMNS: [&str; 7] =
    ["table_path", "space", "number", "analysed", "row_count", "row_estimate", "columns"];

/// What was found of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredStatistics {
    /// When, in milliseconds since 1970.
    pub(super) analysed_ms: i64,
    pub(super) rows: u64,
    /// What the engine took the table for.
    pub(super) estimate: u64,
    pub(super) columns: Vec<StoredColumn>,
}

/// What was found of a column, which may have been at another time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredColumn {
    /// Its number in the table, which it keeps under another name.
    pub(super) id: u16,
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) column_type: String,
    /// The rows that the table had then.
    pub(super) rows: u64,
    pub(super) nulls: u64,
    pub(super) distinct: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) least: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) greatest: Option<String>,
}

impl StoredStatistics {
    /// The same as plans see it, column by column of the table.
    pub(super) fn for_plans(&self, table: &Table) -> TableStatistics {
        let columns = table.schema().columns.iter();
        let columns = columns.map(|column| Some(self.column(column)?.for_rows(self.rows, column)));
        TableStatistics::new(self.rows, self.estimate, columns.collect())
    }

    /// What was found of a column.
    pub(super) fn column(&self, column: &Column) -> Option<&StoredColumn> {
        let is_of = |stored: &&StoredColumn| {
            stored.id == column.id && stored.column_type == column.column_type.to_string()
        };
        self.columns.iter().find(is_of)
    }
}

impl StoredColumn {
    /// The same for a table that had so many rows when it was analysed last.
    fn for_rows(&self, rows: u64, column: &Column) -> ColumnStatistics {
        let data_type: DataType = column.column_type.data_type();
        let end = |text: &Option<String>| scalar_of(text.as_ref()?, &data_type);
        let found = ColumnStatistics {
            nulls: self.nulls,
            distinct: self.distinct,
            least: end(&self.least),
            greatest: end(&self.greatest),
        };
        if self.rows == rows { found } else { found.scaled(self.rows, rows) }
    }
}

/// What is stored of a table; nothing where it was analysed when it was another one.
pub(super) fn read_statistics(stored: &Table, table: &Table) -> Result<Option<StoredStatistics>> {
    // A table of that name of another owner is ignored: plans work without.
    if !is_own(stored) {
        return Ok(None);
    }
    let Some(found) = stored.get(&key_of(table.path()))? else { return Ok(None) };
    let number = |name: &str| match found.row.get(name) {
        Some(Value::Long(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    // A table that was dropped and created again has the path, but none of the rows that were read.
    let (space, place) = incarnation(table);
    if number("space") != Some(space) || number("number") != Some(place) {
        return Ok(None);
    }
    let columns = match found.row.get("columns") {
        Some(Value::Json(text)) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let analysed_ms = match found.row.get("analysed") {
        Some(Value::Timestamp { value, .. }) => Some(*value),
        _ => None,
    };
    match (analysed_ms, number("row_count"), number("row_estimate"), columns) {
        (Some(analysed_ms), Some(rows), Some(estimate), Some(columns)) => {
            Ok(Some(StoredStatistics { analysed_ms, rows, estimate, columns }))
        }
        _ => Err(Error::corruption(format!(
            "table {TABLE}: the row of {0} is not one of ANALYZE: DELETE it, then ANALYZE {0} again",
            table.path()
        ))),
    }
}

/// Keeps what was found of a table, and replaces what was kept before.
pub(super) fn write_statistics(
    store: &Store,
    table: &Table,
    found: &StoredStatistics,
    options: &WriteOptions,
) -> Result<()> {
    let columns = serde_json::to_string(&found.columns)
        .map_err(|error| Error::internal(format!("statistics as JSON: {error}")))?;
    let (space, number) = incarnation(table);
    let row = key_of(table.path())
        .with("space", long(space))
        .with("number", long(number))
        .with("analysed", Value::Timestamp { value: found.analysed_ms, precision: 3 })
        .with("row_count", long(found.rows))
        .with("row_estimate", long(found.estimate))
        .with("columns", Value::Json(columns));
    let written = store.table(TABLE).and_then(|stored| stored.put(&row, options));
    written.map(drop).map_err(|error| write_error(&error))
}

/// Makes the table of statistics, unless it is there, for no longer than `timeout`.
pub(super) fn create_statistics_table(store: &Store, timeout: Option<Duration>) -> Result<()> {
    let stored = match store.table(TABLE) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let made = match timeout {
                Some(timeout) => store.execute_within(DEFINITION, timeout),
                None => store.execute(DEFINITION),
            };
            made.map_err(|error| write_error(&error))?;
            store.table(TABLE)
        }
        found => found,
    }?;
    match is_own(&stored) {
        true => Ok(()),
        false => Err(Error::conflict(format!(
            "ANALYZE keeps what it finds in a table {TABLE}, and there is another one of that name: \
             take its rows elsewhere by CREATE TABLE ... AS, then DROP TABLE {TABLE}"
        ))),
    }
}

/// Forgets what was found of a table.
pub(crate) fn delete_statistics(
    store: &Store,
    table: &Table,
    options: &WriteOptions,
) -> Result<()> {
    match store.known_table(TABLE).filter(is_own) {
        Some(stored) => stored.delete(&key_of(table.path()), options).map(drop),
        None => Ok(()),
    }
}

/// Forgets what was found of tables that are gone.
pub(super) fn delete_dropped_statistics(store: &Store, options: &WriteOptions) -> Result<()> {
    let stored = store.table(TABLE)?;
    let keys = TableScanOptions { keys_only: true, ..TableScanOptions::default() };
    for batch in stored.scan(&keys)? {
        let rows = batch?.rows;
        for row in 0..rows.num_rows() {
            let row = Row::from_batch(&rows, row)?;
            let Some(Value::String(path)) = row.get("table_path") else { continue };
            let is_gone = |error: &Error| error.kind() == ErrorKind::NotFound;
            if store.table(path).as_ref().is_err_and(is_gone) {
                stored.delete(&key_of(path), options)?;
            }
        }
    }
    Ok(())
}

/// What no other table of the store has, nor ever will.
pub(super) fn incarnation(table: &Table) -> (u64, u64) {
    (u64::from(table.entry().space.0), u64::from(table.schema().table_id))
}

/// Whether ANALYZE created the table of that name.
fn is_own(stored: &Table) -> bool {
    let columns = &stored.schema().columns;
    columns.len() == COLUMNS.len()
        && COLUMNS.iter().zip(columns).all(|(name, column)| column.is_named(name))
}

/// The name of a table is matched without regard to its case.
fn key_of(path: &str) -> Row {
    Row::new().with("table_path", path.to_ascii_lowercase())
}

fn long(number: u64) -> Value {
    Value::Long(i64::try_from(number).unwrap_or(i64::MAX))
}

fn write_error(error: &Error) -> Error {
    let message = format!(
        "what ANALYZE finds is kept in the table {TABLE}, which cannot be written: {}",
        error.message()
    );
    error.restated().with_message(message)
}
