//! Scans the entries of an index, some at a time.
//!
//! A walk keeps nothing open between two calls: it knows its position and scans on from there. So
//! it can wait for its caller for any time.
//!
//! With one shard, or without an order, it reads the ranges one after another, shard by shard. With
//! an order and several shards it reads each range from all shards, and merges their entries as far
//! as all are known.

use tonnage_engine::{
    Direction, Engine, Projection, Ranges, Result, Rows, SHARD_LEN, ScanOptions, Slices, SpaceId,
    append_successor,
};

/// Bounds of entries after the number of the shard; an empty end is the end of the shard.
pub(super) type EntryBounds = (Vec<u8>, Vec<u8>);

/// The most entries that the engine hands over at once.
const SCAN_ROWS_MAX: usize = 16_384;
/// The most ranges given to the engine at once.
const SCAN_RANGES_MAX: usize = 1_024;

/// A walk over ranges of entries, in all shards.
#[derive(Debug)]
pub(super) struct EntryWalk {
    space: SpaceId,
    direction: Direction,
    shards: u32,
    ranges: Vec<EntryBounds>,
    /// The range under way.
    range: usize,
    /// The shard under way, where one is read after another.
    shard: u32,
    /// What is left of the range under way: in the shard under way, or in each of those that are
    /// merged.
    left: Vec<(u32, EntryBounds)>,
}

impl EntryWalk {
    pub(super) fn new(engine: &dyn Engine, space: SpaceId, direction: Direction) -> Self {
        let shards = engine.capability().shards;
        Self { space, direction, shards, ranges: Vec::new(), range: 0, shard: 0, left: Vec::new() }
    }

    /// Adds a range to a walk that has not begun, or is over.
    pub(super) fn add(&mut self, bounds: EntryBounds) {
        if bounds.1.is_empty() || bounds.0 < bounds.1 {
            self.ranges.push(bounds);
        }
    }

