//! Functions that compare two geometries, in the plane of longitudes and latitudes.

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, plan_err};
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::relate::IntersectionMatrix;
use geo::{BoundingRect, Coord, Geometry, Rect, Relate};

use super::call::{Call, GeoFunction, Places};
use super::field;

pub(super) const ALL: [GeoFunction; 10] = [
    compare("st_within", "ST_Within(a, b)", |call| {
        of_point(call, 0, |at| at == CoordPos::Inside, IntersectionMatrix::is_within)
    }),
    compare("st_coveredby", "ST_CoveredBy(a, b)", |call| {
        of_point(call, 0, |at| at != CoordPos::Outside, IntersectionMatrix::is_coveredby)
    }),
    compare("st_contains", "ST_Contains(a, b)", |call| {
        of_point(call, 1, |at| at == CoordPos::Inside, IntersectionMatrix::is_contains)
    }),
    compare("st_covers", "ST_Covers(a, b)", |call| {
        of_point(call, 1, |at| at != CoordPos::Outside, IntersectionMatrix::is_covers)
    }),
    compare("st_intersects", "ST_Intersects(a, b)", |call| {
        of_point(call, 0, |at| at != CoordPos::Outside, IntersectionMatrix::is_intersects)
    }),
    compare("st_disjoint", "ST_Disjoint(a, b)", |call| {
        of_point(call, 0, |at| at == CoordPos::Outside, IntersectionMatrix::is_disjoint)
    }),
    compare("st_equals", "ST_Equals(a, b)", |call| relate(call, IntersectionMatrix::is_equal_topo)),
    compare("st_touches", "ST_Touches(a, b)", |call| relate(call, IntersectionMatrix::is_touches)),
    compare("st_crosses", "ST_Crosses(a, b)", |call| relate(call, IntersectionMatrix::is_crosses)),
    compare("st_overlaps", "ST_Overlaps(a, b)", |call| {
        relate(call, IntersectionMatrix::is_overlaps)
    }),
];

const fn compare(
    name: &'static str,
    form: &'static str,
    work: fn(&Call<'_>) -> Result<ArrayRef>,
) -> GeoFunction {
    GeoFunction { name, form, count: (2, 2), gives: truth, work }
}

fn truth(name: &'static str, arguments: &[FieldRef]) -> Result<Field> {
    if arguments.iter().any(field::is_geography) {
        return plan_err!(
            "{name} compares in the plane, not on the earth: cast both to GEOMETRY, or ask ST_DWithin for a distance"
        );
    }
    Ok(Field::new(name, DataType::Boolean, true))
}

fn relate(call: &Call<'_>, holds: fn(&IntersectionMatrix) -> bool) -> Result<ArrayRef> {
    let (left, right) = (call.places(0)?, call.places(1)?);
    call.collect::<_, BooleanArray>(|row| {
        Ok(left.get(row)?.zip(right.get(row)?).map(|(left, right)| holds(&left.relate(&right))))
    })
}

/// A comparison that of a point and one constant geometry is a question of where the point lies:
/// `point` is the argument that is the point.
fn of_point(
    call: &Call<'_>,
    point: usize,
    holds_at: fn(CoordPos) -> bool,
    holds: fn(&IntersectionMatrix) -> bool,
) -> Result<ArrayRef> {
    let (points, areas) = (call.places(point)?, call.places(1 - point)?);
    let Places::One(Some(area)) = &areas else { return relate(call, holds) };
    let bounds = area.bounding_rect();
    call.collect::<_, BooleanArray>(|row| {
        Ok(match points.point_or_other(row)? {
            None => None,
            Some(Ok(at)) => Some(holds_at(position(area, bounds, at))),
            Some(Err(other)) if point == 0 => Some(holds(&other.relate(area))),
            Some(Err(other)) => Some(holds(&area.relate(&other))),
        })
    })
}

/// Where a point lies; most lie outside of the bounds.
fn position(area: &Geometry, bounds: Option<Rect>, [x, y]: [f64; 2]) -> CoordPos {
    let at = Coord { x, y };
    let is_near = |bounds: Rect| {
        (bounds.min().x..=bounds.max().x).contains(&x)
            && (bounds.min().y..=bounds.max().y).contains(&y)
    };
    match bounds.is_some_and(is_near) {
        true => area.coordinate_position(&at),
        false => CoordPos::Outside,
    }
}
