//! Bulk calls: write batches and batched multi-gets from several threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use rocksdb::{ColumnFamily, DB, ReadOptions, WriteBatch};
use tonnage::{Durability, Error, Result};

use super::database::translate;
use super::record;
use crate::system::{BulkDone, BulkOptions, PairSource, Record, RecordSource};

/// Entries of one write batch, and keys of one multi-get.
const BATCH_ROWS: usize = 1_000;

/// What a bulk put reads from.
pub(super) enum PutSource {
    Records(Box<dyn RecordSource>),
    Pairs(Box<dyn PairSource>),
}

impl PutSource {
    /// Appends the next batch, keys and values each end to end. False when there are no more.
    fn next_batch(&mut self, keys: &mut Record, values: &mut Record) -> Result<bool> {
        let mut value = Vec::new();
        match self {
            PutSource::Pairs(source) => source.next_batch(&mut |key, value| {
                keys.push(key);
                values.push(value);
                Ok(())
            }),
            PutSource::Records(source) => source.next_batch(&mut |key, fields| {
                record::encode(fields.fields(), &mut value);
                keys.push(key.as_bytes());
                values.push(&value);
                Ok(())
            }),
        }
    }
}

/// Puts what the sources give, each source from a thread of its own as far as the parallelism asked
/// for allows.
pub(super) fn put(
    db: &DB,
    family: &ColumnFamily,
    sources: Vec<PutSource>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let threads = options.parallelism.unwrap_or(sources.len()).clamp(1, sources.len().max(1));
    let sources = Mutex::new(sources.into_iter());
    let done = side_by_side(threads, || {
        let (read, done) = (ReadOptions::default(), BulkDone::default());
        let mut writer = BatchWriter { db, family, options, read, done };
        loop {
            let source = sources.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(source) = source else { return Ok(writer.done) };
            writer.put(source)?;
        }
    })?;
    if options.durability == Durability::Fsync {
        db.flush_wal(true).map_err(translate)?;
    }
    Ok(done)
}

struct BatchWriter<'a> {
    db: &'a DB,
    family: &'a ColumnFamily,
    options: &'a BulkOptions<'a>,
    read: ReadOptions,
    done: BulkDone,
}

impl BatchWriter<'_> {
    fn put(&mut self, mut source: PutSource) -> Result<()> {
        let (mut keys, mut values) = (Record::default(), Record::default());
        while source.next_batch(&mut keys, &mut values)? {
            for first in (0..keys.len()).step_by(BATCH_ROWS) {
                self.write(&keys, &values, first..keys.len().min(first + BATCH_ROWS))?;
            }
            keys.clear();
            values.clear();
        }
        Ok(())
    }

    fn write(&mut self, keys: &Record, values: &Record, rows: Range<usize>) -> Result<()> {
        let read = rows.len() as u64;
        let bytes = |row: usize| (keys.field(row).len() + values.field(row).len()) as u64;
        let bytes = rows.clone().map(bytes).sum();
        let mut batch = WriteBatch::default();
        let mut put = |row| batch.put_cf(self.family, keys.field(row), values.field(row));
        if self.options.overwrite {
            rows.for_each(put);
        } else {
            self.absent(keys, rows)?.into_iter().for_each(&mut put);
        }
        let stored = batch.len() as u64;
        self.done.add(&BulkDone { rows: stored, existed: read - stored, failed: 0, bytes });
        self.db.write(batch).map_err(translate)?;
        (self.options.progress)(read, bytes);
        Ok(())
    }

    /// The rows whose keys are not stored yet, in key order; of equal keys the first. Keys that two
    /// sources give at the same moment may be stored by both.
    fn absent(&self, keys: &Record, rows: Range<usize>) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = rows.collect();
        order.sort_by_key(|row| keys.field(*row));
        order.dedup_by_key(|row| keys.field(*row));
        let sorted = order.iter().map(|row| keys.field(*row));
        let stored = self.db.batched_multi_get_cf_opt(self.family, sorted, true, &self.read);
        let mut absent = Vec::with_capacity(order.len());
        for (row, stored) in order.into_iter().zip(stored) {
            if stored.map_err(translate)?.is_none() {
                absent.push(row);
            }
        }
        Ok(absent)
    }
}

/// Gets pairs: each thread draws a batch of keys, sorts it, and looks it up a thousand at a time.
pub(super) fn get(
    db: &DB,
    family: &ColumnFamily,
    keys: Box<dyn PairSource>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let keys = Mutex::new(keys);
    side_by_side(options.parallelism.unwrap_or_else(tonnage::cores).max(1), || {
        let (read, mut done, mut batch) =
            (ReadOptions::default(), BulkDone::default(), Record::default());
        loop {
            batch.clear();
            let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
            let more = keys.next_batch(&mut |key, _| {
                batch.push(key);
                Ok(())
            })?;
            drop(keys);
            if !more {
                return Ok(done);
            }
            look_up(db, family, &batch, &read, options, &mut done)?;
        }
    })
}

fn look_up(
    db: &DB,
    family: &ColumnFamily,
    keys: &Record,
    read: &ReadOptions,
    options: &BulkOptions<'_>,
    done: &mut BulkDone,
) -> Result<()> {
    let mut sorted: Vec<&[u8]> = keys.fields().collect();
    sorted.sort_unstable();
    for keys in sorted.chunks(BATCH_ROWS) {
        let (mut rows, mut bytes) = (0, 0);
        let values = db.batched_multi_get_cf_opt(family, keys.iter().copied(), true, read);
        for (key, value) in keys.iter().zip(values) {
            if let Some(value) = value.map_err(translate)? {
                rows += 1;
                bytes += (key.len() + value.len()) as u64;
            }
        }
        done.count(rows, bytes, options);
    }
    Ok(())
}

/// Runs the same work on several threads and adds up what they did.
fn side_by_side(threads: usize, work: impl Fn() -> Result<BulkDone> + Sync) -> Result<BulkDone> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let mut done = BulkDone::default();
        for worker in workers {
            let panicked = || Error::internal("a thread of a bulk call panicked");
            done.add(&worker.join().map_err(|_| panicked())??);
        }
        Ok(done)
    })
}
