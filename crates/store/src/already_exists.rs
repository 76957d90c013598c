//! Marks a conflict with something that is there under the same name or key.

use std::fmt;

use tonnage_engine::Error;

/// What causes the error of a call that would make something that exists: a row, a table, a view or
/// an index. It is the error's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyExists;

impl AlreadyExists {
    /// The error of such a call, of the kind [`Conflict`](tonnage_engine::ErrorKind::Conflict).
    pub fn error(message: impl Into<String>) -> Error {
        Error::conflict(message).with_source(Self)
    }

    /// Whether an error has it among its causes.
    pub fn caused(error: &Error) -> bool {
        let first = std::error::Error::source(error);
        std::iter::successors(first, |cause| cause.source()).any(|cause| cause.is::<Self>())
    }
}

impl fmt::Display for AlreadyExists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already")
    }
}

impl std::error::Error for AlreadyExists {}
