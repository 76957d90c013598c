//! Checks and encodes the keys of a bulk get, and cuts them into tasks: ranges and point reads.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_engine::{Direction, Error, Ranges, Result, Slices};

use super::BulkGetOptions;
use super::item_source::{SourcePoll, WaitLimit};
use super::resume::ResumePoint;
use super::source::{BulkKey, KeyItem, KeySource, KeySourceKind};
use crate::catalog::TableEntry;
use crate::codec::{FieldRange, NO_SUCH_KEY};
use crate::read::ReadControl;
use crate::read::key_batches::KeyBatcher;
use crate::read::origin::KeyOrigin;
use crate::read::task::{ReadTask, TaskSource};

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
    source: EncodedKeys,
    points: KeyBatcher,
    ranges: TaskSize,
    /// The number of columns of the first key, when a range wants all keys alike.
    columns: Option<usize>,
    /// Whether rows tell which key they answer.
    is_tracing: bool,
    /// Where to continue.
    after: Option<ResumePoint>,
    control: Arc<ReadControl>,
    exhausted: bool,
    failure: Option<Error>,
}

impl KeyTasks {
    pub(super) fn new(
        entry: Arc<TableEntry>,
        options: &BulkGetOptions,
        always_ranges: bool,
        after: Option<ResumePoint>,
        mut keys: KeySource,
        control: &Arc<ReadControl>,
    ) -> Self {
        // Ordered rows come in the order of the keys given, so the batcher must not sort these.
        let points =
            KeyBatcher::new(options.direction != Direction::Unordered, options.memory_bytes_max);
        keys.0.watch(control);
        Self {
            entry,
            range: options.range.clone(),
            always_ranges,
            source: EncodedKeys::new(keys),
            is_tracing: options.origins,
            after,
            control: control.clone(),
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

    /// Whether the key that comes next was answered by the read that this one resumes.
    fn is_answered(&self, is_point: bool) -> bool {
        let answered = self.after.as_ref().and_then(|after| after.number);
        answered.is_some_and(|last| {
            let number = self.source.number();
            number < last || (number == last && is_point)
        })
    }

    /// Takes the run of point reads, or of ranges, that comes next, up to the size of a task.
    fn gather(&mut self) -> Result<Option<ReadTask>> {
        let SourcePoll::Item(columns) = self.source.peek(&self.entry, WaitLimit::Endless)? else {
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
            // Peeked at first: a key that starts a range stays for the next task.
            match self.source.peek(&self.entry, WaitLimit::Since(self.points.since())) {
                Ok(SourcePoll::Item(columns)) if self.is_point(columns) => {
                    let origin = self.source.origin();
                    let is_answered = self.is_answered(true);
                    let key = self.source.take();
                    match self.is_tracing {
                        _ if is_answered => {}
                        true => self.points.push_traced(key, origin),
                        false => self.points.push(key),
                    }
                }
                Ok(SourcePoll::Item(_) | SourcePoll::Nothing) => break,
                Ok(SourcePoll::End) => {
                    self.exhausted = true;
                    break;
                }
                Err(error) => {
                    // Kept for later: the rows of the keys before it come first.
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
        let (mut start, mut end, mut origins) = (Vec::new(), Vec::new(), Vec::new());
        while ranges.len() < most {
            match self.next_range(&mut start, &mut end) {
                Ok(Some(origin)) => {
                    ranges.push(&start, &end);
                    origins.extend(self.is_tracing.then_some(origin));
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(ReadTask::Ranges(ranges).traced(origins))
    }

    /// Takes the next key as a range, unless it is a point or there is none.
    fn next_range(&mut self, start: &mut Vec<u8>, end: &mut Vec<u8>) -> Result<Option<KeyOrigin>> {
        let columns = loop {
            // `gather` has waited for the first key: a task waits only briefly for others.
            match self.source.peek(&self.entry, WaitLimit::MOMENT)? {
                SourcePoll::Item(_) if self.is_answered(false) => drop(self.source.take()),
                SourcePoll::Item(columns) => break columns,
                SourcePoll::Nothing => return Ok(None),
                SourcePoll::End => {
                    self.exhausted = true;
                    return Ok(None);
                }
            }
        };
        if self.is_point(columns) {
            return Ok(None);
        }
        // Asked before the key is taken: both tell of the key that comes next.
        let (number, origin) = (self.source.number(), self.source.origin());
        let is_several = self.source.is_several();
        let prefix = self.source.take();
        match &self.range {
            None => self.entry.codec.prefix_bounds(prefix, start, end),
            Some(range) => {
                let first = *self.columns.get_or_insert(columns);
                if first != columns {
                    return Err(Error::invalid(format!(
                        "{}: it gives {columns} columns, the keys before it {first}: with a range all keys give the same columns",
                        origin_text(origin, is_several)
                    )));
                }
                let bounds = self.entry.codec.range_bounds(prefix, columns, range, start, end);
                bounds.map_err(|error| error.at(origin_text(origin, is_several)))?;
            }
        }
        // The earlier read ended within the rows of this key: those that it gave do not come again.
        if let Some(after) = self.after.as_ref().filter(|after| after.number == Some(number)) {
            after.narrow(start, end);
        }
        Ok(Some(origin))
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
        while !self.exhausted {
            let before = self.source.drawn();
            let task = self.gather();
            self.control.progress.note_keys((self.source.drawn() - before) as usize);
            // What was gathered may all have been answered before, or be unwanted.
            let is_empty = matches!(&task, Ok(Some(ReadTask::Ranges(ranges))) if ranges.is_empty());
            match task {
                Ok(None) if self.failure.is_some() => return self.next_task(),
                Ok(Some(_)) if is_empty && self.failure.is_some() => return self.next_task(),
                Ok(None) => {}
                Ok(Some(_)) if is_empty => {}
                task => return task,
            }
        }
        self.failure.take().map_or(Ok(None), Err)
    }

    fn is_exhausted(&self) -> bool {
        (self.exhausted || self.source.is_spent())
            && self.failure.is_none()
            && self.points.is_empty()
    }

    fn is_at_hand(&self) -> bool {
        self.source.source.is_at_hand()
    }

    fn detach(&mut self) {
        self.source.source.detach();
    }
}

/// The keys of a source, encoded, with one key of look-ahead.
struct EncodedKeys {
    source: KeySourceKind,
    /// The error of the key after those that are encoded.
    late: Option<Error>,
    /// Keys that are encoded and not yet taken.
    keys: Slices,
    columns: Vec<u16>,
    taken: usize,
    /// How many keys were taken before those in `keys`.
    before: u64,
    /// The number of the source that `keys` came from, where there are several.
    number: u32,
    /// The position of the first of `keys` in its source.
    position: u64,
    /// How many keys each of several sources has given.
    positions: Vec<u64>,
    /// How many items the source has given.
    items: usize,
    buffer: Vec<u8>,
}

impl EncodedKeys {
    fn new(keys: KeySource) -> Self {
        let (keys, source) = (Slices::new(), keys.0);
        Self {
            source,
            late: None,
            keys,
            columns: Vec::new(),
            taken: 0,
            before: 0,
            number: 0,
            position: 0,
            positions: Vec::new(),
            items: 0,
            buffer: Vec::new(),
        }
    }

    /// The number of the key that comes next, from 0.
    fn number(&self) -> u64 {
        self.before + self.taken as u64
    }

    /// How many keys were drawn from the source.
    fn drawn(&self) -> u64 {
        self.before + self.keys.len() as u64
    }

    /// The position of the next key.
    fn origin(&self) -> KeyOrigin {
        KeyOrigin { source: self.number, position: self.position + self.taken as u64 }
    }

    /// The same as text, for a message.
    fn next_origin_text(&self) -> String {
        origin_text(self.origin(), self.is_several())
    }

    fn is_several(&self) -> bool {
        matches!(self.source, KeySourceKind::Several(_))
    }

    /// How many columns the next key gives.
    fn peek(&mut self, entry: &TableEntry, patience: WaitLimit) -> Result<SourcePoll<usize>> {
        loop {
            match self.columns.get(self.taken) {
                // Keys that no row can have are passed over.
                Some(&NO_SUCH_KEY) => self.taken += 1,
                Some(columns) => return Ok(SourcePoll::Item(usize::from(*columns))),
                None => match self.refill(entry, patience)? {
                    SourcePoll::Item(()) => {}
                    SourcePoll::Nothing => return Ok(SourcePoll::Nothing),
                    SourcePoll::End => return Ok(SourcePoll::End),
                },
            }
        }
    }

    /// Whether it is known, without asking the source, that no key will come.
    fn is_spent(&self) -> bool {
        self.taken == self.keys.len() && self.late.is_none() && self.items_hint().1 == Some(0)
    }

    fn items_hint(&self) -> (usize, Option<usize>) {
        self.source.size_hint()
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

    fn refill(&mut self, entry: &TableEntry, patience: WaitLimit) -> Result<SourcePoll<()>> {
        // By now the keys before the bad one are taken, so their rows come before the error.
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        // Counted before the source is asked, so that a bad key is reported at its own position.
        let before = self.keys.len() as u64;
        self.before += before;
        self.position += before;
        self.taken = 0;
        self.keys.clear();
        self.columns.clear();
        let next = match &mut self.source {
            KeySourceKind::Single(keys) => {
                keys.next_within(patience)?.map(|key| (0, KeyItem::Key(key)))
            }
            KeySourceKind::Batches(batches) => {
                batches.next_within(patience)?.map(|batch| (0, KeyItem::Batch(batch)))
            }
            KeySourceKind::Several(several) => {
                let next = several.next_within(patience)?;
                if let SourcePoll::Item((number, _)) = &next {
                    self.switch_source(*number, before);
                }
                next
            }
            KeySourceKind::All(is_taken) => {
                if std::mem::replace(is_taken, true) {
                    return Ok(SourcePoll::End);
                }
                // All rows have the empty prefix, so this is a partial key like any other.
                self.keys.push(&[]);
                self.columns.push(0);
                return Ok(SourcePoll::Item(()));
            }
        };
        match next {
            SourcePoll::Item((_, KeyItem::Key(key))) => self.encode_single(entry, &key)?,
            SourcePoll::Item((_, KeyItem::Batch(batch))) => self.encode_batch(entry, &batch),
            nothing => return Ok(nothing.without_item()),
        }
        self.items += 1;
        Ok(SourcePoll::Item(()))
    }

    /// What comes next is of this source.
    fn switch_source(&mut self, number: u32, given_before: u64) {
        let places = &mut self.positions;
        places.resize(places.len().max(number as usize + 1).max(self.number as usize + 1), 0);
        places[self.number as usize] += given_before;
        self.number = number;
        self.position = places[number as usize];
    }

    fn encode_single(&mut self, entry: &TableEntry, key: &BulkKey) -> Result<()> {
        let columns = encode_key(entry, key, &mut self.buffer)
            .map_err(|error| error.at(self.next_origin_text()))?;
        self.keys.push(&self.buffer);
        self.columns.push(columns.map_or(NO_SUCH_KEY, |columns| columns as u16));
        Ok(())
    }

    /// Encodes a batch; where a key of it is bad, those before it, followed by the error.
    fn encode_batch(&mut self, entry: &TableEntry, batch: &RecordBatch) {
        let Err(error) = entry.codec.partial_keys(batch, &mut self.keys, &mut self.columns) else {
            return;
        };
        let place = format!("in the batch of keys that begins with {}", self.next_origin_text());
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

/// The position of a key, for a message.
fn origin_text(origin: KeyOrigin, is_several: bool) -> String {
    let KeyOrigin { source, position } = origin;
    if is_several { format!("source {source}, key {position}") } else { format!("key {position}") }
}

/// Encodes one key and says how many columns it gives; nothing for one that no row can have.
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
