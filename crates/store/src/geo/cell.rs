//! Cells: squares of the grid as numbers that an index orders.

use super::square::Square;
use super::{grid, hilbert};

/// The level of the finest cells: at level n the globe has 2^n columns and 2^n rows.
pub const LEVEL_MAX: u8 = 32;

/// The cell of a place at a level of 1 to [`LEVEL_MAX`]. None for a place that is not on the globe,
/// as 181, 91, which means an unknown place in AIS, and for what is not a number.
pub fn geo_cell(lon: f64, lat: f64, level: u8) -> Option<i64> {
    let position = hilbert::position(grid::column(lon)?, grid::row(lat)?);
    Some(of_position(position, level))
}

/// Where a cell lies: west, south, east and north in degrees. None for a number that is not a cell
/// of the level.
pub fn cell_bounds(cell: i64, level: u8) -> Option<[f64; 4]> {
    Some(Square::of_position(position(cell, level)?, level).bounds())
}

/// The middle of a cell, longitude and latitude.
pub fn cell_center(cell: i64, level: u8) -> Option<[f64; 2]> {
    let [west, south, east, north] = cell_bounds(cell, level)?;
    Some([(west + east) / 2.0, (south + north) / 2.0])
}

/// The cell of a level that holds a position. The finest ones take all 64 bits: there the upper
/// half of the positions comes as numbers from 0 on, the lower as negative ones.
pub(super) fn of_position(position: u64, level: u8) -> i64 {
    match level {
        LEVEL_MAX => (position ^ 1 << 63) as i64,
        level => (position >> (64 - 2 * u32::from(level))) as i64,
    }
}

/// The first position of a cell.
fn position(cell: i64, level: u8) -> Option<u64> {
    match level {
        LEVEL_MAX => Some(cell as u64 ^ 1 << 63),
        1..LEVEL_MAX => {
            let bits = 2 * u32::from(level);
            let cell = u64::try_from(cell).ok().filter(|cell| cell >> bits == 0)?;
            Some(cell << (64 - bits))
        }
        _ => None,
    }
}
