//! The result of an attempt to write, which never waits inside RocksDB.

/// The outcome of an attempt.
pub(crate) enum AttemptOutcome<T> {
    /// It was answered.
    Done(T),
    /// Writes are stopped, and nothing of it is stored.
    Stopped(rocksdb::Error),
}
