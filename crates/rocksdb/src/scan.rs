//! Scans over ranges.
//!
//! 1. A range is in one shard or in all of them; its shards are scanned one after another.
//! 2. The iterator of a shard is created once and refreshed for each range, so that many small
//!    ranges do not pay for many iterators, and each range sees what is stored when the scan
//!    reaches it. It is bounded by the space; the ends of ranges are checked here. A scan of a
//!    snapshot sees each range as it was then.
//! 3. The iterator is at the next row between batches. Limits either end the range or jump over the
//!    rest of a shard key: first by a few steps, since shard keys often hold few rows, then by a
//!    seek.

use std::sync::Arc;

use rocksdb::{DBRawIterator, Snapshot};
use self_cell::self_cell;
use tonnage_engine::{
    Deadline, Direction, FillCache, FilterDecision, Header, KeyPosition, Projection, Ranges,
    Result, Rows, ScanOptions, ScanPosition, Scanner, ShardId, SpaceId, SpaceInfo,
    append_successor, not_of_this_scan,
};

use crate::delete_range::ShardSpan;
use crate::error::translate;
use crate::estimate::bytes_in_files;
use crate::open_store::OpenStore;
use crate::settings::read_options;
use crate::shard::{SPACE_LEN, Shard, physical_end, physical_key, space_end};
use crate::tracking::shard_snapshots::ShardSnapshots;

/// How much a scan of a whole space reads ahead.
const READAHEAD_BYTES: usize = 2 << 20;

/// A scan of a whole space leaves it in the cache if that has so many times the bytes of its files,
/// which lie there unpacked.
const CACHE_PER_FILE_BYTES: u64 = 8;
/// And if scans have given so many times these bytes before: about two scans of what is compressed.
const SCANNED_PER_FILE_BYTES: u64 = 4;

/// How many steps are tried before a seek jumps over the rest of a shard key.
const STEPS_BEFORE_SEEK: usize = 8;

/// How many rows are passed over before the clock is looked at again.
const ROWS_BETWEEN_LOOKS: u32 = 4_096;

/// A scan under way.
pub(crate) struct RocksScanner<'a> {
    engine: &'a OpenStore,
    /// At which it reads; nothing where it reads what is stored when it comes to a range.
    snapshots: Option<&'a ShardSnapshots>,
    space: Arc<SpaceInfo>,
    ranges: Ranges,
    options: ScanOptions,
    /// One for each shard, once it is needed.
    iterators: Vec<Option<DBRawIterator<'a>>>,
    /// The range under way, or the number of ranges when the scan is over.
    range: usize,
    /// The shard under way and the first one past this range; nothing before the range is entered.
    shards: Option<(usize, usize)>,
    /// Whether the iterator of the current shard is inside the range.
    positioned: bool,
    /// The physical position of that iterator while it is closed.
    closed_at: Option<Vec<u8>>,
    start: Vec<u8>,
    end: Vec<u8>,
    counted_in_range: u64,
    /// The shard key of the last row, physically; only kept where rows under it are counted.
    shard_key: Vec<u8>,
    counted_in_shard_key: u64,
}

/// What is done after a row was judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShardScanStep {
    Next,
    JumpShardKey,
    EndRange,
}

/// What a scan reads, and keeps open.
pub(crate) enum ScanSource {
    /// The store, each range as it is when the scan reaches it.
    Now(Arc<OpenStore>),
    /// The store as of a snapshot.
    Then(Arc<ShardSnapshots>),
}

