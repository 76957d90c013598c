//! A column to order rows by, and the direction.

use tonnage::Direction;

/// A column to order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnOrder {
    pub(crate) column: usize,
    pub(crate) descending: bool,
}

impl ColumnOrder {
    /// The direction of a read in this order.
    pub(crate) fn direction(self) -> Direction {
        if self.descending { Direction::Reverse } else { Direction::Forward }
    }
}
