//! The yardstick: RocksDB itself, as a careful user would set it up.

use std::path::Path;
use std::thread;

use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, Options, WaitForCompactOptions, WriteBatch,
};

use crate::Outcome;
use crate::data::{Values, key};

const THREADS: u64 = 2;
const BATCH_ROWS: u64 = 1_000;
const CACHE_BYTES: usize = 6 << 30;

pub(crate) fn open(path: &Path) -> Outcome<DB> {
    let mut table = BlockBasedOptions::default();
    table.set_bloom_filter(10.0, false);
    table.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::Lz4);
    options.increase_parallelism(THREADS as i32);
    options.set_write_buffer_size(64 << 20);
    options.set_max_write_buffer_number(4);
    // Multi-get wants a handle, and a handle a family that was opened by name.
    Ok(DB::open_cf_with_opts(&options, path, [("default", options.clone())])?)
}

/// Puts rows with write batches from two threads and makes them durable.
pub(crate) fn put(db: &DB, rows: u64, values: &Values) -> Outcome {
    thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || put_part(db, thread, rows, values)))
            .collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("a writer panicked"))
    })?;
    db.flush_wal(true)?;
    Ok(())
}

fn put_part(db: &DB, thread: u64, rows: u64, values: &Values) -> Outcome {
    let (start, end) = (rows * thread / THREADS, rows * (thread + 1) / THREADS);
    let mut row = start;
    while row < end {
        let mut batch = WriteBatch::default();
        for row in row..end.min(row + BATCH_ROWS) {
            batch.put(key(row), values.of(row));
        }
        db.write(batch)?;
        row += BATCH_ROWS;
    }
    Ok(())
}

pub(crate) fn settle(db: &DB) -> Outcome {
    db.flush()?;
    Ok(db.wait_for_compact(&WaitForCompactOptions::default())?)
}

/// Gets rows with batched multi-get from two threads, each batch sorted. Tells how many were found.
pub(crate) fn get(db: &DB, rows: &[u64]) -> Outcome<u64> {
    let families: Vec<u64> = thread::scope(|scope| {
        let half = rows.len().div_ceil(THREADS as usize);
        let readers: Vec<_> =
            rows.chunks(half).map(|rows| scope.spawn(move || get_part(db, rows))).collect();
        readers
            .into_iter()
            .map(|reader| reader.join().expect("a reader panicked"))
            .collect::<Outcome<_>>()
    })?;
    Ok(families.iter().sum())
}

fn get_part(db: &DB, rows: &[u64]) -> Outcome<u64> {
    let family = db.cf_handle("default").ok_or("no default column family")?;
    let mut found = 0;
    for rows in rows.chunks(BATCH_ROWS as usize) {
        let mut keys: Vec<_> = rows.iter().map(|row| key(*row)).collect();
        keys.sort_unstable();
        for value in db.batched_multi_get_cf(&family, &keys, true) {
            found += u64::from(value?.is_some());
        }
    }
    Ok(found)
}
