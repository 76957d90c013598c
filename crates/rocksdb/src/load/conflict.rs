//! Decides what becomes of each entry of a merge.

use rocksdb::{DBRawIterator, ReadOptions};
use tonnage_engine::{Header, OnExisting, Result};

use super::concurrent_writes::ConcurrentWrites;
use super::lane::SpaceKind;
use super::record::LoadRecord;
use crate::error::translate;
use crate::settings::read_options;
use crate::shard::Shard;

/// How many rows are walked over before the key is looked up by itself: that takes about as long as
/// so many steps, because filters tell of most missing keys.
const STEPS_MAX: usize = 4;
/// Stop walking after this many net misses.
const MISSED_WALKS_MAX: u32 = 8;
/// Of so many look-ups that do not walk one tries again.
const WALK_AGAIN_EVERY: u32 = 64;

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryOutcome {
    /// Stored as a new row.
    Inserted,
    /// Stored over a row.
    Replaced,
    /// Not stored, its key was there before the load.
    Existed,
    /// Not stored, its key is stored by this load: reported as existing once that is durable.
    Duplicate,
    /// Not stored, another entry took its place: counted as replaced.
    Superseded,
    /// Not stored, someone else wrote its row later.
    Overtaken,
    /// Stored with a new version over a row that was written later, but judged without the entry.
    /// Counted as replaced.
    Renewed,
}

impl EntryOutcome {
    /// Whether the entry is reported one by one, as existing.
    #[inline]
    pub(super) fn is_reported(self) -> bool {
        matches!(self, EntryOutcome::Existed | EntryOutcome::Duplicate)
    }

    /// Whether the entry is stored.
    #[inline]
    pub(super) fn is_stored(self) -> bool {
        matches!(self, EntryOutcome::Inserted | EntryOutcome::Replaced | EntryOutcome::Renewed)
    }
}

/// What is judged by.
#[derive(Clone, Copy)]
pub(super) struct ConflictRules<'a> {
    pub(super) space_kind: SpaceKind,
    pub(super) on_existing: OnExisting,
    /// What others wrote since the session was opened, where the load takes the place of what is
    /// there.
    pub(super) concurrent_writes: Option<&'a ConcurrentWrites<'a>>,
    /// Whether only keys that small writes touched are looked up.
    pub(super) is_blind: bool,
}

/// Judges entries that come in order.
pub(super) struct ConflictResolver<'a> {
    stored: StoredRowCursor<'a>,
    rules: ConflictRules<'a>,
    last_key: Vec<u8>,
    /// What became of the first entry with the last key, which decides about the others.
    last_outcome: Option<EntryOutcome>,
}

impl<'a> ConflictResolver<'a> {
    /// A resolver that sees what is stored in the shard now.
    pub(super) fn new(shard: &'a Shard, rules: ConflictRules<'a>, now_ms: u64) -> Self {
        Self {
            stored: StoredRowCursor::new(shard, now_ms, false),
            rules,
            last_key: Vec::new(),
            last_outcome: None,
        }
    }

