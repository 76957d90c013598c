//! Bulk get over key/value pairs.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Consistency, Direction, Engine, Error, FillCache, KeyPart, Projection, Ranges, Result, Rows,
    ScanOptions, Slices,
};

use super::key::count_components;
use super::scope::{ComponentLimit, push_major_range, push_ranges};
use super::{Depth, Key, KeyRange, PairBatch, Pairs};
use crate::bulk::get::{
    BulkGetOptions, ItemSource, KEY_MEMORY_BYTES, SourcePoll, WaitLimit, count_space, keys_left,
};
use crate::cancel::Cancel;
use crate::inner::Inner;
use crate::read::ahead::ReadPiece;
use crate::read::control::ReadProgress;
use crate::read::{KeyBatcher, ReadControl, ReadPipeline, ReadPlan, ReadTask, Shaper, TaskSource};

/// How to get pairs.
#[derive(Clone, Debug, Default)]
pub struct PairGetOptions {
    /// How deep below each key to look. The default is the pair of the key alone: options ask for
    /// the pairs below it.
    pub depth: Depth,
    /// A range of the minor component right below each key. It needs a depth that looks below the
    /// key.
    pub range: Option<KeyRange>,
    /// At most this many pairs below each key; the pair of the key itself does not count.
    pub limit_per_key: Option<u64>,
    /// Only keys are read; values are empty.
    pub keys_only: bool,
    /// The order of pairs: `Unordered` is fastest; otherwise keys are answered in the order given,
    /// and the pairs below each in ascending or descending order.
    pub direction: Direction,
    /// How many requests to the engine are under way at a time. Default: the number of cores.
    pub max_concurrent_requests: Option<usize>,
    /// Memory for keys that wait to be looked up (64 KiB to 1 TiB). Default: 256 MiB.
    pub memory_bytes_max: Option<usize>,
    /// About how many pairs one batch holds (1 to 1,048,576). Default: 8,192.
    pub batch_rows_max: Option<usize>,
    /// About how many bytes of keys and values one batch holds (1 KiB to 256 MiB). Default: 4 MiB.
    pub batch_bytes_max: Option<usize>,
    /// The longest that the read may take, from the call to its last pair; then it ends with
    /// `TimedOut`, whatever its source of keys does.
    pub timeout: Option<Duration>,
    /// Ends the read from another thread.
    pub cancel: Cancel,
    /// How fresh the pairs must be; as the store was opened without it.
    pub consistency: Option<Consistency>,
}

impl PairGetOptions {
    fn key_memory_bytes(&self) -> usize {
        self.memory_bytes_max.unwrap_or(KEY_MEMORY_BYTES)
    }
}

/// The pairs of a bulk get, an iterator of batches.
pub struct BulkPairs {
    reading: ReadPipeline<PairShaper>,
}

impl BulkPairs {
    /// Watches the read, from any thread.
    pub fn progress(&self) -> ReadProgress {
        self.reading.plan().control.progress.clone()
    }
}

impl Iterator for BulkPairs {
    type Item = Result<PairBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reading.next()
    }
}

impl ReadPiece for PairBatch {
    fn bytes(&self) -> usize {
        self.rows.memory_bytes()
    }
}

pub(super) struct PairShaper;

impl Shaper for PairShaper {
    type Output = PairBatch;
    type Memory = ();

    fn shape(
        &self,
        _engine: &dyn Engine,
        rows: &mut Rows,
        _memory: &mut (),
        emit: &mut dyn FnMut(PairBatch) -> bool,
    ) -> Result<()> {
        emit(PairBatch { rows: std::mem::take(rows) });
        Ok(())
    }
}

pub(super) fn bulk_get(
    store: &Inner,
    keys: ItemSource<Key>,
    options: &PairGetOptions,
) -> Result<BulkPairs> {
    read(store, PairKeySource::Single(keys), options)
}

pub(super) fn bulk_get_batches(
    store: &Inner,
    keys: ItemSource<Pairs>,
    options: &PairGetOptions,
) -> Result<BulkPairs> {
    read(store, PairKeySource::Batches(keys), options)
}

fn read(store: &Inner, source: PairKeySource, options: &PairGetOptions) -> Result<BulkPairs> {
    // Refused, not ignored: who gives a range wants pairs below the key, and would get none.
    if options.depth == Depth::ParentOnly && options.range.is_some() {
        return Err(Error::invalid(
            "the range narrows what is below a key, but the depth asks for the pair of the key alone: give a depth",
        ));
    }
    let plan = plan(store, options)?;
    // Watched before the first key is drawn: threads that wait for keys must notice that the read
    // has ended.
    let mut source = source;
    source.watch(&plan.control);
    let tasks = PairTasks {
        progress: plan.control.progress.clone(),
        source,
        key_bytes_max: store.engine.capability().key_bytes_max,
        current: Slices::new(),
        next: 0,
        keys: 0,
        items: 0,
        given: 0,
        depth: options.depth,
        range: options.range.clone(),
        points: KeyBatcher::new(plan.ordered, options.key_memory_bytes()),
        failure: None,
        exhausted: false,
    };
    Ok(BulkPairs { reading: ReadPipeline::new(plan, tasks) })
}

