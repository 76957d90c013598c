//! The counts of a bulk put, readable while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, RwLock, RwLockReadGuard};

use tonnage_engine::StoredRun;
use tonnage_engine::sync::{read, write};

use super::{Counts, StreamReport};

/// A window on a running bulk put. Clone it, give one to the options, look through the other. It
/// watches one bulk put only: give each its own.
#[derive(Clone, Default)]
pub struct Progress(Arc<ProgressCounts>);

#[derive(Default)]
struct ProgressCounts {
    has_begun: AtomicBool,
    streams: RwLock<Vec<StreamProgress>>,
    /// Of all streams together: what limits are judged by, however many streams there are.
    read: AtomicU64,
    failed: AtomicU64,
    replaced: AtomicU64,
}

#[derive(Default)]
struct StreamProgress {
    name: Arc<str>,
    read: AtomicU64,
    inserted: AtomicU64,
    existed: AtomicU64,
    overtaken: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    completed: AtomicBool,
}

impl Progress {
    /// The current counts of all streams together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for stream in self.streams().iter() {
            total.add(&stream.counts());
        }
        total
    }

    /// The current counts of each stream; empty before the load has begun.
    pub fn report(&self) -> Vec<StreamReport> {
        let streams = self.streams();
        streams.iter().enumerate().map(|(number, stream)| stream.report(number)).collect()
    }

    /// Takes over the counts of a load that runs elsewhere, on a server for example.
    pub fn follow(&self, reports: &[StreamReport]) {
        let followed = reports.iter().map(StreamProgress::of);
        *write(&self.0.streams) = followed.collect();
    }

    /// Begins a load of streams with these names; false when this progress already watched another
    /// load.
    pub(super) fn begin(&self, names: impl Iterator<Item = String>) -> bool {
        let is_fresh = !self.0.has_begun.swap(true, Relaxed);
        if is_fresh {
            names.for_each(|name| {
                self.add_stream(name);
            });
        }
        is_fresh
    }

    /// Takes in a further stream, and answers its number.
    pub(super) fn add_stream(&self, name: String) -> usize {
        let mut streams = write(&self.0.streams);
        streams.push(StreamProgress { name: name.into(), ..Default::default() });
        streams.len() - 1
    }

    pub(super) fn add_read(&self, stream: usize, entries: u64) {
        self.streams()[stream].read.fetch_add(entries, Relaxed);
        self.0.read.fetch_add(entries, Relaxed);
    }

    pub(super) fn add_bytes(&self, stream: usize, bytes: u64) {
        self.streams()[stream].bytes.fetch_add(bytes, Relaxed);
    }

    pub(super) fn add_stored(&self, stream: usize, run: StoredRun) {
        self.0.replaced.fetch_add(run.replaced, Relaxed);
        let stream = &self.streams()[stream];
        stream.inserted.fetch_add(run.inserted, Relaxed);
        stream.existed.fetch_add(run.replaced, Relaxed);
        stream.overtaken.fetch_add(run.overtaken, Relaxed);
    }

    pub(super) fn add_existed(&self, stream: usize) {
        self.streams()[stream].existed.fetch_add(1, Relaxed);
    }

    pub(super) fn add_failed(&self, stream: usize) {
        self.streams()[stream].failed.fetch_add(1, Relaxed);
        self.0.failed.fetch_add(1, Relaxed);
    }

    /// Notes that a stream is complete, and reports it.
    pub(super) fn complete(&self, stream: usize) -> Option<StreamReport> {
        let streams = self.streams();
        let progress = streams.get(stream)?;
        progress.completed.store(true, Relaxed);
        Some(progress.report(stream))
    }

    pub(super) fn name(&self, stream: usize) -> Arc<str> {
        self.streams().get(stream).map_or_else(|| "".into(), |stream| stream.name.clone())
    }

    /// The entries read of one stream.
    pub(super) fn read_of(&self, stream: usize) -> u64 {
        self.streams().get(stream).map_or(0, |stream| stream.read.load(Relaxed))
    }

    /// The entries read of all streams, and those of them that failed.
    pub(super) fn read_and_failed(&self) -> (u64, u64) {
        (self.0.read.load(Relaxed), self.0.failed.load(Relaxed))
    }

    /// The rows of all streams that others were stored over.
    pub(super) fn replaced(&self) -> u64 {
        self.0.replaced.load(Relaxed)
    }

    fn streams(&self) -> RwLockReadGuard<'_, Vec<StreamProgress>> {
        read(&self.0.streams)
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Progress").field(&self.total()).finish()
    }
}

impl StreamProgress {
    fn of(report: &StreamReport) -> Self {
        let Counts { read, inserted, existed, overtaken, failed, bytes } = report.counts;
        Self {
            name: report.name.as_str().into(),
            read: read.into(),
            inserted: inserted.into(),
            existed: existed.into(),
            overtaken: overtaken.into(),
            failed: failed.into(),
            bytes: bytes.into(),
            completed: report.completed.into(),
        }
    }

    fn report(&self, number: usize) -> StreamReport {
        let completed = self.completed.load(Relaxed);
        StreamReport {
            stream: number,
            name: self.name.to_string(),
            counts: self.counts(),
            completed,
        }
    }

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
