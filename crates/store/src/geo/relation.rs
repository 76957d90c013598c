//! Terms of regions: places, and how squares lie to regions.

/// Longitude and latitude in degrees of WGS 84.
pub type Coordinates = [f64; 2];

/// How a square lies to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Outside,
    /// All of it lies inside.
    Inside,
    /// Partly, or it is not known.
    Across,
}
