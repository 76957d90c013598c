//! Conditions on places, taken from the expressions of a plan.
//!
//! `ST_DWithin(ST_Point(lon, lat)::GEOGRAPHY, place, metres)`, a distance below a number, and
//! `ST_Within(ST_Point(lon, lat), area)` and the like, where the place and the area are constants.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use geo::{BoundingRect, Geometry, Polygon};
use tonnage::geo::{Coordinates, Region};

use crate::access::{GeoCondition, SqlTable};
use crate::functions::{SPHEROID_SHARE, read_wkb};

/// The functions that measure from one place to another.
const DISTANCES: [&str; 4] =
    ["st_distance", "st_distancesphere", "st_distance_sphere", "st_distancespheroid"];

/// The condition that follows from an expression, when it is one on a place.
pub(crate) fn geo_condition_of(table: &SqlTable, expr: &Expr) -> Option<GeoCondition> {
    match expr {
        Expr::Alias(alias) => geo_condition_of(table, &alias.expr),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            // Either side may be the distance.
            let (distance, op, metres) = match right.as_ref() {
                Expr::Literal(..) => (left, *op, right),
                _ => (right, op.swap()?, left),
            };
            let arguments = arguments_of(distance, &DISTANCES)?;
            let is_below = matches!(op, Operator::Lt | Operator::LtEq);
            is_below.then(|| around(table, arguments, metres)).flatten()
        }
        _ => {
            // What is the same from both sides stands in both lists.
            if let Some([left, right, metres]) = arguments_of(expr, &["st_dwithin"]) {
                return around(table, &[left.clone(), right.clone()], metres);
            }
            let is_inside = ["st_within", "st_coveredby", "st_intersects", "st_equals"];
            if let Some([point, area]) = arguments_of(expr, &is_inside)
                && let Some(condition) = inside(table, point, area)
            {
                return Some(condition);
            }
            let holds = ["st_contains", "st_covers", "st_intersects", "st_equals"];
            let [area, point] = arguments_of(expr, &holds)? else { return None };
            inside(table, point, area)
        }
    }
}

/// The distance of two columns from a constant place.
#[derive(Clone, Debug)]
pub(crate) struct PlaceDistance {
    /// The places of the two columns in the table.
    pub(crate) lon: usize,
    pub(crate) lat: usize,
    pub(crate) place: Coordinates,
}

/// The distance that an expression is, from a place on the globe.
pub(crate) fn distance_of(table: &SqlTable, expr: &Expr) -> Option<PlaceDistance> {
    let (lon, lat, place) = between(table, arguments_of(expr, &DISTANCES)?)?;
    // Elsewhere every distance is NULL.
    let is_on_globe = (-180.0..=180.0).contains(&place[0]) && (-90.0..=90.0).contains(&place[1]);
    is_on_globe.then_some(PlaceDistance { lon, lat, place })
}

/// The arguments of a call of one of these functions.
fn arguments_of<'e>(expr: &'e Expr, names: &[&str]) -> Option<&'e [Expr]> {
    match expr {
        Expr::ScalarFunction(call) if names.contains(&call.func.name()) => Some(&call.args),
        Expr::Alias(alias) => arguments_of(&alias.expr, names),
        _ => None,
    }
}

/// Two columns within so many metres of a constant point.
fn around(table: &SqlTable, arguments: &[Expr], metres: &Expr) -> Option<GeoCondition> {
    let (lon, lat, center) = between(table, arguments)?;
    let metres = number(metres)?.max(0.0) * (1.0 + SPHEROID_SHARE);
    let region = Region::circle(center, metres).ok()?;
    Some(GeoCondition { lon, lat, region })
}

/// Two columns and a constant point, in any order.
fn between(table: &SqlTable, arguments: &[Expr]) -> Option<(usize, usize, Coordinates)> {
    let [one, other] = arguments else { return None };
    let ((lon, lat), place) = match (columns_of(table, one), columns_of(table, other)) {
        (Some(columns), None) => (columns, other),
        (None, Some(columns)) => (columns, one),
        _ => return None,
    };
    let Geometry::Point(center) = constant(place)? else { return None };
    Some((lon, lat, [center.x(), center.y()]))
}

/// Two columns inside a constant geometry.
fn inside(table: &SqlTable, point: &Expr, area: &Expr) -> Option<GeoCondition> {
    let (lon, lat) = columns_of(table, point)?;
    let region = match constant(area)? {
        Geometry::Polygon(polygon) => of_polygon(&polygon)?,
        Geometry::MultiPolygon(polygons) => {
            Region::any(polygons.iter().map(of_polygon).collect::<Option<Vec<_>>>()?)
        }
        other => {
            let bounds = other.bounding_rect()?;
            let (least, most) = (bounds.min(), bounds.max());
            Region::between(least.x, least.y, most.x, most.y)
        }
    };
    Some(GeoCondition { lon, lat, region })
}

fn of_polygon(polygon: &Polygon) -> Option<Region> {
    let ring = |ring: &geo::LineString| -> Vec<Coordinates> {
        ring.coords().map(|place| [place.x, place.y]).collect()
    };
    let rings: Vec<_> =
        [polygon.exterior()].into_iter().chain(polygon.interiors()).map(ring).collect();
    Region::polygon(&rings).ok()
}

/// The columns of `ST_Point(lon, lat)`, however it is cast.
fn columns_of(table: &SqlTable, expr: &Expr) -> Option<(usize, usize)> {
    if let Some([inner]) = arguments_of(expr, &["_geography", "_geometry"]) {
        return columns_of(table, inner);
    }
    let points = ["st_point", "st_makepoint", "st_geogpoint"];
    let [lon, lat] = arguments_of(expr, &points)? else { return None };
    column(table, lon).zip(column(table, lat))
}

fn column(table: &SqlTable, expr: &Expr) -> Option<usize> {
    let Expr::Column(column) = expr else { return None };
    let place = table.arrow.index_of(&column.name).ok()?;
    (place < table.schema().columns.len()).then_some(place)
}

fn constant(expr: &Expr) -> Option<Geometry> {
    let Expr::Literal(ScalarValue::Binary(Some(bytes)), _) = expr else { return None };
    read_wkb(bytes).ok()
}

fn number(expr: &Expr) -> Option<f64> {
    let Expr::Literal(value, _) = expr else { return None };
    match value.cast_to(&arrow::datatypes::DataType::Float64).ok()? {
        ScalarValue::Float64(number) => number.filter(|number| number.is_finite()),
        _ => None,
    }
}
