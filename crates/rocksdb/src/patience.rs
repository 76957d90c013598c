//! Writes to RocksDB that wait out a stall without blocking it.
//!
//! RocksDB stops writers while its memtables are full, and a stopped writer waits inside RocksDB, at the head of the queue of
//! writers. When the memtables are full because the disk was, nothing can be flushed before RocksDB has recovered from that
//! error, and its recovery has to pass the same queue: writer and recovery then wait for each other for ever. So no write waits
//! inside: RocksDB is told to refuse a write rather than stall it (`no_slowdown`), and the waiting is done out here.

use std::time::{Duration, Instant};

use rocksdb::{DB, Error, ErrorKind, WriteBatch, WriteOptions};

/// How long a stall may last before the write is given up.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Writes the batch that `make` makes, again and again while RocksDB stalls writes, for up to a minute.
pub(crate) fn write(db: &DB, sync: bool, make: impl Fn() -> WriteBatch) -> Result<(), Error> {
    let mut options = WriteOptions::default();
    options.set_sync(sync);
    options.set_no_slowdown(true);
    let mut stalled_since = None;
    let mut wait = FIRST_WAIT;
    loop {
        let Err(error) = db.write_opt(make(), &options) else { return Ok(()) };
        let since = *stalled_since.get_or_insert_with(Instant::now);
        if error.kind() != ErrorKind::Incomplete || since.elapsed() >= PATIENCE {
            return Err(error);
        }
        std::thread::sleep(wait);
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// The same for a batch that is there already.
pub(crate) fn write_batch(db: &DB, sync: bool, batch: &WriteBatch) -> Result<(), Error> {
    write(db, sync, || WriteBatch::from_data(batch.data()))
}
