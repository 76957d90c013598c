//! Records that could not be read, and how much of their text is kept.

/// The most bytes of a record that are kept as its original text.
const ORIGINAL_BYTES_MAX: usize = 64 << 10;

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
    /// The record as it stood in the file (its first 64 KiB), without its line end; a row of a
    /// Parquet or Arrow file as a JSON line.
    pub original: Vec<u8>,
}

/// The text that is kept of a record.
pub(crate) fn bounded(text: &[u8]) -> Vec<u8> {
    text[..text.len().min(ORIGINAL_BYTES_MAX)].to_vec()
}
