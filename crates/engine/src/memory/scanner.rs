//! Scans over a space that hold no lock between batches.
//!
//! 1. A cursor holds the bounds of what is left of the range under way.
//! 2. A batch locks the space, seeks to the bounds and walks rows until the batch is full or the
//!    range ends.
//! 3. Whatever ends the walk moves a bound: past the last row seen, or past a whole shard key whose
//!    limit is reached.
//! 4. The walk judges a row only once it knows that the row exists, since an expired row must
//!    neither count nor stop a range.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use crate::position::not_of_this_scan;
use crate::range::append_successor;
use crate::{
    Deadline, Direction, FilterDecision, KeyPosition, KeyShape, Ranges, Result, Rows, ScanOptions,
    ScanPosition, Scanner, SpaceId,
};

use super::space::{MemoryRow, RowMap, checked_bounds};
use super::store::MemoryStore;

/// A scan under way.
pub(super) struct MemoryScanner {
    store: Arc<MemoryStore>,
    space: SpaceId,
    ranges: Ranges,
    options: ScanOptions,
    /// The range of the cursor; all ranges before it are done.
    range: usize,
    cursor: ScanCursor,
}

/// What is left of a range, and what was counted in it so far.
struct ScanCursor {
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    counted_in_range: u64,
    /// The shard key of the last row, to see where the next one begins.
    shard_key: Option<Vec<u8>>,
    counted_in_shard_key: u64,
}

/// Why a walk over rows ended before its bounds.
enum ScanStop {
    BatchIsFull,
    ShardKeyIsDone,
    RangeIsDone,
}

/// What becomes of one row that exists.
enum ScanStep {
    Skip,
    Give,
    /// Give the row, then stop.
    GiveLast(ScanStop),
    Stop(ScanStop),
}

impl MemoryScanner {
    pub(super) fn open(
        store: Arc<MemoryStore>,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Self> {
        let resume = options.resume.as_ref().map(KeyPosition::from_position).transpose()?;
        let position = resume.unwrap_or_default();
        let range = position.range as usize;
        let mut cursor = ScanCursor::at_range(&ranges, range);
        if !cursor.resume(position, options.direction) || range > ranges.len() {
            return Err(not_of_this_scan());
        }
        Ok(Self { store, space, ranges, options, range, cursor })
    }

    fn fill(&mut self, rows: &mut Rows) -> Result<()> {
        if self.range >= self.ranges.len() {
            return Ok(());
        }
        self.options.deadline.check("the next batch of a scan")?;
        // Looked up for each batch: a scan fails once its space is dropped.
        let space = self.store.space(self.space)?;
        // Locked once for the whole batch: what it gives is of one point in time.
        let stored = space.rows();
        let now_ms = self.store.clock.now_ms();
        let shape = &space.info().shape;
        while self.range < self.ranges.len() && !is_full(&self.options, rows) {
            match self.cursor.walk(
                &stored,
                shape,
                &self.options,
                now_ms,
                self.range as u32,
                rows,
            )? {
                ControlFlow::Break(ScanStop::BatchIsFull) => break,
                ControlFlow::Break(ScanStop::ShardKeyIsDone) => {
                    self.cursor.jump_over_shard_key(self.options.direction)
                }
                ControlFlow::Break(ScanStop::RangeIsDone) | ControlFlow::Continue(()) => {
                    self.next_range()
                }
            }
        }
        Ok(())
    }

    fn next_range(&mut self) {
        self.range += 1;
        self.cursor = ScanCursor::at_range(&self.ranges, self.range);
    }
}

impl Scanner for MemoryScanner {
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool> {
        rows.clear();
        if let Err(error) = self.fill(rows) {
            rows.clear();
            self.range = self.ranges.len();
            return Err(error);
        }
        Ok(!rows.is_empty())
    }

    fn position(&self) -> Result<ScanPosition> {
        Ok(self.cursor.position(self.range as u32, self.options.direction).to_position())
    }

    /// Nothing is held between batches.
    fn release(&mut self) -> Result<()> {
        Ok(())
    }

