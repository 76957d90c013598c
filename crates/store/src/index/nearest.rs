//! The rows nearest to a place.
//!
//! Of the squares that are left of the globe the nearest is taken. If it has few entries, these are
//! read; else its four parts take its place. An estimate may be far too small, so a read has a
//! limit, and a square with more is parted all the same. What is read comes before anything in the
//! squares that are left.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use super::handle::Index;
use super::options::IndexScanOptions;
use super::places::Places;
use crate::bulk::get::TableBatch;
use crate::geo::{Coordinates, NearbySquare, NearbySquares, sphere_distance};

/// A square with so many entries, by an estimate, is read.
const ENTRIES_READ: u64 = 256;
/// A square with more of them is parted.
const ENTRIES_READ_MAX: u64 = 2_048;
/// So many rows more than are wanted are gathered before the farthest are dropped.
const GATHERED_ROWS: usize = 8_192;

/// Rows with their distances.
#[derive(Clone, Debug)]
pub struct NearbyRows {
    /// The rows.
    pub batch: TableBatch,
    /// The distance of each from the place asked for, in metres on the sphere.
    pub metres: Vec<f64>,
}

impl Index {
    /// The rows nearest to a place, the nearest first: `count` of them, or all that are somewhere on
    /// the globe. Distances are those of [`sphere_distance`]. The index begins with `geo_cell(lon,
    /// lat)`.
    ///
    /// As any read of an index it is no snapshot: a row that moves meanwhile may be missed.
    ///
    /// ```
    /// use tonnage::{IndexScanOptions, Row, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE buoys (id LONG, lon DOUBLE, lat DOUBLE, PRIMARY KEY (id)); CREATE INDEX by_place ON buoys (geo_cell(lon, lat))")?;
    /// let buoy = |id: i64, lon: f64| Row::new().with("id", id).with("lon", lon).with("lat", 52.0);
    /// store.multi_put([("buoys", vec![buoy(1, 4.0), buoy(2, 4.3), buoy(3, -179.0)])], &Default::default())?;
    /// let nearest = store.table("buoys")?.index("by_place")?.nearest([4.2, 52.0], 1, &IndexScanOptions::default())?;
    /// assert_eq!(nearest.metres[0].round(), 6_846.0);
    /// # Ok::<(), tonnage::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an index that does not begin with cells, a place that is not on the globe, no
    /// rows asked for, and options of an order; as [`Index::scan`] else.
    pub fn nearest(
        &self,
        place: Coordinates,
        count: usize,
        options: &IndexScanOptions,
    ) -> Result<NearbyRows> {
        if count == 0 || options.limit.is_some() {
            return Err(Error::invalid(
                "the number of nearest rows is 1 or more, and the only limit: leave limit out",
            ));
        }
        let mut rows = self.by_distance(place, options)?;
        let mut nearest =
            Nearest { count, gathered: Vec::new(), rows: 0, least: BinaryHeap::new() };
        while nearest.greatest_metres() >= rows.reached_metres() {
            let Some(more) = rows.next() else { break };
            nearest.add(more?)?;
        }
        match nearest.first_rows()? {
            Some(first) => Ok(first),
            None => {
                let none = RecordBatch::new_empty(rows.places.wanted.clone());
                let batch = TableBatch::new(self.table_path().into(), none);
                Ok(NearbyRows { batch, metres: Vec::new() })
            }
        }
    }

    /// All rows that are somewhere on the globe, batch by batch, from the nearest to the farthest
    /// but for those of one batch: [`RowsByDistance::reached_metres`] says what cannot come any more.
    ///
    /// # Errors
    /// As [`Index::nearest`].
    pub fn by_distance(
        &self,
        place: Coordinates,
        options: &IndexScanOptions,
    ) -> Result<RowsByDistance> {
        Ok(RowsByDistance {
            index: self.clone(),
            places: Places::of(self, options)?,
            place,
            squares: NearbySquares::around(place)?,
            reading: None,
        })
    }
}

/// Rows by their distance from a place: see [`Index::by_distance`].
pub struct RowsByDistance {
    index: Index,
    places: Places,
    place: Coordinates,
    squares: NearbySquares,
    /// What is left of the square that was taken last.
    reading: Option<(NearbySquare, SquareRows)>,
}

type SquareRows = Box<dyn Iterator<Item = Result<TableBatch>> + Send>;

impl RowsByDistance {
    /// No row that is still to come is nearer than this.
    pub fn reached_metres(&self) -> f64 {
        match &self.reading {
            Some((square, _)) => square.metres(),
            None => self.squares.reached_metres(),
        }
    }

