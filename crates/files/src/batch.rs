//! A batch of records as read, with where each came from.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::nested::json_line;
use crate::rejected::RejectedRecord;
use crate::text::block::{Block, TextSpan};

/// Rows that were read together, and the records among them that could not be read.
///
/// Batches come in the order of the file and leave nothing out: each record from `first_record` on,
/// `records` of them, is either a row or in `rejected`. The next record of the file after this
/// batch is `first_record + records`.
#[derive(Debug)]
pub struct ReadBatch {
    /// The rows.
    pub batch: RecordBatch,
    /// The number, from 0, of the first record that this batch covers.
    pub first_record: u64,
    /// How many records of the file this batch covers: its rows and its rejected records.
    pub records: u64,
    /// The records that could not be read, in the order of the file.
    pub rejected: Vec<RejectedRecord>,
    pub(crate) origin: Origin,
}

/// Where a row came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The number of the record in its file, from 0, not counting a header.
    pub record: u64,
    /// The line on which the record begins, from 1; none in formats without lines.
    pub line: Option<u64>,
    /// The record as the file had it; a row of a Parquet or Arrow file as a JSON line.
    pub text: Vec<u8>,
}

impl ReadBatch {
    /// The number in the file of the record that row `row` of [`batch`](Self::batch) came from.
    pub fn record(&self, row: usize) -> Option<u64> {
        (row < self.batch.num_rows()).then(|| self.origin.record(row))
    }

    /// Where row `row` of [`batch`](Self::batch) came from, with its original text; none when there
    /// is no such row.
    pub fn original(&self, row: usize) -> Option<Original> {
        (row < self.batch.num_rows()).then(|| self.origin.original(row, &self.batch))
    }

    /// Row `row` as a rejected record, for callers that find out later that it cannot be used.
    pub fn reject(
        &self,
        row: usize,
        column: Option<&str>,
        reason: impl Into<String>,
    ) -> Option<RejectedRecord> {
        let Original { record, line, text } = self.original(row)?;
        let source = self.origin.source().to_owned();
        Some(RejectedRecord {
            source,
            record,
            line,
            column: column.map(str::to_owned),
            reason: reason.into(),
            original: text,
        })
    }
}

/// What is kept of the file for the rows of one batch.
pub(crate) enum Origin {
    /// The block of text, and the position of each row in it.
    Text {
        source: Arc<str>,
        bytes: Vec<u8>,
        spans: Vec<TextSpan>,
        first_record: u64,
        first_line: u64,
    },
    /// The rows themselves. Rows that were rejected are gaps; `kept` has the place of each row that
    /// is left, if any is not.
    Columns { source: Arc<str>, first_record: u64, kept: Option<Vec<u32>> },
}

impl Origin {
    pub(crate) fn text(source: Arc<str>, block: Block) -> Origin {
        let Block { bytes, spans, first_record, first_line, .. } = block;
        Origin::Text { source, bytes, spans, first_record, first_line }
    }

    fn source(&self) -> &str {
        match self {
            Origin::Text { source, .. } | Origin::Columns { source, .. } => source,
        }
    }

    fn record(&self, row: usize) -> u64 {
        match self {
            Origin::Text { spans, first_record, .. } => first_record + u64::from(spans[row].record),
            Origin::Columns { first_record, kept: Some(kept), .. } => {
                first_record + u64::from(kept[row])
            }
            Origin::Columns { first_record, kept: None, .. } => first_record + row as u64,
        }
    }

    fn original(&self, row: usize, batch: &RecordBatch) -> Original {
        let record = self.record(row);
        match self {
            Origin::Text { bytes, spans, first_line, .. } => {
                let span = spans[row];
                let text = bytes[span.start as usize..span.end as usize].to_vec();
                Original { record, line: Some(first_line + u64::from(span.line)), text }
            }
            Origin::Columns { .. } => Original { record, line: None, text: json_line(batch, row) },
        }
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({})", self.source())
    }
}
