//! A session of pairs: many single pairs in a call, on the calling thread.
//!
//! Bulk calls hand their keys to workers, which pays from some hundred pairs on. A session costs
//! one look-up of the engine and one write to its log for all pairs of a call, and uses its memory
//! again.

use std::sync::Arc;

use tonnage_engine::{
    Condition, Direction, Durability, Error, FillCache, Projection, Ranges, ReadOptions, Result,
    ScanOptions, ScanPosition, SpaceId, WriteBatch,
};

use super::key::encode_parts;
use super::{KeyValue, PairBatch, Pairs};
use crate::inner::Inner;
use crate::single_calls::{WriteOptions, WriteResult};
use crate::terms::WriteTerms;

/// Above so many bytes the memory of earlier groups is given back.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// Reads and writes single pairs, many in a call. Created by [`KeyValue::session`].
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{Condition, PairBatch, Pairs, Store, WriteOptions};
///
/// let session = Store::open("memory:")?.kv().session();
/// let mut writes = session.writes();
/// for name in [b"ada", b"bob"] {
///     writes.begin();
///     writes.put(&[name], &[], b"1", 0, Condition::Always)?;
/// }
/// assert_eq!(session.write_many(&writes, &WriteOptions::default()).len(), 2);
///
/// let (mut keys, mut found) = (Pairs::new(), PairBatch::default());
/// keys.push_parts(&[b"eve"], &[], b"")?;
/// keys.push_parts(&[b"ada"], &[], b"")?;
/// session.get_many(&keys, 0, 1 << 20, &mut found)?;
/// assert_eq!((found.len(), found.origin(0), found.value(0)), (1, 1, &b"1"[..]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PairSession {
    pub(super) store: Arc<Inner>,
}

/// Groups of writes; each is atomic by itself, and all pairs of a group have one major path.
#[derive(Debug)]
pub struct PairWrites {
    pairs: SpaceId,
    batches: Vec<WriteBatch>,
    used: usize,
    pub(super) bytes: usize,
    pub(super) key: Vec<u8>,
}

/// The position of a scan of all pairs. It is small, and may be kept for as long as the store is
/// open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairPosition(pub(super) ScanPosition);

impl KeyValue {
    /// A session of the calling thread.
    pub fn session(&self) -> PairSession {
        PairSession { store: self.store.clone() }
    }
}

impl PairSession {
    /// What the clock of the store shows, in milliseconds since 1970: it decides what has expired.
    pub fn now_ms(&self) -> u64 {
        self.store.clock.now_ms()
    }

    /// No writes yet.
    pub fn writes(&self) -> PairWrites {
        let pairs = self.store.pairs;
        let batches = vec![WriteBatch::new(pairs)];
        PairWrites { pairs, batches, used: 0, bytes: 0, key: Vec::new() }
    }

    /// Looks up keys from the one numbered `first` on, as many as their pairs keep to `bytes_max`,
    /// at least one; their values are not looked at. `found` is cleared, then holds the pairs found
    /// in the order of the keys, each with [the number](PairBatch::origin) of its key. Sorted keys
    /// are the fastest. Answers how many keys were looked up.
    ///
    /// # Errors
    /// `Invalid` for a key over the limit of the store.
    pub fn get_many(
        &self,
        keys: &Pairs,
        first: usize,
        bytes_max: usize,
        found: &mut PairBatch,
    ) -> Result<usize> {
        self.read(Projection::KeysAndValues, keys, first, bytes_max, found)
    }

    /// The same without the values: which keys there are, with their versions and expiries.
    ///
    /// # Errors
    /// As [`PairSession::get_many`].
    pub fn look_up(
        &self,
        keys: &Pairs,
        first: usize,
        bytes_max: usize,
        found: &mut PairBatch,
    ) -> Result<usize> {
        self.read(Projection::KeysOnly, keys, first, bytes_max, found)
    }

    fn read(
        &self,
        projection: Projection,
        keys: &Pairs,
        first: usize,
        bytes_max: usize,
        found: &mut PairBatch,
    ) -> Result<usize> {
        let options = ReadOptions {
            projection,
            keys: first..keys.len(),
            bytes_max,
            deadline: Default::default(),
        };
        let engine = self.store.reader(None);
        engine.read_some(self.store.pairs, &keys.keys, &options, &mut found.rows)
    }

