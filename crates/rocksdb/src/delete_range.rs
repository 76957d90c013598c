//! Deletes many rows at once: ranges, and whole spaces.
//!
//! One tombstone deletes a range. If the range spans shard keys, RocksDB also drops the files that
//! lie wholly inside.
//!
//! - A file may hold rows that are newer than the tombstone. So files are dropped with the gate
//!   held exclusively, while no write is in flight.
//! - Snapshots would lose the rows of dropped files, too. So none are dropped while there are
//!   snapshots; compaction removes the rows once these are gone. A dropped space loses its files
//!   all the same: it cannot be found any more.
//! - RocksDB makes the drop of a file durable, whatever the caller asked for. So the tombstone is
//!   synced first. Without it a power failure would bring back older rows of other files.
//!
//! A deletion covers what is stored. Entries of a load that are not stored yet come after it.
//!
//! A space is dropped in three steps. The next opening continues after a crash. If the disk refuses
//! step 2 or 3, the background thread repeats them: the space is gone all the same.
//!
//! 1. The space is marked as dropping, durably, and leaves the list. From now on it is not found.
//! 2. Each shard deletes its range. The gate ensures that calls that found the space before step 1
//!    are done.
//! 3. The mark is deleted.

use std::sync::atomic::Ordering;

use rocksdb::WriteBatch;
use tonnage_engine::{Deadline, Durability, Ranges, Result, SpaceId};

use crate::attempt_outcome::AttemptOutcome;
use crate::changes::SpaceSet;
use crate::error::translate;
use crate::open_store::OpenStore;
use crate::shard::{SPACE_LEN, Shard, physical_end, physical_key, space_end};
use crate::stall::StallDeadline;

/// Which shards hold the rows of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShardSpan {
    /// The range is under one shard key, in this shard. The shard key is so many bytes of the
    /// start.
    One {
        /// The index of the shard.
        shard: usize,
        /// How many bytes of the start are the shard key.
        shard_key_len: usize,
    },
    /// The range may hold rows of any shard.
    All,
}

impl OpenStore {
    /// A range is under one shard key when its start holds a whole one and its end is not past the
    /// last key under it.
    pub(crate) fn span(&self, space: SpaceId, start: &[u8], end: &[u8]) -> Result<ShardSpan> {
        let space = self.space(space)?;
        let Ok(len) = space.shape.shard_key_len(start) else { return Ok(ShardSpan::All) };
        let shard_key = &start[..len];
        let mut successor = Vec::with_capacity(len);
        tonnage_engine::append_successor(shard_key, &mut successor);
        let within = if end.is_empty() {
            successor.is_empty()
        } else {
            successor.is_empty() || end <= &successor[..]
        };
        if !within {
            return Ok(ShardSpan::All);
        }
        Ok(ShardSpan::One { shard: self.shard_index_in(&space, shard_key)?, shard_key_len: len })
    }

