//! Load windows: what small writes touch while a load is under way.
//!
//! A load gathers its rows long before it stores them. A row that someone else writes in between must not be lost to the
//! load, so the load opens a *window* on each shard and asks at the end which of its keys were touched meanwhile.
//!
//! 1. [`LoadWindows::open`] is called with the shard's gate held exclusively: every small write is either committed before
//!    or will see the window.
//! 2. A small write holds the gate shared and records its keys before it commits.
//! 3. The load takes the gate exclusively before it ingests: what it asks for then is complete.
//!
//! A window keeps 64-bit hashes of keys. Two keys with the same hash make a key count as touched that was not, which costs
//! the load a look at the stored row, never a wrong answer. Past [`KEYS_MAX`] hashes the window forgets them and every key
//! counts as touched.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::hash::hash;
use crate::shard::Shard;

/// How many hashes one window holds before it calls every key touched: 16 MiB or so.
const KEYS_MAX: usize = 1 << 20;

/// An open window of a shard, closed when it goes out of scope.
pub(crate) struct OpenWindow<'a> {
    shard: &'a Shard,
    id: WindowId,
}

impl<'a> OpenWindow<'a> {
    /// Opens a window at a moment when no small write is half done.
    pub(crate) fn open(shard: &'a Shard) -> Self {
        Self { shard, id: shard.open_window() }
    }

    /// The shard it looks at.
    pub(crate) fn shard(&self) -> &'a Shard {
        self.shard
    }

    /// Whether anything was written since.
    pub(crate) fn is_touched(&self) -> bool {
        self.shard.windows.any_touched(self.id)
    }

    /// Whether any of these keys may have been written since; the hashes ascend.
    pub(crate) fn is_touched_by(&self, hashes: &[u64]) -> bool {
        self.shard.windows.touched_any(self.id, |hash| hashes.binary_search(&hash).is_ok())
    }

    /// Whether the key with this hash may have been written since.
    pub(crate) fn is_touched_at(&self, key_hash: u64) -> bool {
        self.shard.windows.touched(self.id, key_hash)
    }

    /// The hashes of all keys that were written since, unless the window lost count.
    pub(crate) fn touched_keys(&self) -> Option<HashSet<u64>> {
        self.shard.windows.touched_keys(self.id)
    }
}

impl Drop for OpenWindow<'_> {
    fn drop(&mut self) {
        self.shard.windows.close(self.id);
    }
}

/// The number of an open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowId(u64);

/// The windows of one shard.
#[derive(Debug, Default)]
pub(crate) struct LoadWindows {
    /// How many are open, so that writers pass by without a lock when there is none.
    open: AtomicUsize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    windows: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    id: WindowId,
    hashes: HashSet<u64>,
    overflowed: bool,
}

impl LoadWindows {
    /// The hash by which windows know a physical key.
    pub(crate) fn key_hash(physical_key: &[u8]) -> u64 {
        hash(physical_key)
    }

    /// Opens a window. The caller holds the shard's gate exclusively.
    pub(crate) fn open(&self) -> WindowId {
        let mut inner = self.lock();
        let id = WindowId(inner.next);
        inner.next += 1;
        inner.windows.push(Window { id, hashes: HashSet::new(), overflowed: false });
        self.open.store(inner.windows.len(), Ordering::SeqCst);
        id
    }

    /// Notes that a small write is about to change the row of a physical key. The caller holds the gate shared.
    #[inline]
    pub(crate) fn record(&self, physical_key: &[u8]) {
        if self.open.load(Ordering::SeqCst) != 0 {
            self.record_hash(Self::key_hash(physical_key));
        }
    }

    #[cold]
    fn record_hash(&self, hash: u64) {
        for window in &mut self.lock().windows {
            if window.overflowed {
                continue;
            }
            window.hashes.insert(hash);
            if window.hashes.len() > KEYS_MAX {
                window.overflowed = true;
                window.hashes = HashSet::new();
            }
        }
    }

    /// Whether the row of a key with this hash may have been written since the window was opened.
    pub(crate) fn touched(&self, id: WindowId, key_hash: u64) -> bool {
        self.with(id, |window| window.overflowed || window.hashes.contains(&key_hash))
    }

    /// Whether anything at all was written since the window was opened.
    pub(crate) fn any_touched(&self, id: WindowId) -> bool {
        self.with(id, |window| window.overflowed || !window.hashes.is_empty())
    }

    /// Whether a row may have been written since the window was opened whose hash is one that `is_ours` knows.
    pub(crate) fn touched_any(&self, id: WindowId, is_ours: impl Fn(u64) -> bool) -> bool {
        self.with(id, |window| window.overflowed || window.hashes.iter().any(|hash| is_ours(*hash)))
    }

    /// What was written since the window was opened, unless it overflowed.
    fn touched_keys(&self, id: WindowId) -> Option<HashSet<u64>> {
        let inner = self.lock();
        let window = inner.windows.iter().find(|window| window.id == id)?;
        (!window.overflowed).then(|| window.hashes.clone())
    }

    /// Closes a window; closing it again does nothing.
    pub(crate) fn close(&self, id: WindowId) {
        let mut inner = self.lock();
        inner.windows.retain(|window| window.id != id);
        self.open.store(inner.windows.len(), Ordering::SeqCst);
    }

    /// A closed window knows nothing, so everything counts as touched.
    fn with(&self, id: WindowId, ask: impl FnOnce(&Window) -> bool) -> bool {
        self.lock().windows.iter().find(|window| window.id == id).is_none_or(ask)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_knows_the_keys_written_while_it_is_open() {
        let windows = LoadWindows::default();
        windows.record(b"before");
        let id = windows.open();
        assert!(!windows.any_touched(id));
        windows.record(b"during");
        assert!(windows.touched(id, LoadWindows::key_hash(b"during")));
        assert!(!windows.touched(id, LoadWindows::key_hash(b"before")));
        assert_eq!(windows.touched_keys(id), Some(HashSet::from([LoadWindows::key_hash(b"during")])));
    }

    #[test]
    fn a_window_that_overflows_calls_every_key_touched() {
        let windows = LoadWindows::default();
        let id = windows.open();
        for key in 0..=KEYS_MAX as u64 {
            windows.record(&key.to_be_bytes());
        }
        assert!(windows.touched(id, LoadWindows::key_hash(b"never written")));
        assert!(windows.touched_any(id, |_| false));
        assert_eq!(windows.touched_keys(id), None);
    }

    #[test]
    fn a_closed_window_costs_writers_nothing() {
        let windows = LoadWindows::default();
        let id = windows.open();
        windows.close(id);
        assert_eq!(windows.open.load(Ordering::SeqCst), 0);
    }
}
