//! Refuses keys that an INSERT gives twice, or that exist, before anything is written.

use std::collections::HashSet;

use arrow::array::RecordBatch;
use arrow::compute::{filter_record_batch, is_not_null};
use arrow::datatypes::FieldRef;
use arrow::row::{RowConverter, SortField};
use tonnage::{BulkGetOptions, Error, KeySource, Result, Row, Table, TableSchema};

use super::keys::exists;
use crate::plan::canonicalise_doubles;

/// A key that is given twice, or exists, is an error before anything is written. Keys that the
/// store is still to number are not known.
pub(super) fn refuse_existing(table: &Table, batches: &[(RecordBatch, RecordBatch)]) -> Result<()> {
    let schema = table.schema();
    let broken = |error: arrow::error::ArrowError| Error::internal(error.to_string());
    let numbered = schema.identity_column().filter(|column| schema.is_key(*column));
    let keys = batches.iter().map(|(given, fitting)| {
        let keys = fitting.project(&schema.key).map_err(broken)?;
        let Some(identity) = numbered else { return Ok(keys) };
        let name = &schema.columns[identity].name;
        let is_own = |field: &FieldRef| field.name().eq_ignore_ascii_case(name);
        match given.schema_ref().fields().iter().position(is_own) {
            // The store numbers these rows, so no key of theirs exists yet.
            None => Ok(keys.slice(0, 0)),
            Some(column) => {
                let is_known = is_not_null(given.column(column)).map_err(broken)?;
                filter_record_batch(&keys, &is_known).map_err(broken)
            }
        }
    });
    let keys = keys.collect::<Result<Vec<_>>>()?;
    // Duplicates first: they cost no read.
    refuse_duplicates(schema, &keys)?;
    let options = BulkGetOptions { keys_only: true, ..BulkGetOptions::default() };
    let mut existing = table.bulk_get(KeySource::from(keys), &options)?;
    match existing.next().transpose()? {
        Some(found) => Err(exists(
            schema,
            &Row::from_batch(&found.rows, 0)?,
            "exists already: nothing was inserted",
        )),
        None => Ok(()),
    }
}

fn refuse_duplicates(schema: &TableSchema, keys: &[RecordBatch]) -> Result<()> {
    let broken = |error: arrow::error::ArrowError| Error::internal(error.to_string());
    let fields =
        schema.key_columns().map(|column| SortField::new(column.column_type.data_type())).collect();
    let converter = RowConverter::new(fields).map_err(broken)?;
    let mut seen = HashSet::new();
    for batch in keys {
        // Keys have one zero and one NaN.
        let mut columns = batch.columns().to_vec();
        columns.iter_mut().for_each(canonicalise_doubles);
        let rows = converter.convert_columns(&columns).map_err(broken)?;
        if let Some(twice) = (0..rows.num_rows()).find(|row| !seen.insert(rows.row(*row).owned())) {
            return Err(exists(
                schema,
                &Row::from_batch(batch, twice)?,
                "is given twice, so one of the rows exists already: nothing was inserted",
            ));
        }
    }
    Ok(())
}
