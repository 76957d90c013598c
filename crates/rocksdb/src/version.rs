//! The versions of writes: numbers that only ever grow, over reopens and power loss too.
//!
//! 1. The database holds a high-water mark. Every version handed out is below it.
//! 2. When the versions below the mark are used up, a synced write raises the mark by [`BLOCK`].
//!    Only then are more handed out.
//! 3. An opening starts at the mark, and skips what was left of the last block.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rocksdb::WriteBatch;
use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use crate::database::Database;
use crate::error::translate;
use crate::stall;

/// How many numbers one synced write buys.
const BLOCK: u64 = 1_000_000;

/// The position of the mark in the metadata of a shard.
const KEY: &[u8] = b"version high-water mark";

/// Hands out the versions of one shard.
pub(crate) struct VersionCounter {
    db: Arc<Database>,
    next: AtomicU64,
    /// Numbers from here on are not paid for.
    reserved_end: AtomicU64,
    reserving: Mutex<()>,
}

impl VersionCounter {
    /// Continues where the last opening left off.
    pub(crate) fn open(db: Arc<Database>) -> Result<Self> {
        let mark = match db.get(KEY).map_err(|error| translate("the version mark", error))? {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().map_err(|_| damaged())?),
            None => 1,
        };
        Ok(Self {
            db,
            next: AtomicU64::new(mark),
            reserved_end: AtomicU64::new(mark),
            reserving: Mutex::new(()),
        })
    }

    /// A number greater than all handed out before.
    pub(crate) fn next(&self) -> Result<u64> {
        self.next_until(stall::usual_deadline())
    }

    /// The same; where numbers have to be paid for, writes may be stopped until `deadline` at the
    /// latest.
    #[inline]
    pub(crate) fn next_until(&self, deadline: Instant) -> Result<u64> {
        self.next_many_until(1, deadline).map(|versions| versions.start)
    }

    /// So many consecutive numbers, at least one.
    #[inline]
    pub(crate) fn next_many_until(&self, count: u64, deadline: Instant) -> Result<Range<u64>> {
        let first = self.next.fetch_add(count, Ordering::SeqCst);
        let versions = first..first + count;
        if versions.end > self.reserved_end.load(Ordering::SeqCst) {
            self.reserve(versions.end - 1, deadline)?;
        }
        Ok(versions)
    }

    #[cold]
    fn reserve(&self, version: u64, deadline: Instant) -> Result<()> {
        let _one_at_a_time = lock(&self.reserving);
        if version < self.reserved_end.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mark = version + BLOCK;
        let mut batch = WriteBatch::default();
        batch.put(KEY, mark.to_le_bytes());
        let written = stall::write_batch_until(&self.db, true, &batch, deadline);
        written.map_err(|error| translate("the version mark", error))?;
        self.reserved_end.store(mark, Ordering::SeqCst);
        Ok(())
    }
}

fn damaged() -> Error {
    Error::corruption("the version mark of a shard cannot be read: restore the store from a copy")
}