    /// Carries out groups as [`KeyValue::write_many`] does. The outcomes stand in their order.
    pub fn write_many(
        &self,
        writes: &PairWrites,
        options: &WriteOptions,
    ) -> Vec<Result<WriteResult>> {
        let batches = &writes.batches[..writes.used];
        if let Err(error) = options.check_blind(self.store.engine.capability()) {
            return batches.iter().map(|_| Err(error.restated())).collect();
        }
        let WriteTerms { durability, acks, deadline } = options.terms();
        let outcomes = self.store.writer(acks).write_many_by(batches, durability, deadline);
        outcomes.into_iter().map(|outcome| outcome.map(WriteResult::from)).collect()
    }

    /// The keys of about `limit` pairs of the whole store after a position, each once if nothing is
    /// written meanwhile, and the position after them; none once there is nothing more. Pairs that
    /// are there throughout all calls are not missed.
    ///
    /// # Errors
    /// What the engine says.
    pub fn scan_keys(
        &self,
        position: Option<PairPosition>,
        limit: usize,
        found: &mut PairBatch,
    ) -> Result<Option<PairPosition>> {
        let options = ScanOptions {
            direction: Direction::Forward,
            projection: Projection::KeysOnly,
            batch_rows_max: limit.max(1),
            fill_cache: FillCache::IfSmall,
            resume: position.map(|position| position.0),
            ..ScanOptions::default()
        };
        let engine = self.store.reader(None);
        let mut scan = engine.scan(self.store.pairs, Ranges::whole_space(), options)?;
        match scan.next_batch(&mut found.rows)? {
            true => Ok(Some(PairPosition(scan.position()?))),
            false => Ok(None),
        }
    }

    /// An estimate of the number of pairs, without reading them.
    ///
    /// # Errors
    /// What the engine says.
    pub fn estimate(&self) -> Result<u64> {
        self.store.engine.rows_estimate(self.store.pairs, &Ranges::whole_space())
    }

    /// Deletes all pairs, without reading them.
    ///
    /// # Errors
    /// What the engine says.
    pub fn clear(&self, durability: Durability) -> Result<()> {
        self.store.engine.delete_range(self.store.pairs, &Ranges::whole_space(), durability)
    }
}

impl PairWrites {
    /// Begins a group: what is put and deleted from now on belongs to it.
    pub fn begin(&mut self) {
        if self.used == self.batches.len() {
            self.batches.push(WriteBatch::new(self.pairs));
        }
        self.used += 1;
    }

    /// Forgets the group that was begun last.
    pub fn give_up(&mut self) {
        if let Some(last) = self.used.checked_sub(1) {
            self.batches[last].clear();
            self.used = last;
        }
    }

    /// Stores a value under the components of a key. `expires_at_ms` is 0 for a pair that lives for
    /// ever.
    ///
    /// # Errors
    /// `Invalid` for a key without a major component, or where no group was begun.
    pub fn put(
        &mut self,
        major: &[&[u8]],
        minor: &[&[u8]],
        value: &[u8],
        expires_at_ms: u64,
        condition: Condition,
    ) -> Result<()> {
        self.encode(major, minor)?;
        self.bytes += value.len();
        let (batch, key) = self.group(self.pairs)?;
        batch.put(key, value, expires_at_ms, condition);
        Ok(())
    }

    /// Deletes the pair under the components of a key.
    ///
    /// # Errors
    /// As [`PairWrites::put`].
    pub fn delete(&mut self, major: &[&[u8]], minor: &[&[u8]], condition: Condition) -> Result<()> {
        self.encode(major, minor)?;
        let (batch, key) = self.group(self.pairs)?;
        batch.delete(key, condition);
        Ok(())
    }

    fn encode(&mut self, major: &[&[u8]], minor: &[&[u8]]) -> Result<()> {
        self.key.clear();
        encode_parts(major.iter().copied(), minor.iter().copied(), &mut self.key)?;
        self.bytes += self.key.len();
        Ok(())
    }

    pub(super) fn group(&mut self, space: SpaceId) -> Result<(&mut WriteBatch, &[u8])> {
        let last = self.used.checked_sub(1).ok_or_else(|| Error::invalid("begin a group first"))?;
        self.batches[last].switch_to(space);
        Ok((&mut self.batches[last], &self.key))
    }

    /// About how many bytes they have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Forgets all groups. Their memory is kept for the next ones, unless it is much.
    pub fn clear(&mut self) {
        if self.bytes > KEPT_BYTES_MAX {
            self.batches = vec![WriteBatch::new(self.pairs)];
        }
        self.batches.iter_mut().take(self.used).for_each(WriteBatch::clear);
        (self.used, self.bytes) = (0, 0);
    }
}

