//! Bulk calls.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tonnage::arrow::array::{Array, RecordBatch};
use tonnage::{
    BulkGetOptions, BulkPutOptions, Counts, EntryStream, KeySource as TableKeys, OnExisting,
    PairGetOptions, Progress, Result, Store, Table,
};

use super::feeds::{PairFeed, PairKeys, RecordFeed, RowFeed, RowKeys, SourceFailure};
use crate::system::{
    BulkDone, BulkOptions, KeySource, PairSource, RecordShape, RecordSource, RowSource,
};

/// How often the caller is told how far a put is.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

pub(super) fn put_records(
    store: &Store,
    shape: &RecordShape,
    sources: Vec<Box<dyn RecordSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let feed =
        |source| RecordFeed { shape: shape.clone(), table: shape.table.as_str().into(), source };
    put(store, sources.into_iter().map(|source| Box::new(feed(source)) as _).collect(), options)
}

pub(super) fn put_pairs(
    store: &Store,
    sources: Vec<Box<dyn PairSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    put(store, sources.into_iter().map(|source| Box::new(PairFeed(source)) as _).collect(), options)
}

pub(super) fn put_rows(
    store: &Store,
    table: &str,
    sources: Vec<Box<dyn RowSource>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let feed = |source| RowFeed { table: table.into(), source };
    put(store, sources.into_iter().map(|source| Box::new(feed(source)) as _).collect(), options)
}

pub(super) fn multi_put(
    store: &Store,
    rows: Vec<(String, RecordBatch)>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    with_progress(options, |options| Ok(store.multi_put(rows, options)?.report.total))
}

fn put(
    store: &Store,
    streams: Vec<Box<dyn EntryStream>>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    with_progress(options, |options| Ok(store.bulk_put(streams, options)?.total))
}

/// Runs a put and tells the caller meanwhile, from a thread beside it, how far it is.
fn with_progress(
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

pub(super) fn get_pairs(
    store: &Store,
    keys: Box<dyn KeySource>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let failure = SourceFailure::default();
    let keys = PairKeys { source: keys, failure: failure.clone() };
    let get = PairGetOptions {
        max_concurrent_requests: options.parallelism,
        memory_bytes_max: options.memory_bytes_max,
        ..PairGetOptions::default()
    };
    let mut done = BulkDone::default();
    for batch in store.kv().bulk_get_batches(keys, &get)? {
        let batch = batch?;
        count(&mut done, batch.len() as u64, batch.bytes() as u64, options);
    }
    failure.check()?;
    Ok(done)
}

pub(super) fn get_rows(
    table: &Table,
    keys: Box<dyn RowSource>,
    children: &[&str],
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for batch in
        table.bulk_get(TableKeys::batches(RowKeys(keys)), &get_options(children, options))?
    {
        let batch = batch?.rows;
        count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
    }
    Ok(done)
}

/// Gets from several tables in one call.
pub(super) fn multi_get(
    store: &Store,
    keys: Vec<(String, RecordBatch)>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for (_, batch) in store.multi_get(keys, &get_options(&[], options))? {
        let batch = batch?.rows;
        count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
    }
    Ok(done)
}

fn get_options(children: &[&str], options: &BulkOptions<'_>) -> BulkGetOptions {
    let defaults = BulkGetOptions::default();
    BulkGetOptions {
        max_concurrent_requests: options.parallelism,
        relatives: children.iter().map(|child| (*child).to_owned()).collect(),
        memory_bytes_max: options.memory_bytes_max.unwrap_or(defaults.memory_bytes_max),
        ..defaults
    }
}

fn count(done: &mut BulkDone, rows: u64, bytes: u64, options: &BulkOptions<'_>) {
    done.rows += rows;
    done.bytes += bytes;
    (options.progress)(rows, bytes);
}

/// The bytes of a batch's values, without spare room in its buffers.
fn bytes_of(batch: &RecordBatch) -> u64 {
    let bytes =
        batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    bytes.sum::<usize>() as u64
}
