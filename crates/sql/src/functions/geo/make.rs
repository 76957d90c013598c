//! Functions that make geometries.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BinaryBuilder};
use arrow::datatypes::{Field, FieldRef};
use datafusion::common::Result;
use geo::{Geometry, Rect};

use super::super::scalar::text_of;
use super::call::{Call, GeoFunction};
use super::field;
use super::geometry::{parse_geojson, parse_wkt, point_wkb, write_wkb};

pub(super) const ALL: [GeoFunction; 10] = [
    make("st_point", "ST_Point(lon, lat)", (2, 2), geometry, points),
    make("st_makepoint", "ST_MakePoint(lon, lat)", (2, 2), geometry, points),
    make("st_geogpoint", "ST_GeogPoint(lon, lat)", (2, 2), geography, points),
    make("st_makeenvelope", "ST_MakeEnvelope(west, south, east, north)", (4, 5), geometry, boxes),
    make("st_geomfromtext", "ST_GeomFromText('POINT (4.5 51.9)')", (1, 2), geometry, of_text),
    make("st_geogfromtext", "ST_GeogFromText('POINT (4.5 51.9)')", (1, 1), geography, of_text),
    make("st_geomfromwkb", "ST_GeomFromWKB(bytes)", (1, 2), geometry, read),
    make("st_geomfromgeojson", "ST_GeomFromGeoJSON(text)", (1, 1), geometry, of_geojson),
    make("_geometry", "CAST(geography AS GEOMETRY)", (1, 1), geometry, read),
    make("_geography", "CAST(geometry AS GEOGRAPHY)", (1, 1), geography, read),
];

const fn make(
    name: &'static str,
    form: &'static str,
    count: (usize, usize),
    gives: fn(&'static str, &[FieldRef]) -> Result<Field>,
    work: fn(&Call<'_>) -> Result<ArrayRef>,
) -> GeoFunction {
    GeoFunction { name, form, count, gives, work }
}

fn geometry(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(field::geometry(name))
}

fn geography(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(field::geography(name))
}

/// A coordinate that is not a number makes no point.
fn points(call: &Call<'_>) -> Result<ArrayRef> {
    let (lon, lat) = (call.numbers(0)?, call.numbers(1)?);
    let mut points = BinaryBuilder::with_capacity(call.rows, call.rows * 21);
    for row in 0..call.rows {
        match lon.get(row).zip(lat.get(row)) {
            Some((lon, lat)) if lon.is_finite() && lat.is_finite() => {
                points.append_value(point_wkb([lon, lat]))
            }
            _ => points.append_null(),
        }
    }
    Ok(Arc::new(points.finish()))
}

fn boxes(call: &Call<'_>) -> Result<ArrayRef> {
    let edges = [call.numbers(0)?, call.numbers(1)?, call.numbers(2)?, call.numbers(3)?];
    call.collect::<_, BinaryArray>(|row| {
        let [Some(west), Some(south), Some(east), Some(north)] =
            [0, 1, 2, 3].map(|edge: usize| edges[edge].get(row).filter(|edge| edge.is_finite()))
        else {
            return Ok(None);
        };
        let corners = [(west, south), (east, north)];
        write_wkb(&Geometry::Polygon(Rect::new(corners[0], corners[1]).to_polygon())).map(Some)
    })
}

fn of_text(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.collect::<_, BinaryArray>(|row| {
        text_of(&texts, row).map(|text| write_wkb(&parse_wkt(text)?)).transpose()
    })
}

fn of_geojson(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.collect::<_, BinaryArray>(|row| {
        text_of(&texts, row).map(|text| write_wkb(&parse_geojson(text)?)).transpose()
    })
}

/// Bytes that are looked at: whatever reads them later counts on that.
fn read(call: &Call<'_>) -> Result<ArrayRef> {
    let places = call.places(0)?;
    if let super::call::Places::Each(bytes) = &places {
        for row in 0..call.rows {
            places.check(row)?;
        }
        return Ok(Arc::new(bytes.clone()));
    }
    call.collect::<_, BinaryArray>(|row| {
        places.get(row)?.map(|place| write_wkb(&place)).transpose()
    })
}
