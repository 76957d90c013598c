//! Translates RocksDB's errors into Tonnage's, all of them here.

use std::fmt::Display;

use tonnage_engine::{Error, ErrorKind};

/// Opening a store writes to it: its lock, its log.
pub(crate) const READ_ONLY_REMEDY: &str =
    "a store is opened where it can be written: copy it to such a place, or restore a backup there";

/// The error of the contract for one of RocksDB's; `place` says where it happened.
pub(crate) fn translate(place: impl Display, error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind as Kind;
    let text = error.to_string();
    let lower = text.to_ascii_lowercase();
    // Texts come before kinds: a full disk, a lock and missing rights are all `IOError` to RocksDB.
    let (kind, remedy) = if lower.contains("no space left") || lower.contains("space limit") {
        (
            ErrorKind::Unavailable,
            "the disk is full: free some space, writes then work again within seconds",
        )
    } else if lower.contains("read-only file system") {
        (ErrorKind::Unavailable, READ_ONLY_REMEDY)
    } else if lower.contains("lock hold by")
        || lower.contains("resource temporarily unavailable")
        || lower.contains("/lock:")
    {
        (ErrorKind::Unavailable, "the store is open in another process: close it there")
    } else if lower.contains("too many open files") {
        (ErrorKind::Unavailable, "raise the limit of open files (ulimit -n)")
    } else if lower.contains("permission denied") {
        (ErrorKind::Unavailable, "give this user the right to write there")
    } else {
        match error.kind() {
            Kind::Corruption | Kind::CompactionTooLarge => {
                (ErrorKind::Corruption, "run `check`, then restore the store from a copy")
            }
            Kind::NotFound => (ErrorKind::NotFound, "it does not exist"),
            Kind::NotSupported => {
                (ErrorKind::Unsupported, "this build of RocksDB does not offer it")
            }
            Kind::InvalidArgument => (ErrorKind::Internal, "report it"),
            Kind::IOError if lower.contains("no such file") => (
                ErrorKind::Corruption,
                "a file of the store is missing: restore the store from a copy",
            ),
            Kind::IOError => (
                ErrorKind::Unavailable,
                "the disk failed: writes stop until the store is opened again",
            ),
            Kind::Incomplete => (
                ErrorKind::Unavailable,
                "writes have stalled for a minute: the disk is full, or slower than what is written",
            ),
            Kind::ShutdownInProgress
            | Kind::TimedOut
            | Kind::Aborted
            | Kind::Busy
            | Kind::TryAgain => (ErrorKind::Unavailable, "try again later"),
            _ => (ErrorKind::Internal, "report it"),
        }
    };
    // RocksDB's own words stay: they may name the file, which no caller knows.
    Error::new(kind, format!("{place}: {text} ({remedy})")).with_source(error)
}
