//! Reads rows through an index.
//!
//! 1. The dispatcher reads entries and cuts them into tasks: few entries at first, so that the
//!    first rows come soon, then more and more. Without an order it sorts them by primary key,
//!    since the engine reads neighbours faster.
//! 2. Workers look up the rows, decode the indexed columns and make the entry of each row anew. A
//!    row with another entry has changed since: its own entry leads to it, or it is not in the
//!    result.
//! 3. Workers decode the requested columns of the remaining rows.
//!
//! If entries hold all requested columns, and the index is known to be clean
//! ([`super::clean_marks`]), no row is looked up: its columns come out of its entry.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tonnage_engine::{Cuts, Direction, Engine, Error, Projection, Result, Rows, SHARD_LEN, Slices};

use super::columns::EntryColumns;
use super::list::{IndexList, OpenIndex};
use super::options::{IndexRange, IndexScanOptions};
use super::scan::{EntryBounds, EntryWalk};
use crate::bulk::get::TableBatch;
use crate::bulk::get::{ItemSource, PARTS_PER_WORKER, SourcePoll, SpaceParts, WaitLimit};
use crate::catalog::{Relatives, TableEntry};
use crate::codec::{KeyClassifier, KeyOwner};
use crate::inner::Inner;
use crate::read::{
    ReadControl, ReadPipeline, ReadPlan, ReadTask, Shaper, TaskSource, sorted_order,
};

const GATHERED_FIRST: usize = 256;
const GATHERED_MOST: usize = 1 << 18;
/// How many more are gathered each time. Those gathered together go over the table once, so it is a
/// few times at most; the workers look up one lot while the next is walked over.
const GROWTH: usize = 64;
/// Entries in one task: enough to be worth handing over, few enough that all workers end at about
/// the same time.
const TASK_ENTRIES_MOST: usize = 2_048;
/// A source of ranges that is slower than this is not waited for once there is something to do.
const GATHERING_LONGEST: Duration = Duration::from_millis(50);
/// Ranges drawn from their source before any of them is walked.
const RANGES_DRAWN_MAX: usize = 4_096;

/// Where ranges come from.
pub(super) type RangeSource = ItemSource<IndexRange>;

pub(super) fn read(
    store: &Inner,
    table: &Arc<TableEntry>,
    index: &Arc<OpenIndex>,
    mut ranges: RangeSource,
    options: &IndexScanOptions,
) -> Result<IndexRows> {
    let get = options.check()?;
    // Others may have dropped the index, and keep it up no more, without this process.
    store.catalog.check_member()?;
    let projection = match &options.columns {
        Some(names) => Some(
            names
                .iter()
                .map(|name| table.schema.require_column(name))
                .collect::<Result<Vec<_>>>()?,
        ),
        None => None,
    };
    let is_ordered = options.direction != Direction::Unordered;
    // A small limit is met by few entries: no more are gathered for it at first.
    let first =
        options.limit.map_or(GATHERED_FIRST, |limit| (limit as usize).clamp(1, GATHERED_FIRST));
    let control = ReadControl::new(&get.cancel, get.timeout);
    let engine = store.reader(options.consistency).clone();
    ranges.watch(&control);
    // Where a row has several entries, all ranges must be known to tell which of them counts.
    let within = match options.exactly_once || index.codec.has_parts() {
        true => Some(TableRanges::draw(index, &mut ranges)?),
        false => None,
    };
    let mut walk = EntryWalk::new(&*engine, index.space(), options.direction);
    if let Some(within) = within.as_ref().filter(|_| !options.exactly_once) {
        within.in_order(options.direction).for_each(|bounds| walk.add(bounds.clone()));
    }
    let columns = match options.index_only && !options.exactly_once {
        true => EntryColumns::find(&table.codec, index, projection.as_deref()),
        false => None,
    };
    let source = EntrySource {
        engine: Arc::downgrade(&engine),
        classifier: table.classifier.clone(),
        table_id: table.schema.table_id,
        index: index.clone(),
        indexes: table.indexes.clone(),
        walk,
        ranges: within.is_none().then_some(ranges),
        is_ordered,
        is_enough: columns.is_some(),
        task_entries: TASK_ENTRIES_MOST.min(options.batch_rows_max),
        gathered: first,
        tasks: Vec::new().into_iter(),
    };
    let default_bytes = table.codec.default_bytes_of(projection.as_deref());
    let relatives = Relatives::find(&store.catalog, table.clone(), &[])?;
    let scan = tonnage_engine::ScanOptions {
        // `tasks_of` looks at the keys of entries: only a scan of the table meets rows of others.
        filter: options.exactly_once.then(|| relatives.filter()),
        batch_rows_max: options
            .batch_rows_max
            .min(options.batch_bytes_max / default_bytes.max(1))
            .max(1),
        batch_bytes_max: options.batch_bytes_max,
        deadline: control.deadline(),
        ..tonnage_engine::ScanOptions::default()
    };
    let shaper = IndexShaper {
        table: table.clone(),
        path: table.schema.path.as_str().into(),
        index: index.clone(),
        projection,
        columns,
        within,
        is_of_table: options.exactly_once,
        is_reverse: options.direction == Direction::Reverse,
    };
    let plan = ReadPlan {
        engine,
        space: table.space,
        projection: Projection::KeysAndValues,
        scan,
        ordered: is_ordered,
        workers: get.workers(),
        control,
        ahead: store.ahead.clone(),
        threads: store.threads.clone(),
        shaper,
    };
    let reading = match options.exactly_once {
        true => {
            let parts = PARTS_PER_WORKER * plan.workers;
            let parts = store.engine.split(table.space, parts, Cuts::Anywhere)?;
            ReadPipeline::new(plan, SpaceParts::new(parts, Direction::Unordered))
        }
        false => ReadPipeline::new(plan, source),
    };
    Ok(IndexRows { reading: Some(reading), left: options.limit })
}

