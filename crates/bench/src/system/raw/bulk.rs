//! Bulk calls: write batches and batched multi-gets from several threads.

use std::ops::Range;
use std::thread;

use parking_lot::Mutex;
use rocksdb::{ColumnFamily, DB, WriteBatch};
use tonnage::{Durability, Error, Result};

use super::database::translate;
use crate::system::{BatchSource, BulkDone, BulkOptions, PairSource, Record};

/// Entries of one write batch, and keys of one multi-get.
const BATCH_ROWS: usize = 1_000;

/// The bytes to store, which may be made in a buffer.
pub(super) type StoredValue<V> = for<'a> fn(&'a V, &'a mut Vec<u8>) -> &'a [u8];

/// A bulk call on a column family.
pub(super) struct RawBulkCall<'a> {
    pub(super) db: &'a DB,
    pub(super) family: &'a ColumnFamily,
    pub(super) options: &'a BulkOptions<'a>,
}

impl RawBulkCall<'_> {
    /// Puts what the sources give, each source from a thread of its own as far as the parallelism
    /// asked for allows.
    pub(super) fn put<V: ?Sized + 'static>(
        &self,
        sources: Vec<Box<dyn BatchSource<V>>>,
        value: StoredValue<V>,
    ) -> Result<BulkDone> {
        let sources_max = sources.len().max(1);
        let threads = self.options.parallelism.unwrap_or(sources_max).clamp(1, sources_max);
        let sources = Mutex::new(sources.into_iter());
        let done = side_by_side(threads, || {
            let mut done = BulkDone::default();
            loop {
                let Some(source) = sources.lock().next() else { return Ok(done) };
                self.put_from(source, value, &mut done)?;
            }
        })?;
        if self.options.durability == Durability::Fsync {
            self.db.flush_wal(true).map_err(translate)?;
        }
        Ok(done)
    }

    fn put_from<V: ?Sized>(
        &self,
        mut source: Box<dyn BatchSource<V>>,
        value: StoredValue<V>,
        done: &mut BulkDone,
    ) -> Result<()> {
        let (mut keys, mut values, mut buffer) = (Record::default(), Record::default(), Vec::new());
        while source.next_batch(&mut |key, entry| {
            keys.push(key);
            values.push(value(entry, &mut buffer));
            Ok(())
        })? {
            for first in (0..keys.len()).step_by(BATCH_ROWS) {
                self.write(&keys, &values, first..keys.len().min(first + BATCH_ROWS), done)?;
            }
            keys.clear();
            values.clear();
        }
        Ok(())
    }

    fn write(
        &self,
        keys: &Record,
        values: &Record,
        rows: Range<usize>,
        done: &mut BulkDone,
    ) -> Result<()> {
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
        done.add(&BulkDone { rows: stored, existed: read - stored, failed: 0, bytes });
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
        let stored = self.db.batched_multi_get_cf(self.family, sorted, true);
        let mut absent = Vec::with_capacity(order.len());
        for (row, stored) in order.into_iter().zip(stored) {
            if stored.map_err(translate)?.is_none() {
                absent.push(row);
            }
        }
        Ok(absent)
    }

    /// Gets pairs: each thread draws a batch of keys, sorts it, and looks it up a thousand at a
    /// time.
    pub(super) fn get(&self, keys: PairSource) -> Result<BulkDone> {
        let keys = Mutex::new(keys);
        let threads = self.options.parallelism.unwrap_or_else(tonnage::cores).max(1);
        side_by_side(threads, || {
            let (mut done, mut batch) = (BulkDone::default(), Record::default());
            loop {
                batch.clear();
                let mut keys = keys.lock();
                let more = keys.next_batch(&mut |key, _| {
                    batch.push(key);
                    Ok(())
                })?;
                drop(keys);
                if !more {
                    return Ok(done);
                }
                self.look_up(&batch, &mut done)?;
            }
        })
    }

    fn look_up(&self, keys: &Record, done: &mut BulkDone) -> Result<()> {
        let mut sorted: Vec<&[u8]> = keys.fields().collect();
        sorted.sort_unstable();
        for keys in sorted.chunks(BATCH_ROWS) {
            let (mut rows, mut bytes) = (0, 0);
            let values = self.db.batched_multi_get_cf(self.family, keys.iter().copied(), true);
            for (key, value) in keys.iter().zip(values) {
                if let Some(value) = value.map_err(translate)? {
                    rows += 1;
                    bytes += (key.len() + value.len()) as u64;
                }
            }
            done.count(rows, bytes, self.options);
        }
        Ok(())
    }
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
