//! A window that a load has open on a shard; see [`crate::window`].

use tonnage_engine::{Deadline, Result};

use crate::shard::Shard;

/// An open window of a shard, closed when it is dropped.
pub(crate) struct OpenWindow<'a> {
    shard: &'a Shard,
    start: u64,
}

impl<'a> OpenWindow<'a> {
    /// Opens a window at a time when no small write is half done.
    ///
    /// # Errors
    /// `TimedOut` when there is none before the deadline.
    pub(crate) fn open_by(shard: &'a Shard, deadline: Deadline) -> Result<Self> {
        let _no_writer = shard.gate_alone_by(deadline)?;
        Ok(Self::open_early(shard))
    }

    /// Opens a window that may miss writes whose version is drawn already.
    pub(crate) fn open_early(shard: &'a Shard) -> Self {
        Self { shard, start: shard.windows.open() }
    }

    /// The shard it looks at.
    pub(crate) fn shard(&self) -> &'a Shard {
        self.shard
    }

    /// Counts what was noted so far.
    pub(crate) fn count(&self) -> u64 {
        self.shard.windows.count()
    }

    /// Whether anything was written since that count; since the window was opened, without one.
    pub(crate) fn is_touched_since(&self, count: Option<u64>) -> bool {
        self.count() > count.unwrap_or(self.start)
    }

    /// Whether any key may have been written since that count whose hash is one that `is_ours`
    /// knows.
    pub(crate) fn is_touched_by(&self, count: u64, is_ours: impl Fn(u64) -> bool) -> bool {
        self.is_touched_since(Some(count)) && self.shard.windows.touched_any(count, is_ours)
    }

    /// Whether the key with this hash may have been written since.
    pub(crate) fn is_touched_at(&self, key_hash: u64) -> bool {
        self.shard.windows.touched(self.start, key_hash)
    }

    /// Whether the row with this key and version is known to have been stored on a condition since.
    pub(crate) fn is_judged(&self, physical_key: &[u8], version: u64) -> bool {
        self.shard.windows.was_judged(self.start, physical_key, version)
    }
}

impl Drop for OpenWindow<'_> {
    fn drop(&mut self) {
        self.shard.windows.close(self.start);
    }
}
