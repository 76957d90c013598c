//! A polygon in the plane of longitudes and latitudes, with its holes.

use super::relation::{Coordinates, Relation};
use super::square::Square;

/// What is added to each side of a square, in degrees: twice the finest one and more, so that
/// neither rounding nor a place on an edge is lost.
const MARGIN: f64 = 2e-7;

/// A ring and its holes. A ring that crosses itself holds all that it goes round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Polygon {
    rings: Vec<Vec<Edge>>,
}

type Edge = [Coordinates; 2];

impl Polygon {
    /// Rings are closed if they are not.
    pub(super) fn new(rings: &[Vec<Coordinates>]) -> Self {
        let edges = |ring: &Vec<Coordinates>| {
            let next = ring.iter().cycle().skip(1);
            ring.iter().zip(next).map(|(from, to)| [*from, *to]).collect()
        };
        Self { rings: rings.iter().map(edges).collect() }
    }

    /// The corners of each ring.
    pub(super) fn rings(&self) -> impl Iterator<Item = Vec<Coordinates>> {
        self.rings.iter().map(|ring| ring.iter().map(|[from, _]| *from).collect())
    }

    fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.rings.iter().flatten()
    }

    /// Whether places may lie in it that are not on the globe.
    pub(super) fn reaches_beyond(&self) -> bool {
        self.edges().flatten().any(|[lon, lat]| lon.abs() > 180.0 || lat.abs() > 90.0)
    }

    /// Whether a place lies inside. Of places on an edge some do.
    pub(super) fn contains(&self, lon: f64, lat: f64) -> bool {
        let goes_round = |ring: &Vec<Edge>| turns(ring, lon, lat) != 0;
        self.rings
            .split_first()
            .is_some_and(|(outer, holes)| goes_round(outer) && !holes.iter().any(goes_round))
    }

    pub(super) fn relation(&self, square: Square) -> Relation {
        let [west, south, east, north] = square.bounds();
        let grown = [west - MARGIN, south - MARGIN, east + MARGIN, north + MARGIN];
        if self.edges().any(|[from, to]| meets(*from, *to, grown)) {
            return Relation::Across;
        }
        // No edge passes, so all of the square lies where its middle does.
        match self.contains((west + east) / 2.0, (south + north) / 2.0) {
            true => Relation::Inside,
            false => Relation::Outside,
        }
    }
}

/// How often a ring goes round a place.
fn turns(ring: &[Edge], lon: f64, lat: f64) -> i32 {
    let turn = |[from, to]: &Edge| {
        // Half open, so that an end that two edges share is met once.
        let is_passed = (from[1] > lat) != (to[1] > lat)
            && lon < from[0] + (lat - from[1]) / (to[1] - from[1]) * (to[0] - from[0]);
        match is_passed {
            true if to[1] > from[1] => 1,
            true => -1,
            false => 0,
        }
    };
    ring.iter().map(turn).sum()
}

/// Whether a segment meets a box: what the four sides leave of it.
fn meets(from: Coordinates, to: Coordinates, [west, south, east, north]: [f64; 4]) -> bool {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (axis, low, high) in [(0, west, east), (1, south, north)] {
        let (start, way) = (from[axis], to[axis] - from[axis]);
        if way == 0.0 {
            if start < low || start > high {
                return false;
            }
            continue;
        }
        let (one, two) = ((low - start) / way, (high - start) / way);
        first = first.max(one.min(two));
        last = last.min(one.max(two));
    }
    first <= last
}
