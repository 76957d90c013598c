//! Generates ships on plausible tracks. Each stays near a port, turns little by little, and turns
//! back when it is far out.
//!
//! A stream gives the positions of its ships minute by minute, as a receiver would: in the order of
//! time, not of ships. Positions are generated from the seed while they are read. The same seed
//! makes the same fleet.

use std::f64::consts::TAU;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Builder, Int32Builder, Int64Array, Int64Builder, RecordBatch,
    TimestampSecondBuilder,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tonnage::{Error, Result};

/// The table of positions.
pub(crate) const TABLE: &str =
    "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed DOUBLE,
    course DOUBLE, heading INTEGER, status INTEGER, PRIMARY KEY (SHARD(ship), at))";
/// 2022-01-03T00:00:00Z, in seconds since 1970.
pub(crate) const START: i64 = 1_641_168_000;
/// Seconds between two positions of a ship.
const STEP_SECONDS: i64 = 180;
/// Knots to degrees of latitude in one step.
const DEGREES_PER_KNOT: f64 = STEP_SECONDS as f64 / 3_600.0 / 60.0;
/// How far from its port a ship sails, in degrees.
const RANGE_DEGREES: f64 = 1.5;
const SHIP_NUMBER_FIRST: i64 = 366_000_000;
/// Numbers are spread out, as real ones are.
const SHIP_NUMBER_STEP: i64 = 97;
const BATCH_ROWS: usize = 8_192;
const MOORED: i32 = 5;
const UNDER_WAY: i32 = 0;

/// Waters off ports of the United States: latitude, longitude.
const PORTS: [(f64, f64); 16] = [
    (33.60, -118.30),
    (37.60, -123.00),
    (46.20, -124.40),
    (48.30, -123.20),
    (58.10, -135.50),
    (60.80, -147.20),
    (21.20, -158.00),
    (29.00, -94.50),
    (28.80, -89.20),
    (30.10, -88.00),
    (27.50, -83.20),
    (25.70, -79.90),
    (32.60, -79.60),
    (36.90, -75.70),
    (40.30, -73.60),
    (42.30, -70.60),
];

/// The settings of a fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fleet {
    pub(crate) ships: u32,
    pub(crate) positions_per_ship: u32,
    pub(crate) seed: u64,
}

impl Fleet {
    pub(crate) fn positions(&self) -> u64 {
        u64::from(self.ships) * u64::from(self.positions_per_ship)
    }

    pub(crate) fn ship_number(&self, index: u32) -> i64 {
        SHIP_NUMBER_FIRST + i64::from(index) * SHIP_NUMBER_STEP
    }

    /// The time of a report of a ship: ships report at different seconds.
    pub(crate) fn time(&self, ship: u32, step: u32) -> i64 {
        START + i64::from(step) * STEP_SECONDS + i64::from(ship % STEP_SECONDS as u32)
    }

    /// The numbers of at most so many ships, spread over the fleet: ships next to each other share
    /// blocks.
    pub(crate) fn ship_numbers(&self, count: u32) -> Vec<i64> {
        let step = (self.ships / count.max(1)).max(1) as usize;
        let ships = (0..self.ships).step_by(step).take(count as usize);
        ships.map(|ship| self.ship_number(ship)).collect()
    }

    /// The positions of every `streams`-th ship.
    pub(crate) fn stream(&self, stream: usize, streams: usize) -> FleetPositions {
        let mut chance =
            SmallRng::seed_from_u64(self.seed.wrapping_mul(1_000_003).wrapping_add(stream as u64));
        let ships = (stream as u32..self.ships)
            .step_by(streams.max(1))
            .map(|index| Ship::new(index, &mut chance))
            .collect();
        FleetPositions { fleet: *self, ships, chance, step: 0, next: 0 }
    }
}

/// One ship at one time.
struct Ship {
    index: u32,
    port: (f64, f64),
    lat: f64,
    lon: f64,
    speed: f64,
    course: f64,
    is_moored: bool,
}

impl Ship {
    fn new(index: u32, chance: &mut SmallRng) -> Self {
        let port = PORTS[chance.random_range(0..PORTS.len())];
        Self {
            index,
            port,
            lat: port.0 + chance.random_range(-0.4..0.4),
            lon: port.1 + chance.random_range(-0.4..0.4),
            speed: chance.random_range(2.0..22.0),
            course: chance.random_range(0.0..TAU),
            is_moored: chance.random_ratio(1, 5),
        }
    }

    /// Sails for one step.
    fn advance(&mut self, chance: &mut SmallRng) {
        if chance.random_ratio(1, 200) {
            self.is_moored = !self.is_moored;
        }
        if self.is_moored {
            return;
        }
        let (north, east) =
            (self.lat - self.port.0, (self.lon - self.port.1) * self.lat.to_radians().cos());
        self.course = if north.hypot(east) > RANGE_DEGREES {
            (-east).atan2(-north)
        } else {
            self.course + chance.random_range(-0.15..0.15)
        };
        self.speed = (self.speed + chance.random_range(-0.5..0.5)).clamp(0.5, 24.0);
        let way = self.speed * DEGREES_PER_KNOT;
        self.lat += way * self.course.cos();
        self.lon += way * self.course.sin() / self.lat.to_radians().cos();
    }
}

/// The positions of some ships, batch by batch.
pub(crate) struct FleetPositions {
    fleet: Fleet,
    ships: Vec<Ship>,
    chance: SmallRng,
    step: u32,
    /// The ship that reports next.
    next: usize,
}

impl Iterator for FleetPositions {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch(BATCH_ROWS)
    }
}

