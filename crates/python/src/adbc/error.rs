//! Errors of the store as ADBC's statuses.

use adbc_core::error::{Error, Status};
use tonnage::ErrorKind;

/// Turns errors of the store into those of ADBC.
pub(super) trait OrStatus<T> {
    fn or_status(self) -> adbc_core::error::Result<T>;
}

impl<T> OrStatus<T> for tonnage::Result<T> {
    fn or_status(self) -> adbc_core::error::Result<T> {
        self.map_err(|error| of_store(&error))
    }
}

pub(super) fn of_store(error: &tonnage::Error) -> Error {
    let status = match error.kind() {
        ErrorKind::Invalid => Status::InvalidArguments,
        ErrorKind::NotFound => Status::NotFound,
        ErrorKind::Conflict => Status::Integrity,
        ErrorKind::Unavailable => Status::IO,
        ErrorKind::Cancelled => Status::Cancelled,
        ErrorKind::TimedOut => Status::Timeout,
        ErrorKind::Exhausted => Status::InvalidState,
        ErrorKind::Corruption => Status::InvalidData,
        ErrorKind::Unsupported => Status::NotImplemented,
        _ => Status::Internal,
    };
    Error::with_message_and_status(error.message(), status)
}

pub(super) fn not_offered(what: &str) -> Error {
    Error::with_message_and_status(what, Status::NotImplemented)
}

pub(super) fn invalid(what: impl Into<String>) -> Error {
    Error::with_message_and_status(what, Status::InvalidArguments)
}

pub(super) fn not_found(what: impl Into<String>) -> Error {
    Error::with_message_and_status(what, Status::NotFound)
}

pub(super) fn invalid_state(what: &str) -> Error {
    Error::with_message_and_status(what, Status::InvalidState)
}

pub(super) fn internal(error: &arrow::error::ArrowError) -> Error {
    Error::with_message_and_status(error.to_string(), Status::Internal)
}
