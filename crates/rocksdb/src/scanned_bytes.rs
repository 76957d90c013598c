//! How many bytes scans have given of each space, so that spaces that are scanned often stay in the
//! cache.
//!
//! The first scans of a space leave nothing there. Filling the cache costs a scan half its time
//! again, and memory that a program that scans once would never use. Measured with 6 M rows of 150
//! bytes in 480 MB of files, processor time of a scan of four columns: 2.3 s past the cache, 3.7 s
//! while it fills, 1.6 s out of it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use tonnage_engine::SpaceId;
use tonnage_engine::sync::lock;

/// The bytes of keys and values that scans have given, by space, since the store was opened.
#[derive(Default)]
pub(crate) struct ScannedBytes {
    by_space: Mutex<HashMap<SpaceId, u64>>,
}

impl ScannedBytes {
    pub(crate) fn add(&self, space: SpaceId, bytes: usize) {
        *self.lock().entry(space).or_default() += bytes as u64;
    }

    pub(crate) fn of(&self, space: SpaceId) -> u64 {
        self.lock().get(&space).copied().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SpaceId, u64>> {
        lock(&self.by_space)
    }
}
