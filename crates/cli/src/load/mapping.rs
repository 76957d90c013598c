//! Computes columns from the fields of records (`--map`), and filters records (`--where`).
//!
//! 1. A [`Mapping`] holds the SQL expressions as text. They may name any field of the files.
//!    [`Mapping::plan`] plans them for the fields of one file.
//! 2. A [`RowMapping`] turns the batches of one file into rows. The condition comes first, so no
//!    expression sees a record that is left out.
//! 3. When an expression fails for a batch, each half is tried alone, down to the records at fault.
//!    Those are rejected with their original text, and the others continue.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, new_null_array};
use arrow::compute::{concat, filter_record_batch, prep_null_mask_filter};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage::{ColumnType, Error, ErrorKind, Result, Store, UnreadEntry};
use tonnage_files::ReadBatch;
use tonnage_sql::{RowExpression, Sql, SqlOptions};

use super::field_names::names_in;
use crate::exit::{CliResult, Failure};

/// Expressions over the fields of files.
pub(crate) struct Mapping {
    sql: Sql,
    condition: Option<String>,
    /// Columns of the table, each with the expression that fills it.
    columns: Vec<(String, String)>,
    /// Names in the expressions that may be those of fields.
    names: Vec<String>,
}

impl Mapping {
    /// Which records are loaded, and what fills columns.
    pub(crate) fn new(
        condition: Option<String>,
        columns: Vec<(String, String)>,
    ) -> CliResult<Self> {
        for (place, (name, _)) in columns.iter().enumerate() {
            if columns[..place].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return Err(Failure::usage(format!("--map fills {name} twice")));
            }
        }
        let texts = condition.iter().chain(columns.iter().map(|(_, text)| text));
        let names = texts.flat_map(|text| names_in(text)).collect();
        // No table is in reach, and no file.
        let options = SqlOptions {
            parallelism: Some(1),
            is_local: false,
            transactions: false,
            ..SqlOptions::default()
        };
        let sql = Sql::new(Store::open("memory:")?, options)?;
        Ok(Self { sql, condition, columns, names })
    }

    /// Whether an expression fills a column.
    pub(crate) fn fills(&self, column: &str) -> bool {
        self.columns.iter().any(|(name, _)| name.eq_ignore_ascii_case(column))
    }

    /// Whether expressions name a field for which `is_known` does not tell the type.
    pub(crate) fn names_others(&self, is_known: impl Fn(&str) -> bool) -> bool {
        self.names.iter().any(|name| !is_known(name))
    }

    /// Whether expressions may read a field.
    pub(crate) fn may_read(&self, field: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(field))
    }

    /// The mapping for files with these fields. `keeps` says of a field, and of whether expressions
    /// read it, if it is a column of the rows as well.
    pub(crate) fn plan(
        &self,
        schema: &Schema,
        keeps: impl Fn(&str, bool) -> bool,
    ) -> CliResult<RowMapping> {
        // Expressions see the types that columns of tables have, and no field of another type.
        let typed = schema.fields().iter().filter_map(|field| storable(field)).collect::<Vec<_>>();
        let typed = Schema::new(typed);
        let planned = |option: String, text: &str| {
            let planned = self.sql.row_expression(text, &typed);
            planned.map_err(|error| Failure::from(error.at(option)))
        };
        let condition = match &self.condition {
            None => None,
            Some(text) => {
                let option = format!("--where '{text}'");
                let condition = planned(option.clone(), text)?;
                // Checked once for the file: `apply` takes the values as booleans unchecked.
                if condition.field().data_type() != &DataType::Boolean {
                    let how = "write one as after WHERE, such as 'knots > 20'";
                    return Err(Failure::usage(format!("{option}: it is not a condition: {how}")));
                }
                Some(condition)
            }
        };
        let columns = self.columns.iter().map(|(name, text)| {
            Ok((name.clone(), planned(format!("--map '{name}={text}'"), text)?))
        });
        let columns = columns.collect::<CliResult<Vec<_>>>()?;
        let is_read = |name: &str| {
            let mut all = condition.iter().chain(columns.iter().map(|(_, filled)| filled));
            all.any(|expression| expression.reads(name))
        };
        // An expression that fills a column wins over the field of that name.
        let is_kept = |name: &str| !self.fills(name) && keeps(name, is_read(name));
        let own = schema.fields().iter().filter(|field| is_kept(field.name())).cloned();
        let own: Vec<_> = own.collect();
        let kept = own.iter().map(|field| field.name().clone()).collect();
        let filled = columns.iter().map(|(name, expression)| {
            Arc::new(expression.field().as_ref().clone().with_name(name))
        });
        let schema = Arc::new(Schema::new(own.into_iter().chain(filled).collect::<Vec<_>>()));
        let text = format!("{:?}", (&self.condition, &self.columns));
        Ok(RowMapping { condition, columns, kept, schema, text })
    }
}

/// The field as columns of tables hold it; none for a type that no column has.
pub(crate) fn storable(field: &Field) -> Option<Field> {
    Some(ColumnType::of_arrow(field)?.to_arrow(field.name(), true))
}

/// The mapping of one file.
pub(crate) struct RowMapping {
    condition: Option<RowExpression>,
    columns: Vec<(String, RowExpression)>,
    /// The fields that become columns as they are.
    kept: Vec<String>,
    schema: SchemaRef,
    /// Its expressions as they were given.
    text: String,
}

