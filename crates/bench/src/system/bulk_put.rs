//! Bulk puts into Tonnage, wherever it is: what it is fed, and how far it is meanwhile.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tonnage::{BulkPutOptions, Counts, EntryStream, OnExisting, Progress, Result};

use super::feeds::{PairFeed, RecordFeed, RowFeed};
use super::{BulkDone, BulkOptions, PairSource, RecordShape, RecordSource, RowSource};

/// Puts streams, and counts what became of their entries.
pub(super) type Put<'p> = dyn Fn(Vec<Box<dyn EntryStream>>, &BulkPutOptions) -> Result<Counts> + 'p;

/// How often the caller is told how far a put is.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

pub(super) fn put_records(
    put: &Put<'_>,
    shape: &RecordShape,
    sources: Vec<Box<dyn RecordSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let feed =
        |source| RecordFeed { shape: shape.clone(), table: shape.table.as_str().into(), source };
    run(put, sources.into_iter().map(|source| Box::new(feed(source)) as _).collect(), options)
}

pub(super) fn put_pairs(
    put: &Put<'_>,
    sources: Vec<Box<dyn PairSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    run(put, sources.into_iter().map(|source| Box::new(PairFeed(source)) as _).collect(), options)
}

pub(super) fn put_rows(
    put: &Put<'_>,
    table: &str,
    sources: Vec<Box<dyn RowSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let feed = |source| RowFeed { table: table.into(), source };
    run(put, sources.into_iter().map(|source| Box::new(feed(source)) as _).collect(), options)
}

fn run(
    put: &Put<'_>,
    streams: Vec<Box<dyn EntryStream>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    with_progress(options, |options| put(streams, options))
}

/// Runs a put and tells the caller meanwhile, from a thread beside it, how far it is.
pub(super) fn with_progress(
    options: &BulkOptions<'_>,
    put: impl FnOnce(&BulkPutOptions) -> Result<Counts>,
) -> Result<BulkDone> {
    let progress = Progress::default();
    let put_options = BulkPutOptions { progress: Some(progress.clone()), ..put_options(options) };
    let is_over = AtomicBool::new(false);
    let counts = thread::scope(|scope| {
        let teller = scope.spawn(|| tell(&progress, options, &is_over));
        let _end = EndOfPut { is_over: &is_over, teller: teller.thread().clone() };
        put(&put_options)
    })?;
    Ok(done(&counts, options.overwrite))
}

/// Ends the teller however a put ends, even in a panic: the scope waits for it.
struct EndOfPut<'a> {
    is_over: &'a AtomicBool,
    teller: thread::Thread,
}

impl Drop for EndOfPut<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        self.teller.unpark();
    }
}

fn tell(progress: &Progress, options: &BulkOptions<'_>, is_over: &AtomicBool) {
    let mut told = Counts::default();
    loop {
        // Asked for before the counts are read, so that the last ones are told.
        let is_last = is_over.load(Relaxed);
        let now = progress.total();
        (options.progress)(now.read - told.read, now.bytes - told.bytes);
        if is_last {
            return;
        }
        told = now;
        thread::park_timeout(PROGRESS_EVERY);
    }
}

fn put_options(options: &BulkOptions<'_>) -> BulkPutOptions {
    BulkPutOptions {
        stream_parallelism: options.parallelism,
        per_shard_parallelism: options.parallelism,
        memory_bytes_max: options.memory_bytes_max,
        durability: options.durability,
        on_existing: if options.overwrite { OnExisting::BlindReplace } else { OnExisting::Keep },
        ..BulkPutOptions::default()
    }
}

/// Where entries are overwritten, all of them count as inserted.
fn done(counts: &Counts, overwrite: bool) -> BulkDone {
    let (stored, existed) =
        if overwrite { (counts.inserted, 0) } else { (counts.inserted, counts.existed) };
    BulkDone { rows: stored, existed, failed: counts.failed, bytes: counts.bytes }
}