impl FleetPositions {
    /// The next position of each of its ships.
    pub(crate) fn next_step(&mut self) -> Option<Result<RecordBatch>> {
        self.batch(self.ships.len())
    }

    /// Lets all ships sail for so many steps without a report.
    pub(crate) fn skip_steps(&mut self, steps: u32) {
        for _ in 0..steps {
            self.ships.iter_mut().for_each(|ship| ship.advance(&mut self.chance));
        }
        self.step += steps;
    }

    fn batch(&mut self, rows_max: usize) -> Option<Result<RecordBatch>> {
        let mut columns = PositionColumns::default();
        while columns.rows < rows_max
            && self.step < self.fleet.positions_per_ship
            && !self.ships.is_empty()
        {
            let ship = &mut self.ships[self.next];
            columns.push(&self.fleet, ship, self.step);
            ship.advance(&mut self.chance);
            self.next += 1;
            if self.next == self.ships.len() {
                self.next = 0;
                self.step += 1;
            }
        }
        (columns.rows > 0).then(|| columns.finish())
    }
}

#[derive(Default)]
struct PositionColumns {
    rows: usize,
    ship: Int64Builder,
    at: TimestampSecondBuilder,
    lat: Float64Builder,
    lon: Float64Builder,
    speed: Float64Builder,
    course: Float64Builder,
    heading: Int32Builder,
    status: Int32Builder,
}

impl PositionColumns {
    fn push(&mut self, fleet: &Fleet, ship: &Ship, step: u32) {
        let degrees = ship.course.rem_euclid(TAU).to_degrees();
        self.rows += 1;
        self.ship.append_value(fleet.ship_number(ship.index));
        self.at.append_value(fleet.time(ship.index, step));
        self.lat.append_value(rounded(ship.lat, 1e5));
        self.lon.append_value(rounded(ship.lon, 1e5));
        self.speed.append_value(if ship.is_moored { 0.0 } else { rounded(ship.speed, 10.0) });
        self.course.append_value(rounded(degrees, 10.0));
        // What a gyro does not tell is 511, as in real reports.
        self.heading.append_value(if ship.index.is_multiple_of(7) { 511 } else { degrees as i32 });
        self.status.append_value(if ship.is_moored { MOORED } else { UNDER_WAY });
    }

    fn finish(mut self) -> Result<RecordBatch> {
        let columns: [(&str, ArrayRef); 8] = [
            ("ship", Arc::new(self.ship.finish())),
            ("at", Arc::new(self.at.finish())),
            ("lat", Arc::new(self.lat.finish())),
            ("lon", Arc::new(self.lon.finish())),
            ("speed", Arc::new(self.speed.finish())),
            ("course", Arc::new(self.course.finish())),
            ("heading", Arc::new(self.heading.finish())),
            ("status", Arc::new(self.status.finish())),
        ];
        batch(columns)
    }
}

/// Reports have five digits of a degree and one of a knot.
fn rounded(value: f64, digits: f64) -> f64 {
    (value * digits).round() / digits
}

/// Ships by their numbers, as a batch of keys.
pub(crate) fn ship_keys(numbers: &[i64]) -> Vec<Result<RecordBatch>> {
    let numbers = Int64Array::from(numbers.to_vec());
    vec![batch([("ship", Arc::new(numbers) as ArrayRef)])]
}

pub(crate) fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal("a batch cannot be put together").with_source(error))
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::{Float64Type, Int64Type, TimestampSecondType};

    use super::*;

    const FLEET: Fleet = Fleet { ships: 100, positions_per_ship: 300, seed: 7 };

    fn all(fleet: &Fleet) -> Vec<RecordBatch> {
        (0..3).flat_map(|stream| fleet.stream(stream, 3)).map(Result::unwrap).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_fleet() {
        assert_eq!(all(&FLEET), all(&FLEET));
        assert_ne!(all(&FLEET), all(&Fleet { seed: 8, ..FLEET }));
    }

    #[test]
    fn a_fleet_sails_on_from_where_it_was() {
        let whole: Vec<_> = FLEET.stream(0, 1).map(Result::unwrap).collect();
        let whole = arrow::compute::concat_batches(&whole[0].schema(), &whole).unwrap();
        let mut later = FLEET.stream(0, 1);
        later.skip_steps(250);
        let step = later.next_step().unwrap().unwrap();
        assert_eq!(step, whole.slice(250 * 100, 100));
    }

    #[test]
    fn no_ship_is_at_two_places_at_once() {
        let mut keys = std::collections::HashSet::new();
        for batch in all(&FLEET) {
            let (ships, times) = (
                batch.column(0).as_primitive::<Int64Type>(),
                batch.column(1).as_primitive::<TimestampSecondType>(),
            );
            assert!(
                (0..batch.num_rows()).all(|row| keys.insert((ships.value(row), times.value(row))))
            );
        }
        assert_eq!(keys.len() as u64, FLEET.positions());
    }

    #[test]
    fn ships_keep_near_their_ports() {
        for batch in all(&FLEET) {
            let (lats, lons) = (
                batch.column(2).as_primitive::<Float64Type>(),
                batch.column(3).as_primitive::<Float64Type>(),
            );
            for row in 0..batch.num_rows() {
                let (lat, lon) = (lats.value(row), lons.value(row));
                let is_near = |port: &(f64, f64)| {
                    (lat - port.0).hypot((lon - port.1) * lat.to_radians().cos())
                        < RANGE_DEGREES + 0.2
                };
                assert!(PORTS.iter().any(is_near), "{lat}, {lon}");
            }
        }
    }
}
