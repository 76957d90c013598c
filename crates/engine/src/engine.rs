//! The [`Engine`] trait: the storage contract.

use std::sync::Arc;
use std::time::Duration;

use crate::{
    Capability, Cuts, Deadline, Durability, Error, KeyShape, Levels, LoadOptions, LoadSession,
    Maintenance, Part, Projection, Ranges, ReadOptions, Result, Rows, ScanOptions, Scanner,
    ShardId, Slices, Snapshot, SpaceId, SpaceInfo, TrackedRange, WriteBatch, WriteOutcome,
};

/// What keeps the bytes.
///
/// Every method may be called from several threads. A space that does not exist is `NotFound`; a
/// key that does not hold the whole shard key of its space, or is longer than the capability says,
/// is `Invalid`. Rows past their expiry do not exist.
pub trait Engine: Maintenance + Send + Sync {
    /// What this engine offers, and its limits. Fixed while the engine is open.
    fn capability(&self) -> &Capability;

    /// The same engine on other levels. What is written through the answer waits for as many copies
    /// as they say, at least; what is read is as fresh, at least. An engine by itself writes to a
    /// majority and reads the latest. Nothing where all levels mean the same, as with one copy.
    fn at(&self, levels: Levels) -> Option<Arc<dyn Engine>> {
        let _ = levels;
        None
    }

