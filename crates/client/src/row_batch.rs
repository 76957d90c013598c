//! Builds record batches out of rows.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, NullArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use tonnage::{Column, ColumnType, Error, Result, Row, TableEntry, TableSchema, Value};

/// Rows as a batch of the columns that any of them names. A row that lacks one has NULL there. A
/// column of the key that would round one of its values comes as text: the server finds no row by
/// that value, and stores none.
///
/// # Errors
/// `Invalid` for a column that the table does not have, or a value that does not fit.
pub(crate) fn batch_of(table: &TableSchema, rows: &[Row]) -> Result<RecordBatch> {
    let mut places = Vec::new();
    // A column that no row names stays out: the server then puts its default or a number there.
    for (name, _) in rows.iter().flat_map(Row::iter) {
        let place = table.require_column(name)?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let (mut fields, mut columns): (Vec<_>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for place in places {
        let column = &table.columns[place];
        let values = || rows.iter().map(|row| row.get(&column.name).unwrap_or(&Value::Null));
        // A rounded key would find or overwrite the row of another key.
        let is_text = table.is_key(place) && values().any(|value| is_rounded(value, column));
        if let (false, Some(reason)) =
            (table.is_key(place), values().find_map(|value| rounding_fault(value, column)))
        {
            return Err(Error::invalid(format!("column {}: {reason}", column.name)));
        }
        let cells = values().map(|value| {
            let cell = match (is_text, value) {
                (true, Value::Null) => value.to_array(ColumnType::String, 1),
                (true, value) => Value::String(value.to_string()).to_array(ColumnType::String, 1),
                (false, value) => value.to_array(column.column_type, 1),
            };
            cell.map_err(|error| error.at(format!("column {}", column.name)))
        });
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let cells: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
        fields.push(match is_text {
            true => ColumnType::String.to_arrow(&column.name, true),
            false => column.to_arrow().with_nullable(true),
        });
        columns.push(
            concat(&cells)
                .map_err(|error| Error::internal(format!("column {}: {error}", column.name)))?,
        );
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| Error::internal(format!("rows as a batch: {error}")))
}

/// Whether a column would hold another value than this one.
fn is_rounded(value: &Value, column: &Column) -> bool {
    value.convert_to(column.column_type).is_ok_and(|held| !value.is_kept_as(&held))
}

/// Why a column does not store a value: it would hold another.
fn rounding_fault(value: &Value, column: &Column) -> Option<String> {
    // Asked for each cell of each row: most columns round nothing.
    let may_round = matches!(
        column.column_type,
        ColumnType::Number { .. } | ColumnType::Timestamp(_) | ColumnType::Date
    );
    if !may_round && !column.column_type.is_nested() {
        return None;
    }
    let held = value.convert_to(column.column_type).ok()?;
    value.rounding_fault(&held, column.column_type)
}

/// A column that single rows go out in.
#[derive(Clone, Debug)]
pub(crate) struct RowColumn {
    pub(crate) column: Column,
    /// Whether it is of the key.
    pub(crate) is_key: bool,
}

/// The columns that rows go out in: those of the table, but for one that the server makes values for
/// and that none of the rows names.
pub(crate) fn row_columns(table: &TableSchema, rows: &[Row]) -> Vec<RowColumn> {
    let is_wanted = |column: &Column| {
        column.identity.is_none() && column.default_function.is_none()
            || rows.iter().any(|row| row.get(&column.name).is_some())
    };
    let columns = table.columns.iter().enumerate().filter(|(_, column)| is_wanted(column));
    let columns = columns
        .map(|(index, column)| RowColumn { column: column.clone(), is_key: table.is_key(index) });
    columns.collect()
}

/// Rows that fit their columns, and what is wrong with the others.
pub(crate) struct FittedRows {
    pub(crate) batch: RecordBatch,
    /// The numbers of the rows in the batch.
    pub(crate) kept: Vec<usize>,
    pub(crate) misfits: Vec<RejectedRow>,
}

/// What is wrong with a row.
pub(crate) struct RejectedRow {
    pub(crate) row: usize,
    pub(crate) column: String,
    pub(crate) reason: String,
}

/// Rows as a batch of these columns. A row that lacks one has its default there, or NULL.
///
/// # Errors
/// `Internal` for what Arrow cannot hold.
pub(crate) fn fitting_rows(columns: &[RowColumn], rows: &[Row]) -> Result<FittedRows> {
    let mut arrays: Vec<Vec<ArrayRef>> = vec![Vec::with_capacity(rows.len()); columns.len()];
    let (mut kept, mut misfits) = (Vec::with_capacity(rows.len()), Vec::new());
    // A row is taken as a whole or not at all, so that all columns have the same rows.
    for (number, row) in rows.iter().enumerate() {
        match cells_of(columns, row) {
            Ok(cells) => {
                kept.push(number);
                arrays.iter_mut().zip(cells).for_each(|(array, cell)| array.push(cell));
            }
            Err((column, reason)) => misfits.push(RejectedRow { row: number, column, reason }),
        }
    }
    let fields = columns.iter().map(|of| of.column.to_arrow().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    // Arrow does not join a list of no arrays.
    let batch = match kept.is_empty() {
        true => RecordBatch::new_empty(schema),
        false => {
            let arrays = arrays.iter().map(|cells| {
                let cells: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
                concat(&cells)
            });
            let arrays = arrays.collect::<std::result::Result<Vec<_>, _>>();
            arrays
                .and_then(|arrays| RecordBatch::try_new(schema, arrays))
                .map_err(|error| Error::internal(format!("rows as a batch: {error}")))?
        }
    };
    Ok(FittedRows { batch, kept, misfits })
}

/// Rows that were computed, rounded to what their columns keep.
///
/// # Errors
/// As [`TableCodec::align`](tonnage::internal::TableCodec::align).
pub(crate) fn rounded_rows(entry: &TableEntry, rows: &RecordBatch) -> Result<FittedRows> {
    let aligned = entry.codec.align_unnumbered(rows)?;
    let kept = aligned.kept.unwrap_or_else(|| (0..rows.num_rows() as u32).collect());
    let places = UInt32Array::from(kept.clone());
    let internal = |error: ArrowError| Error::internal(format!("computed rows: {error}"));
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    // Only the columns that were given: the server fills the others.
    for (field, given) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        let place = entry.schema.require_column(field.name())?;
        // The server numbers rows, so what they lack stays open.
        let is_numbered = entry.schema.columns[place].identity.is_some();
        fields.push(match is_numbered {
            true => field.as_ref().clone(),
            false => aligned.batch.schema_ref().field(place).clone(),
        });
        arrays.push(match is_numbered {
            true => take(given, &places, None).map_err(internal)?,
            false => aligned.batch.column(place).clone(),
        });
    }
    let options = RecordBatchOptions::new().with_row_count(Some(kept.len()));
    let batch = RecordBatch::try_new_with_options(Schema::new(fields).into(), arrays, &options);
    let misfits = aligned.rejected.into_iter().map(|rejected| RejectedRow {
        row: rejected.row,
        column: rejected.column,
        reason: rejected.reason,
    });
    Ok(FittedRows {
        batch: batch.map_err(internal)?,
        kept: kept.into_iter().map(|row| row as usize).collect(),
        misfits: misfits.collect(),
    })
}

/// The cells of a row, or the column that is wrong and why.
fn cells_of(
    columns: &[RowColumn],
    row: &Row,
) -> std::result::Result<Vec<ArrayRef>, (String, String)> {
    // Columns look for their values below: a value without a column would get lost silently.
    if let Some((name, _)) =
        row.iter().find(|(name, _)| !columns.iter().any(|of| of.column.is_named(name)))
    {
        let reason = "the table has no such column, or makes its values, and no row at the start \
                      of the stream has one: put rows with a value and rows without one apart";
        return Err((name.to_owned(), reason.to_owned()));
    }
    let cells = columns.iter().map(|RowColumn { column, is_key }| {
        let wrong = |error: Error| (column.name.clone(), error.message().to_owned());
        // A NULL would stay one: the server makes defaults only where the whole column is missing.
        let value = match row.get(&column.name) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(column.made_default().map_err(wrong)?),
        };
        if *is_key && is_rounded(&value, column) {
            let reason = format!(
                "{} would be rounded to fit {}: a key column takes values as it can hold them",
                *value, column.column_type
            );
            return Err((column.name.clone(), reason));
        }
        if let Some(reason) = rounding_fault(&value, column) {
            return Err((column.name.clone(), reason));
        }
        value.to_array(column.column_type, 1).map_err(wrong)
    });
    cells.collect()
}

/// One row of values by their names, each as it is: the server makes it what a column holds.
pub(crate) fn batch_of_values<'a>(
    values: impl Iterator<Item = (String, &'a Value)>,
) -> Result<RecordBatch> {
    let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (name, value) in values {
        let (field, column) = match type_of(value)? {
            None => (Field::new(name, DataType::Null, true), Arc::new(NullArray::new(1)) as _),
            Some(kind) => (kind.to_arrow(&name, true), json_of_nested(value).to_array(kind, 1)?),
        };
        fields.push(field);
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| Error::internal(format!("values as a batch: {error}")))
}

fn json_of_nested(value: &Value) -> Cow<'_, Value> {
    match value.is_nested() {
        true => Cow::Owned(Value::Json(value.to_json_text())),
        false => Cow::Borrowed(value),
    }
}

/// The type that a value is of; none for NULL.
///
/// # Errors
/// `Invalid` for a number with more digits than any NUMBER has.
pub(crate) fn type_of(value: &Value) -> Result<Option<ColumnType>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Boolean(_) => ColumnType::Boolean,
        Value::Integer(_) => ColumnType::Integer,
        Value::Long(_) => ColumnType::Long,
        Value::Float(_) => ColumnType::Float,
        Value::Double(_) => ColumnType::Double,
        Value::Number { .. } | Value::WideNumber(_) => {
            return value.number_type().map(Some).ok_or_else(|| {
                Error::invalid(format!("{value} has more than 76 digits, the most of a NUMBER"))
            });
        }
        Value::String(_) => ColumnType::String,
        Value::Binary(_) => ColumnType::Binary,
        Value::Timestamp { precision, .. } => ColumnType::Timestamp(*precision),
        Value::Uuid(_) => ColumnType::Uuid,
        Value::Date(_) => ColumnType::Date,
        Value::Time(_) => ColumnType::Time,
        Value::Json(_) | Value::Array(_) | Value::Map(_) | Value::Record(_) => ColumnType::Json,
    }))
}
