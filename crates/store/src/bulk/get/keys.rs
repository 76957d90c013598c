//! Keys to get: from whatever the caller has to ranges and point reads.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_engine::{Error, Ranges, Result, Slices};

use super::drawn::{BATCHES_MAX, Drawn, SINGLE_ITEMS_MAX, Source, has_items_in_memory};
use crate::catalog::TableEntry;
use crate::codec::{FieldRange, NO_SUCH_KEY};
use crate::read::key_batches::KeyBatcher;
use crate::read::pipeline::{ReadTask, TaskSource};
use crate::row::Row;
use crate::value::Value;

/// A whole or partial primary key.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkKey {
    /// The leading key columns, in key order.
    Values(Vec<Value>),
    /// Key columns by name.
    Row(Row),
    /// Key columns by name, of a table that the key itself names: an error when another table is
    /// asked.
    OfTable(Arc<str>, Row),
}

impl From<Vec<Value>> for BulkKey {
    fn from(values: Vec<Value>) -> Self {
        BulkKey::Values(values)
    }
}

impl From<Row> for BulkKey {
    fn from(row: Row) -> Self {
        BulkKey::Row(row)
    }
}

/// Where the keys of a bulk get come from.
///
/// A source may wait, for a queue or a client: the rows of the keys that it has given come when it
/// gives nothing for about a millisecond. It is then drawn from by a thread of its own. The workers
/// of a [`multi_get`](crate::Store::multi_get) draw from the sources themselves: there one that
/// waits withholds the rows of the keys that were gathered from it.
pub struct KeySource(Keys);

enum Keys {
    Single(Source<BulkKey>),
    Batches(Source<RecordBatch>),
}

impl KeySource {
    /// Keys one by one, maybe endlessly many.
    pub fn keys<I, K>(keys: I) -> Self
    where
        I: IntoIterator<Item = K>,
        I::IntoIter: Send + 'static,
        K: Into<BulkKey>,
    {
        let keys = Source::new(keys.into_iter().map(|key| Ok(key.into())), SINGLE_ITEMS_MAX);
        Self(Keys::Single(keys.at_hand(has_items_in_memory::<I::IntoIter>())))
    }

    /// Keys one by one from a source that may fail: the rows of the keys before the failure come
    /// first, then the failure.
    pub fn try_keys<I>(keys: I) -> Self
    where
        I: IntoIterator<Item = Result<BulkKey>>,
        I::IntoIter: Send + 'static,
    {
        let keys = Source::new(keys.into_iter(), SINGLE_ITEMS_MAX);
        Self(Keys::Single(keys.at_hand(has_items_in_memory::<I::IntoIter>())))
    }

    /// Keys as record batches of leading key columns, by name: the fast way for millions. A NULL
    /// leaves its column open.
    pub fn batches<I>(batches: I) -> Self
    where
        I: IntoIterator<Item = Result<RecordBatch>>,
        I::IntoIter: Send + 'static,
    {
        let batches = Source::new(batches.into_iter(), BATCHES_MAX);
        Self(Keys::Batches(batches.at_hand(has_items_in_memory::<I::IntoIter>())))
    }
}

impl From<RecordBatch> for KeySource {
    fn from(keys: RecordBatch) -> Self {
        Self::from(vec![keys])
    }
}

impl From<Vec<RecordBatch>> for KeySource {
    fn from(keys: Vec<RecordBatch>) -> Self {
        Self(Keys::Batches(Source::new(keys.into_iter().map(Ok), BATCHES_MAX).at_hand(true)))
    }
}

impl From<Vec<Row>> for KeySource {
    fn from(keys: Vec<Row>) -> Self {
        Self::keys(keys)
    }
}

impl From<Vec<Vec<Value>>> for KeySource {
    fn from(keys: Vec<Vec<Value>>) -> Self {
        Self::keys(keys)
    }
}

/// How many keys tasks hold: few at first, so that first rows come soon and few keys spread over
/// all workers.
struct TaskSize {
    next: usize,
    most: usize,
    made: usize,
}

impl TaskSize {
    fn new(first: usize, most: usize) -> Self {
        Self { next: first, most, made: 0 }
    }

    fn take(&mut self) -> usize {
        let size = self.next;
        self.made += 1;
        if self.made >= 4 {
            self.next = (size * 2).min(self.most);
        }
        size
    }
}

const RANGES_FIRST: usize = 1;
const RANGES_MOST: usize = 256;

/// Checks and encodes keys and makes tasks of them.
pub(super) struct KeyTasks {
    entry: Arc<TableEntry>,
    range: Option<FieldRange>,
    /// Whole keys are read as ranges too, because child rows come along.
    always_ranges: bool,
    source: Encoded,
    points: KeyBatcher,
    ranges: TaskSize,
    /// The number of columns of the first key, when a range wants all keys alike.
    columns: Option<usize>,
    exhausted: bool,
    failure: Option<Error>,
}

