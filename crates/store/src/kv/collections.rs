//! Entries of collections: what a program keeps beside a pair, so that only those who ask for
//! entries see it.
//!
//! An entry has the pair that it belongs to, its owner, and a name. It lies with its owner: both are
//! written in one atomic group ([`PairWrites::put_entry`]). The store knows nothing of what entries
//! mean. One whose owner is gone stays until somebody deletes it.

use std::sync::Arc;

use tonnage_engine::{
    Condition, Deadline, Direction, Durability, ErrorKind, FillCache, KeyPart, KeyShape, NEVER_MS,
    Projection, Ranges, ReadOptions, Result, Rows, ScanOptions, Scanner, Slices, SpaceId,
    WriteBatch, append_successor,
};

use super::key::encode_parts;
use super::session::{PairPosition, PairSession, PairWrites};
use crate::inner::Inner;

/// The name of the space of entries; made with the first of them.
const SPACE: &str = "collections";

/// Reads and deletes entries of collections. Made by [`PairSession::collections`].
#[derive(Clone)]
pub struct CollectionSession {
    store: Arc<Inner>,
    space: SpaceId,
}

/// Entries that were read, in contiguous memory that is used again.
#[derive(Debug, Default)]
pub struct CollectionBatch {
    keys: Slices,
    rows: Rows,
}

/// Entries of one owner that are being read in the order of their names, or against it.
pub struct CollectionScan {
    scanner: Box<dyn Scanner>,
}

impl PairSession {
    /// The entries of collections, if there ever were any.
    ///
    /// # Errors
    /// What the engine says.
    pub fn collections(&self) -> Result<Option<CollectionSession>> {
        let found = self.store.engine.spaces()?.into_iter().find(|space| space.name == SPACE);
        let store = self.store.clone();
        Ok(found.map(|space| CollectionSession { store, space: space.id }))
    }

    /// The same; made where there are none yet.
    ///
    /// # Errors
    /// What the engine says.
    pub fn make_collections(&self) -> Result<CollectionSession> {
        if let Some(found) = self.collections()? {
            return Ok(found);
        }
        let shape = KeyShape::new([KeyPart::Path]);
        match self.store.engine.create_space(SPACE, &shape) {
            // Another one made it at the same time.
            Err(error) if error.kind() == ErrorKind::Conflict => self.collections()?.ok_or(error),
            made => made.map(|space| CollectionSession { store: self.store.clone(), space }),
        }
    }
}

/// Appends the key of an entry.
fn encode_entry(owner: &[u8], name: &[&[u8]], buffer: &mut Vec<u8>) -> Result<()> {
    encode_parts([owner], [], buffer)?;
    name.iter().for_each(|part| buffer.extend_from_slice(part));
    Ok(())
}

