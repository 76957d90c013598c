//! Functions that measure, in metres.
//!
//! A GEOGRAPHY is measured on the spheroid WGS 84. A sphere differs from it by less than
//! [`SPHEROID_SHARE`], so what is nearer or farther by more than that needs no spheroid. A point
//! that is not on the globe is nowhere, so its distance is NULL: AIS says 181, 91 for unknown.

use arrow::array::{ArrayRef, BooleanArray, Float64Array};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use geo::{Distance, Geodesic, GeodesicArea, Geometry, Length, Point};
use tonnage::geo::sphere_distance;

use super::call::{Call, GeoFunction};
use super::field;

/// The largest difference between a distance on the sphere and on the spheroid, as a share.
pub(crate) const SPHEROID_SHARE: f64 = 0.006;

pub(super) const ALL: [GeoFunction; 7] = [
    measure("st_distance", "ST_Distance(a::GEOGRAPHY, b)", 2, on_earth, |call| {
        distances(call, spheroid_distance)
    }),
    measure("st_distancespheroid", "ST_DistanceSpheroid(a, b)", 2, double, |call| {
        distances(call, spheroid_distance)
    }),
    measure("st_distancesphere", "ST_DistanceSphere(a, b)", 2, double, |call| {
        distances(call, of_sphere)
    }),
    measure("st_distance_sphere", "ST_Distance_Sphere(a, b)", 2, double, |call| {
        distances(call, of_sphere)
    }),
    measure("st_dwithin", "ST_DWithin(a::GEOGRAPHY, b, metres)", 3, is_near, are_near),
    measure("st_length", "ST_Length(line::GEOGRAPHY)", 1, on_earth, |call| sizes(call, length)),
    measure("st_area", "ST_Area(polygon::GEOGRAPHY)", 1, on_earth, |call| sizes(call, area)),
];

type Gives = fn(&'static str, &[FieldRef]) -> Result<Field>;

const fn measure(
    name: &'static str,
    form: &'static str,
    arguments: usize,
    gives: Gives,
    work: fn(&Call<'_>) -> Result<ArrayRef>,
) -> GeoFunction {
    GeoFunction { name, form, count: (arguments, arguments), gives, work }
}

fn double(name: &'static str, _: &[FieldRef]) -> Result<Field> {
    Ok(Field::new(name, DataType::Float64, true))
}

fn on_earth(name: &'static str, arguments: &[FieldRef]) -> Result<Field> {
    check_earth(name, arguments)?;
    double(name, arguments)
}

fn is_near(name: &'static str, arguments: &[FieldRef]) -> Result<Field> {
    check_earth(name, &arguments[..2])?;
    Ok(Field::new(name, DataType::Boolean, true))
}

/// Refuses what would count degrees: a bare number of degrees is how ships get lost.
fn check_earth(name: &'static str, arguments: &[FieldRef]) -> Result<()> {
    let is_planar = arguments.iter().any(field::is_geometry);
    match is_planar && !arguments.iter().any(field::is_geography) {
        true => plan_err!(
            "{name} of GEOMETRY would count degrees: cast to GEOGRAPHY for metres, as in ST_Point(lon, lat)::GEOGRAPHY, or ask ST_DistanceSphere"
        ),
        false => Ok(()),
    }
}

fn distances(call: &Call<'_>, distance: fn([f64; 2], [f64; 2]) -> f64) -> Result<ArrayRef> {
    let (left, right) = (call.places(0)?, call.places(1)?);
    call.collect::<_, Float64Array>(|row| {
        let (left, right) = (left.point(row, call.name)?, right.point(row, call.name)?);
        let points = left.and_then(on_globe).zip(right.and_then(on_globe));
        Ok(points.map(|(left, right)| distance(left, right)))
    })
}

fn are_near(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right, metres) = (call.places(0)?, call.places(1)?, call.numbers(2)?);
    call.collect::<_, BooleanArray>(|row| {
        let (left, right) = (left.point(row, call.name)?, right.point(row, call.name)?);
        let points = left.and_then(on_globe).zip(right.and_then(on_globe));
        let is_within = |((left, right), metres): (([f64; 2], [f64; 2]), f64)| {
            let rough = of_sphere(left, right);
            match rough {
                rough if rough * (1.0 + SPHEROID_SHARE) < metres => true,
                rough if rough * (1.0 - SPHEROID_SHARE) > metres => false,
                _ => spheroid_distance(left, right) <= metres,
            }
        };
        Ok(points.zip(metres.get(row)).map(is_within))
    })
}

fn on_globe([lon, lat]: [f64; 2]) -> Option<[f64; 2]> {
    ((-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat)).then_some([lon, lat])
}

fn of_sphere([lon, lat]: [f64; 2], [other_lon, other_lat]: [f64; 2]) -> f64 {
    sphere_distance(lon, lat, other_lon, other_lat)
}

fn spheroid_distance(left: [f64; 2], right: [f64; 2]) -> f64 {
    let [left, right] = [left, right].map(|[lon, lat]| Point::new(lon, lat));
    Geodesic.distance(left, right)
}

fn sizes(call: &Call<'_>, size: fn(&str, &Geometry) -> Result<f64>) -> Result<ArrayRef> {
    let places = call.places(0)?;
    call.collect::<_, Float64Array>(|row| {
        places.get(row)?.map(|place| size(call.name, &place)).transpose()
    })
}

/// What is no line has no length.
fn length(name: &str, place: &Geometry) -> Result<f64> {
    match place {
        Geometry::Line(line) => Ok(Geodesic.length(line)),
        Geometry::LineString(line) => Ok(Geodesic.length(line)),
        Geometry::MultiLineString(lines) => Ok(Geodesic.length(lines)),
        Geometry::GeometryCollection(_) => {
            exec_err!("{name} takes one geometry, not a GEOMETRYCOLLECTION")
        }
        _ => Ok(0.0),
    }
}

fn area(_: &str, place: &Geometry) -> Result<f64> {
    Ok(place.geodesic_area_unsigned())
}