impl KeyTasks {
    pub(super) fn new(
        entry: Arc<TableEntry>,
        range: Option<FieldRange>,
        always_ranges: bool,
        points: KeyBatcher,
        keys: KeySource,
    ) -> Self {
        Self {
            entry,
            range,
            always_ranges,
            source: Encoded::new(keys),
            points,
            ranges: TaskSize::new(RANGES_FIRST, RANGES_MOST),
            columns: None,
            exhausted: false,
            failure: None,
        }
    }

    fn is_point(&self, columns: usize) -> bool {
        columns == self.entry.schema.key.len() && self.range.is_none() && !self.always_ranges
    }

    /// Takes the run of point reads, or of ranges, that comes next, up to the size of a task.
    fn gather(&mut self) -> Result<Option<ReadTask>> {
        let Drawn::Item(columns) = self.source.peek(&self.entry, true)? else {
            self.exhausted = true;
            return Ok(None);
        };
        if self.is_point(columns) {
            Ok(self.gather_points())
        } else {
            self.gather_ranges().map(Some)
        }
    }

    /// Gathers point reads until there are enough, or something else comes.
    fn gather_points(&mut self) -> Option<ReadTask> {
        while !self.points.is_full() {
            match self.source.peek(&self.entry, false) {
                Ok(Drawn::Item(columns)) if self.is_point(columns) => {
                    self.points.push(self.source.take())
                }
                Ok(Drawn::Item(_) | Drawn::Nothing) => break,
                Ok(Drawn::End) => {
                    self.exhausted = true;
                    break;
                }
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        self.points.finish(self.source.left());
        self.points.next_task()
    }

    fn gather_ranges(&mut self) -> Result<ReadTask> {
        let most = self.ranges.take();
        let mut ranges = Ranges::new();
        let (mut start, mut end) = (Vec::new(), Vec::new());
        while ranges.len() < most {
            match self.next_range(&mut start, &mut end) {
                Ok(true) => ranges.push(&start, &end),
                Ok(false) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(ReadTask::Ranges(ranges))
    }

    /// Takes the next key as a range, unless it is a point or there is none.
    fn next_range(&mut self, start: &mut Vec<u8>, end: &mut Vec<u8>) -> Result<bool> {
        let columns = match self.source.peek(&self.entry, false)? {
            Drawn::Item(columns) => columns,
            Drawn::Nothing => return Ok(false),
            Drawn::End => {
                self.exhausted = true;
                return Ok(false);
            }
        };
        if self.is_point(columns) {
            return Ok(false);
        }
        let number = self.source.number();
        let prefix = self.source.take();
        match &self.range {
            None => self.entry.codec.prefix_bounds(prefix, start, end),
            Some(range) => {
                let first = *self.columns.get_or_insert(columns);
                if first != columns {
                    return Err(Error::invalid(format!(
                        "key {number}: it gives {columns} columns, the keys before it {first}: with a range all keys give the same columns"
                    )));
                }
                let bounds = self.entry.codec.range_bounds(prefix, columns, range, start, end);
                bounds.map_err(|error| error.at(format!("key {number}")))?;
            }
        }
        Ok(true)
    }
}

impl TaskSource for KeyTasks {
    fn next_task(&mut self) -> Result<Option<ReadTask>> {
        if let Some(task) = self.points.next_task() {
            return Ok(Some(task));
        }
        if let Some(error) = self.failure.take() {
            self.exhausted = true;
            return Err(error);
        }
        if self.exhausted {
            return Ok(None);
        }
        self.gather()
    }

    fn is_exhausted(&self) -> bool {
        (self.exhausted || self.source.is_spent())
            && self.failure.is_none()
            && self.points.is_empty()
    }

    fn is_at_hand(&self) -> bool {
        match &self.source.source {
            Keys::Single(keys) => keys.is_at_hand(),
            Keys::Batches(batches) => batches.is_at_hand(),
        }
    }

    fn detach(&mut self) {
        match &mut self.source.source {
            Keys::Single(keys) => keys.detach(),
            Keys::Batches(batches) => batches.detach(),
        }
    }
}

/// The keys of a source, encoded, with one key of look-ahead.
struct Encoded {
    source: Keys,
    /// What is wrong with the key that comes behind those that are encoded.
    late: Option<Error>,
    /// Keys that are encoded and not yet taken.
    keys: Slices,
    columns: Vec<u16>,
    taken: usize,
    /// How many keys were taken before those in `keys`.
    before: u64,
    /// How many items the source has given.
    items: usize,
    buffer: Vec<u8>,
}

impl Encoded {
    fn new(keys: KeySource) -> Self {
        let (keys, source) = (Slices::new(), keys.0);
        Self {
            source,
            late: None,
            keys,
            columns: Vec::new(),
            taken: 0,
            before: 0,
            items: 0,
            buffer: Vec::new(),
        }
    }

    /// The number of the key that comes next, from 0.
    fn number(&self) -> u64 {
        self.before + self.taken as u64
    }

    /// How many columns the next key gives. It is waited for if asked.
    fn peek(&mut self, entry: &TableEntry, is_waiting: bool) -> Result<Drawn<usize>> {
        loop {
            match self.columns.get(self.taken) {
                // Keys that no row can have are passed over.
                Some(&NO_SUCH_KEY) => self.taken += 1,
                Some(columns) => return Ok(Drawn::Item(usize::from(*columns))),
                None => match self.refill(entry, is_waiting)? {
                    Drawn::Item(()) => {}
                    Drawn::Nothing => return Ok(Drawn::Nothing),
                    Drawn::End => return Ok(Drawn::End),
                },
            }
        }
    }

    /// Whether it is known, without asking the source, that no key will come.
    fn is_spent(&self) -> bool {
        self.taken == self.keys.len() && self.late.is_none() && self.items_hint().1 == Some(0)
    }

    fn items_hint(&self) -> (usize, Option<usize>) {
        match &self.source {
            Keys::Single(keys) => keys.size_hint(),
            Keys::Batches(batches) => batches.size_hint(),
        }
    }

    /// About how many keys are left, if the source knows.
    fn left(&self) -> Option<usize> {
        let here = self.keys.len() - self.taken;
        keys_left(self.items_hint(), self.before as usize + self.keys.len(), self.items)
            .map(|left| left + here)
    }

    /// The bytes of the key that was peeked at.
    fn take(&mut self) -> &[u8] {
        self.taken += 1;
        self.keys.get(self.taken - 1)
    }

    fn refill(&mut self, entry: &TableEntry, is_waiting: bool) -> Result<Drawn<()>> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        self.before += self.keys.len() as u64;
        self.taken = 0;
        self.keys.clear();
        self.columns.clear();
        let number = self.before;
        match &mut self.source {
            Keys::Single(keys) => {
                let next = if is_waiting { keys.next()?.into() } else { keys.next_soon()? };
                let Drawn::Item(key) = next else { return Ok(next.without_item()) };
                let columns = encode_key(entry, &key, &mut self.buffer)
                    .map_err(|error| error.at(format!("key {number}")))?;
                self.keys.push(&self.buffer);
                self.columns.push(columns.map_or(NO_SUCH_KEY, |columns| columns as u16));
            }
            Keys::Batches(batches) => {
                let next = if is_waiting { batches.next()?.into() } else { batches.next_soon()? };
                let Drawn::Item(batch) = next else { return Ok(next.without_item()) };
                self.encode_batch(entry, &batch);
            }
        }
        self.items += 1;
        Ok(Drawn::Item(()))
    }

    /// Encodes a batch; where a key of it is bad, those before it, and the error comes behind them.
    fn encode_batch(&mut self, entry: &TableEntry, batch: &RecordBatch) {
        let Err(error) = entry.codec.partial_keys(batch, &mut self.keys, &mut self.columns) else {
            return;
        };
        let place = format!("in the batch of keys that begins with key {}", self.before);
        self.late = Some(error.at(place));
        let (mut keys, mut columns) = (Slices::new(), Vec::new());
        self.keys.clear();
        self.columns.clear();
        for row in 0..batch.num_rows() {
            if entry.codec.partial_keys(&batch.slice(row, 1), &mut keys, &mut columns).is_err() {
                break;
            }
            self.keys.push(keys.get(0));
            self.columns.push(columns[0]);
        }
    }
}

/// About how many keys a source will still give: as many an item as those that it gave had, if it
/// knows how many items will come.
pub(crate) fn keys_left(
    items_hint: (usize, Option<usize>),
    keys: usize,
    items: usize,
) -> Option<usize> {
    let (least, most) = items_hint;
    (most == Some(least) && items > 0)
        .then(|| (least as f64 * keys as f64 / items as f64).ceil() as usize)
}

/// Encodes one key and tells how many columns it gives; nothing for one that no row can have.
fn encode_key(entry: &TableEntry, key: &BulkKey, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
    match key {
        BulkKey::Values(values) => entry.codec.lookup_partial(values, buffer),
        BulkKey::Row(row) => entry.codec.lookup_partial_row(row, buffer),
        BulkKey::OfTable(table, row) => {
            if !table.eq_ignore_ascii_case(&entry.schema.path) {
                return Err(Error::invalid(format!(
                    "it is a key of the table {table}, but the table {} is read: all keys of a bulk get are of one table",
                    entry.schema.path
                )));
            }
            entry.codec.lookup_partial_row(row, buffer)
        }
    }
}