/// The rows of an index scan, an iterator of record batches.
pub struct IndexRows {
    /// Nothing once the limit is reached.
    reading: Option<ReadPipeline<IndexShaper>>,
    left: Option<u64>,
}

impl Iterator for IndexRows {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.reading.as_mut()?.next()? {
            Ok(batch) => batch,
            error => return Some(error),
        };
        let Some(left) = &mut self.left else { return Some(Ok(batch)) };
        let count = (batch.rows.num_rows() as u64).min(*left);
        *left -= count;
        if *left == 0 {
            self.reading = None;
        }
        Some(Ok(first_rows(batch, count as usize)))
    }
}

fn first_rows(mut batch: TableBatch, count: usize) -> TableBatch {
    batch.rows = batch.rows.slice(0, count);
    batch.versions.truncate(count);
    batch.expiries_ms.truncate(count);
    batch
}

/// Makes tasks of entries. It holds nothing of the store: ranges may come from a source that
/// blocks.
struct EntrySource {
    engine: Weak<dyn Engine>,
    /// Returns whether an entry names a row of the table.
    classifier: Arc<KeyClassifier>,
    table_id: u32,
    index: Arc<OpenIndex>,
    /// Returns whether the index is still kept up.
    indexes: Arc<IndexList>,
    walk: EntryWalk,
    /// Nothing once it has ended.
    ranges: Option<RangeSource>,
    is_ordered: bool,
    /// Whether entries hold all that is wanted.
    is_enough: bool,
    /// Entries in one task, at most.
    task_entries: usize,
    /// How many entries are gathered next.
    gathered: usize,
    tasks: std::vec::IntoIter<ReadTask>,
}

impl EntrySource {
    /// Draws ranges to walk over; waits for the first if there is nothing else to do.
    fn draw(&mut self, is_waiting: bool) -> Result<()> {
        let Some(ranges) = &mut self.ranges else { return Ok(()) };
        let since = Instant::now();
        for drawn in 0..self.gathered.min(RANGES_DRAWN_MAX) {
            let is_first = drawn == 0 && is_waiting;
            let patience = if is_first { WaitLimit::Endless } else { WaitLimit::MOMENT };
            let range = match ranges.next_within(patience)? {
                SourcePoll::Item(range) => range,
                SourcePoll::Nothing => break,
                SourcePoll::End => {
                    self.ranges = None;
                    return Ok(());
                }
            };
            self.walk.add(self.index.codec.bounds(&range.prefix, range.range.as_ref())?);
            if since.elapsed() >= GATHERING_LONGEST {
                break;
            }
        }
        Ok(())
    }

