//! The counts of a bulk put, to be looked at while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use tonnage_engine::StoredRun;

use super::{Counts, StreamReport};

/// A window on a running bulk put. Clone it, give one to the options, look through the other.
#[derive(Clone, Default)]
pub struct Progress(Arc<OnceLock<Vec<StreamProgress>>>);

#[derive(Default)]
struct StreamProgress {
    name: String,
    read: AtomicU64,
    inserted: AtomicU64,
    existed: AtomicU64,
    overtaken: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    completed: AtomicBool,
}

impl Progress {
    /// The counts of all streams together, at this moment.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for stream in self.streams() {
            total.add(&stream.counts());
        }
        total
    }

    /// The counts of each stream, at this moment; empty before the load has begun.
    pub fn report(&self) -> Vec<StreamReport> {
        let report = |(number, stream): (usize, &StreamProgress)| StreamReport {
            stream: number,
            name: stream.name.clone(),
            counts: stream.counts(),
            completed: stream.completed.load(Relaxed),
        };
        self.streams().iter().enumerate().map(report).collect()
    }

    /// Begins a load of streams with these names; false when this progress already watched another load.
    pub(super) fn begin(&self, names: impl Iterator<Item = String>) -> bool {
        self.0.set(names.map(|name| StreamProgress { name, ..Default::default() }).collect()).is_ok()
    }

    pub(super) fn add_read(&self, stream: usize, entries: u64) -> u64 {
        self.streams()[stream].read.fetch_add(entries, Relaxed)
    }

    pub(super) fn add_bytes(&self, stream: usize, bytes: u64) {
        self.streams()[stream].bytes.fetch_add(bytes, Relaxed);
    }

    pub(super) fn add_stored(&self, run: StoredRun) {
        let stream = &self.streams()[run.stream as usize];
        stream.inserted.fetch_add(run.inserted, Relaxed);
        stream.existed.fetch_add(run.replaced, Relaxed);
        stream.overtaken.fetch_add(run.overtaken, Relaxed);
    }

    pub(super) fn add_existed(&self, stream: usize) {
        self.streams()[stream].existed.fetch_add(1, Relaxed);
    }

    pub(super) fn add_failed(&self, stream: usize) {
        self.streams()[stream].failed.fetch_add(1, Relaxed);
    }

    pub(super) fn complete(&self, stream: usize) {
        self.streams()[stream].completed.store(true, Relaxed);
    }

    fn streams(&self) -> &[StreamProgress] {
        self.0.get().map_or(&[], Vec::as_slice)
    }
}

impl StreamProgress {
    fn counts(&self) -> Counts {
        Counts {
            read: self.read.load(Relaxed),
            inserted: self.inserted.load(Relaxed),
            existed: self.existed.load(Relaxed),
            overtaken: self.overtaken.load(Relaxed),
            failed: self.failed.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
        }
    }
}
