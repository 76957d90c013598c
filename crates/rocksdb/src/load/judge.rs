//! Decides what becomes of each entry of a merge.

use rocksdb::DBRawIterator;
use tonnage_engine::header::Header;
use tonnage_engine::{OnExisting, Result};

use super::record::Record;
use super::versions::OwnVersions;
use super::zone::Zone;
use crate::error::translate;
use crate::settings::read_options;
use crate::shard::Shard;

/// How many rows a look-up walks over before it seeks instead.
const STEPS_MAX: usize = 8;

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Stored as a new row.
    Inserted,
    /// Stored over a row.
    Replaced,
    /// Not stored, its key was there before the load.
    Existed,
    /// Not stored, its key is stored by this load: reported as existing once that is durable.
    Repeated,
    /// Not stored, another entry or a later write took its place: counted as replaced.
    Displaced,
}

impl Fate {
    /// Whether the entry is reported one by one, as existing.
    #[inline]
    pub(super) fn is_reported(self) -> bool {
        matches!(self, Fate::Existed | Fate::Repeated)
    }

    /// Whether the entry is stored.
    #[inline]
    pub(super) fn is_stored(self) -> bool {
        matches!(self, Fate::Inserted | Fate::Replaced)
    }

    /// What becomes of an entry whose row is there already, and is not its to replace.
    #[inline]
    pub(super) fn lost(on_existing: OnExisting) -> Fate {
        match on_existing {
            OnExisting::Keep | OnExisting::Fail => Fate::Existed,
            OnExisting::Replace => Fate::Displaced,
        }
    }
}

/// Judges entries that come in order.
pub(super) struct Judge<'a> {
    stored: StoredRows<'a>,
    zone: Zone,
    on_existing: OnExisting,
    own_versions: &'a OwnVersions,
    last_key: Vec<u8>,
    /// What became of the first entry with the last key, which decides about the others.
    last_fate: Option<Fate>,
}

impl<'a> Judge<'a> {
    /// A judge who sees what is stored in the shard now.
    pub(super) fn new(shard: &'a Shard, zone: Zone, on_existing: OnExisting, own_versions: &'a OwnVersions, now_ms: u64) -> Self {
        Self { stored: StoredRows::new(shard, now_ms), zone, on_existing, own_versions, last_key: Vec::new(), last_fate: None }
    }

    /// Decides about the next entry.
    #[inline]
    pub(super) fn judge(&mut self, record: &Record<'_>) -> Result<Fate> {
        if let Some(first) = self.last_fate
            && self.last_key == record.key
        {
            return Ok(self.after(first));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(record.key);
        let fate = self.judge_first(record)?;
        self.last_fate = Some(fate);
        Ok(fate)
    }

    #[inline]
    fn judge_first(&mut self, record: &Record<'_>) -> Result<Fate> {
        if self.zone == Zone::Placed {
            return Ok(Fate::Inserted);
        }
        let Some(stored) = self.stored.find(record.key)? else { return Ok(Fate::Inserted) };
        Ok(match self.on_existing {
            OnExisting::Replace if !self.own_versions.is_later(stored.version) => Fate::Replaced,
            on_existing => Fate::lost(on_existing),
        })
    }

    /// What becomes of a further entry with a key.
    fn after(&self, first: Fate) -> Fate {
        if self.zone == Zone::Placed {
            return Fate::Displaced;
        }
        match Fate::lost(self.on_existing) {
            Fate::Existed if first.is_stored() => Fate::Repeated,
            lost => lost,
        }
    }

    /// Looks at what is stored now, instead of when the judge was made.
    pub(super) fn refresh(&mut self, shard: &'a Shard, now_ms: u64) {
        self.stored = StoredRows::new(shard, now_ms);
    }
}

/// Looks up ascending keys among the rows of a shard.
///
/// It remembers the first stored key that is not less than the last one asked for: all keys before that are known to be
/// missing without a look, which makes loads into empty ranges free.
struct StoredRows<'a> {
    shard: &'a Shard,
    iterator: DBRawIterator<'a>,
    now_ms: u64,
    /// The stored key that the iterator stands on.
    fence: Vec<u8>,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    New,
    AtFence,
    PastAll,
}

impl<'a> StoredRows<'a> {
    fn new(shard: &'a Shard, now_ms: u64) -> Self {
        let mut options = read_options();
        options.set_total_order_seek(true);
        options.fill_cache(false);
        let iterator = shard.db().raw_iterator_cf_opt(shard.rows(), options);
        Self { shard, iterator, now_ms, fence: Vec::new(), state: State::New }
    }

    /// The header of the row with this key, if it is there and has not expired. Keys must ascend.
    #[inline]
    fn find(&mut self, key: &[u8]) -> Result<Option<Header>> {
        match self.state {
            State::PastAll => return Ok(None),
            State::AtFence if key < self.fence.as_slice() => return Ok(None),
            _ => {}
        }
        self.move_to(key)?;
        if self.state == State::PastAll || self.fence != key {
            return Ok(None);
        }
        let (header, _) = Header::split(self.iterator.value().unwrap_or_default())?;
        Ok(header.is_live(self.now_ms).then_some(header))
    }

    fn move_to(&mut self, key: &[u8]) -> Result<()> {
        if self.state == State::AtFence {
            for _ in 0..STEPS_MAX {
                if self.fence.as_slice() >= key {
                    return Ok(());
                }
                self.iterator.next();
                self.read_fence()?;
                if self.state == State::PastAll {
                    return Ok(());
                }
            }
        }
        if self.state == State::New || self.fence.as_slice() < key {
            self.iterator.seek(key);
            self.read_fence()?;
        }
        Ok(())
    }

    fn read_fence(&mut self) -> Result<()> {
        self.fence.clear();
        match self.iterator.key() {
            Some(key) => {
                self.fence.extend_from_slice(key);
                self.state = State::AtFence;
            }
            None => {
                self.iterator.status().map_err(|error| translate(self.shard.directory.display(), error))?;
                self.state = State::PastAll;
            }
        }
        Ok(())
    }
}
