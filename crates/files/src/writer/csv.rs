//! Writes CSV.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use tonnage_engine::Result;

use super::error::write_failed;
use crate::nested::columns_of;
use crate::render::{RenderedColumn, ValueStyle};

/// What is gathered before it is handed on.
const LINES_BYTES: usize = 64 << 10;

pub(super) struct CsvWriter<W> {
    target: W,
    delimiter: u8,
    lines: Vec<u8>,
    value: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub(super) fn new(target: W, schema: &Schema, delimiter: u8) -> io::Result<Self> {
        let mut lines = Vec::with_capacity(LINES_BYTES * 2);
        for (place, field) in schema.fields().iter().enumerate() {
            if place > 0 {
                lines.push(delimiter);
            }
            push_text(field.name().as_bytes(), delimiter, &mut lines);
        }
        lines.push(b'\n');
        Ok(Self { target, delimiter, lines, value: Vec::new() })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = columns_of(batch)?;
        for row in 0..batch.num_rows() {
            self.push_row(&columns, row);
            if self.lines.len() >= LINES_BYTES {
                self.hand_on().map_err(write_failed)?;
            }
        }
        Ok(())
    }

    fn push_row(&mut self, columns: &[RenderedColumn], row: usize) {
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                self.lines.push(self.delimiter);
            }
            match column.style() {
                // The line of a single NULL is blank: quotes alone would be an empty text.
                _ if column.is_null(row) => {}
                ValueStyle::Bare => column.write(row, &mut self.lines),
                ValueStyle::Text | ValueStyle::Json => {
                    self.value.clear();
                    column.write(row, &mut self.value);
                    push_text(&self.value, self.delimiter, &mut self.lines);
                }
            }
        }
        self.lines.push(b'\n');
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.target.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.hand_on()?;
        Ok(self.target)
    }
}

/// Appends a text, in quotes if it would otherwise read back as something else.
fn push_text(text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let needs_quotes = text.is_empty()
        || text.iter().any(|byte| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'))
        || text.starts_with(b"\xef");
    if !needs_quotes {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}
