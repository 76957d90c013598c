//! Geometries as bytes and text.

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use geo::{CoordsIter, Geometry};
use geo_traits::to_geo::ToGeoGeometry;
use wkb::writer::WriteOptions;
use wkt::TryFromWkt;

use super::geojson;

/// The bytes of a point: their order, the type, two coordinates.
const POINT_BYTES: usize = 21;
/// How a point in the usual order of bytes begins.
const POINT: [u8; 5] = [1, 1, 0, 0, 0];
/// Deeper texts are refused: they are read by recursion.
const PARENTHESES_MAX: usize = 32;

/// Reads well-known binary.
pub(crate) fn read_wkb(bytes: &[u8]) -> Result<Geometry> {
    let read = wkb::reader::read_wkb(bytes)
        .map_err(|error| exec_datafusion_err!("these bytes are not WKB: {error}"))?;
    match read.try_to_geometry() {
        Some(geometry) => checked(geometry),
        None => exec_err!("an empty point has no place"),
    }
}

/// The coordinates, if it is a point in the usual order of bytes.
pub(super) fn point_of_wkb(bytes: &[u8]) -> Option<[f64; 2]> {
    let bytes: &[u8; POINT_BYTES] = bytes.try_into().ok()?;
    let number = |from: usize| {
        let eight = bytes[from..from + 8].first_chunk()?;
        Some(f64::from_le_bytes(*eight)).filter(|number| number.is_finite())
    };
    bytes.starts_with(&POINT).then_some(())?;
    Some([number(5)?, number(13)?])
}

/// A point as well-known binary.
pub(super) fn point_wkb([x, y]: [f64; 2]) -> [u8; POINT_BYTES] {
    let mut bytes = [0; POINT_BYTES];
    bytes[..5].copy_from_slice(&POINT);
    bytes[5..13].copy_from_slice(&x.to_le_bytes());
    bytes[13..].copy_from_slice(&y.to_le_bytes());
    bytes
}

pub(super) fn write_wkb(geometry: &Geometry) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    wkb::writer::write_geometry(&mut bytes, geometry, &WriteOptions::default())
        .map_err(|error| exec_datafusion_err!("this geometry has no WKB: {error}"))?;
    Ok(bytes)
}

/// Reads well-known text. A reference system in front is taken if it is the only one there is.
pub(super) fn parse_wkt(text: &str) -> Result<Geometry> {
    let plain = match text.split_once(';') {
        Some((system, plain)) if system.trim().eq_ignore_ascii_case("SRID=4326") => plain,
        Some((system, _)) => {
            return exec_err!(
                "'{system}' is not known: coordinates are longitude and latitude of WGS 84, SRID=4326"
            );
        }
        None => text,
    };
    // The reader goes down into each parenthesis, and the stack has an end.
    let mut depth = 0_usize;
    for letter in plain.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > PARENTHESES_MAX {
            return exec_err!("a geometry is nested more than {PARENTHESES_MAX} deep");
        }
    }
    // Of a long text its beginning says which one it is.
    let start: String = text.chars().take(60).collect();
    let parsed = Geometry::try_from_wkt_str(plain).map_err(|error| {
        exec_datafusion_err!(
            "'{start}' is not a geometry ({error}): write POINT (4.5 51.9), longitude first, or POLYGON ((...))"
        )
    })?;
    checked(parsed)
}

/// Reads GeoJSON.
pub(super) fn parse_geojson(text: &str) -> Result<Geometry> {
    checked(geojson::parse(text)?)
}

/// Predicates count on numbers that can be compared.
fn checked(geometry: Geometry) -> Result<Geometry> {
    let mut places = geometry.coords_iter();
    let is_finite = places.all(|place| place.x.is_finite() && place.y.is_finite());
    drop(places);
    match is_finite {
        true => Ok(geometry),
        false => exec_err!("a geometry has a coordinate that is not a number"),
    }
}

pub(super) fn type_name(geometry: &Geometry) -> &'static str {
    match geometry {
        Geometry::Point(_) => "POINT",
        Geometry::Line(_) | Geometry::LineString(_) => "LINESTRING",
        Geometry::Polygon(_) | Geometry::Rect(_) | Geometry::Triangle(_) => "POLYGON",
        Geometry::MultiPoint(_) => "MULTIPOINT",
        Geometry::MultiLineString(_) => "MULTILINESTRING",
        Geometry::MultiPolygon(_) => "MULTIPOLYGON",
        Geometry::GeometryCollection(_) => "GEOMETRYCOLLECTION",
    }
}
