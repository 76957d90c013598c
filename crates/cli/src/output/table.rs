//! Writes rows as a table for people.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage::{ColumnType, Error, Value};
use tonnage_files::spans_as_intervals;

use super::style::{PageError, TableStyle};
use crate::exit::CliResult;
use crate::plain;

/// Rows that share one set of column widths; what comes after them begins a new table.
const PAGE_ROWS: usize = 2_000;
/// Their bytes.
const PAGE_BYTES: usize = 16 << 20;

/// Gathers rows to pages.
pub(super) struct TableWriter {
    page: Vec<RecordBatch>,
    page_rows: usize,
    page_bytes: usize,
    /// On the pages that are written.
    rows_before: usize,
    pages: usize,
    schema: SchemaRef,
    style: TableStyle,
}

impl TableWriter {
    pub(super) fn new(schema: SchemaRef, style: TableStyle) -> Self {
        Self {
            page: Vec::new(),
            page_rows: 0,
            page_bytes: 0,
            rows_before: 0,
            pages: 0,
            schema,
            style,
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, target: &mut impl Write) -> CliResult<()> {
        let mut offset = 0;
        while offset < batch.num_rows() {
            let count = (batch.num_rows() - offset).min(PAGE_ROWS - self.page_rows);
            let rows = readable(&batch.slice(offset, count)).map_err(internal)?;
            self.page_bytes += bytes_of(&rows);
            self.page.push(rows);
            self.page_rows += count;
            offset += count;
            if self.page_rows == PAGE_ROWS || self.page_bytes >= PAGE_BYTES {
                self.turn_page(target)?;
            }
        }
        Ok(())
    }

    fn turn_page(&mut self, target: &mut impl Write) -> CliResult<()> {
        match self.style.write(&self.page, self.rows_before, target) {
            Ok(()) => {}
            Err(PageError::Values(error)) => return Err(internal(error).into()),
            Err(PageError::Output(error)) => return Err(error.into()),
        }
        self.page.clear();
        self.rows_before += self.page_rows;
        (self.page_rows, self.page_bytes) = (0, 0);
        self.pages += 1;
        Ok(())
    }

    /// Writes the last page; no rows at all are a table with a head only.
    pub(super) fn finish(mut self, target: &mut impl Write) -> CliResult<()> {
        if self.pages == 0 && self.page.is_empty() {
            self.page.push(RecordBatch::new_empty(self.schema.clone()));
        }
        if self.page.is_empty() { Ok(()) } else { self.turn_page(target) }
    }
}

/// What the rows take, and not the batch that they are cut out of.
fn bytes_of(rows: &RecordBatch) -> usize {
    let bytes = |column: &ArrayRef| {
        column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
    };
    rows.columns().iter().map(bytes).sum()
}

/// Bytes as their number, identifiers as text, control characters as what they are.
fn readable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let text = match column.data_type() {
            // Raw bytes could steer the terminal, and their text would be as wide as they are long.
            DataType::Binary => Some(texts(column, |row| {
                format!("({} bytes)", column.as_binary::<i32>().value(row).len())
            })),
            DataType::FixedSizeBinary(16)
                if ColumnType::of_arrow(field) == Some(ColumnType::Uuid) =>
            {
                Some(texts(column, |row| uuid(column.as_fixed_size_binary().value(row))))
            }
            DataType::FixedSizeBinary(width) => Some(texts(column, |_| format!("({width} bytes)"))),
            DataType::Utf8 => Some(plain_texts(column.as_string::<i32>().iter())),
            DataType::LargeUtf8 => Some(plain_texts(column.as_string::<i64>().iter())),
            DataType::Utf8View => Some(plain_texts(column.as_string_view().iter())),
            _ => None,
        };
        let name = plain::cell(field.name());
        match text {
            Some(text) => {
                fields.push(Field::new(name, DataType::Utf8, true));
                columns.push(text);
            }
            // Even where values stay, the name is escaped: it comes from the user as well.
            None => {
                let column = spans_as_intervals(column)?;
                let kind = column.data_type().clone();
                fields.push(field.as_ref().clone().with_name(name).with_data_type(kind));
                columns.push(column);
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn plain_texts<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let texts: StringArray = texts.map(|text| text.map(plain::cell)).collect();
    Arc::new(texts)
}

fn texts(column: &ArrayRef, text: impl Fn(usize) -> String) -> ArrayRef {
    let texts: StringArray =
        (0..column.len()).map(|row| column.is_valid(row).then(|| text(row))).collect();
    Arc::new(texts)
}

fn uuid(bytes: &[u8]) -> String {
    bytes.try_into().map(|bytes| Value::Uuid(bytes).to_string()).unwrap_or_default()
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("the table cannot be put together: {error}")).with_source(error)
}