fn plan(store: &Inner, options: &PairGetOptions) -> Result<ReadPlan<PairShaper>> {
    // Converted to options of a bulk get, so that both have the same defaults and limits.
    let general = BulkGetOptions {
        max_concurrent_requests: options.max_concurrent_requests,
        limit_per_key: options.limit_per_key,
        memory_bytes_max: options.key_memory_bytes(),
        timeout: options.timeout,
        consistency: options.consistency,
        ..Default::default()
    };
    let general = BulkGetOptions {
        batch_rows_max: options.batch_rows_max.unwrap_or(general.batch_rows_max),
        batch_bytes_max: options.batch_bytes_max.unwrap_or(general.batch_bytes_max),
        ..general
    };
    general.check()?;
    let projection =
        if options.keys_only { Projection::KeysOnly } else { Projection::KeysAndValues };
    let control = ReadControl::new(&options.cancel, options.timeout);
    Ok(ReadPlan {
        engine: store.reader(options.consistency).clone(),
        space: store.pairs,
        projection,
        // Without a filter: the space holds pairs alone, and a task that wants fewer brings its
        // own.
        scan: ScanOptions {
            direction: options.direction,
            projection,
            limit_per_range: options.limit_per_key,
            batch_rows_max: general.batch_rows_max,
            batch_bytes_max: general.batch_bytes_max,
            deadline: control.deadline(),
            ..ScanOptions::default()
        },
        ordered: options.direction != Direction::Unordered,
        workers: general.workers(),
        control,
        ahead: store.ahead.clone(),
        threads: store.threads.clone(),
        shaper: PairShaper,
    })
}

pub(super) fn scan(store: &Inner, options: &PairGetOptions) -> Result<BulkPairs> {
    if options.depth != Depth::default() || options.range.is_some() {
        return Err(Error::invalid(
            "a scan gives all pairs: a depth or a range goes with keys, in a bulk get",
        ));
    }
    let mut plan = plan(store, options)?;
    plan.scan.fill_cache = FillCache::IfSmall;
    plan.workers = 1;
    let everything = SingleTask(Some(ReadTask::Ranges(Ranges::whole_space())));
    Ok(BulkPairs { reading: ReadPipeline::new(plan, everything) })
}

pub(super) fn scan_major(
    store: &Inner,
    leading: &[&[u8]],
    options: &PairGetOptions,
) -> Result<BulkPairs> {
    if options.depth != Depth::default() {
        return Err(Error::invalid(
            "a scan of major paths gives all pairs below them: a depth goes with keys, in a bulk get",
        ));
    }
    let capability = store.engine.capability();
    if !capability.total_order || capability.shards != 1 {
        return Err(Error::unsupported(format!(
            "a scan of major paths: the pairs are in {} shards, each in its own order; scan all pairs",
            capability.shards
        )));
    }
    let mut plan = plan(store, options)?;
    plan.workers = 1;
    let mut ranges = Ranges::new();
    push_major_range(leading, options.range.as_ref(), &mut ranges);
    let task = Some(ReadTask::Ranges(ranges));
    Ok(BulkPairs { reading: ReadPipeline::new(plan, SingleTask(task)) })
}

pub(super) fn count(store: &Inner, timeout: Option<Duration>) -> Result<u64> {
    count_space(store, store.pairs, None, timeout)
}

/// A read in one piece.
struct SingleTask(Option<ReadTask>);

impl TaskSource for SingleTask {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        Ok(self.0.take())
    }

    fn is_exhausted(&self) -> bool {
        self.0.is_none()
    }
}

/// Where keys come from.
enum PairKeySource {
    Single(ItemSource<Key>),
    Batches(ItemSource<Pairs>),
}

impl PairKeySource {
    fn is_at_hand(&self) -> bool {
        match self {
            PairKeySource::Single(keys) => keys.is_at_hand(),
            PairKeySource::Batches(batches) => batches.is_at_hand(),
        }
    }

    fn watch(&mut self, control: &Arc<ReadControl>) {
        match self {
            PairKeySource::Single(keys) => keys.watch(control),
            PairKeySource::Batches(batches) => batches.watch(control),
        }
    }

