//! Functions that tell something of a geometry.

use arrow::array::{ArrayRef, Float64Array, Int32Array, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use geo::{BoundingRect, CoordsIter, Geometry, Rect};
use wkt::ToWkt;

use super::call::{Call, GeoFunction};
use super::geojson;
use super::geometry::{type_name, write_wkb};

pub(super) const ALL: [GeoFunction; 13] = [
    tell("st_x", "ST_X(point)", double, |call| coordinate(call, 0)),
    tell("st_y", "ST_Y(point)", double, |call| coordinate(call, 1)),
    tell("st_xmin", "ST_XMin(geometry)", double, |call| bound(call, |bounds| bounds.min().x)),
    tell("st_ymin", "ST_YMin(geometry)", double, |call| bound(call, |bounds| bounds.min().y)),
    tell("st_xmax", "ST_XMax(geometry)", double, |call| bound(call, |bounds| bounds.max().x)),
    tell("st_ymax", "ST_YMax(geometry)", double, |call| bound(call, |bounds| bounds.max().y)),
    tell("st_geometrytype", "ST_GeometryType(geometry)", text, |call| {
        texts(call, |place| Ok(postgis_type(place)))
    }),
    tell("st_npoints", "ST_NPoints(geometry)", integer, corners),
    tell("st_astext", "ST_AsText(geometry)", text, |call| {
        texts(call, |place| Ok(place.wkt_string()))
    }),
    tell("st_aswkt", "ST_AsWKT(geometry)", text, |call| {
        texts(call, |place| Ok(place.wkt_string()))
    }),
    tell("st_asgeojson", "ST_AsGeoJSON(geometry)", text, |call| texts(call, geojson::write)),
    tell("st_asbinary", "ST_AsBinary(geometry)", bytes, binary),
    tell("st_aswkb", "ST_AsWKB(geometry)", bytes, binary),
];

const fn tell(
    name: &'static str,
    form: &'static str,
    gives: fn(&'static str, &[FieldRef]) -> Result<Field>,
    work: fn(&Call<'_>) -> Result<ArrayRef>,
) -> GeoFunction {
    GeoFunction { name, form, count: (1, 1), gives, work }
}

fn double(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(Field::new(name, DataType::Float64, true))
}

fn integer(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(Field::new(name, DataType::Int32, true))
}

fn text(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(Field::new(name, DataType::Utf8, true))
}

fn bytes(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(Field::new(name, DataType::Binary, true))
}

fn coordinate(call: &Call<'_>, axis: usize) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, Float64Array>(|row| {
        Ok(places.point(row, call.name)?.map(|point| point[axis]))
    })
}

fn bound(call: &Call<'_>, of: fn(Rect) -> f64) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, Float64Array>(|row| {
        Ok(places.get(row)?.and_then(|place| place.bounding_rect()).map(of))
    })
}

fn corners(call: &Call<'_>) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, Int32Array>(|row| {
        Ok(places.get(row)?.map(|place| i32::try_from(place.coords_count()).unwrap_or(i32::MAX)))
    })
}

fn texts(call: &Call<'_>, text: fn(&Geometry) -> Result<String>) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, StringArray>(|row| places.get(row)?.as_ref().map(text).transpose())
}

fn binary(call: &Call<'_>) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, arrow::array::BinaryArray>(|row| {
        places.get(row)?.as_ref().map(write_wkb).transpose()
    })
}

/// `ST_LineString`, as PostGIS calls it.
fn postgis_type(place: &Geometry) -> String {
    let name = match type_name(place) {
        "POINT" => "Point",
        "LINESTRING" => "LineString",
        "POLYGON" => "Polygon",
        "MULTIPOINT" => "MultiPoint",
        "MULTILINESTRING" => "MultiLineString",
        "MULTIPOLYGON" => "MultiPolygon",
        _ => "GeometryCollection",
    };
    format!("ST_{name}")
}