impl ScanSource {
    /// Opens a scan.
    pub(crate) fn scan(
        self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>> {
        let scan = OwnedScan::try_new(self, |source| {
            source.store().scan_ranges(space, ranges, options, source.snapshots())
        })?;
        Ok(Box::new(scan))
    }

    fn store(&self) -> &OpenStore {
        match self {
            Self::Now(store) => store,
            Self::Then(snapshots) => snapshots.store(),
        }
    }

    fn snapshots(&self) -> Option<&ShardSnapshots> {
        match self {
            Self::Now(_) => None,
            Self::Then(snapshots) => Some(snapshots),
        }
    }
}

impl OpenStore {
    fn scan_ranges<'a>(
        &'a self,
        space: SpaceId,
        ranges: Ranges,
        mut options: ScanOptions,
        snapshots: Option<&'a ShardSnapshots>,
    ) -> Result<RocksScanner<'a>> {
        let resume = options.resume.as_ref().map(KeyPosition::from_position).transpose()?;
        let info = self.space(space)?;
        // Settled once: what stays `IfSmall` fills no cache, and counts what it gives.
        if options.fill_cache == FillCache::IfSmall && self.is_worth_caching(space) {
            options.fill_cache = FillCache::Yes;
        }
        let mut scanner = RocksScanner {
            engine: self,
            snapshots,
            space: info,
            ranges,
            options,
            // Opened when a range first needs them: iterators keep files and memtables from being
            // removed.
            iterators: self.shards().iter().map(|_| None).collect(),
            range: 0,
            shards: None,
            positioned: false,
            closed_at: None,
            start: Vec::new(),
            end: Vec::new(),
            counted_in_range: 0,
            shard_key: Vec::new(),
            counted_in_shard_key: 0,
        };
        if let Some(position) = resume {
            scanner.resume(position)?;
        }
        Ok(scanner)
    }

    /// Whether a space is scanned often, and the cache can hold it and much else.
    fn is_worth_caching(&self, space: SpaceId) -> bool {
        let scanned = self.scanned_bytes.of(space);
        // Most scans of small tables end here.
        if scanned == 0 {
            return false;
        }
        let in_files: u64 = self.shards().iter().map(|shard| bytes_in_files(shard, space)).sum();
        in_files <= self.settings().cache_bytes as u64 / CACHE_PER_FILE_BYTES
            && in_files <= scanned / SCANNED_PER_FILE_BYTES
    }
}

self_cell! {
    /// A scan together with what it reads: its holder need not borrow the engine.
    struct OwnedScan {
        owner: ScanSource,
        #[not_covariant]
        dependent: RocksScanner,
    }
}

impl Scanner for OwnedScan {
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool> {
        self.with_dependent_mut(|_, scan| scan.next_batch(rows))
    }

    fn position(&self) -> Result<ScanPosition> {
        self.with_dependent(|_, scan| scan.position())
    }

    fn release(&mut self) -> Result<()> {
        self.with_dependent_mut(|_, scan| scan.release())
    }

    fn set_deadline(&mut self, deadline: Deadline) {
        self.with_dependent_mut(|_, scan| scan.options.deadline = deadline);
    }

    fn set_batch_max(&mut self, rows: usize, bytes: usize) {
        self.with_dependent_mut(|_, scan| {
            scan.options.batch_rows_max = rows;
            scan.options.batch_bytes_max = bytes;
        });
    }
}

impl RocksScanner<'_> {
    fn next_batch(&mut self, rows: &mut Rows) -> Result<bool> {
        rows.clear();
        if let Err(error) = self.fill(rows) {
            rows.clear();
            self.range = self.ranges.len();
            return Err(error);
        }
        if self.options.fill_cache == FillCache::IfSmall {
            self.engine.scanned_bytes.add(self.space.id, rows.bytes());
        }
        Ok(!rows.is_empty())
    }
}

