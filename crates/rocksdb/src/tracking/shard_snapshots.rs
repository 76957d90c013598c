//! The store at one point in time: a snapshot of RocksDB's in each shard.
//!
//! One point in time means: if a write shows, so does every write that was acknowledged before it
//! began. One shard by itself gives that. Of several the snapshots are taken one after another; they
//! are of one point in time if no write ended in between. Where writers leave no such pause, their
//! gates are held.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rocksdb::Snapshot;
use self_cell::self_cell;

use crate::open_store::OpenStore;
use crate::shard::Shard;

/// How often the snapshots are taken beside writers before these are held up.
const TRIES: usize = 3;

/// One for each shard.
type SnapshotList<'a> = Vec<Snapshot<'a>>;

self_cell! {
    struct OwnedSnapshots {
        owner: Arc<OpenStore>,
        #[covariant]
        dependent: SnapshotList,
    }
}

/// The store at one point in time, which it keeps open.
pub(crate) struct ShardSnapshots {
    snapshots: OwnedSnapshots,
}

impl ShardSnapshots {
    /// Those of the store now.
    pub(crate) fn take(store: &Arc<OpenStore>) -> Self {
        // Counted first: a call that finds no snapshot under the gate came before there was one.
        store.shards().iter().for_each(|shard| {
            shard.snapshots.fetch_add(1, Ordering::SeqCst);
        });
        Self {
            snapshots: OwnedSnapshots::new(Arc::clone(store), |store| {
                together(store.shards(), || ())
            }),
        }
    }

    pub(crate) fn store(&self) -> &Arc<OpenStore> {
        self.snapshots.borrow_owner()
    }

    /// By the numbers of the shards.
    pub(crate) fn shards(&self) -> &[Snapshot<'_>] {
        self.snapshots.borrow_dependent()
    }
}

impl Drop for ShardSnapshots {
    fn drop(&mut self) {
        self.store().shards().iter().for_each(|shard| {
            shard.snapshots.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// `between` is called where others may write: after each snapshot that does not hold up writers.
fn together(shards: &[Shard], between: impl Fn()) -> SnapshotList<'_> {
    for _ in 0..TRIES {
        let before = ended(shards);
        let taken = shards.iter().map(|shard| {
            // No file is being ingested meanwhile: RocksDB shows its rows later than their number
            // says.
            let gate = shard.gate.read();
            let taken = shard.db().snapshot();
            drop(gate);
            between();
            taken
        });
        let taken: SnapshotList<'_> = taken.collect();
        if shards.len() == 1 || ended(shards) == before {
            return taken;
        }
    }
    let _alone: Vec<_> = shards.iter().map(|shard| shard.gate.write()).collect();
    shards.iter().map(|shard| shard.db().snapshot()).collect()
}

/// How many writes have ended. Each is counted before it is acknowledged.
fn ended(shards: &[Shard]) -> u64 {
    shards.iter().map(|shard| shard.changes.ended()).sum()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rstest::rstest;
    use tonnage_engine::{
        Condition, Durability, Engine, KeyPart, KeyShape, Ranges, Rows, ScanOptions, ShardId,
        WriteBatch,
    };

    use super::*;
    use crate::{RocksEngine, Settings};

    /// As many as keys of one byte.
    const KEYS: usize = 256;

    #[test]
    fn a_scan_of_a_shard_gives_its_rows_alone() {
        let place = tempfile::tempdir().unwrap();
        let data_directories = ["one", "two"].map(|disk| place.path().join(disk)).to_vec();
        let settings = Settings { data_directories, cache_bytes: 8 << 20, ..Settings::default() };
        let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
        for key in 0..=u8::MAX {
            let mut batch = WriteBatch::new(space);
            batch.put(&[key], b"v", 0, Condition::Always);
            engine.write(&batch, Durability::None).unwrap();
        }
        let snapshot = engine.snapshot(&[space]).unwrap().unwrap();
        let scan = |shard, ranges: Ranges| {
            let options = ScanOptions { shard: Some(shard), ..ScanOptions::default() };
            let mut scan = snapshot.engine().scan(space, ranges, options).unwrap();
            let (mut rows, mut found) = (Rows::new(), Vec::new());
            while scan.next_batch(&mut rows).unwrap() {
                found.extend(rows.keys.iter().map(<[u8]>::to_vec));
            }
            found
        };
        let all = [0, 1].map(|shard| scan(ShardId(shard), Ranges::whole_space()));
        assert_eq!(all.iter().map(Vec::len).sum::<usize>(), KEYS);
        for (shard, keys) in all.iter().enumerate() {
            let shard = ShardId(shard as u32);
            assert!(!keys.is_empty() && keys.iter().all(|key| engine.shard_of(key) == shard));
        }
        let mut of_other = Ranges::new();
        of_other.push_prefix(&all[1][0]);
        assert!(scan(ShardId(0), of_other).is_empty());
    }

    /// After so many of the snapshots that are taken beside writers there is a write into each
    /// shard, one after another: some disturb the first try alone, others all tries.
    #[rstest]
    fn of_two_writes_the_later_one_never_shows_alone(#[values(0, 1, 2, 4, 100)] disturbed: usize) {
        let place = tempfile::tempdir().unwrap();
        let data_directories = ["one", "two"].map(|disk| place.path().join(disk)).to_vec();
        let settings = Settings { data_directories, cache_bytes: 8 << 20, ..Settings::default() };
        let engine = RocksEngine::open(place.path().join("store"), settings).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(1)])).unwrap();
        let key_in = |shard| (0..=u8::MAX).find(|key| engine.shard_of(&[*key]).0 == shard).unwrap();
        let keys = [key_in(0), key_in(1)];
        let number = Cell::new(0_u8);
        let write = || {
            number.set(number.get() + 1);
            for key in keys {
                let mut batch = WriteBatch::new(space);
                batch.put(&[key], &[number.get()], 0, Condition::Always);
                engine.write(&batch, Durability::None).unwrap();
            }
        };
        write();
        let left = Cell::new(disturbed);
        let between = || {
            if left.get() > 0 {
                left.set(left.get() - 1);
                write();
            }
        };
        let shards = engine.store().shards();
        let taken = together(shards, between);
        let shown = shards.iter().zip(&taken).zip(keys).map(|((shard, snapshot), key)| {
            let physical = [&space.0.to_be_bytes()[..], &[key]].concat();
            let stored = snapshot.get_cf(shard.rows(), physical).unwrap().unwrap();
            stored[stored.len() - 1]
        });
        let shown: Vec<u8> = shown.collect();
        assert!(shown[0] >= shown[1], "{shown:?}");
        assert_eq!(left.get() > 0, disturbed > 2 * TRIES, "writers are held up in the end");
    }
}
