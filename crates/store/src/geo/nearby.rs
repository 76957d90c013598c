//! The squares of the globe by their distance from a place, the nearest first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tonnage_engine::Result;

use super::cell;
use super::circle::least_square_distance;
use super::region::check;
use super::relation::Coordinates;
use super::square::Square;

/// A square, and how far its nearest place is at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearbySquare {
    square: Square,
    metres: f64,
}

impl NearbySquare {
    /// The cells of a level in it, both ends included.
    pub(crate) fn cells(&self, level: u8) -> (i64, i64) {
        let (first, last) = self.square.positions();
        (cell::of_position(first, level), cell::of_position(last, level))
    }

    /// How far its nearest place is at least.
    pub(crate) fn metres(&self) -> f64 {
        self.metres
    }

    /// Whether cells of this level have parts of it for themselves.
    pub(crate) fn has_parts(&self, level: u8) -> bool {
        self.square.level < level
    }
}

/// What is left of the globe, in squares.
#[derive(Debug)]
pub(crate) struct NearbySquares {
    center: Coordinates,
    left: BinaryHeap<Reverse<NearbySquare>>,
}

impl NearbySquares {
    /// # Errors
    /// `Invalid` for a place that is not on the globe.
    pub(crate) fn around(center: Coordinates) -> Result<Self> {
        check(center)?;
        let globe = NearbySquare { square: Square::GLOBE, metres: 0.0 };
        Ok(Self { center, left: BinaryHeap::from([Reverse(globe)]) })
    }

    /// Takes the nearest one out.
    pub(crate) fn take_nearest(&mut self) -> Option<NearbySquare> {
        self.left.pop().map(|Reverse(nearest)| nearest)
    }

    /// Puts the four parts of one that was taken out in its place.
    pub(crate) fn put_parts(&mut self, nearby: NearbySquare) {
        let [lon, lat] = self.center;
        let part = |square: Square| {
            let metres = least_square_distance(lon, lat, square);
            Reverse(NearbySquare { square, metres })
        };
        self.left.extend(nearby.square.children().map(part));
    }

    /// All places that are nearer were in squares that were taken out.
    pub(crate) fn reached_metres(&self) -> f64 {
        self.left.peek().map_or(f64::INFINITY, |Reverse(nearest)| nearest.metres)
    }
}

impl PartialEq for NearbySquare {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NearbySquare {}

impl PartialOrd for NearbySquare {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Of two that are equally near the smaller one comes first: it leads to rows sooner.
impl Ord for NearbySquare {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_size = || other.square.level.cmp(&self.square.level);
        self.metres.total_cmp(&other.metres).then_with(by_size)
    }
}
