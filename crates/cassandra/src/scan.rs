//! Scans: rows of several extents, one after another, batch by batch.
//!
//! The position of a scan is the last row that it judged, with what was counted by then. Pages that
//! were read ahead are not part of it. A scan that is released forgets its page.

use std::sync::Arc;

use scylla::statement::Consistency as Level;
use tonnage_engine::{
    Consistency, Deadline, KeyPosition, NEVER_MS, Part, Ranges, Result, Rows, ScanOptions,
    ScanPosition, Scanner, SpaceId, not_of_this_scan,
};

use crate::blocking::with_deadline;
use crate::extent::{Extent, TokenRange};
use crate::limit_counter::{LimitCounter, RowStep};
use crate::pages::Pages;
use crate::store::ClusterStore;
use crate::table::SpaceTable;

/// A scan under way.
pub(crate) struct ClusterScan {
    store: Arc<ClusterStore>,
    table: Arc<SpaceTable>,
    extents: Vec<Extent>,
    options: ScanOptions,
    level: Level,
    /// The extent under way; all of them when the scan is over.
    range: usize,
    /// The last row judged in it.
    last: Option<Vec<u8>>,
    counter: LimitCounter,
    pending_page: Option<PendingPage>,
}

/// What was read but not judged yet.
struct PendingPage {
    pages: Pages,
    page: Rows,
    next: usize,
}

/// What a position says instead of a shard: the rest of the shard key is passed over.
const PASSING: u32 = 1;

impl ClusterStore {
    /// See [`tonnage_engine::Engine::scan`].
    pub(crate) fn open_scan(
        self: &Arc<Self>,
        space: SpaceId,
        ranges: &Ranges,
        options: ScanOptions,
        consistency: Consistency,
    ) -> Result<Box<dyn Scanner>> {
        let table = self.runtime.wait(self.table_by(space, options.deadline))?;
        let extents = self.extents(&table, ranges)?;
        let level = self.level_of_scan(&options, consistency)?;
        Ok(Box::new(ClusterScan::open(Arc::clone(self), table, extents, options, level)?))
    }

    /// See [`tonnage_engine::Engine::scan_part`].
    pub(crate) fn open_scan_of_part(
        self: &Arc<Self>,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
        consistency: Consistency,
    ) -> Result<Box<dyn Scanner>> {
        let extents = vec![Extent::Ring(TokenRange::from_part(part)?)];
        let table = self.runtime.wait(self.table_by(space, options.deadline))?;
        let level = self.level_of_scan(&options, consistency)?;
        Ok(Box::new(ClusterScan::open(Arc::clone(self), table, extents, options, level)?))
    }

    /// A majority for all but what may be as old as it likes: no copy knows how far it lags, and
    /// which rows of a version it lacks.
    fn level_of_scan(&self, options: &ScanOptions, consistency: Consistency) -> Result<Level> {
        if options.every_copy {
            return self.runtime.wait(self.level_of_every_copy());
        }
        let quorum_scope = self.cluster.quorum_scope();
        Ok(if consistency == Consistency::None {
            quorum_scope.one()
        } else {
            quorum_scope.majority()
        })
    }
}

impl ClusterScan {
    pub(crate) fn open(
        store: Arc<ClusterStore>,
        table: Arc<SpaceTable>,
        extents: Vec<Extent>,
        mut options: ScanOptions,
        level: Level,
    ) -> Result<Self> {
        let resume = options.resume.take();
        let (range, last, counter) = match resume.as_ref().map(KeyPosition::from_position) {
            None => (0, None, LimitCounter::default()),
            Some(position) => locate(position?, &store, &table, &extents)?,
        };
        Ok(Self { store, table, extents, options, level, range, last, counter, pending_page: None })
    }

    async fn fill(&mut self, rows: &mut Rows) -> Result<()> {
        while self.range < self.extents.len() && !self.is_full(rows) {
            if self.filter_page(rows)? {
                self.next_range();
                continue;
            }
            if self.is_full(rows) {
                return Ok(());
            }
            self.read_on().await?;
        }
        Ok(())
    }

    /// Judges what was read, until it is used up or the batch is full. Answers whether the range
    /// is over.
    fn filter_page(&mut self, rows: &mut Rows) -> Result<bool> {
        let now_ms = self.store.clock.now_ms();
        let Some(mut pending_page) = self.pending_page.take() else { return Ok(false) };
        while pending_page.next < pending_page.page.len() {
            let (index, page) = (pending_page.next, &pending_page.page);
            let key = page.keys.get(index);
            let shard_key = &key[..self.table.info().shape.shard_key_len(key)?];
            // Before the look at the batch: a row that is passed over needs no room in it.
            if self.counter.passes(shard_key) {
                pending_page.next += 1;
                continue;
            }
            if self.is_full(rows) {
                self.pending_page = Some(pending_page);
                return Ok(false);
            }
            let expires_at_ms = page.expiries_ms[index];
            let is_live = expires_at_ms == NEVER_MS || expires_at_ms > now_ms;
            // Only rows that exist are judged: an expired one must neither count nor end a range.
            let step = match is_live {
                true => self.counter.step(key, shard_key, &self.options),
                false => RowStep::Skip,
            };
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            let is_given = matches!(
                step,
                RowStep::Give | RowStep::GiveLastOfShardKey | RowStep::GiveLastOfRange
            );
            if is_given {
                let (value, version) = (page.values.get(index), page.versions[index]);
                rows.push(key, value, version, expires_at_ms, self.range as u32);
            }
            pending_page.next += 1;
            if matches!(step, RowStep::EndRange | RowStep::GiveLastOfRange) {
                return Ok(true);
            }
        }
        // The next page begins after the shard key: its rest may be many rows, and none is given.
        if self.counter.is_passing {
            let shard_key = &self.counter.shard_key;
            pending_page.pages.jump_over(self.store.bucket(shard_key), shard_key);
        }
        let is_over = pending_page.pages.are_over();
        self.pending_page = Some(pending_page);
        Ok(is_over)
    }

