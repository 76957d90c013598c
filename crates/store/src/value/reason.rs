//! Why a value cannot be had.

/// What a reader says of text, or of a value, that it cannot take.
pub(crate) type Reason = String;
