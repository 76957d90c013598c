//! Rows as a table for people.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::util::pretty::pretty_format_batches;
use tonnage::{Error, Value};

use crate::exit::Outcome;

/// Rows that share one set of column widths; what comes after them begins a new table.
const PAGE_ROWS: usize = 2_000;

/// Gathers rows to pages.
pub(super) struct TableWriter {
    page: Vec<RecordBatch>,
    page_rows: usize,
    pages: usize,
    schema: SchemaRef,
}

impl TableWriter {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { page: Vec::new(), page_rows: 0, pages: 0, schema }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, target: &mut impl Write) -> Outcome<()> {
        let mut offset = 0;
        while offset < batch.num_rows() {
            let count = (batch.num_rows() - offset).min(PAGE_ROWS - self.page_rows);
            self.page.push(readable(&batch.slice(offset, count)).map_err(internal)?);
            self.page_rows += count;
            offset += count;
            if self.page_rows == PAGE_ROWS {
                self.turn_page(target)?;
            }
        }
        Ok(())
    }

    fn turn_page(&mut self, target: &mut impl Write) -> Outcome<()> {
        let table = pretty_format_batches(&self.page).map_err(internal)?;
        writeln!(target, "{table}")?;
        self.page.clear();
        self.page_rows = 0;
        self.pages += 1;
        Ok(())
    }

    /// Writes the last page; no rows at all are a table with a head only.
    pub(super) fn finish(mut self, target: &mut impl Write) -> Outcome<()> {
        if self.pages == 0 && self.page.is_empty() {
            self.page.push(RecordBatch::new_empty(self.schema.clone()));
        }
        if self.page.is_empty() { Ok(()) } else { self.turn_page(target) }
    }
}

/// Bytes as their number, identifiers as text.
fn readable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let text = match column.data_type() {
            DataType::Binary => Some(texts(column, |row| format!("({} bytes)", column.as_binary::<i32>().value(row).len()))),
            DataType::FixedSizeBinary(16) => Some(texts(column, |row| uuid(column.as_fixed_size_binary().value(row)))),
            _ => None,
        };
        match text {
            Some(text) => {
                fields.push(Field::new(field.name(), DataType::Utf8, true));
                columns.push(text);
            }
            None => {
                fields.push(field.as_ref().clone());
                columns.push(column.clone());
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn texts(column: &ArrayRef, text: impl Fn(usize) -> String) -> ArrayRef {
    let texts: StringArray = (0..column.len()).map(|row| column.is_valid(row).then(|| text(row))).collect();
    Arc::new(texts)
}

fn uuid(bytes: &[u8]) -> String {
    bytes.try_into().map(|bytes| Value::Uuid(bytes).to_string()).unwrap_or_default()
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("the table cannot be put together: {error}")).with_source(error)
}
