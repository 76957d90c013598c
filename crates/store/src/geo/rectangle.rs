//! A box of longitudes and latitudes.
//!
//! It is compared with squares by columns and rows, never in degrees: its edges pass through the
//! same function as the places do, so rounding cannot part them.

use super::grid;
use super::relation::Relation;
use super::square::Square;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub(super) west: f64,
    pub(super) south: f64,
    pub(super) east: f64,
    pub(super) north: f64,
}

impl Rectangle {
    pub(super) fn contains(&self, lon: f64, lat: f64) -> bool {
        (self.west..=self.east).contains(&lon) && (self.south..=self.north).contains(&lat)
    }

    /// Whether places may lie in it that are not on the globe.
    pub(super) fn reaches_beyond(&self) -> bool {
        self.west < -180.0 || self.east > 180.0 || self.south < -90.0 || self.north > 90.0
    }

    pub(super) fn relation(&self, square: Square) -> Relation {
        let columns = [self.west, self.east].map(|lon| grid::column(lon.clamp(-180.0, 180.0)));
        let rows = [self.south, self.north].map(|lat| grid::row(lat.clamp(-90.0, 90.0)));
        let ([Some(west), Some(east)], [Some(south), Some(north)]) = (columns, rows) else {
            return Relation::Across;
        };
        let ((first, last), (lowest, highest)) = (square.columns(), square.rows());
        let is_empty = self.west > self.east || self.south > self.north;
        if is_empty || last < west || first > east || highest < south || lowest > north {
            return Relation::Outside;
        }
        let is_inside = west <= first && last <= east && south <= lowest && highest <= north;
        if is_inside { Relation::Inside } else { Relation::Across }
    }
}