    /// Takes squares until one is read. `None` when the globe has no more.
    fn read_next_square(&mut self) -> Result<Option<()>> {
        while let Some(square) = self.squares.take_nearest() {
            let range = self.places.range(square.cells(self.places.level));
            let may_part = square.has_parts(self.places.level);
            if may_part && self.index.estimate_entries(std::slice::from_ref(&range))? > ENTRIES_READ
            {
                self.squares.put_parts(square);
                continue;
            }
            let limit = may_part.then_some(ENTRIES_READ_MAX + 1);
            let rows = self.index.bulk_get([range], &self.places.read_options(limit))?;
            if !may_part {
                self.reading = Some((square, Box::new(rows)));
                return Ok(Some(()));
            }
            let rows = rows.collect::<Result<Vec<_>>>()?;
            let count: usize = rows.iter().map(|batch| batch.rows.num_rows()).sum();
            if count as u64 > ENTRIES_READ_MAX {
                self.squares.put_parts(square);
            } else if count > 0 {
                self.reading = Some((square, Box::new(rows.into_iter().map(Ok))));
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    fn measured(&self, mut batch: TableBatch) -> Result<NearbyRows> {
        let [lon, lat] = self.places.coordinates(&batch.rows)?;
        let [own_lon, own_lat] = self.place;
        let distance = |(lon, lat): (&f64, &f64)| sphere_distance(own_lon, own_lat, *lon, *lat);
        let metres = lon.values().iter().zip(lat.values()).map(distance).collect();
        batch.rows = self.places.pick_wanted(batch.rows)?;
        Ok(NearbyRows { batch, metres })
    }
}

impl Iterator for RowsByDistance {
    type Item = Result<NearbyRows>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((_, rows)) = &mut self.reading {
                match rows.next() {
                    Some(batch) => return Some(batch.and_then(|batch| self.measured(batch))),
                    None => self.reading = None,
                }
            }
            match self.read_next_square() {
                Ok(Some(())) => {}
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for RowsByDistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowsByDistance")
            .field("index", &self.index)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// The nearest of the rows seen so far.
struct Nearest {
    count: usize,
    gathered: Vec<NearbyRows>,
    /// How many rows these are.
    rows: usize,
    /// The least distances, `count` of them at most, the greatest first.
    least: BinaryHeap<Metres>,
}

impl Nearest {
    /// Rows that are farther are not among the nearest.
    fn greatest_metres(&self) -> f64 {
        match self.least.peek() {
            Some(Metres(greatest)) if self.least.len() == self.count => *greatest,
            _ => f64::INFINITY,
        }
    }

    fn add(&mut self, rows: NearbyRows) -> Result<()> {
        for metres in &rows.metres {
            if *metres < self.greatest_metres() {
                self.least.push(Metres(*metres));
                if self.least.len() > self.count {
                    self.least.pop();
                }
            }
        }
        self.rows += rows.metres.len();
        self.gathered.push(rows);
        if self.rows > self.count.saturating_add(GATHERED_ROWS) {
            let first = self.first_rows()?;
            self.rows = first.as_ref().map_or(0, |rows| rows.metres.len());
            self.gathered = first.into_iter().collect();
        }
        Ok(())
    }

    /// The nearest of those gathered, in order. Nothing if there are none.
    fn first_rows(&self) -> Result<Option<NearbyRows>> {
        let Some(NearbyRows { batch: first, .. }) = self.gathered.first() else { return Ok(None) };
        let failed = |error: ArrowError| {
            Error::internal(format!("rows cannot be put in order: {error}")).with_source(error)
        };
        let schema = first.rows.schema();
        let batches = || self.gathered.iter().map(|rows| &rows.batch);
        let all = concat_batches(&schema, batches().map(|batch| &batch.rows)).map_err(failed)?;
        let metres: Vec<f64> =
            self.gathered.iter().flat_map(|rows| rows.metres.iter().copied()).collect();
        let mut order: Vec<u32> = (0..metres.len() as u32).collect();
        order.sort_by(|one, other| metres[*one as usize].total_cmp(&metres[*other as usize]));
        order.truncate(self.count);
        let versions: Vec<u64> = batches().flat_map(|batch| batch.versions.clone()).collect();
        let expiries: Vec<u64> = batches().flat_map(|batch| batch.expiries_ms.clone()).collect();
        let picked = |numbers: &[u64]| -> Vec<u64> {
            order.iter().map(|place| numbers[*place as usize]).collect()
        };
        let mut batch = TableBatch::new(first.table.clone(), all);
        (batch.versions, batch.expiries_ms) = (picked(&versions), picked(&expiries));
        let metres = order.iter().map(|place| metres[*place as usize]).collect();
        let order = UInt32Array::from(order);
        batch.rows = take_record_batch(&batch.rows, &order).map_err(failed)?;
        Ok(Some(NearbyRows { batch, metres }))
    }
}

/// A distance, which is a number.
#[derive(PartialEq)]
struct Metres(f64);

impl Eq for Metres {}

impl PartialOrd for Metres {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Metres {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
