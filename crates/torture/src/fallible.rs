//! The result type of the harness itself.

use std::error::Error;

/// The answer of what may fail in the harness itself.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;