/// Positions.
impl RocksScanner<'_> {
    fn position(&self) -> Result<ScanPosition> {
        let mut position = KeyPosition {
            range: self.range as u32,
            shard: self.shards.map(|(shard, _)| shard as u32),
            counted_in_range: self.shards.map_or(0, |_| self.counted_in_range),
            ..KeyPosition::default()
        };
        if let Some(physical) = self.next_key()? {
            position.key = Some(physical[SPACE_LEN..].to_vec());
            position.is_before_key = true;
            if let Some(shard_key) = self.shard_key.get(SPACE_LEN..) {
                position.shard_key = shard_key.to_vec();
                position.counted_in_shard_key = self.counted_in_shard_key;
            }
        } else if self.positioned {
            position.shard = position.shard.map(|shard| shard + 1);
        }
        Ok(position.to_position())
    }

    /// The physical key of the next row; nothing at the beginning of a range or shard, or when the
    /// shard has no more.
    fn next_key(&self) -> Result<Option<Vec<u8>>> {
        let (Some((shard, _)), true) = (self.shards, self.positioned) else { return Ok(None) };
        let Some(iterator) = &self.iterators[shard] else { return Ok(self.closed_at.clone()) };
        let key = iterator.key().map(<[u8]>::to_vec);
        iterator
            .status()
            .map_err(|error| translate(self.engine.shards()[shard].display_name(), error))?;
        Ok(key)
    }

    /// Closes the iterators, which keep files and memtables from being removed.
    fn release(&mut self) -> Result<()> {
        let next = self.next_key()?;
        if let (Some((shard, _)), true) = (&mut self.shards, self.positioned && next.is_none()) {
            *shard += 1;
            self.positioned = false;
        }
        self.closed_at = next;
        self.iterators.iter_mut().for_each(|iterator| *iterator = None);
        Ok(())
    }

    /// Resumes from the position of another scan.
    fn resume(&mut self, position: KeyPosition) -> Result<()> {
        self.range = position.range as usize;
        if self.range > self.ranges.len() {
            return Err(not_of_this_scan());
        }
        let (Some(shard), true) = (position.shard, self.range < self.ranges.len()) else {
            return Ok(());
        };
        let (first, end) = self.enter_range()?;
        let shard = shard as usize;
        if !(first..=end).contains(&shard) {
            return Err(not_of_this_scan());
        }
        self.shards = Some((shard, end));
        // After `enter_range`, which resets the counts.
        self.counted_in_range = position.counted_in_range;
        let Some(key) = position.key.filter(|_| shard < end) else { return Ok(()) };
        let mut physical = Vec::new();
        physical_key(self.space.id, &key, &mut physical);
        // Only the near edge is checked: past the far one there are simply no rows left to give.
        let is_outside = match self.options.direction {
            Direction::Reverse => physical >= self.end,
            Direction::Forward | Direction::Unordered => physical < self.start,
        };
        if is_outside {
            return Err(not_of_this_scan());
        }
        if !position.shard_key.is_empty() {
            physical_key(self.space.id, &position.shard_key, &mut self.shard_key);
            self.counted_in_shard_key = position.counted_in_shard_key;
        }
        self.closed_at = Some(physical);
        self.positioned = true;
        Ok(())
    }

    /// Opens the iterator of the current shard again at its position.
    fn reopen(&mut self, shard: usize, physical: &[u8]) {
        let whole_space = self.ranges.is_whole_space(self.range);
        let mut iterator = self.open_iterator(shard, whole_space);
        match self.options.direction {
            Direction::Reverse => iterator.seek_for_prev(physical),
            Direction::Forward | Direction::Unordered => iterator.seek(physical),
        }
        self.iterators[shard] = Some(iterator);
    }
}

/// Of some shards, from the first one up to another, the one that is wanted, if it is among them.
fn within((first, end): (usize, usize), only: ShardId) -> (usize, usize) {
    let only = only.0 as usize;
    if (first..end).contains(&only) { (only, only + 1) } else { (end, end) }
}

