//! What others write while a load session is open.
//!
//! A load must not overwrite a row that someone else wrote after the entry was pushed. A load that
//! looks at each stored row sees that by its version. In addition a window is open on each shard
//! for the whole session:
//!
//! - A blind load looks up only keys that small writes touched. Other loads store files, whose keys
//!   the window does not see. So once another load has ingested a file, every key is looked up.
//! - If a stored row is later than the entry, the window says whether it was written on a
//!   condition. If so the entry is stored all the same.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::open_window::OpenWindow;
use crate::shard::Shard;
use crate::window::LoadWindows;

/// A shard, watched since the session was opened.
pub(super) struct ConcurrentWrites<'a> {
    window: OpenWindow<'a>,
    /// How many ingestions there were before.
    ingestions_before: u64,
    /// How many there were of this session since.
    own_ingestions: AtomicU64,
}

impl<'a> ConcurrentWrites<'a> {
    /// Begins to watch. Versions that the session draws after this are greater than those of all
    /// rows that it does not see.
    pub(super) fn open(shard: &'a Shard) -> Self {
        // Counted before the window is open: an ingestion between the two makes the load look, not
        // overlook.
        let ingestions_before = shard.ingestions.load(Ordering::SeqCst);
        Self {
            window: OpenWindow::open_early(shard),
            ingestions_before,
            own_ingestions: AtomicU64::new(0),
        }
    }

    /// Notes that an ingestion that the shard has counted is of this session.
    pub(super) fn count_own_ingestion(&self) {
        self.own_ingestions.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the window saw all that others wrote so far. What they ingest from now on is kept
    /// out by the caller, who holds the lock on the range of its keys, or the gate.
    pub(super) fn are_all_seen(&self) -> bool {
        // In this order: an ingestion of this session that is half counted looks like another's.
        let own = self.own_ingestions.load(Ordering::SeqCst);
        self.window.shard().ingestions.load(Ordering::SeqCst) == self.ingestions_before + own
    }

    /// Whether a small write may have touched the key.
    #[inline]
    pub(super) fn is_touched_at(&self, physical_key: &[u8]) -> bool {
        self.window.is_touched_since(None)
            && self.window.is_touched_at(LoadWindows::key_hash(physical_key))
    }

    /// Whether a row that was written meanwhile is known to have been stored on a condition.
    pub(super) fn is_judged(&self, physical_key: &[u8], version: u64) -> bool {
        self.window.is_judged(physical_key, version)
    }
}
