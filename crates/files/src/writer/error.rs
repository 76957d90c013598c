//! Errors of failed writes.

use tonnage_engine::Error;

/// What a failed write means to the caller; the target is theirs, so the message does not name it.
pub(super) fn write_failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::unavailable(format!("the output cannot be written: {error}")).with_source(error)
}