impl std::fmt::Debug for PairSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairSession").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Store};

    fn keys(names: &[&[u8]]) -> Pairs {
        let mut keys = Pairs::new();
        names.iter().for_each(|name| keys.push_parts(&[name], &[], b"").unwrap());
        keys
    }

    #[test]
    fn a_session_sees_the_pairs_of_the_handle_and_the_handle_those_of_the_session() {
        let store = Store::open("memory:").unwrap();
        let (pairs, session) = (store.kv(), store.kv().session());
        pairs.put(&Key::of_major(["a\0b"]), b"1", &WriteOptions::default()).unwrap();
        let mut writes = session.writes();
        writes.begin();
        writes.put(&[b"c"], &[], b"2", 0, Condition::IfAbsent).unwrap();
        writes.begin();
        writes.put(&[b"a\0b"], &[], b"3", 0, Condition::IfAbsent).unwrap();
        let outcomes = session.write_many(&writes, &WriteOptions::default());
        let stored: Vec<bool> =
            outcomes.into_iter().map(|outcome| outcome.unwrap().is_stored()).collect();
        assert_eq!(stored, [true, false]);
        assert_eq!(pairs.get(&Key::of_major(["c"])).unwrap().unwrap().value, b"2");
        let mut found = PairBatch::default();
        let asked = keys(&[b"a\0b", b"b", b"c", b"c"]);
        assert_eq!(session.get_many(&asked, 0, usize::MAX, &mut found).unwrap(), 4);
        let origins: Vec<usize> = (0..found.len()).map(|index| found.origin(index)).collect();
        assert_eq!(origins, [0, 2, 3]);
        assert_eq!(session.get_many(&asked, 2, usize::MAX, &mut found).unwrap(), 2);
        assert_eq!((found.len(), found.origin(0)), (2, 2));
    }

    #[test]
    fn a_look_up_stops_at_its_bytes_and_goes_on_behind() {
        let store = Store::open("memory:").unwrap();
        for name in ["a", "b", "c"] {
            store.kv().put(&Key::of_major([name]), &[7; 100], &WriteOptions::default()).unwrap();
        }
        let (session, asked) = (store.kv().session(), keys(&[b"a", b"b", b"c"]));
        let (mut at, mut rounds, mut found) = (0, 0, PairBatch::default());
        while at < asked.len() {
            at += session.get_many(&asked, at, 150, &mut found).unwrap();
            assert_eq!(found.len(), 1);
            rounds += 1;
        }
        assert_eq!(rounds, 3);
    }

    #[test]
    fn a_scan_goes_on_where_it_stood_and_sees_each_key_once() {
        let store = Store::open("memory:").unwrap();
        for number in 0..95 {
            let key = Key::of_major([format!("k{number}")]);
            store.kv().put(&key, b"v", &WriteOptions::default()).unwrap();
        }
        let (session, mut found, mut position) = (store.kv().session(), PairBatch::default(), None);
        let mut seen = std::collections::BTreeSet::new();
        while let Some(next) = session.scan_keys(position, 10, &mut found).unwrap() {
            for index in 0..found.len() {
                assert!(seen.insert(found.key(index).unwrap().to_string()));
            }
            position = Some(next);
        }
        assert_eq!(seen.len(), 95);
        session.clear(Durability::Write).unwrap();
        assert_eq!(store.kv().count().unwrap(), 0);
    }

    #[test]
    fn groups_that_were_cleared_are_not_written_again() {
        let store = Store::open("memory:").unwrap();
        let session = store.kv().session();
        let mut writes = session.writes();
        assert!(writes.put(&[b"a"], &[], b"1", 0, Condition::Always).is_err(), "no group");
        writes.begin();
        writes.put(&[b"a"], &[], b"1", 0, Condition::Always).unwrap();
        writes.give_up();
        assert!(writes.is_empty());
        for value in [vec![1; KEPT_BYTES_MAX + 1], vec![2]] {
            writes.clear();
            writes.begin();
            writes.put(&[b"a"], &[], &value, 0, Condition::Always).unwrap();
            writes.delete(&[b"a"], &[b"field"], Condition::Always).unwrap();
            let outcomes = session.write_many(&writes, &WriteOptions::default());
            assert!(outcomes.len() == 1 && outcomes[0].is_ok(), "{outcomes:?}");
        }
        assert_eq!(store.kv().get(&Key::of_major(["a"])).unwrap().unwrap().value, [2]);
    }
}
