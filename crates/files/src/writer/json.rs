//! Writes JSON lines.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use tonnage_engine::Result;

use super::error::write_failed;
use crate::nested::columns_of;
use crate::render::{RenderedColumn, write_json_row};

/// What is gathered before it is handed on.
const LINES_BYTES: usize = 64 << 10;

pub(super) struct JsonWriter<W> {
    target: W,
    lines: Vec<u8>,
    /// Whether decimals of more than 15 digits are text.
    pub(super) long_numbers_as_text: bool,
}

impl<W: Write> JsonWriter<W> {
    pub(super) fn new(target: W) -> Self {
        let lines = Vec::with_capacity(LINES_BYTES * 2);
        Self { target, lines, long_numbers_as_text: false }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut columns = columns_of(batch)?;
        if self.long_numbers_as_text {
            let ready = columns.into_iter();
            columns = ready.map(RenderedColumn::with_long_numbers_as_text).collect();
        }
        for row in 0..batch.num_rows() {
            write_json_row(&columns, row, &mut self.lines);
            self.lines.push(b'\n');
            if self.lines.len() >= LINES_BYTES {
                self.hand_on().map_err(write_failed)?;
            }
        }
        Ok(())
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
