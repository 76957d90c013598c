//! Regions as JSON, as the server's calls have them.
//!
//! `{"box": [west, south, east, north]}`, `{"circle": [lon, lat, metres]}`, `{"polygon": ...}` with
//! rings or with an object of GeoJSON, `{"between": [west, south, east, north]}` where null is no
//! end, and `{"any": [...]}`, `{"all": [...]}` of others.

use serde_json::{Value as Json, json};
use tonnage_engine::{Error, Result};

use super::region::{Region, Shape};
use super::relation::Coordinates;

/// How deep regions may consist of others: they are read by recursion.
const DEPTH_MAX: usize = 16;

impl Region {
    /// The region that JSON describes: an object with one member.
    ///
    /// | member | value |
    /// |---|---|
    /// | `box` | west, south, east, north in degrees; across the date line where west is greater |
    /// | `circle` | longitude, latitude, metres |
    /// | `polygon` | rings of `[longitude, latitude]`, or a Polygon or MultiPolygon of GeoJSON |
    /// | `between` | as `box`, as numbers compare; null is no end |
    /// | `any`, `all` | regions |
    ///
    /// # Errors
    /// `Invalid` for anything else, and for what the calls of the same names refuse.
    pub fn from_json(json: &Json) -> Result<Self> {
        read(json, DEPTH_MAX)
    }

    /// The JSON that describes it.
    pub fn to_json(&self) -> Json {
        let list = |regions: &[Region]| Json::from_iter(regions.iter().map(Self::to_json));
        match self.shape() {
            Shape::Rectangle(edges) => {
                let edges = [edges.west, edges.south, edges.east, edges.north];
                // An end that is not a number leaves nothing: it has no JSON.
                match edges.iter().any(|edge| edge.is_nan()) {
                    true => json!({"any": []}),
                    false => json!({"between": edges.map(finite)}),
                }
            }
            Shape::Circle(circle) => json!({"circle": [circle.lon, circle.lat, circle.metres]}),
            Shape::Polygon(polygon) => {
                let rings: Vec<Vec<Coordinates>> = polygon.rings().collect();
                json!({"polygon": rings})
            }
            Shape::Any(regions) => json!({"any": list(regions)}),
            Shape::All(regions) => json!({"all": list(regions)}),
        }
    }
}

/// An infinite end is none.
fn finite(edge: f64) -> Option<f64> {
    Some(edge).filter(|edge| edge.is_finite())
}

fn read(json: &Json, depth: usize) -> Result<Region> {
    let members = json.as_object().filter(|members| members.len() == 1);
    let Some((name, value)) = members.and_then(|members| members.iter().next()) else {
        return Err(wrong(json));
    };
    // The text of a client must not decide how deep the stack grows.
    let Some(deeper) = depth.checked_sub(1) else {
        return Err(Error::invalid(format!(
            "a region consists of others {DEPTH_MAX} deep at most"
        )));
    };
    let regions = || {
        let regions = value.as_array().ok_or_else(|| wrong(json))?;
        regions.iter().map(|region| read(region, deeper)).collect::<Result<Vec<_>>>()
    };
    // Longitude comes first, as in GeoJSON.
    match name.as_str() {
        "box" => {
            let [west, south, east, north] = numbers(value).ok_or_else(|| wrong(json))?;
            Region::rectangle(west, south, east, north)
        }
        "circle" => {
            let [lon, lat, metres] = numbers(value).ok_or_else(|| wrong(json))?;
            Region::circle([lon, lat], metres)
        }
        "between" => {
            let [west, south, east, north] = ends(value).ok_or_else(|| wrong(json))?;
            Ok(Region::between(west, south, east, north))
        }
        "polygon" => read_polygons(value).ok_or_else(|| wrong(json))?,
        "any" => regions().map(Region::any),
        "all" => regions().map(Region::all),
        _ => Err(wrong(json)),
    }
}

/// So many numbers.
fn numbers<const COUNT: usize>(json: &Json) -> Option<[f64; COUNT]> {
    let numbers: Option<Vec<f64>> = json.as_array()?.iter().map(Json::as_f64).collect();
    numbers?.try_into().ok()
}

/// West, south, east and north, of which null is beyond all numbers.
fn ends(json: &Json) -> Option<[f64; 4]> {
    let ends = json.as_array()?;
    let infinite = [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY];
    let end =
        |(end, infinite): (&Json, f64)| if end.is_null() { Some(infinite) } else { end.as_f64() };
    let read: Option<Vec<f64>> = ends.iter().zip(infinite).map(end).collect();
    read.filter(|_| ends.len() == infinite.len())?.try_into().ok()
}

/// Rings, or an object of GeoJSON. `None` for what has another form.
fn read_polygons(json: &Json) -> Option<Result<Region>> {
    let rings = |json: &Json| -> Option<Vec<Vec<Coordinates>>> {
        let ring = |ring: &Json| ring.as_array()?.iter().map(corner).collect::<Option<Vec<_>>>();
        json.as_array()?.iter().map(ring).collect()
    };
    let Some(object) = json.as_object() else {
        return rings(json).map(|rings| Region::polygon(&rings));
    };
    let coordinates = object.get("coordinates")?;
    match object.get("type")?.as_str()? {
        "Polygon" => rings(coordinates).map(|rings| Region::polygon(&rings)),
        "MultiPolygon" => {
            let polygons = coordinates.as_array()?.iter().map(rings).collect::<Option<Vec<_>>>()?;
            let polygons = polygons.iter().map(|rings| Region::polygon(rings));
            Some(polygons.collect::<Result<Vec<_>>>().map(Region::any))
        }
        _ => None,
    }
}

/// A longitude and a latitude; GeoJSON may have a height after them.
fn corner(json: &Json) -> Option<Coordinates> {
    match json.as_array()?.as_slice() {
        [lon, lat] | [lon, lat, _] => Some([lon.as_f64()?, lat.as_f64()?]),
        _ => None,
    }
}

fn wrong(json: &Json) -> Error {
    // Of a large polygon its beginning says which one it is.
    let start: String = json.to_string().chars().take(80).collect();
    Error::invalid(format!(
        "{start} is not a region: write {{\"box\": [west, south, east, north]}}, {{\"circle\": [lon, lat, metres]}} or {{\"polygon\": [[[lon, lat], ...]]}}, longitude first"
    ))
}
