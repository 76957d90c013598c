//! One space: an ordered map of rows under a lock.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::header::Header;
use crate::sync::{lock, read, write};
use crate::{
    Capability, Cuts, Error, Projection, Ranges, ReadOptions, Result, Rows, Slices, SpaceInfo,
    TicketBook, prefixed_shard,
};

/// The rows of a space by key.
pub(super) type RowMap = BTreeMap<Vec<u8>, MemoryRow>;

/// A row as it is stored.
#[derive(Clone, Debug)]
pub(super) struct MemoryRow {
    pub(super) header: Header,
    pub(super) value: Box<[u8]>,
    /// Whether it was stored on a condition that was judged by what was stored under its key.
    pub(super) is_conditional: bool,
}

/// One space with its rows.
#[derive(Debug)]
pub(super) struct MemorySpace {
    info: SpaceInfo,
    /// Shared with snapshots, which see it as it was.
    rows: RwLock<Arc<RowMap>>,
    /// How often the rows were locked to be changed. Counted under that lock.
    changes: AtomicU64,
    /// What is written, once the space is followed. Locked within the rows.
    book: Mutex<Option<TicketBook>>,
}

/// Changes that a range keeps.
const CHANGES_MAX: usize = 65_536;

/// The rows of a space, locked to be changed.
pub(super) struct RowsMut<'a>(RwLockWriteGuard<'a, Arc<RowMap>>);

impl Deref for RowsMut<'_> {
    type Target = RowMap;

    fn deref(&self) -> &RowMap {
        &self.0
    }
}

impl DerefMut for RowsMut<'_> {
    fn deref_mut(&mut self) -> &mut RowMap {
        Arc::make_mut(&mut self.0)
    }
}

impl MemorySpace {
    pub(super) fn new(info: SpaceInfo) -> Self {
        Self::with_rows(info, Arc::default())
    }

    /// A space with the rows of another at one point in time.
    pub(super) fn with_rows(info: SpaceInfo, rows: Arc<RowMap>) -> Self {
        let (rows, book) = (RwLock::new(rows), Mutex::new(None));
        Self { info, rows, changes: AtomicU64::new(0), book }
    }

    pub(super) fn info(&self) -> &SpaceInfo {
        &self.info
    }

    /// The rows, to read. No code that runs under this lock can leave the map half-changed, hence a
    /// poisoned lock is sound.
    pub(super) fn rows(&self) -> RwLockReadGuard<'_, Arc<RowMap>> {
        read(&self.rows)
    }

    /// The rows, to change.
    pub(super) fn rows_mut(&self) -> RowsMut<'_> {
        let rows = write(&self.rows);
        self.changes.fetch_add(1, Ordering::Relaxed);
        RowsMut(rows)
    }

    /// The book, where the space is followed.
    pub(super) fn book(&self) -> MutexGuard<'_, Option<TicketBook>> {
        lock(&self.book)
    }

    /// Has the space followed from now on. Its rows must not change meanwhile.
    pub(super) fn follow(&self) {
        self.book().get_or_insert_with(|| TicketBook::new(CHANGES_MAX));
    }

    /// Notes what is written, while the rows are locked: a holder of the lock sees both or neither.
    pub(super) fn note(&self, note: impl FnOnce(&mut TicketBook, u64)) {
        if let Some(book) = &mut *self.book() {
            let ticket = book.begin();
            note(book, ticket);
            book.end(ticket);
        }
    }

    pub(super) fn change_count(&self) -> u64 {
        let _unchanged = self.rows();
        self.changes.load(Ordering::Relaxed)
    }

    /// At most `parts` ranges that hold about as many rows each.
    pub(super) fn split(&self, parts: usize, cuts: Cuts) -> Result<Ranges> {
        let rows = self.rows();
        let parts = parts.clamp(1, rows.len().max(1));
        let mut keys = Slices::new();
        rows.keys()
            .step_by(rows.len().div_ceil(parts).max(1))
            .skip(1)
            .for_each(|key| keys.push(key));
        Ranges::between(&keys).cut_at(cuts, &self.info.shape)
    }

    /// Checks the length and the shard key of a key, and answers the length of the latter.
    pub(super) fn shard_key_len(&self, key: &[u8], capability: &Capability) -> Result<usize> {
        if key.len() > capability.key_bytes_max {
            return Err(self.over_limit("key", key.len(), capability.key_bytes_max));
        }
        if self.info.shape.is_shard_prefixed() {
            prefixed_shard(key, capability.shards).map_err(|error| error.at(self.label()))?;
        }
        self.info.shape.shard_key_len(key).map_err(|error| error.at(self.label()))
    }

    pub(super) fn check_key(&self, key: &[u8], capability: &Capability) -> Result<()> {
        self.shard_key_len(key, capability).map(drop)
    }

    pub(super) fn check_value(&self, value: &[u8], capability: &Capability) -> Result<()> {
        if value.len() > capability.value_bytes_max {
            return Err(self.over_limit("value", value.len(), capability.value_bytes_max));
        }
        Ok(())
    }

    #[cold]
    fn over_limit(&self, what: &str, bytes: usize, bytes_max: usize) -> Error {
        Error::invalid(format!(
            "{}: a {what} of {bytes} bytes is over the limit of {bytes_max}: make it shorter",
            self.label()
        ))
    }

    /// The space as errors name it.
    pub(super) fn label(&self) -> String {
        format!("space '{}'", self.info.name)
    }

    /// Appends the rows found to `rows`, as far as they fit. Answers how many keys it took.
    pub(super) fn read(
        &self,
        keys: &Slices,
        options: &ReadOptions,
        now_ms: u64,
        rows: &mut Rows,
    ) -> usize {
        let stored = self.rows();
        for index in options.keys.clone() {
            let key = keys.get(index);
            let Some(row) = stored.get(key).filter(|row| row.is_live(now_ms)) else { continue };
            if options.is_full(rows.bytes(), key.len() + row.given(options.projection).len()) {
                return index - options.keys.start;
            }
            row.append_to(key, options.projection, index as u32, rows);
        }
        options.keys.len()
    }

    pub(super) fn delete_ranges(&self, ranges: &Ranges) {
        let mut rows = self.rows_mut();
        for index in 0..ranges.len() {
            let (start, end) = (ranges.start(index), ranges.end(index));
            self.note(|book, ticket| book.note_deleted(ticket, start, end));
            delete_range(&mut rows, start, end);
        }
    }

    /// How many rows lie in ranges, expired ones that are not yet let go of included.
    pub(super) fn count(&self, ranges: &Ranges) -> u64 {
        let rows = self.rows();
        let count = |index| match ranges.is_whole_space(index) {
            true => rows.len(),
            false => between(&rows, ranges.start(index), ranges.end(index)).count(),
        };
        (0..ranges.len()).map(count).sum::<usize>() as u64
    }

    pub(super) fn remove_expired(&self, now_ms: u64) {
        self.rows_mut().retain(|_, row| row.is_live(now_ms));
    }

    /// How many rows exist, and the bytes of their keys and values.
    pub(super) fn size(&self, now_ms: u64) -> (u64, u64) {
        size(self.rows().iter().filter(|(_, row)| row.is_live(now_ms)))
    }

    /// Likewise, with the expired rows that are not yet let go of.
    pub(super) fn stored_size(&self) -> (u64, u64) {
        size(self.rows().iter())
    }
}