impl CollectionSession {
    /// Looks up entries of an owner by their names, as many as keep to `bytes_max`, at least one.
    /// `found` is cleared, then holds those that there are, each with the number of its name.
    /// Answers how many names were looked up.
    ///
    /// # Errors
    /// `Invalid` for a name over the limit of the store.
    pub fn get_many<'n>(
        &self,
        owner: &[u8],
        names: impl IntoIterator<Item = &'n [u8]>,
        bytes_max: usize,
        found: &mut CollectionBatch,
    ) -> Result<usize> {
        found.keys.clear();
        for name in names {
            found.keys.push_with(|buffer| encode_entry(owner, &[name], buffer))?;
        }
        let options = ReadOptions {
            projection: Projection::KeysAndValues,
            keys: 0..found.keys.len(),
            bytes_max,
            deadline: Deadline::NONE,
        };
        self.store.reader(None).read_some(self.space, &found.keys, &options, &mut found.rows)
    }

    /// Reads the entries of an owner whose names are not below `start` and below `end`. Without an
    /// end, to the last. Batches have about `rows` entries.
    ///
    /// # Errors
    /// What the engine says.
    pub fn scan(
        &self,
        owner: &[u8],
        (start, end): (&[u8], Option<&[u8]>),
        is_reverse: bool,
        rows: usize,
    ) -> Result<CollectionScan> {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        encode_entry(owner, &[start], &mut first)?;
        // Behind the last entry of the owner the next owner begins.
        match end {
            Some(end) => encode_entry(owner, &[end], &mut last)?,
            None => append_successor(&first[..first.len() - start.len()], &mut last),
        }
        // The end of a space means an empty key, which no range may have by mistake.
        let mut ranges = Ranges::new();
        if first < last {
            ranges.push(&first, &last);
        }
        let options = ScanOptions {
            direction: if is_reverse { Direction::Reverse } else { Direction::Forward },
            batch_rows_max: rows.max(1),
            batch_bytes_max: 1 << 20,
            ..ScanOptions::default()
        };
        let scanner = self.store.reader(None).scan(self.space, ranges, options)?;
        Ok(CollectionScan { scanner })
    }

    /// The first entry of each of about `limit` owners behind a position, and the position behind
    /// them; none once there is nothing more.
    ///
    /// # Errors
    /// What the engine says.
    pub fn owners(
        &self,
        position: Option<PairPosition>,
        limit: usize,
        found: &mut CollectionBatch,
    ) -> Result<Option<PairPosition>> {
        let options = ScanOptions {
            direction: Direction::Forward,
            projection: Projection::KeysOnly,
            limit_per_shard_key: Some(1),
            batch_rows_max: limit.max(1),
            fill_cache: FillCache::No,
            resume: position.map(|position| position.0),
            ..ScanOptions::default()
        };
        let mut scan = self.store.reader(None).scan(self.space, Ranges::whole_space(), options)?;
        match scan.next_batch(&mut found.rows)? {
            true => Ok(Some(PairPosition(scan.position()?))),
            false => Ok(None),
        }
    }

    /// Deletes the entries of an owner whose names begin with a prefix, without reading them.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete_under(&self, owner: &[u8], prefix: &[u8], durability: Durability) -> Result<()> {
        let (mut under, mut ranges) = (Vec::new(), Ranges::new());
        encode_entry(owner, &[prefix], &mut under)?;
        ranges.push_prefix(&under);
        self.store.engine.delete_range(self.space, &ranges, durability)
    }

    /// Deletes the entries of an owner whose names are not below `start` and below `end`, without
    /// reading them.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete_between(
        &self,
        owner: &[u8],
        start: &[u8],
        end: &[u8],
        durability: Durability,
    ) -> Result<()> {
        let (mut first, mut last, mut ranges) = (Vec::new(), Vec::new(), Ranges::new());
        encode_entry(owner, &[start], &mut first)?;
        encode_entry(owner, &[end], &mut last)?;
        ranges.push(&first, &last);
        self.store.engine.delete_range(self.space, &ranges, durability)
    }

    /// Deletes all entries, without reading them.
    ///
    /// # Errors
    /// What the engine says.
    pub fn clear(&self, durability: Durability) -> Result<()> {
        self.store.engine.delete_range(self.space, &Ranges::whole_space(), durability)
    }
}

impl PairWrites {
    /// Stores an entry of a collection: the pair `/owner` and its entries may be of one group. The
    /// name is given in parts.
    ///
    /// # Errors
    /// `Invalid` where no group was begun.
    pub fn put_entry(
        &mut self,
        entries: &CollectionSession,
        owner: &[u8],
        name: &[&[u8]],
        value: &[u8],
    ) -> Result<()> {
        self.bytes += value.len();
        let (batch, key) = self.entry(entries, owner, name)?;
        batch.put(key, value, NEVER_MS, Condition::Always);
        Ok(())
    }

    /// Deletes an entry of a collection.
    ///
    /// # Errors
    /// As [`PairWrites::put_entry`].
    pub fn delete_entry(
        &mut self,
        entries: &CollectionSession,
        owner: &[u8],
        name: &[&[u8]],
    ) -> Result<()> {
        let (batch, key) = self.entry(entries, owner, name)?;
        batch.delete(key, Condition::Always);
        Ok(())
    }

    fn entry(
        &mut self,
        entries: &CollectionSession,
        owner: &[u8],
        name: &[&[u8]],
    ) -> Result<(&mut WriteBatch, &[u8])> {
        self.key.clear();
        encode_entry(owner, name, &mut self.key)?;
        self.bytes += self.key.len();
        self.group(entries.space)
    }
}

impl CollectionScan {
    /// Reads the next entries; none, and false, once there are no more.
    ///
    /// # Errors
    /// What the engine says.
    pub fn next_batch(&mut self, found: &mut CollectionBatch) -> Result<bool> {
        self.scanner.next_batch(&mut found.rows)
    }

    /// About how many entries the batches from now on have.
    pub fn set_rows_max(&mut self, rows: usize) {
        self.scanner.set_batch_max(rows, 1 << 20);
    }
}

impl CollectionBatch {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bytes of the owners, names and values.
    pub fn bytes(&self) -> usize {
        self.keys.bytes() + self.rows.bytes()
    }

    /// The owner of the entry at `index`.
    ///
    /// # Errors
    /// `Corruption` when its key cannot be read.
    pub fn owner(&self, index: usize) -> Result<Vec<u8>> {
        let key = self.rows.keys.get(index);
        let key = super::Key::decode(&key[..Self::owner_len(key)])?;
        Ok(key.major().first().cloned().unwrap_or_default())
    }

    fn owner_len(key: &[u8]) -> usize {
        KeyPart::Path.end(key, 0).unwrap_or(key.len())
    }

    /// The name of the entry at `index`.
    pub fn name(&self, index: usize) -> &[u8] {
        let key = self.rows.keys.get(index);
        &key[Self::owner_len(key)..]
    }

