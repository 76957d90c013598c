//! Bulk get over key/value pairs.

use std::sync::Arc;

use tonnage_engine::{Direction, Engine, Error, KeyPart, Projection, Ranges, Result, Rows, ScanOptions, Slices};

use super::key::count_components;
use super::scope::{ComponentLimit, push_ranges};
use super::{Depth, Key, KeyRange, PairBatch, Pairs};
use crate::bulk::get::{
    BulkGetOptions, KEY_MEMORY_BYTES, Points, ReadPlan, ReadTask, Reading, Shaper, TaskSource, keys_left, next_of,
};
use crate::store::Inner;

/// How to get pairs.
#[derive(Clone, Debug, Default)]
pub struct PairGetOptions {
    /// How deep below each key to look.
    pub depth: Depth,
    /// A range of the minor component right below each key.
    pub range: Option<KeyRange>,
    /// At most this many pairs below each key; the pair of the key itself does not count.
    pub limit_per_key: Option<u64>,
    /// Only keys are read; values are empty.
    pub keys_only: bool,
    /// The order of pairs: `Unordered` is fastest; otherwise keys are answered in the order given, and the pairs below each in
    /// ascending or descending order.
    pub direction: Direction,
    /// How many requests to the engine are under way at a time. Default: the number of cores.
    pub max_concurrent_requests: Option<usize>,
    /// Memory for keys that wait to be looked up (64 KiB to 1 TiB). Default: 256 MiB.
    pub memory_bytes_max: Option<usize>,
}

impl PairGetOptions {
    fn key_memory_bytes(&self) -> usize {
        self.memory_bytes_max.unwrap_or(KEY_MEMORY_BYTES)
    }
}

/// The pairs of a bulk get, an iterator of batches.
pub struct BulkPairs {
    reading: Reading<PairShaper>,
}

impl Iterator for BulkPairs {
    type Item = Result<PairBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reading.next()
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

pub(super) fn bulk_get<I>(store: &Inner, keys: I, options: &PairGetOptions) -> Result<BulkPairs>
where
    I: Iterator<Item = Result<Key>> + Send + 'static,
{
    let batches = KeyBatches { keys, number: 0 };
    read(store, batches, options)
}

pub(super) fn bulk_get_batches<I>(store: &Inner, keys: I, options: &PairGetOptions) -> Result<BulkPairs>
where
    I: Iterator<Item = Pairs> + Send + 'static,
{
    read(store, keys.map(|pairs| Ok(pairs.keys)), options)
}

fn read<I>(store: &Inner, batches: I, options: &PairGetOptions) -> Result<BulkPairs>
where
    I: Iterator<Item = Result<Slices>> + Send + 'static,
{
    let mut batches = batches.peekable();
    // Pairs below a parent are told from deeper ones by the number of their components, so the first parent decides.
    let minor_max = match (options.depth.is_children(), batches.peek()) {
        (true, Some(Ok(keys))) if !keys.is_empty() => Some(minor_components(keys.get(0))? + 1),
        _ => None,
    };
    let mut plan = plan(store, options)?;
    plan.scan.filter = minor_max.map(|minor_max| Arc::new(ComponentLimit { minor_max }) as _);
    let tasks = PairTasks {
        batches,
        current: Slices::new(),
        next: 0,
        keys: 0,
        items: 0,
        given: 0,
        options: options.clone(),
        minor_max,
        points: Points::new(plan.ordered, options.key_memory_bytes()),
        exhausted: false,
    };
    Ok(BulkPairs { reading: Reading::new(plan, tasks) })
}

fn plan(store: &Inner, options: &PairGetOptions) -> Result<ReadPlan<PairShaper>> {
    let general = BulkGetOptions {
        max_concurrent_requests: options.max_concurrent_requests,
        limit_per_key: options.limit_per_key,
        memory_bytes_max: options.key_memory_bytes(),
        ..Default::default()
    };
    general.check()?;
    let projection = if options.keys_only { Projection::KeysOnly } else { Projection::KeysAndValues };
    Ok(ReadPlan {
        engine: store.engine.clone(),
        space: store.pairs,
        projection,
        scan: ScanOptions {
            direction: options.direction,
            projection,
            limit_per_range: options.limit_per_key,
            ..ScanOptions::default()
        },
        ordered: options.direction != Direction::Unordered,
        workers: general.workers(),
        shaper: PairShaper,
    })
}

pub(super) fn scan(store: &Inner, options: &PairGetOptions) -> Result<BulkPairs> {
    let mut plan = plan(store, options)?;
    plan.scan.fill_cache = false;
    plan.workers = 1;
    Ok(BulkPairs { reading: Reading::new(plan, Everything { given: false }) })
}

pub(super) fn count(store: &Inner) -> Result<u64> {
    let options = PairGetOptions { keys_only: true, ..PairGetOptions::default() };
    scan(store, &options)?.try_fold(0, |count, batch| Ok(count + batch?.len() as u64))
}

struct Everything {
    given: bool,
}

impl TaskSource for Everything {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        let first = !std::mem::replace(&mut self.given, true);
        Ok(first.then(|| ReadTask::Ranges(Ranges::whole_space())))
    }