    pub(crate) fn delete_ranges(
        &self,
        space: SpaceId,
        ranges: &Ranges,
        durability: Durability,
        deadline: Deadline,
    ) -> Result<()> {
        // For its error alone, without ranges too: each deletion looks again under its locks.
        self.space(space)?;
        let (mut start, mut end) = (Vec::new(), Vec::new());
        for index in 0..ranges.len() {
            deadline.check("its turn")?;
            physical_key(space, ranges.start(index), &mut start);
            physical_end(space, ranges.end(index), &mut end);
            if start >= end {
                continue;
            }
            // A range under one shard key is a small write like any other. A wider one keeps all
            // writers out.
            match self.span(space, ranges.start(index), ranges.end(index))? {
                ShardSpan::One { shard, shard_key_len } => {
                    let shard_key = &ranges.start(index)[..shard_key_len];
                    let delete = || {
                        self.delete_narrow(
                            &self.shards()[shard],
                            space,
                            shard_key,
                            [&start, &end],
                            durability,
                            deadline,
                        )
                    };
                    self.shards()[shard].throttle.write(
                        start.len() + end.len(),
                        StallDeadline::until(deadline),
                        delete,
                    )?;
                }
                ShardSpan::All => {
                    for shard in self.shards() {
                        let range =
                            PhysicalRange { start: &start, end: &end, is_space: false, deadline };
                        self.delete_wide(shard, &range, || self.space(space).map(drop))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// With the stripe held, a write that found a row here commits before the row is deleted.
    fn delete_narrow(
        &self,
        shard: &Shard,
        space: SpaceId,
        shard_key: &[u8],
        [start, end]: [&[u8]; 2],
        durability: Durability,
        deadline: Deadline,
    ) -> Result<AttemptOutcome<()>> {
        let _stripe = shard.stripe_by(Shard::stripe_of(shard_key), deadline)?;
        let _shared = shard.gate_by(deadline)?;
        self.space(space)?;
        write_tombstone(shard, start, end, durability)
    }

    /// `check` is called once no other write is in flight.
    fn delete_wide(
        &self,
        shard: &Shard,
        range: &PhysicalRange<'_>,
        check: impl Fn() -> Result<()>,
    ) -> Result<()> {
        remove_range(shard, range, self.limits().key_bytes_max, check)?;
        self.range_compactor().compact(shard, range.start, range.end);
        Ok(())
    }

    /// The space cannot be found any more once this returns. What the deadline cuts short after
    /// that is done in the background.
    pub(crate) fn drop_whole_space(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        self.spaces_list().begin_drop(self.shards()[0].db(), space, deadline)?;
        self.complete_drop_soon(space, deadline);
        Ok(())
    }

    /// Completes a drop that is noted, now if the disk and the deadline let it.
    pub(crate) fn complete_drop_soon(&self, space: SpaceId, deadline: Deadline) {
        if self.complete_drop(space, deadline).is_err() {
            self.complete_drop_later(space);
        }
    }

    /// Removes the rows of a space that is noted as dropping, then the note.
    fn complete_drop(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        remove_space(self.shards(), space, self.limits().key_bytes_max, deadline)?;
        for shard in self.shards() {
            self.range_compactor().compact(shard, &space_start(space), &space_end(space));
        }
        Ok(())
    }

    /// The same in the background, as often as it takes.
    fn complete_drop_later(&self, space: SpaceId) {
        let (shards, key_bytes_max) = (self.share_shards(), self.limits().key_bytes_max);
        self.range_compactor().add(Box::new(move || {
            remove_space(&shards, space, key_bytes_max, Deadline::NONE).is_ok()
        }));
    }
}

/// A range to remove, and by when.
struct PhysicalRange<'a> {
    start: &'a [u8],
    end: &'a [u8],
    /// Whether it is a space that is gone.
    is_space: bool,
    deadline: Deadline,
}

/// `check` is called once no other write is in flight.
fn remove_range(
    shard: &Shard,
    range: &PhysicalRange<'_>,
    key_bytes_max: usize,
    check: impl Fn() -> Result<()>,
) -> Result<()> {
    let PhysicalRange { start, end, is_space, deadline } = *range;
    let last = last_before(end, SPACE_LEN + key_bytes_max);
    shard.throttle.write(start.len() + end.len(), StallDeadline::until(deadline), || {
        let _alone = shard.gate_alone_by(deadline)?;
        check()?;
        let _counted = shard.changes.begin(SpaceSet::of_key(start));
        if let AttemptOutcome::Stopped(refusal) =
            write_tombstone(shard, start, end, Durability::Fsync)?
        {
            return Ok(AttemptOutcome::Stopped(refusal));
        }
        // Snapshots from now on see the tombstone.
        if !is_space && shard.snapshots.load(Ordering::SeqCst) > 0 {
            return Ok(AttemptOutcome::Done(()));
        }
        // Counts after this line see the tombstone.
        shard.file_drops.fetch_add(1, Ordering::SeqCst);
        // A file whose last key is the end given here counts as inside.
        let files = shard.db().delete_file_in_range_cf(shard.rows(), start, &last);
        files.map(AttemptOutcome::Done).map_err(|error| translate(shard.display_name(), error))
    })
}

fn remove_space(
    shards: &[Shard],
    space: SpaceId,
    key_bytes_max: usize,
    deadline: Deadline,
) -> Result<()> {
    let (start, end) = (space_start(space), space_end(space));
    let range = PhysicalRange { start: &start, end: &end, is_space: true, deadline };
    for shard in shards {
        remove_range(shard, &range, key_bytes_max, || Ok(()))?;
        shard.books.forget(space);
    }
    crate::spaces::Spaces::forget(shards[0].db(), space)
}

fn space_start(space: SpaceId) -> [u8; SPACE_LEN] {
    space.0.to_be_bytes()
}

fn write_tombstone(
    shard: &Shard,
    start: &[u8],
    end: &[u8],
    durability: Durability,
) -> Result<AttemptOutcome<()>> {
    let mut batch = WriteBatch::default();
    batch.delete_range_cf(shard.rows(), start, end);
    let mut notes = shard.begin_notes();
    notes.add_deleted(start, end);
    shard.attempt(durability == Durability::Fsync, &notes, batch)
}

/// A bound that no key before `end` passes and `end` itself does: of keys of up to `len_max` bytes
/// the last one before it.
fn last_before(end: &[u8], len_max: usize) -> Vec<u8> {
    let mut last = end.to_vec();
    match last.pop() {
        // No key is between a key and the same key with a final zero byte.
        None | Some(0) => {}
        Some(byte) => {
            last.push(byte - 1);
            last.resize(len_max.max(last.len()), u8::MAX);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RocksEngine;
    use crate::Settings;
    use tonnage_engine::{Engine, KeyPart, KeyShape};

    /// Late enough that a busy machine comes to the wait before it.
    const A_WHILE: std::time::Duration = std::time::Duration::from_secs(3);

    #[test]
    fn the_last_key_before_an_end_is_before_it_and_after_all_others() {
        assert_eq!(last_before(&[1, 2, 0], 4), [1, 2]);
        assert_eq!(last_before(&[1, 2, 7], 4), [1, 2, 6, 255]);
        assert_eq!(last_before(&[1, 2, 7, 9, 9], 4), [1, 2, 7, 9, 8]);
        assert_eq!(last_before(&[0], 4), [0_u8; 0]);
    }

    /// The story of a bug: a drop that a full disk had refused midway was taken up by the next
    /// opening only.
    #[test]
    fn a_drop_that_could_not_be_completed_is_completed_in_the_background() {
        let place = tempfile::tempdir().unwrap();
        let engine = RocksEngine::open(place.path().join("store"), Settings::default()).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
        let mut batch = tonnage_engine::WriteBatch::new(space);
        batch.put(&[0, 0, 0, 1], b"row", 0, tonnage_engine::Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
        let shard = &engine.store().shards()[0];
        let rows = || shard.db().iterator_cf(shard.rows(), rocksdb::IteratorMode::Start).count();
        engine.store().spaces_list().begin_drop(shard.db(), space, Deadline::NONE).unwrap();
        assert_eq!(rows(), 1);
        engine.store().complete_drop_later(space);
        let began = std::time::Instant::now();
        while rows() > 0 || !crate::spaces::Spaces::open(shard.db()).unwrap().1.is_empty() {
            assert!(began.elapsed().as_secs() < 60, "the space is still there after a minute");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// A drop waited without end for a load that stored a file, or for a write that hung.
    #[test]
    fn a_drop_whose_time_is_over_is_completed_in_the_background() {
        let place = tempfile::tempdir().unwrap();
        let engine = RocksEngine::open(place.path().join("store"), Settings::default()).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
        let shard = &engine.store().shards()[0];
        let noted = || crate::spaces::Spaces::open(shard.db()).unwrap().1.len();
        let writing = shard.gate.read();
        let soon = Deadline::after(A_WHILE);
        engine.drop_space_by(space, soon).unwrap();
        assert_eq!((engine.spaces().unwrap(), noted()), (Vec::new(), 1));
        drop(writing);
        let began = std::time::Instant::now();
        while noted() > 0 {
            assert!(began.elapsed().as_secs() < 60, "the drop is not completed after a minute");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Deletions had no deadline: they waited for any holder of a stripe or the gate.
    #[test]
    fn a_deletion_waits_no_longer_than_its_deadline() {
        let place = tempfile::tempdir().unwrap();
        let engine = RocksEngine::open(place.path().join("store"), Settings::default()).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
        let shard = &engine.store().shards()[0];
        let mut narrow = Ranges::new();
        narrow.push(&[0, 0, 0, 1], &[0, 0, 0, 1, 7]);
        let by = |ranges: &Ranges| {
            let soon = Deadline::after(A_WHILE);
            engine.delete_range_by(space, ranges, Durability::Write, soon).unwrap_err()
        };
        let stripes = shard.all_stripes();
        let error = by(&narrow);
        assert_eq!(error.kind(), tonnage_engine::ErrorKind::TimedOut);
        assert!(error.message().contains("another write of the same rows"), "{error}");
        drop(stripes);
        let _writing = shard.gate.read();
        let error = by(&Ranges::whole_space());
        assert_eq!(error.kind(), tonnage_engine::ErrorKind::TimedOut);
        assert!(error.message().contains("small writes that are under way"), "{error}");
    }

    /// How often the log was synced since the database was opened.
    fn syncs(shard: &Shard) -> u64 {
        let text = shard.db().property_value("rocksdb.dbstats").unwrap().unwrap();
        let line = text.lines().find(|line| line.starts_with("Cumulative WAL:")).unwrap();
        line.split(", ")
            .nth(1)
            .and_then(|syncs| syncs.strip_suffix(" syncs"))
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    /// The tombstone of a wide range was in the log, unsynced, while the files that it covers were
    /// gone for good: after a power failure neither was there, and older rows of other files came
    /// back.
    #[test]
    fn a_wide_deletion_is_in_the_synced_log_whatever_durability_was_asked_for() {
        let place = tempfile::tempdir().unwrap();
        let engine = RocksEngine::open(place.path().join("store"), Settings::default()).unwrap();
        let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
        let mut ranges = Ranges::new();
        ranges.push(&[0, 0, 0, 0], &[0, 0, 1, 0]);
        for durability in [Durability::None, Durability::Write, Durability::Fsync] {
            let before = syncs(&engine.store().shards()[0]);
            engine.delete_range(space, &ranges, durability).unwrap();
            assert!(syncs(&engine.store().shards()[0]) > before, "{durability:?}");
        }
    }
}
