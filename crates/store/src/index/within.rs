//! The rows of many regions in one call.
//!
//! Regions are taken by the 64. The ranges of their covers are cut where one of them begins or
//! ends, so that no entry is read twice, and each piece has a bit for each region whose cover it is
//! of. The cell of a row leads to its piece. The row is held against those regions, and comes once
//! for each that holds it.

use std::fmt;

use arrow::array::{Array, Float64Array, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use tonnage_engine::{Error, Result};

use super::handle::Index;
use super::lookup::IndexRows;
use super::options::{IndexRange, IndexScanOptions};
use super::places::Places;
use crate::bulk::get::{KeyOrigin, TableBatch};
use crate::geo::{Region, geo_cell};
use crate::value::Value;

/// Regions that are read together: one has a bit.
const REGIONS_AT_ONCE: usize = u64::BITS as usize;

impl Index {
    /// The rows of many regions, each tested exactly. A row comes once for each region that holds
    /// it: [`KeyOrigin::position`] in the origins of a batch is the place of the region among those
    /// given, from 0. The index begins with `geo_cell(lon, lat)`.
    ///
    /// As any read of an index it is no snapshot: a row that moves meanwhile may be missed.
    ///
    /// ```
    /// use tonnage::geo::Region;
    /// use tonnage::{IndexScanOptions, Row, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE buoys (id LONG, lon DOUBLE, lat DOUBLE, PRIMARY KEY (id));
    /// CREATE INDEX by_place ON buoys (geo_cell(lon, lat))")?; let buoy = |id: i64, lon: f64|
    /// Row::new().with("id", id).with("lon", lon).with("lat", 52.0); store.multi_put([("buoys",
    /// vec![buoy(1, 4.0), buoy(2, 4.3), buoy(3, -179.0)])], &Default::default())?; let regions =
    /// [Region::rectangle(3.9, 51.0, 4.1, 53.0)?, Region::circle([4.2, 52.0], 20_000.0)?]; let mut
    /// held = vec![0; regions.len()]; for batch in store.table("buoys")?.bulk_get_within(regions,
    /// &IndexScanOptions::default())? {
    ///     batch?.origins.iter().for_each(|origin| held[origin.position as usize] += 1);
    /// }
    /// assert_eq!(held, [1, 2]);
    /// # Ok::<(), tonnage::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an index that does not begin with cells, and for options of an order; as
    /// [`Index::scan`] else.
    pub fn bulk_get_within<I>(&self, regions: I, options: &IndexScanOptions) -> Result<RowsWithin>
    where
        I: IntoIterator<Item = Region>,
        I::IntoIter: Send + 'static,
    {
        // What is wrong with them is an error now, not with the first region.
        options.check()?;
        Ok(RowsWithin {
            index: self.clone(),
            places: Places::of(self, options)?,
            regions: Box::new(regions.into_iter()),
            taken: 0,
            reading: None,
            left: options.limit,
        })
    }
}

/// The rows of regions, an iterator of record batches: see [`Index::bulk_get_within`].
pub struct RowsWithin {
    index: Index,
    places: Places,
    regions: Box<dyn Iterator<Item = Region> + Send>,
    /// How many regions were taken.
    taken: u64,
    reading: Option<(RegionLot, IndexRows)>,
    left: Option<u64>,
}

impl RowsWithin {
    /// The columns of the rows, known before the first batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.places.wanted
    }

    /// Begins to read the next regions. `None` when there are no more.
    fn read_next_lot(&mut self) -> Result<Option<()>> {
        let regions: Vec<Region> = self.regions.by_ref().take(REGIONS_AT_ONCE).collect();
        if regions.is_empty() {
            return Ok(None);
        }
        let first = self.taken;
        self.taken += regions.len() as u64;
        let lot = RegionLot::new(first, regions, self.places.level);
        let ranges = lot.ranges(&self.places);
        let rows = self.index.bulk_get(ranges, &self.places.read_options(None))?;
        self.reading = Some((lot, rows));
        Ok(Some(()))
    }

    /// The rows of a batch that regions hold, up to the limit.
    fn held(&mut self, batch: TableBatch) -> Result<Option<TableBatch>> {
        let Some((lot, _)) = &self.reading else { return Ok(None) };
        let [lon, lat] = self.places.coordinates(&batch.rows)?;
        let most = self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let (mut rows, mut origins) = (Vec::new(), Vec::new());
        // A row is given once for each region that holds it.
        for row in 0..batch.rows.num_rows() {
            let (lon, lat) = (number(&lon, row), number(&lat, row));
            for position in lot.holding(lon, lat, self.places.level) {
                rows.push(row as u32);
                origins.push(KeyOrigin { source: 0, position });
            }
        }
        rows.truncate(most);
        origins.truncate(most);
        self.left = self.left.map(|left| left - rows.len() as u64);
        if rows.is_empty() {
            return Ok(None);
        }
        // Scans that want no versions bring none.
        let picked = |numbers: &[u64]| -> Vec<u64> {
            rows.iter().filter_map(|row| numbers.get(*row as usize).copied()).collect()
        };
        let (versions, expiries_ms) = (picked(&batch.versions), picked(&batch.expiries_ms));
        let wanted = self.places.pick_wanted(batch.rows)?;
        let taken = take_record_batch(&wanted, &UInt32Array::from(rows)).map_err(|error| {
            Error::internal(format!("rows cannot be picked: {error}")).with_source(error)
        })?;
        Ok(Some(TableBatch { table: batch.table, rows: taken, versions, expiries_ms, origins }))
    }
}