    /// Whether all ranges are walked to their ends.
    pub(super) fn is_over(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Appends entries in the order of the walk until there are `count`, or all is walked. A few
    /// more may come.
    pub(super) fn read(
        &mut self,
        engine: &dyn Engine,
        count: usize,
        entries: &mut Slices,
    ) -> Result<()> {
        while entries.len() < count && !self.is_over() {
            match self.direction == Direction::Unordered || self.shards == 1 {
                true => self.read_shard(engine, count, entries)?,
                false => self.read_merged(engine, count, entries)?,
            }
        }
        Ok(())
    }

    /// Reads on in the shard under way.
    fn read_shard(
        &mut self,
        engine: &dyn Engine,
        count: usize,
        entries: &mut Slices,
    ) -> Result<()> {
        let first = self.range;
        let last = self.ranges.len().min(first + SCAN_RANGES_MAX);
        let mut ranges = Ranges::new();
        // What is left of a range takes its place, so that origins still count from `first`.
        let resumed = self.left.pop().map(|(_, bounds)| bounds);
        let resumed_any = usize::from(resumed.is_some());
        for bounds in resumed.iter().chain(&self.ranges[first + resumed_any..last]) {
            push_bounds(self.shard, bounds, &mut ranges);
        }
        let mut scanner =
            engine.scan(self.space, ranges, self.scan_options(count - entries.len()))?;
        let mut rows = Rows::new();
        while entries.len() < count {
            if !scanner.next_batch(&mut rows)? {
                self.range = last;
                self.next_shard();
                return Ok(());
            }
            rows.keys.iter().for_each(|entry| entries.push(entry));
            self.range = first + rows.origins.last().map_or(0, |origin| *origin as usize);
            let bounds = if self.range == first {
                resumed.as_ref().unwrap_or(&self.ranges[first])
            } else {
                &self.ranges[self.range]
            };
            // Noted after each batch: the scan is closed once there are enough entries.
            let left = self.bounds_after(bounds, rows.keys.last().unwrap_or_default());
            self.left = vec![(self.shard, left)];
        }
        Ok(())
    }

    /// Continues with the next shard when all ranges are read in this one.
    fn next_shard(&mut self) {
        self.left.clear();
        if self.range < self.ranges.len() {
            return;
        }
        self.range = 0;
        self.shard += 1;
        if self.shard == self.shards {
            self.shard = 0;
            self.ranges.clear();
        }
    }

    /// Reads some of the range under way from every shard, and gives what is certain to come first.
    fn read_merged(
        &mut self,
        engine: &dyn Engine,
        count: usize,
        entries: &mut Slices,
    ) -> Result<()> {
        if self.left.is_empty() {
            let bounds = &self.ranges[self.range];
            self.left = (0..self.shards).map(|shard| (shard, bounds.clone())).collect();
        }
        let wanted = (count - entries.len()).min(SCAN_ROWS_MAX);
        let mut read = Vec::with_capacity(self.left.len());
        for (shard, bounds) in &self.left {
            read.push(self.read_head(engine, *shard, bounds, wanted)?);
        }
        // What follows the last entry of a shard that has more is not certain yet.
        let horizons =
            read.iter().filter(|(_, has_more)| *has_more).filter_map(|(entries, _)| entries.last());
        let horizon = horizons
            .map(without_shard)
            .reduce(|one, two| if self.comes_before(one, two) { one } else { two });
        let is_certain = |entry: &[u8]| {
            horizon.is_none_or(|horizon| !self.comes_before(horizon, without_shard(entry)))
        };
        let mut merged: Vec<&[u8]> = read
            .iter()
            .flat_map(|(entries, _)| entries.iter())
            .filter(|entry| is_certain(entry))
            .collect();
        merged.sort_by(|one, two| {
            if self.direction == Direction::Reverse {
                without_shard(two).cmp(without_shard(one))
            } else {
                without_shard(one).cmp(without_shard(two))
            }
        });
        merged.iter().for_each(|entry| entries.push(entry));

        // What is not certain is read again with the next entries: a walk keeps nothing but bounds.
        let mut left = Vec::new();
        for ((shard, bounds), (entries, has_more)) in self.left.iter().zip(&read) {
            let given = entries.iter().take_while(|entry| is_certain(entry)).count();
            if *has_more || given < entries.len() {
                let bounds = if given == 0 {
                    bounds.clone()
                } else {
                    self.bounds_after(bounds, entries.get(given - 1))
                };
                left.push((*shard, bounds));
            }
        }
        self.left = left;
        if self.left.is_empty() {
            self.range += 1;
            if self.range == self.ranges.len() {
                self.range = 0;
                self.ranges.clear();
            }
        }
        Ok(())
    }

    /// The first entries of one shard within bounds, and whether there may be more.
    fn read_head(
        &self,
        engine: &dyn Engine,
        shard: u32,
        bounds: &EntryBounds,
        count: usize,
    ) -> Result<(Slices, bool)> {
        let mut ranges = Ranges::new();
        push_bounds(shard, bounds, &mut ranges);
        let mut scanner = engine.scan(self.space, ranges, self.scan_options(count))?;
        let (mut entries, mut rows) = (Slices::new(), Rows::new());
        while entries.len() < count {
            if !scanner.next_batch(&mut rows)? {
                return Ok((entries, false));
            }
            rows.keys.iter().for_each(|entry| entries.push(entry));
        }
        Ok((entries, true))
    }

    fn scan_options(&self, count: usize) -> ScanOptions {
        ScanOptions {
            direction: if self.direction == Direction::Unordered {
                Direction::Forward
            } else {
                self.direction
            },
            projection: Projection::KeysOnly,
            batch_rows_max: count.clamp(1, SCAN_ROWS_MAX),
            ..ScanOptions::default()
        }
    }

    fn comes_before(&self, one: &[u8], two: &[u8]) -> bool {
        if self.direction == Direction::Reverse { one > two } else { one < two }
    }

    /// What is left of bounds after an entry.
    fn bounds_after(&self, bounds: &EntryBounds, entry: &[u8]) -> EntryBounds {
        let entry = without_shard(entry);
        match self.direction {
            Direction::Reverse => (bounds.0.clone(), entry.to_vec()),
            _ => ([entry, &[0]].concat(), bounds.1.clone()),
        }
    }
}

/// An entry after the number of its shard.
fn without_shard(entry: &[u8]) -> &[u8] {
    &entry[SHARD_LEN.min(entry.len())..]
}

pub(super) fn push_bounds(shard: u32, (start, end): &EntryBounds, ranges: &mut Ranges) {
    let number = (shard as u16).to_be_bytes();
    let low = [&number, &start[..]].concat();
    let mut high = Vec::with_capacity(SHARD_LEN + end.len());
    match end.is_empty() {
        true => append_successor(&number, &mut high),
        false => high.extend_from_slice(&[&number, &end[..]].concat()),
    }
    ranges.push(&low, &high);
}
