//! Load windows: what small writes touch while a load is under way.
//!
//! A load gathers its rows long before it stores them, and must not lose what others write in
//! between. So the load opens a *window* on each shard, and asks at the end which of its keys were
//! touched meanwhile.
//!
//! 1. A small write holds the gate shared, draws its version, notes its keys if any window is open,
//!    and then commits.
//! 2. A window can be opened in two ways. With the gate held exclusively
//!    ([`OpenWindow::open_by`](crate::open_window::OpenWindow::open_by)), every write is either
//!    committed or will be noted. Without the gate
//!    ([`OpenWindow::open_early`](crate::open_window::OpenWindow::open_early)), every write will be
//!    noted whose version is greater than one that is drawn afterwards. That is enough for a load
//!    whose entries lose to greater versions only.
//! 3. The load takes the gate exclusively before it ingests. What it asks for then is complete.
//!
//! All windows of a shard share one book: the hash of each key touched, with the count of its last
//! note. A window has seen the notes above the count at which it was opened. So a write pays once,
//! however many windows are open.
//!
//! - The book forgets what no window can ask for.
//! - It is kept in parts, by hash. A part that would still grow past its share of [`KEYS_MAX`]
//!   forgets everything. Each of its keys then counts as touched, and as judged by no condition,
//!   for the windows that are open at that time.
//! - A key also counts as touched if another one with the same hash was. That costs the load a look
//!   at the stored row, never a wrong answer.
//!
//! The book also says which writes were *judged*: carried out on a condition, and so without what
//! loads had not stored yet. Such a write is noted a second time under its key and its version. A
//! load that keeps existing rows is noted under its version.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use tonnage_engine::placement_hash;
use tonnage_engine::sync::lock;

/// How many notes the book of a shard holds before it forgets them: some 32 MiB.
const KEYS_MAX: usize = 1 << 20;
/// Each part of the book has a lock of its own.
const PARTS: usize = 16;

/// The windows of one shard.
#[derive(Debug, Default)]
pub(crate) struct LoadWindows {
    /// How many are open, so that writers pass by without a lock when there is none.
    open: AtomicUsize,
    /// At which count each of them was opened.
    starts: Mutex<Vec<u64>>,
    /// Counts the notes.
    count: AtomicU64,
    parts: [Mutex<WindowPart>; PARTS],
}

/// A part of the book.
#[derive(Debug, Default)]
struct WindowPart {
    /// The count of the last note of each hash.
    notes: HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>,
    /// Notes up to this count may have been forgotten.
    forgotten: u64,
}

impl LoadWindows {
    /// The hash by which windows know a physical key.
    pub(crate) fn key_hash(physical_key: &[u8]) -> u64 {
        placement_hash(physical_key)
    }

    /// Notes that a row is about to change. The caller holds the gate.
    #[inline]
    pub(crate) fn record(&self, physical_key: &[u8]) {
        if self.open.load(Ordering::SeqCst) != 0 {
            self.note(Self::key_hash(physical_key));
        }
    }

    /// Notes that a row is about to be stored with this version on a condition that was judged by
    /// what is stored.
    #[inline]
    pub(crate) fn record_judged(&self, physical_key: &[u8], version: u64) {
        if self.open.load(Ordering::SeqCst) != 0 {
            self.note(judged_key(Self::key_hash(physical_key), version));
        }
    }

    /// Whether the row with this key and version is known to have been stored on a condition since
    /// the count.
    pub(crate) fn was_judged(&self, count: u64, physical_key: &[u8], version: u64) -> bool {
        self.has_note(count, judged_key(Self::key_hash(physical_key), version))
            || self.has_note(count, judged_version(version))
    }

    /// The same for all rows of a version.
    pub(crate) fn record_judged_version(&self, version: u64) {
        if self.open.load(Ordering::SeqCst) != 0 {
            self.note(judged_version(version));
        }
    }

    #[cold]
    fn note(&self, hash: u64) {
        let mut part = self.part(hash);
        // Counted under the lock: what is forgotten is then never newer than what is kept.
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        part.notes.insert(hash, count);
        if part.notes.len() > KEYS_MAX / PARTS {
            part.forget(self.oldest_start(), count);
        }
    }

    /// Opens a window: the answer is where it starts.
    pub(crate) fn open(&self) -> u64 {
        let mut starts = self.starts();
        let start = self.count();
        starts.push(start);
        self.open.store(starts.len(), Ordering::SeqCst);
        start
    }

    /// Closes a window that started there.
    pub(crate) fn close(&self, start: u64) {
        let mut starts = self.starts();
        if let Some(place) = starts.iter().position(|other| *other == start) {
            starts.swap_remove(place);
        }
        self.open.store(starts.len(), Ordering::SeqCst);
        let is_last = starts.is_empty();
        drop(starts);
        if is_last {
            for part in &self.parts {
                let mut part = lock(part);
                part.keep_since(self.oldest_start());
            }
        }
    }