impl Iterator for RowsWithin {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left != Some(0) {
            let Some((_, rows)) = &mut self.reading else {
                match self.read_next_lot() {
                    Ok(Some(())) => continue,
                    Ok(None) => return None,
                    Err(error) => return Some(Err(error)),
                }
            };
            let Some(batch) = rows.next() else {
                self.reading = None;
                continue;
            };
            match batch.and_then(|batch| self.held(batch)) {
                Ok(None) => {}
                Ok(Some(batch)) => return Some(Ok(batch)),
                Err(error) => return Some(Err(error)),
            }
        }
        self.reading = None;
        None
    }
}

impl fmt::Debug for RowsWithin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowsWithin").field("index", &self.index).finish_non_exhaustive()
    }
}

/// A coordinate; NULL is not a number.
fn number(numbers: &Float64Array, row: usize) -> f64 {
    if numbers.is_valid(row) { numbers.value(row) } else { f64::NAN }
}

/// Regions that are read together.
struct RegionLot {
    /// The place of the first among all.
    first: u64,
    regions: Vec<Region>,
    /// Cells from one to another, both included, ascending and apart, and the regions whose covers
    /// they are of.
    pieces: Vec<(i64, i64, u64)>,
    /// The regions that hold what is not on the globe.
    beyond: u64,
}

impl RegionLot {
    fn new(first: u64, regions: Vec<Region>, level: u8) -> Self {
        let bits = || regions.iter().enumerate().map(|(place, region)| (1_u64 << place, region));
        let beyond = bits().filter(|(_, region)| region.reaches_beyond());
        let beyond = beyond.fold(0, |all, (bit, _)| all | bit);
        // Where the cover of a region changes sides. One cell more may be beyond all numbers.
        let mut ends: Vec<(i128, u64)> = Vec::new();
        for (bit, region) in bits() {
            for (first, last) in region.cover(level, Region::PIECES) {
                ends.extend([(i128::from(first), bit), (i128::from(last) + 1, bit)]);
            }
        }
        ends.sort_unstable();
        let (mut pieces, mut now) = (Vec::with_capacity(ends.len()), 0);
        for (place, (cell, bit)) in ends.iter().enumerate() {
            now ^= bit;
            let Some((next, _)) = ends.get(place + 1) else { break };
            if now != 0 && next > cell {
                pieces.push((*cell as i64, (next - 1) as i64, now));
            }
        }
        Self { first, regions, pieces, beyond }
    }

    /// What is to be read of an index. Pieces that touch are one range.
    fn ranges(&self, places: &Places) -> Vec<IndexRange> {
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(self.pieces.len());
        for (first, last, _) in &self.pieces {
            match joined.last_mut() {
                Some((_, end)) if end.checked_add(1) == Some(*first) => *end = *last,
                _ => joined.push((*first, *last)),
            }
        }
        let beyond = (self.beyond != 0).then(|| IndexRange::prefix([Value::Null]));
        joined.into_iter().map(|cells| places.range(cells)).chain(beyond).collect()
    }

    /// The places of the regions that hold a place.
    fn holding(&self, lon: f64, lat: f64, level: u8) -> impl Iterator<Item = u64> {
        let candidates = match geo_cell(lon, lat, level) {
            None => self.beyond,
            Some(cell) => {
                let place = self.pieces.partition_point(|(_, last, _)| *last < cell);
                let piece = self.pieces.get(place).filter(|(first, ..)| *first <= cell);
                piece.map_or(0, |(.., regions)| *regions)
            }
        };
        let own = self.regions.iter().enumerate();
        own.filter(move |(place, region)| candidates >> place & 1 == 1 && region.contains(lon, lat))
            .map(move |(place, _)| self.first + place as u64)
    }
}
