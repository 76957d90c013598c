//! Values as text.

use std::fmt;

use super::Value;

/// Timestamps as ISO 8601, UUIDs with hyphens, bytes as base64, everything else as it is.
impl fmt::Display for Value {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}