    /// Where the oldest open window starts; where the next one would, when there is none.
    fn oldest_start(&self) -> u64 {
        let starts = self.starts();
        starts.iter().min().copied().unwrap_or_else(|| self.count())
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Whether the row of a key with this hash may have been written since.
    pub(crate) fn touched(&self, start: u64, hash: u64) -> bool {
        let part = self.part(hash);
        part.forgotten > start || part.notes.get(&hash).is_some_and(|count| *count > start)
    }

    /// Whether this was noted since, as far as the book can tell.
    pub(crate) fn has_note(&self, start: u64, hash: u64) -> bool {
        self.part(hash).notes.get(&hash).is_some_and(|count| *count > start)
    }

    /// Whether a row may have been written since whose hash is one that `is_ours` knows.
    pub(crate) fn touched_any(&self, start: u64, is_ours: impl Fn(u64) -> bool) -> bool {
        self.parts.iter().any(|part| {
            let part = lock(part);
            part.forgotten > start
                || part.notes.iter().any(|(hash, count)| *count > start && is_ours(*hash))
        })
    }

    fn part(&self, hash: u64) -> MutexGuard<'_, WindowPart> {
        lock(&self.parts[(hash >> 32) as usize % PARTS])
    }

    /// Taken after the lock of a part, never before.
    fn starts(&self) -> MutexGuard<'_, Vec<u64>> {
        lock(&self.starts)
    }
}

impl WindowPart {
    /// Makes room: forgets what no window asks for, and everything when that is too little.
    fn forget(&mut self, oldest_start: u64, now: u64) {
        self.keep_since(oldest_start);
        if self.notes.len() > KEYS_MAX / PARTS / 4 * 3 {
            self.notes = HashMap::default();
            self.forgotten = now;
        }
    }

    fn keep_since(&mut self, start: u64) {
        self.notes.retain(|_, count| *count > start);
        self.notes.shrink_to_fit();
    }
}

/// Under what the book notes a row that was stored on a condition.
fn judged_key(key_hash: u64, version: u64) -> u64 {
    key_hash.rotate_left(17) ^ judged_version(version)
}

/// Under what the book notes that all rows of a version were. Every bit of a version moves every
/// bit of this (the finaliser of splitmix64), so that it is as good as a hash.
fn judged_version(version: u64) -> u64 {
    let mixed = version.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The hash of what is a hash already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn touched(windows: &LoadWindows, start: u64, key: &[u8]) -> bool {
        windows.touched(start, LoadWindows::key_hash(key))
    }

    #[test]
    fn a_window_knows_the_keys_written_while_it_is_open() {
        let windows = LoadWindows::default();
        windows.record(b"before");
        let start = windows.open();
        assert_eq!(windows.count(), start);
        windows.record(b"during");
        assert!(touched(&windows, start, b"during"));
        assert!(!touched(&windows, start, b"before"));
        assert!(windows.touched_any(start, |hash| hash == LoadWindows::key_hash(b"during")));
    }

    #[test]
    fn a_window_does_not_know_what_was_written_before_it_beside_another() {
        let windows = LoadWindows::default();
        let first = windows.open();
        windows.record(b"between");
        let second = windows.open();
        assert!(touched(&windows, first, b"between"));
        assert!(!touched(&windows, second, b"between"));
        windows.record(b"between");
        assert!(touched(&windows, second, b"between"));
    }

    #[test]
    fn only_what_was_judged_is_known_as_judged() {
        let windows = LoadWindows::default();
        let start = windows.open();
        let judged = |key: &[u8], version| {
            windows.has_note(start, judged_key(LoadWindows::key_hash(key), version))
        };
        windows.record_judged(b"key", 7);
        assert!(judged(b"key", 7) && !judged(b"key", 8) && !judged(b"other", 7));
        windows.record_judged_version(9);
        assert!(
            windows.has_note(start, judged_version(9))
                && !windows.has_note(start, judged_version(7))
        );
    }

    #[test]
    fn a_book_that_is_full_calls_every_key_touched_and_none_judged() {
        let windows = LoadWindows::default();
        let start = windows.open();
        windows.record_judged_version(1);
        for key in 0..=2 * KEYS_MAX as u64 {
            windows.record(&key.to_be_bytes());
        }
        assert!(touched(&windows, start, b"never written"));
        assert!(windows.touched_any(start, |_| false));
        assert!(!windows.has_note(start, judged_version(1)));
        let next = windows.open();
        assert!(
            !touched(&windows, next, b"never written"),
            "a window opened since knows what it needs"
        );
    }

    #[test]
    fn a_full_book_forgets_what_no_window_asks_for_first() {
        let windows = LoadWindows::default();
        let old = windows.open();
        for key in 0..KEYS_MAX as u64 / 2 {
            windows.record(&key.to_be_bytes());
        }
        let start = windows.open();
        windows.close(old);
        for key in 0..KEYS_MAX as u64 / 2 + KEYS_MAX as u64 / 10 {
            windows.record(&(key + KEYS_MAX as u64).to_be_bytes());
        }
        assert!(!touched(&windows, start, b"never written"));
        assert!(touched(&windows, start, &(KEYS_MAX as u64).to_be_bytes()));
    }

    #[test]
    fn a_closed_window_costs_writers_nothing_and_keeps_nothing() {
        let windows = LoadWindows::default();
        let start = windows.open();
        windows.record(b"key");
        windows.close(start);
        assert_eq!(windows.open.load(Ordering::SeqCst), 0);
        assert!(windows.parts.iter().all(|part| part.lock().unwrap().notes.is_empty()));
    }
}
