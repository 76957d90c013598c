//! GeoJSON (RFC 7946): a geometry as JSON.

use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err};
use geo::{
    Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon,
    Point, Polygon,
};
use serde_json::{Value, json};

/// Reads a geometry, or a feature that has one.
pub(super) fn parse(text: &str) -> Result<Geometry> {
    let start = || text.chars().take(60).collect::<String>();
    let read: Value = serde_json::from_str(text)
        .map_err(|error| exec_datafusion_err!("'{}' is not JSON: {error}", start()))?;
    let inner = match read.get("type").and_then(Value::as_str) {
        Some("Feature") => read.get("geometry").unwrap_or(&Value::Null),
        _ => &read,
    };
    geometry(inner).ok_or_else(|| {
        exec_datafusion_err!(
            "'{}' is not a GeoJSON geometry: write {{\"type\": \"Point\", \"coordinates\": [4.5, 51.9]}}, longitude first",
            start()
        )
    })
}

fn geometry(value: &Value) -> Option<Geometry> {
    let name = value.get("type")?.as_str()?;
    let given = || value.get("coordinates");
    Some(match name {
        "Point" => Point::from(coord(given()?)?).into(),
        "LineString" => line(given()?)?.into(),
        "Polygon" => polygon(given()?)?.into(),
        "MultiPoint" => {
            let points = list(given()?, |point| coord(point).map(Point::from))?;
            MultiPoint::new(points).into()
        }
        "MultiLineString" => MultiLineString::new(list(given()?, line)?).into(),
        "MultiPolygon" => MultiPolygon::new(list(given()?, polygon)?).into(),
        "GeometryCollection" => {
            let all = list(value.get("geometries")?, geometry)?;
            Geometry::GeometryCollection(GeometryCollection::new_from(all))
        }
        _ => return None,
    })
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(item).collect()
}

fn line(value: &Value) -> Option<LineString> {
    list(value, coord).map(LineString::new)
}

fn polygon(value: &Value) -> Option<Polygon> {
    let mut rings = list(value, line)?;
    if rings.is_empty() {
        return None;
    }
    let outer = rings.remove(0);
    Some(Polygon::new(outer, rings))
}

/// Heights are left out.
fn coord(value: &Value) -> Option<Coord> {
    match value.as_array()?.as_slice() {
        [x, y] | [x, y, _] => Some(Coord { x: x.as_f64()?, y: y.as_f64()? }),
        _ => None,
    }
}

pub(super) fn write(place: &Geometry) -> Result<String> {
    Ok(shown(place)?.to_string())
}

fn shown(place: &Geometry) -> Result<Value, DataFusionError> {
    let pair = |coord: &Coord| json!([coord.x, coord.y]);
    let line = |line: &LineString| line.coords().map(pair).collect::<Value>();
    let polygon = |polygon: &Polygon| {
        [polygon.exterior()].into_iter().chain(polygon.interiors()).map(line).collect::<Value>()
    };
    let (name, coordinates) = match place {
        Geometry::Point(point) => ("Point", pair(&point.0)),
        Geometry::LineString(own) => ("LineString", line(own)),
        Geometry::Polygon(own) => ("Polygon", polygon(own)),
        Geometry::MultiPoint(points) => {
            ("MultiPoint", points.iter().map(|point| pair(&point.0)).collect())
        }
        Geometry::MultiLineString(lines) => ("MultiLineString", lines.iter().map(line).collect()),
        Geometry::MultiPolygon(all) => ("MultiPolygon", all.iter().map(polygon).collect()),
        Geometry::GeometryCollection(all) => {
            let geometries = all.iter().map(shown).collect::<Result<Vec<_>>>()?;
            return Ok(json!({"type": "GeometryCollection", "geometries": geometries}));
        }
        _ => return exec_err!("this geometry has no GeoJSON"),
    };
    Ok(json!({"type": name, "coordinates": coordinates}))
}
