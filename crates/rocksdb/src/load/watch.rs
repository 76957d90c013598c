//! What lets a load overwrite rows without looking at them.
//!
//! An entry must yield to a row that someone else wrote since the session was opened. Whoever looks at each stored row finds that
//! out from its version. A load that overwrites looks at few: each shard is watched from the moment the session is opened, and only keys
//! that small writes touched since are looked up. What other loads store is not told key by key: once one has, or once the
//! window has lost count, every key is looked up as ever.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::shard::Shard;
use crate::window::OpenWindow;

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
        Self { window: OpenWindow::open(shard), landings }
    }

    /// Notes that this session stores rows of its own now, the `before + 1`st landing. The caller holds the lock for merging.
    pub(super) fn lands(&self, before: u64) {
        let _ = self.landings.compare_exchange(before, before + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The hashes of the keys that may have been written since; `None` when that may be any. Other loads are kept out by the lock for
    /// merging, which the caller holds.
    pub(super) fn touched(&self) -> Option<HashSet<u64>> {
        let shard = self.window.shard();
        if shard.landings.load(Ordering::SeqCst) != self.landings.load(Ordering::SeqCst) {
            return None;
        }
        self.window.touched_keys()
    }
}
