//! The first byte of each cell of an entry.

/// The cell of a NULL, and what begins every other cell.
pub(super) const NULL: u8 = 0;
pub(super) const PRESENT: u8 = 1;