    /// Its value.
    pub fn value(&self, index: usize) -> &[u8] {
        self.rows.values.get(index)
    }

    /// The number of the name that asked for it, where names were looked up.
    pub fn origin(&self, index: usize) -> usize {
        self.rows.origins[index] as usize
    }
}

impl std::fmt::Debug for CollectionSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollectionSession").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CollectionScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollectionScan").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PairBatch, Pairs, Store, WriteOptions};

    fn names(scan: &mut CollectionScan) -> Vec<(Vec<u8>, Vec<u8>)> {
        let (mut found, mut all) = (CollectionBatch::default(), Vec::new());
        while scan.next_batch(&mut found).unwrap() {
            let entry = |index| (found.name(index).to_vec(), found.value(index).to_vec());
            all.extend((0..found.len()).map(entry));
        }
        all
    }

    #[test]
    fn entries_are_written_with_their_pair_and_no_scan_of_pairs_sees_them() {
        let store = Store::open("memory:").unwrap();
        let session = store.kv().session();
        assert!(session.collections().unwrap().is_none());
        let entries = session.make_collections().unwrap();
        let mut writes = session.writes();
        for owner in [&b"a"[..], b"a\0", b"b"] {
            writes.begin();
            writes.put_entry(&entries, owner, &[b"1", b"\0x"], b"v").unwrap();
            writes.put(&[owner], &[], b"head", 0, Condition::IfAbsent).unwrap();
            writes.put_entry(&entries, owner, &[b"2"], b"w").unwrap();
        }
        let outcomes = session.write_many(&writes, &WriteOptions::default());
        assert!(outcomes.into_iter().all(|outcome| outcome.unwrap().is_stored()));
        assert_eq!(store.kv().count().unwrap(), 3);
        let mut scan = entries.scan(b"a", (b"", None), true, 1).unwrap();
        let all = [(b"2".to_vec(), b"w".to_vec()), (b"1\0x".to_vec(), b"v".to_vec())];
        assert_eq!(names(&mut scan), all);
        let mut some = entries.scan(b"a\0", (b"1", Some(b"2")), false, 9).unwrap();
        assert_eq!(names(&mut some), all[1..]);
        // A group that is refused leaves no entry.
        writes.clear();
        writes.begin();
        writes.delete_entry(&entries, b"a", &[b"2"]).unwrap();
        writes.put(&[b"a"], &[], b"again", 0, Condition::IfAbsent).unwrap();
        let refused = session.write_many(&writes, &WriteOptions::default());
        assert!(!refused[0].as_ref().unwrap().is_stored());
        let mut found = CollectionBatch::default();
        assert_eq!(entries.get_many(b"a", [&b"3"[..], b"2"], 1 << 20, &mut found).unwrap(), 2);
        assert_eq!((found.len(), found.origin(0), found.value(0)), (1, 1, &b"w"[..]));
        // The pair itself is where it was.
        let (mut keys, mut pairs) = (Pairs::new(), PairBatch::default());
        keys.push_parts(&[b"a"], &[], b"").unwrap();
        session.get_many(&keys, 0, 1 << 20, &mut pairs).unwrap();
        assert_eq!(pairs.value(0), b"head");
    }

    #[test]
    fn owners_are_found_one_after_another_and_their_entries_are_deleted_by_prefix() {
        let store = Store::open("memory:").unwrap();
        let session = store.kv().session();
        let entries = session.make_collections().unwrap();
        let mut writes = session.writes();
        for owner in 0..20_u8 {
            writes.begin();
            for name in 0..30_u8 {
                writes.put_entry(&entries, &[owner], &[&[name / 10], &[name]], b"").unwrap();
            }
        }
        session.write_many(&writes, &WriteOptions::default());
        let (mut found, mut position, mut owners) = (CollectionBatch::default(), None, Vec::new());
        while let Some(next) = entries.owners(position, 3, &mut found).unwrap() {
            owners.extend((0..found.len()).map(|index| found.owner(index).unwrap()[0]));
            position = Some(next);
        }
        assert_eq!(owners, (0..20).collect::<Vec<u8>>());
        entries.delete_under(&[7], &[1], Durability::Write).unwrap();
        let left = names(&mut entries.scan(&[7], (b"", None), false, 100).unwrap());
        assert_eq!(left.len(), 20);
        assert!(left.iter().all(|(name, _)| name[0] != 1));
        entries.delete_between(&[7], &[0, 3], &[0, 8], Durability::Write).unwrap();
        let left = names(&mut entries.scan(&[7], (b"", None), false, 100).unwrap());
        assert_eq!(left.len(), 15);
        entries.clear(Durability::Write).unwrap();
        assert!(entries.owners(None, 10, &mut found).unwrap().is_none());
    }
}