    fn set_deadline(&mut self, deadline: Deadline) {
        self.options.deadline = deadline;
    }

    fn set_batch_max(&mut self, rows: usize, bytes: usize) {
        self.options.batch_rows_max = rows;
        self.options.batch_bytes_max = bytes;
    }
}

impl ScanCursor {
    /// The position of the cursor.
    fn position(&self, range: u32, direction: Direction) -> KeyPosition {
        if self.high == Bound::Excluded(Vec::new()) && direction != Direction::Reverse {
            // A jump over the last shard key that there can be.
            return KeyPosition { range: range + 1, ..KeyPosition::default() };
        }
        let moving = if direction == Direction::Reverse { &self.high } else { &self.low };
        let (key, is_before_key) = match moving {
            Bound::Included(key) => (Some(key.clone()), true),
            Bound::Excluded(key) => (Some(key.clone()), false),
            Bound::Unbounded => (None, false),
        };
        KeyPosition {
            range,
            shard: None,
            key,
            is_before_key,
            counted_in_range: self.counted_in_range,
            shard_key: self.shard_key.clone().unwrap_or_default(),
            counted_in_shard_key: self.counted_in_shard_key,
        }
    }

    /// Resumes from a position in the current range of the cursor. False when it is outside.
    fn resume(&mut self, position: KeyPosition, direction: Direction) -> bool {
        let is_reverse = direction == Direction::Reverse;
        if let Some(key) = position.key {
            let inside = match (&self.low, &self.high) {
                (Bound::Included(low), _) if !is_reverse => *low <= key,
                (_, Bound::Excluded(high)) if is_reverse => key <= *high,
                _ => true,
            };
            if !inside {
                return false;
            }
            let bound =
                if position.is_before_key { Bound::Included(key) } else { Bound::Excluded(key) };
            if is_reverse { self.high = bound } else { self.low = bound }
        }
        self.counted_in_range = position.counted_in_range;
        self.shard_key = Some(position.shard_key).filter(|key| !key.is_empty());
        self.counted_in_shard_key = position.counted_in_shard_key;
        true
    }

    /// The start of a range; any cursor will do past the last one.
    fn at_range(ranges: &Ranges, index: usize) -> Self {
        let (low, high) = if index < ranges.len() {
            (ranges.start(index), ranges.end(index))
        } else {
            (&[][..], &[][..])
        };
        Self {
            low: Bound::Included(low.to_vec()),
            high: if high.is_empty() { Bound::Unbounded } else { Bound::Excluded(high.to_vec()) },
            counted_in_range: 0,
            shard_key: None,
            counted_in_shard_key: 0,
        }
    }

    /// Gives rows until something stops the walk or the bounds are reached.
    fn walk(
        &mut self,
        stored: &RowMap,
        shape: &KeyShape,
        options: &ScanOptions,
        now_ms: u64,
        origin: u32,
        rows: &mut Rows,
    ) -> Result<ControlFlow<ScanStop>> {
        let (low, high) = (self.low.clone(), self.high.clone());
        let Some(bounds) =
            checked_bounds(low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice))
        else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut between = stored.range::<[u8], _>(bounds);
        let mut next = || {
            if options.direction == Direction::Reverse {
                between.next_back()
            } else {
                between.next()
            }
        };
        let mut last: Option<&[u8]> = None;
        let mut end = ControlFlow::Continue(());
        while let Some((key, row)) = next() {
            // Only when another row is there: a batch that is full where the range ends also ends
            // the range.
            if is_full(options, rows) {
                end = ControlFlow::Break(ScanStop::BatchIsFull);
                break;
            }
            last = Some(key);
            if !row.is_live(now_ms) {
                continue;
            }
            if let ControlFlow::Break(stop) = self.visit(key, row, shape, options, origin, rows)? {
                end = ControlFlow::Break(stop);
                break;
            }
        }
        // Past expired rows too, or the next batch would walk over them again.
        if let Some(key) = last {
            self.move_past(key, options.direction);
        }
        Ok(end)
    }

