//! The error that serde reports about a row.

use std::fmt;

use tonnage_engine::Error;

/// Why a record is not a row, or a row no such record.
#[derive(Debug)]
pub(super) struct SerdeError(String);

impl SerdeError {
    /// The same error, led by where it happened.
    pub(super) fn at(self, place: &str) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SerdeError {}

impl serde::ser::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl serde::de::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<SerdeError> for Error {
    fn from(error: SerdeError) -> Self {
        Error::invalid(error.0)
    }
}
