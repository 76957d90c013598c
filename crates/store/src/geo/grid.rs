//! The grid: columns by longitude, rows by latitude.
//!
//! Both grow with their coordinate, so comparing columns and rows is comparing coordinates, but
//! for neighbours that fall together. One square is at most 9 mm wide and 5 mm high.

/// How many columns and rows there are.
const SIDE: f64 = 4_294_967_296.0;

/// The column of a longitude. The last one takes 180 in: it is not wrapped, so that the order stays
/// that of BETWEEN. None outside the globe, and for what is not a number.
pub(super) fn column(lon: f64) -> Option<u32> {
    (-180.0..=180.0).contains(&lon).then(|| place((lon + 180.0) / 360.0))
}

/// The row of a latitude, likewise.
pub(super) fn row(lat: f64) -> Option<u32> {
    (-90.0..=90.0).contains(&lat).then(|| place((lat + 90.0) / 180.0))
}

/// The number of a share of a side. A cast takes what lies beyond the last number for the last.
fn place(share: f64) -> u32 {
    (share * SIDE) as u32
}

/// The longitude at which a column begins; that of `1 << 32` is 180. Exact: it has 38 bits.
pub(super) fn longitude(column: u64) -> f64 {
    column as f64 * 360.0 / SIDE - 180.0
}

/// The latitude at which a row begins, likewise.
pub(super) fn latitude(row: u64) -> f64 {
    row as f64 * 180.0 / SIDE - 90.0
}
