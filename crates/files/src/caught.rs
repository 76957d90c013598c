//! Code of others that panics on some damaged files.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a decoder panicked with.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the decoder gave up: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Makes an error of a panic. What the work had borrowed is not to be used any more.
pub(crate) fn caught<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    as_error: impl FnOnce(Panicked) -> E,
) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(as_error(Panicked(text.unwrap_or_default())))
    })
}
