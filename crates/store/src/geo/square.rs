//! A square of the grid that is one stretch of the curve.

use super::grid;
use super::hilbert::{self, Turn};

/// One of the 4^level squares of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square {
    pub(super) level: u8,
    /// Its first position on the curve.
    first: u64,
    column: u32,
    row: u32,
    turn: Turn,
}

impl Square {
    /// The whole globe.
    pub(super) const GLOBE: Self = Self { level: 0, first: 0, column: 0, row: 0, turn: 0 };

    /// The square of a level that begins at a position.
    pub(super) fn of_position(position: u64, level: u8) -> Self {
        (1..=u32::from(level)).fold(Self::GLOBE, |square, level| {
            square.child((position >> (64 - 2 * level)) as u8 & 3)
        })
    }

    /// The four squares of the next level, in the order of the curve.
    pub(super) fn children(self) -> [Self; 4] {
        [0, 1, 2, 3].map(|place| self.child(place))
    }

    fn child(self, place: u8) -> Self {
        let (right, upper, turn) = hilbert::quadrant(self.turn, place);
        let level = self.level + 1;
        let side = |is_far: u8| u32::from(is_far) << (32 - u32::from(level));
        Self {
            level,
            first: self.first | u64::from(place) << (64 - 2 * u32::from(level)),
            column: self.column | side(right),
            row: self.row | side(upper),
            turn,
        }
    }

    /// Its positions, both ends included.
    pub(super) fn positions(self) -> (u64, u64) {
        let last = u64::MAX.checked_shr(2 * u32::from(self.level)).unwrap_or(0);
        (self.first, self.first | last)
    }

    /// Its columns and rows, both ends included.
    pub(super) fn columns(self) -> (u32, u32) {
        (self.column, self.column | self.last())
    }

    pub(super) fn rows(self) -> (u32, u32) {
        (self.row, self.row | self.last())
    }

    fn last(self) -> u32 {
        u32::MAX.checked_shr(u32::from(self.level)).unwrap_or(0)
    }

    /// West, south, east and north in degrees.
    pub(super) fn bounds(self) -> [f64; 4] {
        let ((west, east), (south, north)) = (self.columns(), self.rows());
        [
            grid::longitude(west.into()),
            grid::latitude(south.into()),
            grid::longitude(u64::from(east) + 1),
            grid::latitude(u64::from(north) + 1),
        ]
    }
}
