//! Functions on places: PostGIS's names and meanings, over well-known binary.
//!
//! GEOMETRY is in the plane of longitudes and latitudes, GEOGRAPHY on the earth. Both are WKB, and
//! the field of a column says which (`field`). **Distances are metres.** What would count degrees
//! is refused with the remedy.

mod call;
mod cells;
mod compare;
mod field;
mod geojson;
mod geometry;
mod make;
mod measure;
mod tell;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use geometry::read_wkb;
pub(crate) use measure::SPHEROID_SHARE;

/// All of them.
pub(super) fn functions() -> impl Iterator<Item = ScalarUDF> {
    let all = [make::ALL.as_slice(), &tell::ALL, &compare::ALL, &measure::ALL, &cells::ALL];
    all.into_iter().flatten().map(call::GeoFunction::function)
}