    /// Reads the next page.
    async fn read_on(&mut self) -> Result<()> {
        let mut pending_page = match self.pending_page.take() {
            Some(pending_page) => pending_page,
            None => PendingPage { pages: self.pages()?, page: Rows::new(), next: 0 },
        };
        // One more shows whether the range continues.
        let rows_max = match (self.options.limit_per_range, &self.options.filter) {
            (Some(limit), None) => {
                (limit.saturating_sub(self.counter.in_range) as usize).saturating_add(1)
            }
            _ => usize::MAX,
        };
        let rows_max = rows_max.min(self.options.batch_rows_max.saturating_add(1));
        let page =
            pending_page.pages.read(&self.store, &self.table, rows_max, &mut pending_page.page);
        with_deadline(self.options.deadline, "the next batch of a scan", page)
            .await
            .map_err(|error| self.store.explain(&self.table, error))?;
        pending_page.next = 0;
        self.pending_page = Some(pending_page);
        Ok(())
    }

    /// The pages from the position of the scan.
    fn pages(&self) -> Result<Pages> {
        let (extent, direction) = (&self.extents[self.range], self.options.direction);
        let projection = self.options.projection;
        let Some(last) = &self.last else {
            return Ok(Pages::of(extent, direction, projection).at(self.level));
        };
        let shard_key = &last[..self.table.info().shape.shard_key_len(last)?];
        let (key, is_prefix) = match self.counter.passes(shard_key) {
            true => (shard_key, true),
            false => (&last[..], false),
        };
        let bucket = self.store.bucket(shard_key);
        let pages = Pages::behind(extent, bucket, key, is_prefix, direction, projection);
        Ok(pages.at(self.level))
    }

    fn next_range(&mut self) {
        self.range += 1;
        self.last = None;
        self.counter = LimitCounter::default();
        self.pending_page = None;
    }

    /// Whether a batch is full. It takes at least one row, whatever the bounds say.
    fn is_full(&self, rows: &Rows) -> bool {
        !rows.is_empty()
            && (rows.len() >= self.options.batch_rows_max
                || rows.bytes() >= self.options.batch_bytes_max)
    }
}

impl Scanner for ClusterScan {
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool> {
        rows.clear();
        if self.range >= self.extents.len() {
            return Ok(false);
        }
        let store = Arc::clone(&self.store);
        let filled = match self.options.deadline.check("the next batch of a scan") {
            Ok(()) => store.runtime.wait(self.fill(rows)),
            Err(error) => Err(error),
        };
        if let Err(error) = filled {
            rows.clear();
            self.range = self.extents.len();
            self.next_range();
            return Err(error);
        }
        Ok(!rows.is_empty())
    }

    fn position(&self) -> Result<ScanPosition> {
        Ok(KeyPosition {
            range: self.range.min(self.extents.len()) as u32,
            shard: self.counter.is_passing.then_some(PASSING),
            key: self.last.clone(),
            is_before_key: false,
            counted_in_range: self.counter.in_range,
            shard_key: self.counter.shard_key.clone(),
            counted_in_shard_key: self.counter.in_shard_key,
        }
        .to_position())
    }

    fn release(&mut self) -> Result<()> {
        self.pending_page = None;
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

/// The extent of a position.
fn locate(
    position: KeyPosition,
    store: &ClusterStore,
    table: &SpaceTable,
    extents: &[Extent],
) -> Result<(usize, Option<Vec<u8>>, LimitCounter)> {
    let range = position.range as usize;
    // The bytes come from a caller: whatever they say must not lead past the extents.
    if range > extents.len() || (range == extents.len() && position.key.is_some()) {
        return Err(not_of_this_scan());
    }
    if let Some(key) = &position.key {
        let len = table.info().shape.shard_key_len(key).map_err(|_| not_of_this_scan())?;
        let bucket = store.bucket(&key[..len]);
        // A position of another scan could lead to rows that this one was not asked for.
        let is_inside = match &extents[range] {
            Extent::Nothing => false,
            Extent::Within { bucket: own, start, end } => {
                bucket == *own && start <= key && end.as_ref().is_none_or(|end| key < end)
            }
            Extent::Ring(token_range) => token_range.holds(bucket.token()),
        };
        if !is_inside {
            return Err(not_of_this_scan());
        }
    }
    let counter = LimitCounter {
        in_range: position.counted_in_range,
        shard_key: position.shard_key,
        in_shard_key: position.counted_in_shard_key,
        is_passing: position.shard == Some(PASSING),
    };
    Ok((range, position.key, counter))
}
