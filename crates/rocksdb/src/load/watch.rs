//! What lets a load take the place of rows without losing what others write meanwhile.
//!
//! An entry must yield to a row that someone else wrote after it was pushed. Whoever looks at each stored row finds that out from
//! its version. Each shard is watched besides, from the moment the session is opened:
//!
//! - A load that overwrites looks at few rows: only keys that small writes touched are looked up. What other loads store in files is not
//!   told key by key: once one has, every key is looked up as ever.
//! - Where a later row is found, the watch tells whether it was stored on a condition. Then the entry does not yield.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::shard::Shard;
use crate::window::{LoadWindows, OpenWindow};

/// A shard, watched since the session was opened.
pub(super) struct Watch<'a> {
    window: OpenWindow<'a>,
    /// How many landings this session knows of: those before it, and its own as long as nobody else had any.
    landings: AtomicU64,
}

impl<'a> Watch<'a> {
    /// Begins to watch. Versions that the session draws after this are greater than those of all rows that it does not see.
    pub(super) fn open(shard: &'a Shard) -> Self {
        // Counted before the window is open: a landing between the two makes the load look, not overlook.
        let landings = AtomicU64::new(shard.landings.load(Ordering::SeqCst));
        Self { window: OpenWindow::open_early(shard), landings }
    }

    /// Notes that this session stores rows of its own now, the `before + 1`st landing. The caller holds the lock for merging.
    pub(super) fn lands(&self, before: u64) {
        let _ = self.landings.compare_exchange(before, before + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether all that others wrote is told key by key. Other loads are kept out by the lock for merging, which the caller holds.
    pub(super) fn tells_all(&self) -> bool {
        self.window.shard().landings.load(Ordering::SeqCst) == self.landings.load(Ordering::SeqCst)
    }

    /// Whether a small write may have touched the key.
    #[inline]
    pub(super) fn is_touched_at(&self, physical_key: &[u8]) -> bool {
        self.window.is_touched() && self.window.is_touched_at(LoadWindows::key_hash(physical_key))
    }

    /// Whether a row that was written meanwhile is known to have been stored on a condition.
    pub(super) fn is_judged(&self, physical_key: &[u8], version: u64) -> bool {
        self.window.is_judged(physical_key, version)
    }
}
