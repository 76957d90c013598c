//! Removing many rows at once: ranges, and whole spaces.
//!
//! A range is removed by one tombstone that covers it. Where a range spans shard keys, files that lie wholly inside are
//! dropped at once too. That is only right while nobody writes, since a file may hold rows that are newer than the
//! tombstone: so it happens with the gate held exclusively.
//!
//! What is removed is what is stored: entries of a load under way that are not stored yet come after it.
//!
//! A space is dropped in these steps; the next opening takes up where a crash cut in.
//!
//! 1. It is noted as dropping, durably, and leaves the list: whoever asks for it from now on is told that it is gone.
//! 2. On each shard its range is removed. The gate makes sure that whoever found the space before step 1 is done.
//! 3. The note is removed.

use std::sync::PoisonError;

use rocksdb::WriteBatch;
use tonnage_engine::{Durability, Ranges, Result, SpaceId};

use crate::RocksEngine;
use crate::error::translate;
use crate::patience;
use crate::shard::{Shard, physical_end, physical_key, space_end};

/// Which shards hold the rows of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// The range lies under one shard key, in this shard.
    One(usize),
    /// The range may hold rows of any shard.
    All,
}

impl RocksEngine {
    /// A range lies under one shard key when its start holds a whole one and its end is not past the last key under it.
    pub(crate) fn span(&self, space: SpaceId, start: &[u8], end: &[u8]) -> Result<Span> {
        let space = self.space(space)?;
        let Ok(len) = space.shape.shard_key_len(start) else { return Ok(Span::All) };
        let shard_key = &start[..len];
        let mut successor = Vec::with_capacity(len);
        tonnage_engine::range::append_successor(shard_key, &mut successor);
        let within = if end.is_empty() { successor.is_empty() } else { successor.is_empty() || end <= &successor[..] };
        Ok(if within { Span::One(self.shard_index_in(&space, shard_key)?) } else { Span::All })
    }

    pub(crate) fn delete_ranges(&self, space: SpaceId, ranges: &Ranges, durability: Durability) -> Result<()> {
        self.space(space)?;
        let (mut start, mut end) = (Vec::new(), Vec::new());
        for index in 0..ranges.len() {
            physical_key(space, ranges.start(index), &mut start);
            physical_end(space, ranges.end(index), &mut end);
            if start >= end {
                continue;
            }
            match self.span(space, ranges.start(index), ranges.end(index))? {
                Span::One(shard) => self.delete_narrow(&self.shards()[shard], space, &start, &end, durability)?,
                Span::All => {
                    for shard in self.shards() {
                        self.delete_wide(shard, &start, &end, durability, || self.space(space).map(drop))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn delete_narrow(&self, shard: &Shard, space: SpaceId, start: &[u8], end: &[u8], durability: Durability) -> Result<()> {
        let _shared = shard.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.space(space)?;
        write_tombstone(shard, start, end, durability)
    }

    /// `check` is asked once nobody else writes.
    fn delete_wide(
        &self,
        shard: &Shard,
        start: &[u8],
        end: &[u8],
        durability: Durability,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        {
            let _alone = shard.gate.write().unwrap_or_else(PoisonError::into_inner);
            check()?;
            write_tombstone(shard, start, end, durability)?;
            let files = shard.db().delete_file_in_range_cf(shard.rows(), start, end);
            files.map_err(|error| translate(shard.place(), error))?;
        }
        self.chores().compact(shard, start, end);
        Ok(())
    }

    pub(crate) fn drop_whole_space(&self, space: SpaceId) -> Result<()> {
        self.spaces_list().begin_drop(self.shards()[0].db(), space)?;
        self.complete_drop(space)
    }

    /// Removes the rows of a space that is noted as dropping, then the note.
    pub(crate) fn complete_drop(&self, space: SpaceId) -> Result<()> {
        let mut start = Vec::new();
        physical_key(space, &[], &mut start);
        for shard in self.shards() {
            self.delete_wide(shard, &start, &space_end(space), Durability::Fsync, || Ok(()))?;
        }
        crate::spaces::Spaces::forget(self.shards()[0].db(), space)
    }
}

fn write_tombstone(shard: &Shard, start: &[u8], end: &[u8], durability: Durability) -> Result<()> {
    let mut batch = WriteBatch::default();
    batch.delete_range_cf(shard.rows(), start, end);
    let written = patience::write_batch(shard.db(), durability == Durability::Fsync, &batch);
    written.map_err(|error| translate(shard.place(), error))
}