    /// Decides about the next entry.
    #[inline]
    pub(super) fn resolve(&mut self, record: &LoadRecord<'_>) -> Result<EntryOutcome> {
        if let Some(first) = self.last_outcome
            && self.last_key == record.key
        {
            return Ok(self.after(first));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(record.key);
        let outcome = self.resolve_first(record)?;
        self.last_outcome = Some(outcome);
        Ok(outcome)
    }

    #[inline]
    fn resolve_first(&mut self, record: &LoadRecord<'_>) -> Result<EntryOutcome> {
        if self.rules.space_kind == SpaceKind::ShardPrefixed {
            return Ok(EntryOutcome::Inserted);
        }
        if self.rules.overwrites(record.key) {
            return Ok(EntryOutcome::Replaced);
        }
        let stored = self.stored.find(record.key)?;
        Ok(self.rules.outcome(record, stored, self.stored.now_ms))
    }

    /// What becomes of a further entry with a key.
    fn after(&self, first: EntryOutcome) -> EntryOutcome {
        if self.rules.space_kind == SpaceKind::ShardPrefixed {
            return EntryOutcome::Superseded;
        }
        match first {
            EntryOutcome::Inserted | EntryOutcome::Replaced if self.rules.keeps() => {
                EntryOutcome::Duplicate
            }
            EntryOutcome::Existed | EntryOutcome::Duplicate | EntryOutcome::Overtaken => first,
            EntryOutcome::Inserted
            | EntryOutcome::Replaced
            | EntryOutcome::Renewed
            | EntryOutcome::Superseded => EntryOutcome::Superseded,
        }
    }

    /// Looks at what is stored now, instead of when the resolver was created. The entries follow
    /// one whose key and outcome are these.
    pub(super) fn refresh(
        &mut self,
        rules: ConflictRules<'a>,
        now_ms: u64,
        last: Option<&(Vec<u8>, EntryOutcome)>,
    ) {
        self.last_outcome = last.map(|(key, outcome)| {
            key.clone_into(&mut self.last_key);
            *outcome
        });
        self.stored = StoredRowCursor::new(self.stored.shard, now_ms, false);
        self.rules = rules;
    }

    /// The key that was judged last, and what became of its first entry.
    pub(super) fn last(&self) -> Option<(Vec<u8>, EntryOutcome)> {
        self.last_outcome.map(|outcome| (self.last_key.clone(), outcome))
    }

    /// Reads what is stored under the keys of coming entries, so that it is in memory when they are
    /// judged.
    pub(super) fn read_ahead<'r>(
        &self,
        records: impl Iterator<Item = LoadRecord<'r>>,
    ) -> Result<()> {
        let mut stored = None;
        for record in records.filter(|record| !self.rules.overwrites(record.key)) {
            let stored = stored.get_or_insert_with(|| {
                StoredRowCursor::new(self.stored.shard, self.stored.now_ms, true)
            });
            stored.find(record.key)?;
        }
        Ok(())
    }
}

impl ConflictRules<'_> {
    /// Whether an entry is stored whatever is there.
    #[inline]
    fn overwrites(&self, physical_key: &[u8]) -> bool {
        match self.concurrent_writes {
            Some(concurrent_writes) if self.is_blind => {
                !concurrent_writes.is_touched_at(physical_key)
            }
            _ => false,
        }
    }

    /// Whether existing rows stay.
    fn keeps(&self) -> bool {
        matches!(self.on_existing, OnExisting::Keep | OnExisting::Fail)
    }

    /// What becomes of an entry, by the row that is stored under its key.
    pub(super) fn outcome(
        &self,
        record: &LoadRecord<'_>,
        stored: Option<Header>,
        now_ms: u64,
    ) -> EntryOutcome {
        let Some(stored) = stored else { return EntryOutcome::Inserted };
        let (is_later, is_live) = (stored.version > record.version(), stored.is_live(now_ms));
        if self.keeps() {
            return if is_live || is_later {
                EntryOutcome::Existed
            } else {
                EntryOutcome::Inserted
            };
        }
        if is_later {
            let is_judged = self.concurrent_writes.is_some_and(|concurrent_writes| {
                concurrent_writes.is_judged(record.key, stored.version)
            });
            return if is_judged { EntryOutcome::Renewed } else { EntryOutcome::Overtaken };
        }
        if is_live { EntryOutcome::Replaced } else { EntryOutcome::Inserted }
    }
}

/// Looks up ascending keys among the rows of a shard.
///
/// It remembers the first stored key that is not less than the last one it went to: all keys
/// between are known to be missing without a look, which makes loads into empty ranges free. Where
/// the load brings about as many rows as are stored, it walks on to each key. Where there are many
/// stored rows for each of the load, it looks each key up by itself, which costs little where
/// filters know that it is missing: measured, the tenth load of 2 M random rows into a store of 18
/// M takes about half the time.
struct StoredRowCursor<'a> {
    shard: &'a Shard,
    iterator: DBRawIterator<'a>,
    now_ms: u64,
    /// The stored key at the iterator.
    fence: Vec<u8>,
    state: FenceState,
    /// Walks that did not arrive, less those that did.
    missed_walks: u32,
    /// Look-ups since the last walk.
    lookups_since_walk: u32,
    /// For single look-ups.
    options: ReadOptions,
}