impl<'a> RocksScanner<'a> {
    fn open_iterator(&self, shard: usize, whole_space: bool) -> DBRawIterator<'a> {
        let snapshot = self.snapshots.map(|snapshots| &snapshots.shards()[shard]);
        let (space, options) = (&self.space, &self.options);
        open_iterator(&self.engine.shards()[shard], snapshot, space, options, whole_space)
    }

    fn fill(&mut self, rows: &mut Rows) -> Result<()> {
        if self.range >= self.ranges.len() {
            return Ok(());
        }
        self.options.deadline.check("the next batch of a scan")?;
        self.engine.space(self.space.id)?;
        let now_ms = self.engine.clock().now_ms();
        while self.range < self.ranges.len() && !self.is_full(rows) {
            let (shard, shards_end) = match self.shards {
                Some(shards) => shards,
                None => self.enter_range()?,
            };
            if shard == shards_end {
                self.leave_range();
                continue;
            }
            if !self.positioned {
                self.enter_shard(shard)?;
            } else if let Some(physical) = self.closed_at.take() {
                self.reopen(shard, &physical);
            }
            let next = match self.walk(shard, now_ms, rows)? {
                WalkOutcome::BatchIsFull => break,
                WalkOutcome::ShardIsDone => shard + 1,
                WalkOutcome::RangeIsDone => shards_end,
            };
            // No shard key is in two shards, so its count begins anew; that of the range continues.
            self.positioned = false;
            self.shards = Some((next, shards_end));
        }
        // A drop takes the space off the list before its rows are deleted. Ranges that were entered
        // after that would seem empty.
        self.engine.space(self.space.id).map(drop)
    }

    fn is_full(&self, rows: &Rows) -> bool {
        rows.len() >= self.options.batch_rows_max.max(1)
            || rows.bytes() >= self.options.batch_bytes_max.max(1)
    }

    fn enter_range(&mut self) -> Result<(usize, usize)> {
        let (start, end) = (self.ranges.start(self.range), self.ranges.end(self.range));
        physical_key(self.space.id, start, &mut self.start);
        physical_end(self.space.id, end, &mut self.end);
        self.counted_in_range = 0;
        let count = self.engine.shards().len();
        let is_empty = self.start >= self.end || self.options.limit_per_range == Some(0);
        let shards = if is_empty || self.options.limit_per_shard_key == Some(0) {
            (0, 0)
        } else if count == 1 {
            (0, 1)
        } else {
            match self.engine.span(self.space.id, start, end)? {
                ShardSpan::One { shard, .. } => (shard, shard + 1),
                ShardSpan::All => (0, count),
            }
        };
        let shards = match self.options.shard {
            Some(only) => within(shards, only),
            None => shards,
        };
        self.shards = Some(shards);
        self.positioned = false;
        Ok(shards)
    }

    fn leave_range(&mut self) {
        self.range += 1;
        self.shards = None;
        self.positioned = false;
    }

    /// Puts the iterator of a shard on the first row of the range.
    fn enter_shard(&mut self, shard: usize) -> Result<()> {
        let target = &self.engine.shards()[shard];
        // Refreshed rather than created anew: many small ranges need not pay for many iterators.
        // One of a snapshot would leave it by that.
        match &mut self.iterators[shard] {
            Some(_) if self.snapshots.is_some() => {}
            Some(iterator) => {
                iterator.refresh().map_err(|error| translate(target.display_name(), error))?
            }
            None => {
                let whole_space = self.ranges.is_whole_space(self.range);
                self.iterators[shard] = Some(self.open_iterator(shard, whole_space));
            }
        }
        let iterator = self.iterators[shard].as_mut().expect("just made");
        if self.options.direction == Direction::Reverse {
            seek_before(iterator, &self.end);
        } else {
            iterator.seek(&self.start);
        }
        self.shard_key.clear();
        self.counted_in_shard_key = 0;
        self.positioned = true;
        Ok(())
    }

    /// Gives rows until the batch is full or the shard has no more rows of the range.
    fn walk(&mut self, shard: usize, now_ms: u64, rows: &mut Rows) -> Result<WalkOutcome> {
        let mut iterator = self.iterators[shard].take().expect("positioned");
        let outcome = self
            .walk_on(&mut iterator, now_ms, rows)
            .map_err(|error| error.at(self.engine.shards()[shard].display_name()));
        self.iterators[shard] = Some(iterator);
        outcome
    }

    fn walk_on(
        &mut self,
        iterator: &mut DBRawIterator<'a>,
        now_ms: u64,
        rows: &mut Rows,
    ) -> Result<WalkOutcome> {
        let reverse = self.options.direction == Direction::Reverse;
        let mut until_look = ROWS_BETWEEN_LOOKS;
        loop {
            // Before the row is taken: the iterator stays on it, and the next batch begins there.
            if self.is_full(rows) {
                return Ok(WalkOutcome::BatchIsFull);
            }
            // Rows that are passed over fill no batch: a long run of them could outlast any
            // deadline.
            until_look -= 1;
            if until_look == 0 {
                self.options.deadline.check("the next batch of a scan")?;
                until_look = ROWS_BETWEEN_LOOKS;
            }
            let Some((physical, value)) = iterator.item() else {
                // An iterator also ends where something cannot be read.
                iterator.status().map_err(|error| translate("a scan", error))?;
                return Ok(WalkOutcome::ShardIsDone);
            };
            let is_outside =
                if reverse { physical < &self.start[..] } else { physical >= &self.end[..] };
            if is_outside {
                return Ok(WalkOutcome::ShardIsDone);
            }
            match self.visit_row(physical, value, now_ms, rows)? {
                ShardScanStep::Next => step(iterator, reverse),
                ShardScanStep::JumpShardKey => jump_over(iterator, &self.shard_key, reverse),
                ShardScanStep::EndRange => return Ok(WalkOutcome::RangeIsDone),
            }
        }
    }

    /// Gives one row or passes it over. Only rows that exist are judged: an expired one must
    /// neither count nor end a range.
    fn visit_row(
        &mut self,
        physical: &[u8],
        value: &[u8],
        now_ms: u64,
        rows: &mut Rows,
    ) -> Result<ShardScanStep> {
        let (header, payload) = Header::split(value)?;
        if !header.is_live(now_ms) {
            return Ok(ShardScanStep::Next);
        }
        let key = &physical[SPACE_LEN..];
        // Before the decision: the count of rows begins anew with each shard key, whatever becomes
        // of the row.
        if self.options.limit_per_shard_key.is_some() {
            self.enter_shard_key(physical, key)?;
        }
        match self
            .options
            .filter
            .as_ref()
            .map_or(FilterDecision::Count, |filter| filter.decide(key))
        {
            FilterDecision::Skip => return Ok(ShardScanStep::Next),
            FilterDecision::Along => {}
            FilterDecision::Count => {
                if let Some(step) = self.limit_reached() {
                    return Ok(step);
                }
                // After the check of the limits, which shows whether this row is one too many.
                self.counted_in_range += 1;
                self.counted_in_shard_key += 1;
            }
        }
        let payload = if self.options.projection == Projection::KeysOnly { &[] } else { payload };
        rows.push(key, payload, header.version, header.expires_at_ms, self.range as u32);
        Ok(self.after_giving())
    }

    /// Going forward, rows that come along with the last counted one may follow, so that only the
    /// next counted row ends anything, unless there is no filter to let rows come along. In reverse
    /// they came before.
    fn after_giving(&self) -> ShardScanStep {
        if self.options.direction != Direction::Reverse && self.options.filter.is_some() {
            return ShardScanStep::Next;
        }
        self.limit_reached().unwrap_or(ShardScanStep::Next)
    }

    fn limit_reached(&self) -> Option<ShardScanStep> {
        if self.options.limit_per_range.is_some_and(|limit| self.counted_in_range >= limit) {
            Some(ShardScanStep::EndRange)
        } else if self
            .options
            .limit_per_shard_key
            .is_some_and(|limit| self.counted_in_shard_key >= limit)
        {
            Some(ShardScanStep::JumpShardKey)
        } else {
            None
        }
    }

    /// No shard key is a prefix of another, so a key that begins with the last shard key is under
    /// it.
    fn enter_shard_key(&mut self, physical: &[u8], key: &[u8]) -> Result<()> {
        if self.shard_key.is_empty() || !physical.starts_with(&self.shard_key) {
            let len = SPACE_LEN + self.space.shape.shard_key_len(key)?;
            self.shard_key.clear();
            self.shard_key.extend_from_slice(&physical[..len]);
            self.counted_in_shard_key = 0;
        }
        Ok(())
    }
}