impl MemoryRow {
    pub(super) fn new(header: Header, value: &[u8]) -> Self {
        Self { header, value: value.into(), is_conditional: false }
    }

    pub(super) fn is_live(&self, now_ms: u64) -> bool {
        self.header.is_live(now_ms)
    }

    /// What a read gives of the value.
    fn given(&self, projection: Projection) -> &[u8] {
        match projection {
            Projection::KeysAndValues => &self.value,
            Projection::KeysOnly => &[],
        }
    }

    pub(super) fn append_to(
        &self,
        key: &[u8],
        projection: Projection,
        origin: u32,
        rows: &mut Rows,
    ) {
        rows.push(
            key,
            self.given(projection),
            self.header.version,
            self.header.expires_at_ms,
            origin,
        );
    }
}

/// Stores a row over the one that may be there.
pub(super) fn put(rows: &mut RowMap, key: &[u8], row: MemoryRow) {
    match rows.entry(key.to_vec()) {
        Entry::Occupied(mut slot) => *slot.get_mut() = row,
        Entry::Vacant(slot) => {
            slot.insert(row);
        }
    }
}

/// Removes the rows of a range. Splitting the map would be shorter, but putting it together again
/// visits every row.
fn delete_range(rows: &mut RowMap, start: &[u8], end: &[u8]) {
    if start.is_empty() && end.is_empty() {
        return rows.clear();
    }
    let keys: Slices = between(rows, start, end).map(|(key, _)| key.as_slice()).collect();
    for key in keys.iter() {
        rows.remove(key);
    }
}

/// The rows from a key up to another; an empty end is that of the space.
fn between<'a>(
    rows: &'a RowMap,
    start: &'a [u8],
    end: &'a [u8],
) -> impl Iterator<Item = (&'a Vec<u8>, &'a MemoryRow)> {
    let high = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end) };
    checked_bounds(Bound::Included(start), high)
        .into_iter()
        .flat_map(|bounds| rows.range::<[u8], _>(bounds))
}

fn size<'a>(rows: impl Iterator<Item = (&'a Vec<u8>, &'a MemoryRow)>) -> (u64, u64) {
    rows.fold((0, 0), |(count, bytes), (key, row)| {
        (count + 1, bytes + (key.len() + row.value.len()) as u64)
    })
}

/// Where a range of keys starts and ends.
type KeyBounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The bounds of a range of keys, or nothing when no key can lie in it ([`BTreeMap::range`] panics
/// on such bounds).
pub(super) fn checked_bounds<'a>(
    low: Bound<&'a [u8]>,
    high: Bound<&'a [u8]>,
) -> Option<KeyBounds<'a>> {
    let is_possible = match (low, high) {
        (Bound::Included(low), Bound::Included(high)) => low <= high,
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Excluded(high) | Bound::Included(high),
        ) => low < high,
        _ => true,
    };
    is_possible.then_some((low, high))
}
