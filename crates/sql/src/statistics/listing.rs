//! SHOW STATISTICS.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tonnage::{Error, Result, Store};

use super::scalar_text::text_of;
use super::stored::{TABLE, read_statistics};
use super::table::ColumnStatistics;

/// A column that was analysed.
struct ListedColumn {
    table: String,
    column: String,
    rows: u64,
    found: ColumnStatistics,
}

/// What is kept of a table, or of all, column by column.
pub(crate) fn list_statistics(store: &Store, of_table: Option<&str>) -> Result<RecordBatch> {
    let mut listed = Vec::new();
    let stored = store.known_table(TABLE);
    let wanted = |path: &str| of_table.is_none_or(|wanted| wanted == path);
    for table in store.tables().iter().filter(|table| wanted(table.path())) {
        // Before the first ANALYZE there is no such table: the list is empty, which is not an
        // error.
        let Some(stored) = &stored else { break };
        let Some(statistics) = read_statistics(stored, table)?.map(|found| found.for_plans(table))
        else {
            continue;
        };
        for (place, column) in table.schema().columns.iter().enumerate() {
            // A table without rows is listed too, though `column` hides it from plans.
            if let Some(found) = statistics.column_even_if_empty(place) {
                let (table, column) = (table.path().to_owned(), column.name.clone());
                let (rows, found) = (statistics.rows(), found.clone());
                listed.push(ListedColumn { table, column, rows, found });
            }
        }
    }
    let texts = |tell: &dyn Fn(&ListedColumn) -> Option<String>| -> ArrayRef {
        Arc::new(listed.iter().map(tell).collect::<StringArray>())
    };
    let numbers = |tell: &dyn Fn(&ListedColumn) -> u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(listed.iter().map(|listed| tell(listed) as i64)))
    };
    RecordBatch::try_from_iter_with_nullable([
        ("table", texts(&|listed| Some(listed.table.clone())), false),
        ("column", texts(&|listed| Some(listed.column.clone())), false),
        ("rows", numbers(&|listed| listed.rows), false),
        ("nulls", numbers(&|listed| listed.found.nulls), false),
        ("distinct", numbers(&|listed| listed.found.distinct), false),
        ("minimum", texts(&|listed| text_of(listed.found.least.as_ref()?)), true),
        ("maximum", texts(&|listed| text_of(listed.found.greatest.as_ref()?)), true),
    ])
    .map_err(|error| Error::internal(error.to_string()))
}
