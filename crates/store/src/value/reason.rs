//! The reason why a value cannot be parsed or converted.

/// What a reader says of text, or of a value, that it cannot take.
pub(crate) type Reason = String;
