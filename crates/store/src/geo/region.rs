//! Regions: what is asked for by place.

use tonnage_engine::{Error, Result};

use super::circle::Circle;
use super::polygon::Polygon;
use super::rectangle::Rectangle;
use super::relation::{Coordinates, Relation};
use super::square::Square;

/// A part of the earth, by longitude and latitude.
///
/// ```
/// use tonnage::geo::Region;
///
/// let harbour = Region::circle([4.05, 51.95], 5_000.0)?;
/// assert!(harbour.contains(4.1, 51.96) && !harbour.contains(4.3, 51.9));
/// # Ok::<(), tonnage::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Region(Shape);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Rectangle(Rectangle),
    Circle(Circle),
    Polygon(Polygon),
    Any(Vec<Region>),
    All(Vec<Region>),
}

impl Region {
    /// A box, its edges included. Where `west` is greater than `east` it goes across the date line.
    ///
    /// # Errors
    /// `Invalid` for what is not a number, and for edges that are not on the globe.
    pub fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Result<Self> {
        check([west, south])?;
        check([east, north])?;
        if south > north {
            return Err(Error::invalid(format!(
                "a box goes from {south} north to {north}: give south before north"
            )));
        }
        let part = |west, east| Self::between(west, south, east, north);
        Ok(match west <= east {
            // 180 and -180 are one place.
            true if west == -180.0 || east == 180.0 => {
                Self::any([part(west, east), part(180.0, 180.0), part(-180.0, -180.0)])
            }
            true => part(west, east),
            false => Self::any([part(west, 180.0), part(-180.0, east)]),
        })
    }

    /// All places whose longitude and latitude lie between two, as BETWEEN compares numbers: edges
    /// may lie beyond the globe, or be infinite.
    pub fn between(west: f64, south: f64, east: f64, north: f64) -> Self {
        Self(Shape::Rectangle(Rectangle { west, south, east, north }))
    }

    /// All places within so many metres of one, on the sphere.
    ///
    /// # Errors
    /// `Invalid` for a centre that is not on the globe, and for a length that is not a number.
    pub fn circle([lon, lat]: Coordinates, metres: f64) -> Result<Self> {
        check([lon, lat])?;
        if !(0.0..f64::INFINITY).contains(&metres) {
            return Err(Error::invalid(format!("a circle has a radius of {metres} metres")));
        }
        Ok(Self(Shape::Circle(Circle { lon, lat, metres })))
    }

    /// The inside of rings, each a list of corners; the second and further ones are holes. Edges
    /// are straight in the plane of longitudes and latitudes.
    ///
    /// # Errors
    /// `Invalid` for a ring of less than 3 corners, and for coordinates that are not numbers.
    pub fn polygon(rings: &[Vec<Coordinates>]) -> Result<Self> {
        let is_number =
            |ring: &Vec<Coordinates>| ring.iter().flatten().all(|part| part.is_finite());
        if rings.is_empty() || rings.iter().any(|ring| ring.len() < 3 || !is_number(ring)) {
            return Err(Error::invalid(
                "a polygon has rings of 3 corners or more, and coordinates that are numbers",
            ));
        }
        Ok(Self(Shape::Polygon(Polygon::new(rings))))
    }

    /// What is in one region at least.
    pub fn any(regions: impl IntoIterator<Item = Region>) -> Self {
        Self(Shape::Any(regions.into_iter().collect()))
    }

    /// What is in each of them.
    pub fn all(regions: impl IntoIterator<Item = Region>) -> Self {
        Self(Shape::All(regions.into_iter().collect()))
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.0
    }

    /// Whether a place is in it. A place on the edge of a polygon may or may not.
    pub fn contains(&self, lon: f64, lat: f64) -> bool {
        match &self.0 {
            Shape::Rectangle(rectangle) => rectangle.contains(lon, lat),
            Shape::Circle(circle) => circle.contains(lon, lat),
            Shape::Polygon(polygon) => polygon.contains(lon, lat),
            Shape::Any(regions) => regions.iter().any(|region| region.contains(lon, lat)),
            Shape::All(regions) => regions.iter().all(|region| region.contains(lon, lat)),
        }
    }

    /// Whether it may hold coordinates that are not on the globe, which have no cell.
    pub fn reaches_beyond(&self) -> bool {
        match &self.0 {
            Shape::Rectangle(rectangle) => rectangle.reaches_beyond(),
            Shape::Circle(_) => false,
            Shape::Polygon(polygon) => polygon.reaches_beyond(),
            Shape::Any(regions) => regions.iter().any(Self::reaches_beyond),
            Shape::All(regions) => regions.iter().all(Self::reaches_beyond),
        }
    }

    pub(super) fn relation(&self, square: Square) -> Relation {
        let relations = |regions: &[Region], decided: Relation| {
            let mut whole =
                if decided == Relation::Inside { Relation::Outside } else { Relation::Inside };
            for region in regions {
                match region.relation(square) {
                    relation if relation == decided => return decided,
                    Relation::Across => whole = Relation::Across,
                    _ => {}
                }
            }
            whole
        };
        match &self.0 {
            Shape::Rectangle(rectangle) => rectangle.relation(square),
            Shape::Circle(circle) => circle.relation(square),
            Shape::Polygon(polygon) => polygon.relation(square),
            Shape::Any(regions) => relations(regions, Relation::Inside),
            Shape::All(regions) => relations(regions, Relation::Outside),
        }
    }
}

/// Refuses a place that is not on the globe.
pub(super) fn check([lon, lat]: Coordinates) -> Result<()> {
    let is_on_globe = (-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat);
    is_on_globe.then_some(()).ok_or_else(|| {
        Error::invalid(format!(
            "longitude {lon}, latitude {lat} is not on the globe: give the longitude first, -180 to 180, then the latitude, -90 to 90"
        ))
    })
}
