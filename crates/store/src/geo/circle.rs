//! A circle on the sphere.

use super::relation::Relation;
use super::square::Square;

/// The radius of the sphere that distances are measured on: the mean of the three axes of WGS 84.
pub const EARTH_RADIUS_METRES: f64 = 6_371_008.771_415_059;

/// What distances are off at most, in metres: near the far side of the globe the sine of half a
/// distance tells no less than 10 cm apart.
const ERROR_METRES: f64 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Circle {
    pub(super) lon: f64,
    pub(super) lat: f64,
    pub(super) metres: f64,
}

/// The distance of two places on the sphere, in metres. Coordinates are degrees.
pub fn sphere_distance(lon: f64, lat: f64, other_lon: f64, other_lat: f64) -> f64 {
    let half_sine = |degrees: f64| (degrees.to_radians() / 2.0).sin();
    let (north, east) = (half_sine(other_lat - lat), half_sine(other_lon - lon));
    let cosines = lat.to_radians().cos() * other_lat.to_radians().cos();
    let square = (north * north + cosines * east * east).clamp(0.0, 1.0);
    2.0 * EARTH_RADIUS_METRES * square.sqrt().asin()
}

impl Circle {
    /// A place that is not on the globe is nowhere: a sine would wrap it around.
    pub(super) fn contains(&self, lon: f64, lat: f64) -> bool {
        let is_on_globe = (-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat);
        is_on_globe && sphere_distance(self.lon, self.lat, lon, lat) <= self.metres
    }

    pub(super) fn relation(&self, square: Square) -> Relation {
        let bounds = square.bounds();
        let grown = self.metres * (1.0 + 1e-9) + ERROR_METRES;
        if least_distance(self.lon, self.lat, bounds) > grown {
            return Relation::Outside;
        }
        // Whoever is nearest to the far side of the globe is farthest from the centre.
        let far_side = least_distance(opposite(self.lon), -self.lat, bounds);
        let greatest = std::f64::consts::PI * EARTH_RADIUS_METRES - far_side;
        let shrunk = self.metres * (1.0 - 1e-9) - ERROR_METRES;
        if greatest < shrunk { Relation::Inside } else { Relation::Across }
    }
}

/// What the nearest place of a square is away at least.
pub(super) fn least_square_distance(lon: f64, lat: f64, square: Square) -> f64 {
    let least = least_distance(lon, lat, square.bounds());
    (least * (1.0 - 1e-9) - ERROR_METRES).max(0.0)
}

fn opposite(lon: f64) -> f64 {
    if lon < 0.0 { lon + 180.0 } else { lon - 180.0 }
}

/// The distance of a place from the nearest one between two meridians and two parallels.
fn least_distance(lon: f64, lat: f64, [west, south, east, north]: [f64; 4]) -> f64 {
    if (west..=east).contains(&lon) {
        // The nearest one is on the same meridian.
        let degrees = (south - lat).max(lat - north).max(0.0);
        return EARTH_RADIUS_METRES * degrees.to_radians();
    }
    // On each parallel it is at the meridian that is nearer around the globe.
    let around = |edge: f64| {
        let degrees = (edge - lon).abs();
        degrees.min(360.0 - degrees)
    };
    let nearer = if around(west) < around(east) { west } else { east };
    let (sine, cosine) = lat.to_radians().sin_cos();
    // Along a meridian the distance falls up to this latitude and rises behind it. Of a meridian
    // on the far half of the globe it lies behind the pole, which `clamp` takes for the pole.
    let nearest = sine.atan2(cosine * around(nearer).to_radians().cos()).to_degrees();
    [south, north, nearest.clamp(south, north)]
        .into_iter()
        .map(|edge| sphere_distance(lon, lat, nearer, edge))
        .fold(f64::INFINITY, f64::min)
}
