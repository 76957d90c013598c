//! The report of a bulk put.

/// Counts of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries read.
    pub read: u64,
    /// Entries stored under a key that was free. With `overwrite` all that are stored, for which
    /// keys were free is not looked at.
    pub inserted: u64,
    /// Entries whose key existed: with `keep` they were left out; with `replace` they took the
    /// place of the stored row, or were themselves replaced by a later entry of the load.
    pub existed: u64,
    /// Entries that were not stored because someone else wrote the row after they were put into the
    /// load: as if they had come just before that write. Only with `replace` and `overwrite`; with
    /// `keep` they existed.
    pub overtaken: u64,
    /// Entries that could not be read, encoded or written.
    pub failed: u64,
    /// Bytes of keys and values encoded.
    pub bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Counts) {
        self.read += other.read;
        self.inserted += other.inserted;
        self.existed += other.existed;
        self.overtaken += other.overtaken;
        self.failed += other.failed;
        self.bytes += other.bytes;
    }
}

/// What became of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamReport {
    /// Its number among the streams, from 0.
    pub stream: usize,
    /// Its name.
    pub name: String,
    /// Its entries.
    pub counts: Counts,
    /// Whether it was read to its end and all of its entries are durable.
    pub completed: bool,
}

/// What a bulk put did, per stream and in all. `read` is the sum of `inserted`, `existed`,
/// `overtaken` and `failed` when the load succeeded.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BulkPutReport {
    /// Everything together.
    pub total: Counts,
    /// Stream by stream.
    pub streams: Vec<StreamReport>,
    /// How long it took.
    pub seconds: f64,
}

impl BulkPutReport {
    /// Entries read a second, whatever became of them.
    pub fn rows_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.total.read as f64 / self.seconds } else { 0.0 }
    }
}