/// The rows of a batch of records.
pub(super) struct MappedBatch {
    pub(super) rows: RecordBatch,
    /// The number in the file of the record of each row.
    pub(super) positions: Vec<u64>,
    /// Records for which an expression failed, in the order of the file.
    pub(super) unread: Vec<UnreadEntry>,
    /// How many records the condition left out.
    pub(super) left_out: u64,
}

/// The column and the reason of a record at fault, by its row.
type RowFaults = BTreeMap<usize, (Option<String>, String)>;

impl RowMapping {
    /// The columns of the rows.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Whether an expression fills a column with values that another run would not give again.
    pub(crate) fn changes(&self, column: &str) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|(name, filled)| name.eq_ignore_ascii_case(column) && !filled.is_lasting())
    }

    /// What tells it from another mapping.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn apply(&self, read: &ReadBatch) -> Result<MappedBatch> {
        let records = &read.batch;
        let mut rows: Vec<usize> = (0..records.num_rows()).collect();
        let mut unread = Vec::new();
        let mut told = |rows: &[usize], faults: RowFaults| {
            unread.extend(faults.into_iter().map(|(row, (column, reason))| UnreadEntry {
                position: read.record(rows[row]).unwrap_or_default(),
                column,
                reason,
            }));
        };
        let mut records = records.clone();
        let mut left_out = 0;
        if let Some(condition) = &self.condition {
            let mut faults = RowFaults::new();
            let mask = values(condition, &records, &mut |row, reason| {
                faults.insert(row, (None, format!("--where: {reason}")));
            })?;
            let mask = match mask.null_count() {
                0 => mask.as_boolean().clone(),
                _ => prep_null_mask_filter(mask.as_boolean()),
            };
            // A record whose condition fails is at fault, and not left out.
            left_out = (rows.len() - mask.true_count() - faults.len()) as u64;
            told(&rows, faults);
            (records, rows) = fitting(&records, &rows, &mask)?;
        }
        let mut faults = RowFaults::new();
        // Only records that the condition takes are here: others could fail for unwanted values.
        let mut filled = Vec::with_capacity(self.columns.len());
        for (name, expression) in &self.columns {
            filled.push(values(expression, &records, &mut |row, reason| {
                faults.entry(row).or_insert((Some(name.clone()), reason));
            })?);
        }
        let own = self.kept.iter().map(|name| column(&records, name));
        let columns = own.chain(filled.into_iter().map(Ok)).collect::<Result<_>>()?;
        let mut mapped = batch(&self.schema, columns, records.num_rows())?;
        if !faults.is_empty() {
            let mask: Vec<bool> = (0..rows.len()).map(|row| !faults.contains_key(&row)).collect();
            told(&rows, faults);
            (mapped, rows) = fitting(&mapped, &rows, &BooleanArray::from(mask))?;
        }
        // Faults of the condition and of the columns were gathered one after the other.
        unread.sort_by_key(|entry| entry.position);
        let positions = rows.iter().filter_map(|row| read.record(*row)).collect();
        Ok(MappedBatch { rows: mapped, positions, unread, left_out })
    }
}

/// The value of an expression for each record; NULL for those of which it tells a fault.
fn values(
    expression: &RowExpression,
    records: &RecordBatch,
    fault: &mut dyn FnMut(usize, String),
) -> Result<ArrayRef> {
    let mut parts = Vec::new();
    evaluate(expression, records, 0, &mut parts, fault)?;
    match parts.len() {
        1 => Ok(parts.remove(0)),
        _ => {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            concat(&parts).map_err(internal)
        }
    }
}

/// Adds the values of all records, from one half of them after the other where they have none
/// together.
fn evaluate(
    expression: &RowExpression,
    records: &RecordBatch,
    first: usize,
    parts: &mut Vec<ArrayRef>,
    fault: &mut dyn FnMut(usize, String),
) -> Result<()> {
    let rows = records.num_rows();
    match expression.evaluate(records) {
        Ok(values) => parts.push(values),
        Err(error) if !is_of_values(&error) => return Err(error),
        Err(error) if rows <= 1 => {
            fault(first, error.message().to_owned());
            parts.push(new_null_array(expression.field().data_type(), rows));
        }
        Err(_) => {
            let half = rows / 2;
            evaluate(expression, &records.slice(0, half), first, parts, fault)?;
            let rest = records.slice(half, rows - half);
            evaluate(expression, &rest, first + half, parts, fault)?;
        }
    }
    Ok(())
}

/// Whether an error is about the values of records, and not about the machine.
fn is_of_values(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported)
}

/// The records that a mask tells, and their rows.
fn fitting(
    records: &RecordBatch,
    rows: &[usize],
    mask: &BooleanArray,
) -> Result<(RecordBatch, Vec<usize>)> {
    let records = filter_record_batch(records, mask).map_err(internal)?;
    let rows = rows.iter().zip(mask.values()).filter(|(_, fits)| *fits).map(|(row, _)| *row);
    Ok((records, rows.collect()))
}

fn column(records: &RecordBatch, name: &str) -> Result<ArrayRef> {
    let missing = || Error::internal(format!("the field {name} is missing"));
    records.column_by_name(name).cloned().ok_or_else(missing)
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(internal)
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("the rows of a mapping: {error}")).with_source(error)
}
