//! Places on the earth as numbers that an index can order.
//!
//! 1. Longitude and latitude become a column and a row of a grid of 2^32 by 2^32 (`grid`).
//! 2. The Hilbert curve numbers the squares of that grid, so that neighbours on the curve are
//!    neighbours on the earth (`hilbert`). A *cell* is such a number, of the finest square or of a
//!    coarser one (`cell`).
//! 3. A [`Region`] becomes ranges of cells (`cover`): its *cover*. **A cover may hold too much,
//!    never too little.** Whoever reads by one tests each row against the region.
//!
//! Cells lie in indexes on disk, so grid, curve and cells never change: docs/format.md has vectors.

mod cell;
mod circle;
mod cover;
mod grid;
mod hilbert;
mod json;
mod nearby;
mod polygon;
mod rectangle;
mod region;
mod relation;
mod square;

pub(crate) use nearby::{NearbySquare, NearbySquares};

pub use cell::{LEVEL_MAX, cell_bounds, cell_center, geo_cell};
pub use circle::{EARTH_RADIUS_METRES, sphere_distance};
pub use region::Region;
pub use relation::Coordinates;
