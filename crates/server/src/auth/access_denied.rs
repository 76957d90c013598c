//! Marks an error as a missing right.

use std::fmt;

/// Marks an error of a caller who may not do what they asked for.
#[derive(Debug)]
pub(crate) struct AccessDenied;

impl fmt::Display for AccessDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not allowed")
    }
}

impl std::error::Error for AccessDenied {}