/// Why a walk ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkOutcome {
    BatchIsFull,
    ShardIsDone,
    RangeIsDone,
}

fn open_iterator<'a>(
    shard: &'a Shard,
    snapshot: Option<&Snapshot<'_>>,
    space: &SpaceInfo,
    options: &ScanOptions,
    whole_space: bool,
) -> DBRawIterator<'a> {
    let mut read = read_options();
    if let Some(snapshot) = snapshot {
        read.set_snapshot(snapshot);
    }
    read.set_iterate_lower_bound(space.id.0.to_be_bytes());
    read.set_iterate_upper_bound(space_end(space.id));
    read.fill_cache(options.fill_cache == FillCache::Yes);
    if whole_space && options.limit_per_range.is_none() && options.limit_per_shard_key.is_none() {
        read.set_readahead_size(READAHEAD_BYTES);
    }
    shard.db().raw_iterator_cf_opt(shard.rows(), read)
}

#[inline]
fn step(iterator: &mut DBRawIterator<'_>, reverse: bool) {
    if reverse { iterator.prev() } else { iterator.next() }
}

/// Puts the iterator on the last row before a physical key.
fn seek_before(iterator: &mut DBRawIterator<'_>, end: &[u8]) {
    iterator.seek_for_prev(end);
    if iterator.key() == Some(end) {
        iterator.prev();
    }
}

/// Moves the iterator past all rows under a physical shard key.
fn jump_over(iterator: &mut DBRawIterator<'_>, shard_key: &[u8], reverse: bool) {
    for _ in 0..STEPS_BEFORE_SEEK {
        step(iterator, reverse);
        if iterator.key().is_none_or(|key| !key.starts_with(shard_key)) {
            return;
        }
    }
    if reverse {
        seek_before(iterator, shard_key);
    } else {
        let mut successor = Vec::with_capacity(shard_key.len());
        append_successor(shard_key, &mut successor);
        iterator.seek(successor);
    }
}