    fn gather(&mut self) -> Result<()> {
        let mut entries = Slices::new();
        let since = Instant::now();
        let mark = self.clean_mark();
        while entries.len() < self.gathered && !(self.walk.is_over() && self.ranges.is_none()) {
            if !entries.is_empty() && since.elapsed() >= GATHERING_LONGEST {
                break;
            }
            if self.walk.is_over() {
                self.draw(entries.is_empty())?;
                if self.walk.is_over() && !entries.is_empty() {
                    break;
                }
            }
            // The store is gone only when no reader is left.
            let Some(engine) = self.engine.upgrade() else { return Ok(()) };
            self.walk.read(&*engine, self.gathered, &mut entries)?;
            // Checked after the read: until it was dropped it had every row.
            self.indexes.check_kept_up(&self.index)?;
        }
        self.gathered = (self.gathered * GROWTH).min(GATHERED_MOST);
        // After the read: until now no entry has become stale.
        let is_exact = mark.is_some() && self.clean_mark() == mark;
        self.tasks = self.tasks_of(&entries, is_exact)?.into_iter();
        Ok(())
    }

    /// The mark of the index while it is clean, if its entries hold all that is wanted.
    fn clean_mark(&self) -> Option<u64> {
        self.is_enough.then(|| self.indexes.clean.of(self.index.space())).flatten()
    }

    fn tasks_of(&self, entries: &Slices, is_exact: bool) -> Result<Vec<ReadTask>> {
        let mut keys = Slices::with_capacity(entries.len(), entries.bytes());
        let mut named = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            let key = &entry[self.index.codec.key_start(entry)?..];
            // An entry of another table's row is stale, however it came here.
            if matches!(self.classifier.classify(key), Ok(KeyOwner::Table(owner)) if owner == self.table_id)
            {
                keys.push(key);
                named.push(place);
            }
        }
        let order: Vec<u32> = match self.is_ordered || is_exact {
            true => (0..keys.len() as u32).collect(),
            false => sorted_order(&keys),
        };
        let task = |piece: &[u32]| ReadTask::Entries {
            keys: piece.iter().map(|place| keys.get(*place as usize)).collect(),
            entries: Arc::new(
                piece.iter().map(|place| entries.get(named[*place as usize])).collect(),
            ),
            is_exact,
        };
        Ok(order.chunks(self.task_entries).map(task).collect())
    }
}

impl TaskSource for EntrySource {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        loop {
            if let Some(task) = self.tasks.next() {
                return Ok(Some(task));
            }
            // What was gathered may all have been stale.
            if self.is_exhausted() || self.engine.strong_count() == 0 {
                return Ok(None);
            }
            self.gather()?;
        }
    }

    fn is_exhausted(&self) -> bool {
        self.tasks.len() == 0 && self.ranges.is_none() && self.walk.is_over()
    }

    fn is_at_hand(&self) -> bool {
        self.ranges.as_ref().is_none_or(ItemSource::is_at_hand)
    }

    fn detach(&mut self) {
        if let Some(ranges) = &mut self.ranges {
            ranges.detach();
        }
    }
}

/// Checks rows against the entries that led to them, and makes record batches of those that hold.
pub(super) struct IndexShaper {
    table: Arc<TableEntry>,
    path: Arc<str>,
    index: Arc<OpenIndex>,
    projection: Option<Vec<usize>>,
    /// How to read what is wanted out of entries, where they hold it.
    columns: Option<EntryColumns>,
    /// Which rows are wanted when those of the table are read, or which entry of a row counts.
    within: Option<TableRanges>,
    /// Whether rows of the table are read, and not those that entries lead to.
    is_of_table: bool,
    is_reverse: bool,
}

/// Ranges of entries, without the shard: in order, and none within another.
struct TableRanges(Vec<EntryBounds>);

impl TableRanges {
    /// Draws all ranges that there are.
    fn draw(index: &OpenIndex, ranges: &mut RangeSource) -> Result<Self> {
        let mut bounds = Vec::new();
        while let Some(range) = ranges.next()? {
            if bounds.len() == RANGES_DRAWN_MAX {
                return Err(Error::invalid(format!(
                    "exactly_once, and an index on elements, take at most {RANGES_DRAWN_MAX} ranges: ask for fewer at once"
                )));
            }
            bounds.push(index.codec.bounds(&range.prefix, range.range.as_ref())?);
        }
        bounds.retain(|(start, end)| end.is_empty() || start < end);
        bounds.sort_unstable();
        let mut apart: Vec<EntryBounds> = Vec::with_capacity(bounds.len());
        for (start, end) in bounds {
            match apart.last_mut() {
                Some((_, last)) if last.is_empty() || *last >= start => {
                    if end.is_empty() || (!last.is_empty() && *last < end) {
                        *last = end;
                    }
                }
                _ => apart.push((start, end)),
            }
        }
        Ok(Self(apart))
    }

