//! Where the rows of a batch came from.

/// Where the rows of a batch came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// From a segment.
    Segment,
    /// They were written over a segment since.
    Delta,
    /// From the store.
    Store,
}