    fn is_exhausted(&self) -> bool {
        self.given
    }
}

/// Keys one by one, encoded one to a batch, so that a slow source delays nothing.
struct KeyBatches<I> {
    keys: I,
    number: u64,
}

impl<I: Iterator<Item = Result<Key>>> Iterator for KeyBatches<I> {
    type Item = Result<Slices>;

    fn next(&mut self) -> Option<Self::Item> {
        let key = match next_of(&mut self.keys).transpose()? {
            Ok(key) => key,
            Err(error) => return Some(Err(error)),
        };
        let mut keys = Slices::new();
        let encoded = keys.push_with(|buffer| key.encode(buffer));
        let place = self.number;
        self.number += 1;
        Some(encoded.map(|()| keys).map_err(|error| error.at(format!("key {place}"))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

/// Cuts keys into tasks.
struct PairTasks<I: Iterator<Item = Result<Slices>>> {
    batches: std::iter::Peekable<I>,
    current: Slices,
    next: usize,
    /// How many keys came in how many batches.
    keys: usize,
    items: usize,
    given: u32,
    options: PairGetOptions,
    minor_max: Option<usize>,
    points: Points,
    exhausted: bool,
}

const RANGES_MOST: usize = 256;

impl<I: Iterator<Item = Result<Slices>>> PairTasks<I> {
    /// Makes sure that there is a current key; false at the end. An error waits until it is reached.
    fn has_key(&mut self) -> Result<bool> {
        while self.next == self.current.len() {
            match self.batches.next() {
                Some(keys) => {
                    self.current = keys?;
                    self.keys += self.current.len();
                    self.items += 1;
                    self.next = 0;
                }
                None => {
                    self.exhausted = true;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the key that comes next can join a task without an error coming first.
    fn can_join(&mut self) -> Result<bool> {
        if self.next == self.current.len() && matches!(self.batches.peek(), Some(Err(_))) {
            return Ok(false);
        }
        self.has_key()
    }

    fn points(&mut self) -> Result<Option<ReadTask>> {
        while !self.points.is_full() && self.can_join()? {
            self.points.push(self.current.get(self.next));
            self.next += 1;
        }
        let here = self.current.len() - self.next;
        let left = keys_left(self.batches.size_hint(), self.keys, self.items).map(|left| left + here);
        self.points.finish(left);
        Ok(self.points.next_task())
    }

    /// Tasks are small at first, so that first pairs come soon.
    fn ranges_most(&mut self) -> usize {
        self.given = (self.given + 1).min(30);
        (1 << self.given.saturating_sub(4)).min(RANGES_MOST)
    }

    fn ranges(&mut self) -> Result<ReadTask> {
        let most = self.ranges_most();
        let mut ranges = Ranges::new();
        let mut parents = 0;
        while parents < most && self.can_join()? {
            let parent = self.current.get(self.next);
            self.next += 1;
            parents += 1;
            if let Some(minor_max) = self.minor_max
                && minor_components(parent)? + 1 != minor_max
            {
                return Err(Error::invalid(
                    "the keys of a bulk get of children differ in the number of their minor components: get each kind by itself",
                ));
            }
            push_ranges(parent, self.options.depth, self.options.range.as_ref(), &mut ranges);
        }
        Ok(ReadTask::Ranges(ranges))
    }
}

impl<I: Iterator<Item = Result<Slices>> + Send + 'static> TaskSource for PairTasks<I> {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        if let Some(task) = self.points.next_task() {
            return Ok(Some(task));
        }
        if self.exhausted || !self.has_key()? {
            return Ok(None);
        }
        if self.options.depth == Depth::ParentOnly { self.points() } else { self.ranges().map(Some) }
    }

    fn is_exhausted(&self) -> bool {
        let is_spent = self.next == self.current.len() && self.batches.size_hint().1 == Some(0);
        (self.exhausted || is_spent) && self.points.is_empty()
    }
}

fn minor_components(key: &[u8]) -> Result<usize> {
    let count = KeyPart::Path.end(key, 0).and_then(|end| count_components(&key[end..]));
    count.ok_or_else(|| Error::internal("a key was encoded wrongly"))
}