    fn in_order(&self, direction: Direction) -> impl Iterator<Item = &EntryBounds> {
        let last = self.0.len();
        (0..last).map(move |place| match direction {
            Direction::Reverse => &self.0[last - 1 - place],
            _ => &self.0[place],
        })
    }

    /// Whether they hold an entry, which begins with its shard.
    fn contains(&self, entry: &[u8]) -> bool {
        let entry = &entry[SHARD_LEN.min(entry.len())..];
        let behind = self.0.partition_point(|(start, _)| start.as_slice() <= entry);
        behind.checked_sub(1).is_some_and(|place| {
            let end = &self.0[place].1;
            end.is_empty() || entry < end.as_slice()
        })
    }
}

/// The entries of a task.
#[derive(Default)]
pub(super) struct TaskEntries {
    entries: Arc<Slices>,
    /// Whether their rows were not looked up, for need of nothing else.
    are_exact: bool,
}

impl IndexShaper {
    /// The rows whose entries are still what they were.
    fn check(&self, engine: &dyn Engine, rows: &Rows, entries: &Slices) -> Result<Vec<u32>> {
        let arrays = self.index.decode_columns(&self.table.codec, rows)?;
        let now = self.index.codec.encode(engine, &arrays, &rows.keys).map_err(Error::from)?;
        let own = |row: &u32| entries.get(rows.origins[*row as usize] as usize);
        let all = 0..rows.len() as u32;
        let Some(within) = &self.within else {
            return Ok(all.filter(|row| now.has(*row as usize, own(row))).collect());
        };
        // Of the entries of a row that the ranges hold, the one that the walk meets first counts.
        let counts = |row: &u32| {
            let mut wanted = now.of(*row as usize).filter(|entry| within.contains(entry));
            let first = if self.is_reverse { wanted.next_back() } else { wanted.next() };
            first.is_some_and(|first| self.is_of_table || first == own(row))
        };
        Ok(all.filter(counts).collect())
    }
}

impl Shaper for IndexShaper {
    type Output = TableBatch;
    type Memory = TaskEntries;

    fn begin(&self, task: &ReadTask) -> TaskEntries {
        match task {
            ReadTask::Entries { entries, is_exact, .. } => {
                TaskEntries { entries: entries.clone(), are_exact: *is_exact }
            }
            _ => TaskEntries::default(),
        }
    }

    fn shape(
        &self,
        engine: &dyn Engine,
        rows: &mut Rows,
        task: &mut TaskEntries,
        emit: &mut dyn FnMut(TableBatch) -> bool,
    ) -> Result<()> {
        // No entry was stale when they were read, and entries hold all columns that are wanted: no
        // row was looked up.
        if let (Some(columns), true) = (&self.columns, task.are_exact) {
            emit(TableBatch {
                table: self.path.clone(),
                rows: columns.decode(&self.table.codec, &self.index, rows, &task.entries)?,
                versions: std::mem::take(&mut rows.versions),
                expiries_ms: std::mem::take(&mut rows.expiries_ms),
                origins: Vec::new(),
            });
            return Ok(());
        }
        // A row with another entry by now is left out: its own entry leads to it, if it belongs
        // here.
        let which = self.check(engine, rows, &task.entries)?;
        if which.is_empty() {
            return Ok(());
        }
        let pick = |all: &[u64]| which.iter().map(|row| all[*row as usize]).collect();
        let some = (which.len() < rows.len()).then_some(&which[..]);
        emit(TableBatch {
            table: self.path.clone(),
            rows: self.table.codec.decode(rows, some, self.projection.as_deref())?,
            versions: pick(&rows.versions),
            expiries_ms: pick(&rows.expiries_ms),
            origins: Vec::new(),
        });
        Ok(())
    }
}

impl std::fmt::Debug for IndexRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexRows").field("left", &self.left).finish_non_exhaustive()
    }
}
