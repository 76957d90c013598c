//! Scans: rows of several extents, one after another, batch by batch.
//!
//! A scan stands behind the last row that it judged. That, with what was counted, is its position:
//! pages read ahead of it are no part of it. A scan that is released forgets its page.

use std::sync::Arc;

use scylla::statement::Consistency as Level;
use tonnage_engine::header::NEVER_MS;
use tonnage_engine::position::not_of_this_scan;
use tonnage_engine::{
    Consistency, Deadline, KeyPosition, Part, Ranges, Result, Rows, ScanOptions, ScanPosition,
    Scanner, SpaceId,
};

use crate::blocking::by;
use crate::extent::{Extent, Stretch};
use crate::judge::{Judge, Step};
use crate::pages::Pages;
use crate::store::OpenStore;
use crate::table::Table;

/// A scan under way.
pub(crate) struct ClusterScan {
    store: Arc<OpenStore>,
    table: Arc<Table>,
    extents: Vec<Extent>,
    options: ScanOptions,
    level: Level,
    /// The extent under way; all of them when the scan is over.
    range: usize,
    /// The last row judged in it.
    last: Option<Vec<u8>>,
    judge: Judge,
    ahead: Option<Ahead>,
}

/// What was read but not judged yet.
struct Ahead {
    pages: Pages,
    page: Rows,
    next: usize,
}

/// What a position says instead of a shard: the rest of the shard key is passed over.
const PASSING: u32 = 1;

impl OpenStore {
    /// See [`tonnage_engine::Engine::scan`].
    pub(crate) fn open_scan(
        self: &Arc<Self>,
        space: SpaceId,
        ranges: &Ranges,
        options: ScanOptions,
        consistency: Consistency,
    ) -> Result<Box<dyn Scanner>> {
        let table = self.background.wait(self.table_by(space, options.deadline))?;
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
        let extents = vec![Extent::Ring(Stretch::from_part(part)?)];
        let table = self.background.wait(self.table_by(space, options.deadline))?;
        let level = self.level_of_scan(&options, consistency)?;
        Ok(Box::new(ClusterScan::open(Arc::clone(self), table, extents, options, level)?))
    }

    /// A majority for all but what may be as old as it likes: no copy tells how far it is behind,
    /// and which rows of a version it lacks.
    fn level_of_scan(&self, options: &ScanOptions, consistency: Consistency) -> Result<Level> {
        if options.every_copy {
            return self.background.wait(self.level_of_every_copy());
        }
        let reach = self.cluster.reach();
        Ok(if consistency == Consistency::None { reach.one() } else { reach.majority() })
    }
}

impl ClusterScan {
    pub(crate) fn open(
        store: Arc<OpenStore>,
        table: Arc<Table>,
        extents: Vec<Extent>,
        mut options: ScanOptions,
        level: Level,
    ) -> Result<Self> {
        let resume = options.resume.take();
        let (range, last, judge) = match resume.as_ref().map(KeyPosition::from_position) {
            None => (0, None, Judge::default()),
            Some(position) => stand(position?, &store, &table, &extents)?,
        };
        Ok(Self { store, table, extents, options, level, range, last, judge, ahead: None })
    }

