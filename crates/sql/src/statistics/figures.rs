//! The query that computes the figures of columns, and its result.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, UInt64Type};
use datafusion::common::ScalarValue;
use tonnage::{Column, ColumnType, Error, Result};

use super::scalar_text::text_of;
use super::stored::StoredColumn;

/// The figures of one column in the answer; the number of rows precedes those of all columns.
const FIGURES: usize = 4;

/// Whether a column has figures: whether its values can be distinguished.
pub(super) fn has_figures(column_type: ColumnType) -> bool {
    !matches!(
        column_type,
        ColumnType::Json | ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_)
    )
}

/// The query for some columns of a table, which is named as a statement names it.
pub(super) fn query(table: &str, columns: &[&Column]) -> String {
    let figures = columns.iter().enumerate().map(|(place, column)| column_figures(place, column));
    format!("SELECT count(*) AS n, {} FROM {table}", figures.collect::<Vec<_>>().join(", "))
}

fn column_figures(index: usize, column: &Column) -> String {
    let name = quote_identifier(&column.name.to_ascii_lowercase());
    let ends = match extreme_filter(column.column_type) {
        Some(condition) => {
            let filter = condition.map(|condition| condition(&name)).unwrap_or_default();
            format!("min({name}){filter} AS a{index}, max({name}){filter} AS z{index}")
        }
        None => format!("NULL AS a{index}, NULL AS z{index}"),
    };
    // The library has no hash of doubles for this.
    let told_apart = match column.column_type {
        ColumnType::Float | ColumnType::Double => format!("CAST({name} AS VARCHAR)"),
        _ => name.clone(),
    };
    format!("count({name}) AS c{index}, approx_distinct({told_apart}) AS d{index}, {ends}")
}

/// A filter of an aggregate over a column of this name.
type AggregateFilter = fn(&str) -> String;

/// Whether a column has ends, and among which of its values: NaN and infinity say nothing of where
/// the others are.
fn extreme_filter(column_type: ColumnType) -> Option<Option<AggregateFilter>> {
    match column_type {
        ColumnType::Float | ColumnType::Double => Some(Some(|name| {
            let infinity = |text: &str| format!("CAST('{text}' AS DOUBLE)");
            let (low, high) = (infinity("-Infinity"), infinity("Infinity"));
            format!(" FILTER (WHERE {name} > {low} AND {name} < {high})")
        })),
        ColumnType::Integer
        | ColumnType::Long
        | ColumnType::Number { .. }
        | ColumnType::String
        | ColumnType::Timestamp(_)
        | ColumnType::Date
        | ColumnType::Time => Some(None),
        _ => None,
    }
}

/// The number of rows in an answer, and the figures of its columns.
pub(super) fn read_figures(
    columns: &[&Column],
    answer: &RecordBatch,
) -> Result<(u64, Vec<StoredColumn>)> {
    let rows = count(answer, 0)?;
    let of_column = |(index, column): (usize, &&Column)| {
        let at = 1 + index * FIGURES;
        let values = count(answer, at)?.min(rows);
        Ok(StoredColumn {
            id: column.id,
            name: column.name.clone(),
            column_type: column.column_type.to_string(),
            rows,
            nulls: rows - values,
            // It is about right, and there cannot be more than this.
            distinct: count(answer, at + 1)?.clamp(values.min(1), values),
            least: column_extreme(answer, at + 2, column),
            greatest: column_extreme(answer, at + 3, column),
        })
    };
    let columns = columns.iter().enumerate().map(of_column).collect::<Result<_>>()?;
    Ok((rows, columns))
}

fn count(answer: &RecordBatch, column: usize) -> Result<u64> {
    let array = answer.column(column);
    let signed = array.as_primitive_opt::<Int64Type>().map(|counts| counts.value(0) as u64);
    let count = signed.or_else(|| Some(array.as_primitive_opt::<UInt64Type>()?.value(0)));
    count.filter(|_| array.is_valid(0)).ok_or_else(|| {
        Error::internal(format!("ANALYZE: a count is a {}, not a number", array.data_type()))
    })
}

/// The end of a column, if there is one and it can be kept.
fn column_extreme(answer: &RecordBatch, at: usize, column: &Column) -> Option<String> {
    let value = ScalarValue::try_from_array(answer.column(at), 0).ok()?;
    text_of(&value.cast_to(&column.column_type.data_type()).ok()?)
}

/// A name in quotes.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