    fn detach(&mut self) {
        match self {
            PairKeySource::Single(keys) => keys.detach(),
            PairKeySource::Batches(batches) => batches.detach(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            PairKeySource::Single(keys) => keys.size_hint(),
            PairKeySource::Batches(batches) => batches.size_hint(),
        }
    }

    /// The next keys, encoded; a single one of a source of such. `number` is that of the first.
    fn next(&mut self, patience: WaitLimit, number: usize) -> Result<SourcePoll<Slices>> {
        match self {
            PairKeySource::Single(keys) => {
                let next = keys.next_within(patience)?;
                let SourcePoll::Item(key) = next else { return Ok(next.without_item()) };
                let mut encoded = Slices::new();
                let pushed = encoded.push_with(|buffer| key.encode(buffer));
                pushed.map_err(|error| {
                    error.at(format_args!("key {number}")).at_position(number as u64)
                })?;
                Ok(SourcePoll::Item(encoded))
            }
            PairKeySource::Batches(batches) => {
                let next = batches.next_within(patience)?;
                let SourcePoll::Item(pairs) = next else { return Ok(next.without_item()) };
                Ok(SourcePoll::Item(pairs.keys))
            }
        }
    }
}

/// Cuts keys into tasks.
struct PairTasks {
    progress: ReadProgress,
    source: PairKeySource,
    key_bytes_max: usize,
    current: Slices,
    next: usize,
    /// How many keys came in how many batches.
    keys: usize,
    items: usize,
    given: u32,
    depth: Depth,
    range: Option<KeyRange>,
    points: KeyBatcher,
    /// What came instead of a key, reported after the pairs of the keys before it.
    failure: Option<Error>,
    exhausted: bool,
}

const RANGES_MOST: usize = 256;

impl PairTasks {
    /// Makes sure that there is a current key; false when none comes in time, or ever.
    fn has_key(&mut self, patience: WaitLimit) -> bool {
        // A loop, for a batch may hold no keys.
        while self.next == self.current.len() && !self.exhausted {
            match self.source.next(patience, self.keys) {
                Ok(SourcePoll::Item(keys)) => {
                    self.current = keys;
                    self.keys += self.current.len();
                    self.progress.note_keys(self.current.len());
                    self.items += 1;
                    self.next = 0;
                }
                Ok(SourcePoll::Nothing) => return false,
                Ok(SourcePoll::End) => self.exhausted = true,
                Err(error) => self.fail(error),
            }
        }
        if self.next == self.current.len() {
            return false;
        }
        // Refused here: the error follows the pairs of the keys before it, as that of a failing
        // source does.
        let bytes = self.current.get(self.next).len();
        if bytes > self.key_bytes_max {
            let number = self.keys - self.current.len() + self.next;
            let most = self.key_bytes_max;
            self.fail(
                Error::invalid(format!(
                    "key {number}: a key of {bytes} bytes is over the limit of {most}"
                ))
                .at_position(number as u64),
            );
            return false;
        }
        true
    }

    /// No further keys are taken.
    fn fail(&mut self, error: Error) {
        self.failure = Some(error);
        self.exhausted = true;
        self.next = self.current.len();
    }

    fn points(&mut self) -> Option<ReadTask> {
        while !self.points.is_full() && self.has_key(WaitLimit::Since(self.points.since())) {
            self.points.push(self.current.get(self.next));
            self.next += 1;
        }
        let here = self.current.len() - self.next;
        let left =
            keys_left(self.source.size_hint(), self.keys, self.items).map(|left| left + here);
        self.points.finish(left);
        self.points.next_task()
    }

    /// Tasks are small at first, so that first pairs come soon.
    fn ranges_most(&mut self) -> usize {
        self.given = (self.given + 1).min(30);
        (1 << self.given.saturating_sub(4)).min(RANGES_MOST)
    }

    /// The ranges below the keys that come next. Pairs directly below a key differ from deeper ones
    /// in the number of their components, so the keys of one task have as many.
    fn ranges(&mut self) -> Result<ReadTask> {
        let most = self.ranges_most();
        let mut ranges = Ranges::new();
        let mut minor_max = None;
        let mut parents = 0;
        while parents < most && self.has_key(WaitLimit::MOMENT) {
            let parent = self.current.get(self.next);
            if self.depth.is_children() {
                let minor = minor_components(parent)? + 1;
                if *minor_max.get_or_insert(minor) != minor {
                    break;
                }
            }
            push_ranges(parent, self.depth, self.range.as_ref(), &mut ranges);
            self.next += 1;
            parents += 1;
        }
        Ok(match minor_max {
            Some(minor_max) => {
                ReadTask::Filtered { ranges, filter: Arc::new(ComponentLimit { minor_max }) }
            }
            None => ReadTask::Ranges(ranges),
        })
    }
}

impl TaskSource for PairTasks {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        if let Some(task) = self.points.next_task() {
            return Ok(Some(task));
        }
        if !self.has_key(WaitLimit::Endless) {
            return self.failure.take().map_or(Ok(None), Err);
        }
        if self.depth == Depth::ParentOnly { Ok(self.points()) } else { self.ranges().map(Some) }
    }

    fn is_exhausted(&self) -> bool {
        let is_spent = self.next == self.current.len() && self.source.size_hint().1 == Some(0);
        (self.exhausted || is_spent) && self.failure.is_none() && self.points.is_empty()
    }

    fn is_at_hand(&self) -> bool {
        self.source.is_at_hand()
    }

    fn detach(&mut self) {
        self.source.detach();
    }
}

fn minor_components(key: &[u8]) -> Result<usize> {
    let count = KeyPart::Path.end(key, 0).and_then(|end| count_components(&key[end..]));
    count.ok_or_else(|| Error::internal("a key was encoded wrongly"))
}

impl std::fmt::Debug for BulkPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkPairs")
            .field("progress", &self.progress().metrics())
            .finish_non_exhaustive()
    }
}