    /// Makes a space. The number given to it was never used before in this store. Durable when it
    /// returns.
    ///
    /// # Errors
    /// `Conflict` when a space of that name exists; `Unsupported` for a shard-prefixed one
    /// where the capability says so.
    fn create_space(&self, name: &str, shape: &KeyShape) -> Result<SpaceId> {
        self.create_space_by(name, shape, Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`: there is no such space.
    fn create_space_by(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId>;

    /// All spaces, by ascending number.
    fn spaces(&self) -> Result<Vec<SpaceInfo>>;

    /// Drops a space with all its rows, without reading them. Durable when it returns.
    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.drop_space_by(space, Deadline::NONE)
    }

    /// The same by a deadline. What it cuts short once the space is gone for everybody is done in
    /// the background.
    ///
    /// # Errors
    /// `TimedOut`: the space is still there, with all its rows.
    fn drop_space_by(&self, space: SpaceId, deadline: Deadline) -> Result<()>;

    /// The shard that holds the rows of a shard key. Never changes.
    fn shard_of(&self, shard_key: &[u8]) -> ShardId;

    /// Looks up keys. `rows` is cleared, then holds the rows found in the order of `keys`, each
    /// with the index of its key as origin; missing ones are left out, duplicates are answered
    /// each. Sorted keys are the fastest. Rows under one shard key are seen at one point in time,
    /// however many keys there are.
    fn read(
        &self,
        space: SpaceId,
        keys: &Slices,
        projection: Projection,
        rows: &mut Rows,
    ) -> Result<()> {
        let options = ReadOptions {
            projection,
            keys: 0..keys.len(),
            bytes_max: usize::MAX,
            deadline: Deadline::NONE,
        };
        self.read_some(space, keys, &options, rows).map(drop)
    }

    /// The same for some of the keys, and for as many of them as their rows keep to a number of
    /// bytes. Answers how many keys it took, at least one where any are asked for: the next read
    /// begins after them, at a time of its own. The engine's own memory for the read keeps to such
    /// bounds too, as far as the rows before tell the size of the next. Origins count from the
    /// first of all keys.
    ///
    /// # Panics
    /// If the range of the options exceeds the keys.
    fn read_some(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize>;

    /// Like `read_some`, but absence is final: no earlier unacknowledged write of these keys can
    /// still appear. On a cluster every copy is asked, and decisions that are under way are ended
    /// first.
    ///
    /// # Errors
    /// `Unavailable` while a copy is away.
    fn read_settled(
        &self,
        space: SpaceId,
        keys: &Slices,
        options: &ReadOptions,
        rows: &mut Rows,
    ) -> Result<usize> {
        self.read_some(space, keys, options, rows)
    }

    /// Deletes those of some entries of a shard-prefixed space that were stored longer ago than
    /// `age`, and says how many. An entry that is stored again meanwhile stays. Where entries are
    /// stored before their rows, those younger than an hour may belong to a row that is on its way;
    /// of older ones it is there, or never comes.
    ///
    /// # Errors
    /// `Unsupported` where entries are written in one step with their rows: delete them under the
    /// gate of their writers.
    fn delete_older(
        &self,
        space: SpaceId,
        entries: &Slices,
        age: Duration,
        deadline: Deadline,
    ) -> Result<u64> {
        let _ = (space, entries, age, deadline);
        Err(Error::unsupported(
            "this engine does not tell when an entry was stored: to be rid of stale ones, drop the index and make it anew",
        ))
    }

    /// Opens a scan over ranges, one range after another. The scan sees, of each range, what was
    /// stored when it reached it or later: read-committed, not one snapshot of all.
    ///
    /// A scan borrows nothing: who has it can keep it as long as a connection lasts. The store
    /// stays open until it is dropped.
    ///
    /// # Errors
    /// `Unsupported` for a range across shard keys, short of a whole space, where there is no total
    /// order.
    fn scan(
        &self,
        space: SpaceId,
        ranges: Ranges,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>>;

    /// Cuts a space into parts that several readers can share: together they hold every row once,
    /// each with about as much data as the engine can tell without reading it. At most `parts` of
    /// them; a small space is one. In an engine with a total order they ascend.
    fn split(&self, space: SpaceId, parts: usize, cuts: Cuts) -> Result<Vec<Part>>;

    /// Opens a scan over a part of a space, as over a single range. A part that was cut between
    /// shard keys is scanned in any direction, others only unordered.
    ///
    /// # Errors
    /// `Invalid` for what is not part of this engine.
    fn scan_part(
        &self,
        space: SpaceId,
        part: &Part,
        options: ScanOptions,
    ) -> Result<Box<dyn Scanner>>;

    /// An estimate of the rows in some ranges of a space together, from a few thousand of them at
    /// most. Few rows are counted; those that expired or were replaced may be among many.
    fn rows_estimate(&self, space: SpaceId, ranges: &Ranges) -> Result<u64>;

    /// How often a space was changed since the store was opened, about; nothing while a change is
    /// under way, or where the engine cannot tell. Two answers that are the same say that nothing
    /// was changed from the first call to the second: whatever was read between them is what is
    /// still stored, but for rows that have expired. An acknowledged write is counted.
    fn change_count(&self, space: SpaceId) -> Result<Option<u64>> {
        let _ = space;
        Ok(None)
    }

    /// When a version was given, in milliseconds since 1970, where versions say so.
    fn version_time_ms(&self, version: u64) -> Option<u64> {
        let _ = version;
        None
    }

    /// The store at one point in time, with everything acknowledged before. From then on the spaces
    /// named are followed: what is written into them is noted. Nothing where the engine cannot do
    /// so.
    fn snapshot(&self, followed: &[SpaceId]) -> Result<Option<Arc<dyn Snapshot>>> {
        let _ = followed;
        Ok(None)
    }

    /// Says that the rows of a range were copied at a snapshot, under the id that the range has.
    /// False, and nothing is changed, where it is not known any more what was written since, or
    /// where a newer copy is there.
    fn track(&self, space: SpaceId, range: &TrackedRange, snapshot: &dyn Snapshot) -> Result<bool> {
        let _ = (space, range, snapshot);
        Ok(false)
    }

    /// Says that a copy is gone.
    fn untrack(&self, space: SpaceId, id: u128) -> Result<()> {
        let _ = (space, id);
        Ok(())
    }

    /// Carries out a batch atomically, if its conditions hold. Readers see all of it or nothing;
    /// others may do so before the batch is as durable as was asked for, which it is once the call
    /// returns. The version it answers is greater than that of any earlier write of these rows.
    ///
    /// # Errors
    /// `Invalid` when the keys are of more than one shard key, or, in shard-prefixed spaces, name
    /// another shard, and for more bytes or operations than the capability says. `Unsupported` for
    /// more spaces than it says. After an error the batch may or may not be stored when the kind is
    /// `Unavailable`, and is not stored otherwise.
    fn write(&self, batch: &WriteBatch, durability: Durability) -> Result<WriteOutcome> {
        self.write_by(batch, durability, Deadline::NONE)
    }

    /// The same with a deadline for all waits: for writes of the same rows, a load that stores a
    /// file, compaction that lags.
    ///
    /// # Errors
    /// `TimedOut`, naming what was waited for: nothing of the batch is stored.
    fn write_by(
        &self,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<WriteOutcome>;

    /// Carries out many batches, each atomic by itself, as if written one after another: conditions
    /// are judged in the order of the batches, and a later one sees what an earlier one left. The
    /// outcomes stand in that order. A batch that fails leaves the others alone. The batches of a
    /// shard share a write to the log and, with [`Durability::Fsync`], a sync, where the engine can
    /// do so.
    ///
    /// # Errors
    /// Of each batch those of [`Engine::write`].
    fn write_many(
        &self,
        batches: &[WriteBatch],
        durability: Durability,
    ) -> Vec<Result<WriteOutcome>> {
        self.write_many_by(batches, durability, Deadline::NONE)
    }

    /// The same by a deadline for all of them: those that it leaves out are `TimedOut`.
    fn write_many_by(
        &self,
        batches: &[WriteBatch],
        durability: Durability,
        deadline: Deadline,
    ) -> Vec<Result<WriteOutcome>> {
        batches.iter().map(|batch| self.write_by(batch, durability, deadline)).collect()
    }

    /// Opens a load session. It borrows nothing, and keeps the store open until it is dropped.
    fn load(&self, options: LoadOptions) -> Result<Box<dyn LoadSession>>;

    /// Deletes all rows in the ranges, without reading them. Under one shard key it takes turns
    /// with writes: a write whose condition held before the deletion is carried out before it. A
    /// range across shard keys may be durable earlier than was asked for.
    fn delete_range(&self, space: SpaceId, ranges: &Ranges, durability: Durability) -> Result<()> {
        self.delete_range_by(space, ranges, durability, Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// `TimedOut`, naming what was waited for: some of the ranges may be deleted, one across shard
    /// keys in some shards only. The same call deletes the rest.
    fn delete_range_by(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<()>;
}