fn header(value: &[u8]) -> Result<Header> {
    Header::split(value).map(|(header, _)| header)
}

#[derive(PartialEq, Eq)]
enum FenceState {
    New,
    AtFence,
    PastAll,
}

impl<'a> StoredRowCursor<'a> {
    /// Rows as they are now. Most are looked at once: only where they soon are again do their
    /// blocks go into the cache.
    fn new(shard: &'a Shard, now_ms: u64, fill_cache: bool) -> Self {
        let options = || {
            let mut options = read_options();
            options.fill_cache(fill_cache);
            options
        };
        let mut walking = options();
        walking.set_total_order_seek(true);
        let iterator = shard.db().raw_iterator_cf_opt(shard.rows(), walking);
        Self {
            shard,
            iterator,
            now_ms,
            fence: Vec::new(),
            state: FenceState::New,
            missed_walks: 0,
            lookups_since_walk: 0,
            options: options(),
        }
    }

    /// The header of the row with this key, whether or not it has expired. Keys must ascend.
    #[inline]
    fn find(&mut self, key: &[u8]) -> Result<Option<Header>> {
        let is_passed = match self.state {
            FenceState::New => false,
            FenceState::AtFence => key < self.fence.as_slice(),
            FenceState::PastAll => true,
        };
        if is_passed {
            return Ok(None);
        }
        if self.state == FenceState::New {
            self.iterator.seek(key);
            self.read_fence()?;
        } else if self.fence != key && !self.walk_to(key)? {
            return self.look_up(key);
        }
        if self.state == FenceState::PastAll || self.fence != key {
            return Ok(None);
        }
        header(self.iterator.value().unwrap_or_default()).map(Some)
    }

    /// Asks for one key, without moving. A row written since the resolver was created is seen here
    /// and not by the iterator, which is just as well: it is in the load window, and looked at
    /// again.
    fn look_up(&self, key: &[u8]) -> Result<Option<Header>> {
        let value = self.shard.db().get_pinned_cf_opt(self.shard.rows(), key, &self.options);
        let value = value.map_err(|error| translate(self.shard.directory.display(), error))?;
        value.map(|value| header(&value)).transpose()
    }

    /// Tries a few steps. Returns whether they sufficed.
    fn walk_to(&mut self, key: &[u8]) -> Result<bool> {
        if self.missed_walks >= MISSED_WALKS_MAX && self.lookups_since_walk < WALK_AGAIN_EVERY {
            self.lookups_since_walk += 1;
            return Ok(false);
        }
        if self.lookups_since_walk > 0 {
            return self.seek_again(key);
        }
        for _ in 0..STEPS_MAX {
            self.iterator.next();
            self.read_fence()?;
            if self.state == FenceState::PastAll || self.fence.as_slice() >= key {
                self.missed_walks = self.missed_walks.saturating_sub(1);
                return Ok(true);
            }
        }
        self.missed_walks = (self.missed_walks + 1).min(2 * MISSED_WALKS_MAX);
        Ok(false)
    }

    /// After many look-ups the iterator lags far: steps would never arrive. From its position then,
    /// walking is tried again, once.
    fn seek_again(&mut self, key: &[u8]) -> Result<bool> {
        self.lookups_since_walk = 0;
        self.missed_walks = MISSED_WALKS_MAX - 1;
        self.iterator.seek(key);
        self.read_fence()?;
        Ok(true)
    }

    fn read_fence(&mut self) -> Result<()> {
        self.fence.clear();
        match self.iterator.key() {
            Some(key) => {
                self.fence.extend_from_slice(key);
                self.state = FenceState::AtFence;
            }
            None => {
                self.iterator
                    .status()
                    .map_err(|error| translate(self.shard.directory.display(), error))?;
                self.state = FenceState::PastAll;
            }
        }
        Ok(())
    }
}
