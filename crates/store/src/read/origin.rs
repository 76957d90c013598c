//! The key that a row answers.

/// The position of a key of a bulk get in the caller's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyOrigin {
    /// The number of its source, from 0, where there are several; else 0.
    pub source: u32,
    /// The position of the key in its source, from 0.
    pub position: u64,
}