    /// Gives one row, or passes it over.
    fn visit(
        &mut self,
        key: &[u8],
        row: &MemoryRow,
        shape: &KeyShape,
        options: &ScanOptions,
        origin: u32,
        rows: &mut Rows,
    ) -> Result<ControlFlow<ScanStop>> {
        self.enter_shard_key(&key[..shape.shard_key_len(key)?]);
        let step = self.step(
            options.filter.as_ref().map_or(FilterDecision::Count, |filter| filter.decide(key)),
            options,
        );
        if matches!(step, ScanStep::Give | ScanStep::GiveLast(_)) {
            row.append_to(key, options.projection, origin, rows);
        }
        Ok(match step {
            ScanStep::Skip | ScanStep::Give => ControlFlow::Continue(()),
            ScanStep::GiveLast(stop) | ScanStep::Stop(stop) => ControlFlow::Break(stop),
        })
    }

    fn enter_shard_key(&mut self, shard_key: &[u8]) {
        if self.shard_key.as_deref() != Some(shard_key) {
            let buffer = self.shard_key.get_or_insert_default();
            buffer.clear();
            buffer.extend_from_slice(shard_key);
            self.counted_in_shard_key = 0;
        }
    }

    /// Going forward, the row that would be one too many ends the range or the shard key: rows that
    /// come along with the last counted one lie before it. In reverse they lie before the counted
    /// row itself, which hence is the last.
    fn step(&mut self, decision: FilterDecision, options: &ScanOptions) -> ScanStep {
        if let Some(stop) =
            self.limit_reached(options).filter(|_| decision == FilterDecision::Count)
        {
            return ScanStep::Stop(stop);
        }
        match decision {
            FilterDecision::Skip => ScanStep::Skip,
            FilterDecision::Along if options.limit_per_range == Some(0) => {
                ScanStep::Stop(ScanStop::RangeIsDone)
            }
            FilterDecision::Along if options.limit_per_shard_key == Some(0) => {
                ScanStep::Stop(ScanStop::ShardKeyIsDone)
            }
            FilterDecision::Along => ScanStep::Give,
            FilterDecision::Count => {
                self.counted_in_range += 1;
                self.counted_in_shard_key += 1;
                match self.limit_reached(options) {
                    Some(stop) if options.direction == Direction::Reverse => {
                        ScanStep::GiveLast(stop)
                    }
                    _ => ScanStep::Give,
                }
            }
        }
    }

    fn limit_reached(&self, options: &ScanOptions) -> Option<ScanStop> {
        if options.limit_per_range.is_some_and(|limit| self.counted_in_range >= limit) {
            Some(ScanStop::RangeIsDone)
        } else if options
            .limit_per_shard_key
            .is_some_and(|limit| self.counted_in_shard_key >= limit)
        {
            Some(ScanStop::ShardKeyIsDone)
        } else {
            None
        }
    }

    fn move_past(&mut self, key: &[u8], direction: Direction) {
        let bound = Bound::Excluded(key.to_vec());
        if direction == Direction::Reverse { self.high = bound } else { self.low = bound }
    }

    /// Moves the bound past all rows of the shard key under way.
    fn jump_over_shard_key(&mut self, direction: Direction) {
        let shard_key = self.shard_key.take().unwrap_or_default();
        if direction == Direction::Reverse {
            self.high = Bound::Excluded(shard_key);
            return;
        }
        let mut successor = Vec::with_capacity(shard_key.len());
        append_successor(&shard_key, &mut successor);
        if successor.is_empty() {
            self.high = Bound::Excluded(Vec::new());
        } else {
            self.low = Bound::Included(successor);
        }
    }
}

/// Whether a batch is full. It takes at least one row, whatever the bounds say.
fn is_full(options: &ScanOptions, rows: &Rows) -> bool {
    !rows.is_empty()
        && (rows.len() >= options.batch_rows_max || rows.bytes() >= options.batch_bytes_max)
}
