//! Records that could not be read, with their text.

/// A record that was set apart, with everything needed to fix it.
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
    /// The record as the file had it, without its line end; a row of a Parquet or Arrow file as a
    /// JSON line. Of a record that is longer than allowed the first 64 KiB.
    pub original: Vec<u8>,
}