    async fn fill(&mut self, rows: &mut Rows) -> Result<()> {
        while self.range < self.extents.len() && !self.is_full(rows) {
            if self.judge_page(rows)? {
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
    fn judge_page(&mut self, rows: &mut Rows) -> Result<bool> {
        let now_ms = self.store.clock.now_ms();
        let Some(mut ahead) = self.ahead.take() else { return Ok(false) };
        while ahead.next < ahead.page.len() {
            let (index, page) = (ahead.next, &ahead.page);
            let key = page.keys.get(index);
            let shard_key = &key[..self.table.info().shape.shard_key_len(key)?];
            // Before the look at the batch: a row that is passed over needs no room in it.
            if self.judge.passes(shard_key) {
                ahead.next += 1;
                continue;
            }
            if self.is_full(rows) {
                self.ahead = Some(ahead);
                return Ok(false);
            }
            let expires_at_ms = page.expiries_ms[index];
            let is_live = expires_at_ms == NEVER_MS || expires_at_ms > now_ms;
            // Only rows that exist are judged: an expired one must neither count nor end a range.
            let step = match is_live {
                true => self.judge.step(key, shard_key, &self.options),
                false => Step::Skip,
            };
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            let is_given =
                matches!(step, Step::Give | Step::GiveLastOfShardKey | Step::GiveLastOfRange);
            if is_given {
                let (value, version) = (page.values.get(index), page.versions[index]);
                rows.push(key, value, version, expires_at_ms, self.range as u32);
            }
            ahead.next += 1;
            if matches!(step, Step::EndRange | Step::GiveLastOfRange) {
                return Ok(true);
            }
        }
        // The rest of the shard key may fill the pages to come: they begin behind it.
        if self.judge.is_passing {
            let shard_key = &self.judge.shard_key;
            ahead.pages.jump_over(self.store.bucket(shard_key), shard_key);
        }
        let is_over = ahead.pages.are_over();
        self.ahead = Some(ahead);
        Ok(is_over)
    }

    /// Reads the next page.
    async fn read_on(&mut self) -> Result<()> {
        let mut ahead = match self.ahead.take() {
            Some(ahead) => ahead,
            None => Ahead { pages: self.pages()?, page: Rows::new(), next: 0 },
        };
        // One more tells whether the range goes on.
        let rows_max = match (self.options.limit_per_range, &self.options.filter) {
            (Some(limit), None) => {
                (limit.saturating_sub(self.judge.in_range) as usize).saturating_add(1)
            }
            _ => usize::MAX,
        };
        let rows_max = rows_max.min(self.options.batch_rows_max.saturating_add(1));
        let page = ahead.pages.read(&self.store, &self.table, rows_max, &mut ahead.page);
        by(self.options.deadline, "the next batch of a scan", page)
            .await
            .map_err(|error| self.store.explain(&self.table, error))?;
        ahead.next = 0;
        self.ahead = Some(ahead);
        Ok(())
    }

    /// The pages from where the scan stands.
    fn pages(&self) -> Result<Pages> {
        let (extent, direction) = (&self.extents[self.range], self.options.direction);
        let projection = self.options.projection;
        let Some(last) = &self.last else {
            return Ok(Pages::of(extent, direction, projection).at(self.level));
        };
        let shard_key = &last[..self.table.info().shape.shard_key_len(last)?];
        let (key, is_prefix) = match self.judge.passes(shard_key) {
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
        self.judge = Judge::default();
        self.ahead = None;
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
            Ok(()) => store.background.wait(self.fill(rows)),
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
            shard: self.judge.is_passing.then_some(PASSING),
            key: self.last.clone(),
            is_before_key: false,
            counted_in_range: self.judge.in_range,
            shard_key: self.judge.shard_key.clone(),
            counted_in_shard_key: self.judge.in_shard_key,
        }
        .to_position())
    }

    fn release(&mut self) -> Result<()> {
        self.ahead = None;
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

/// Where a position lies among the extents.
fn stand(
    position: KeyPosition,
    store: &OpenStore,
    table: &Table,
    extents: &[Extent],
) -> Result<(usize, Option<Vec<u8>>, Judge)> {
    let range = position.range as usize;
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
            Extent::Ring(stretch) => stretch.holds(bucket.token()),
        };
        if !is_inside {
            return Err(not_of_this_scan());
        }
    }
    let judge = Judge {
        in_range: position.counted_in_range,
        shard_key: position.shard_key,
        in_shard_key: position.counted_in_shard_key,
        is_passing: position.shard == Some(PASSING),
    };
    Ok((range, position.key, judge))
}
