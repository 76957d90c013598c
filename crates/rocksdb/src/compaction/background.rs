//! Work in the background that nobody waits for: giving back the space of what was removed, and
//! removing what the disk did not let remove before.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use rocksdb::{CompactOptions, DB};

use crate::rows_family::ROWS;
use crate::shard::Shard;

/// Something to do; it tells whether it is done.
type Chore = Box<dyn FnMut() -> bool + Send>;

/// How long after a chore could not be done it is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// How many chores may wait. One more is dropped: ordinary compaction gets there too, only later.
const WAITING_MAX: usize = 1_024;

/// A thread that does one chore after another; it is started by the first.
#[derive(Default)]
pub(crate) struct RangeCompactor {
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    chores: Sender<Chore>,
    thread: JoinHandle<()>,
}

impl RangeCompactor {
    /// Compacts the rows between two physical keys some time soon.
    pub(crate) fn compact(&self, shard: &Shard, start: &[u8], end: &[u8]) {
        let (db, start, end) = (shard.share_db(), start.to_vec(), end.to_vec());
        self.add(Box::new(move || {
            compact(&db, &start, &end);
            true
        }));
    }

    /// Does something some time soon, and again until it is done or the store is closed.
    pub(crate) fn add(&self, chore: Chore) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            *worker = Worker::start();
        }
        if let Some(worker) = &*worker {
            // Full or gone: see `WAITING_MAX`.
            let _ = worker.chores.try_send(chore);
        }
    }

    /// Ends the thread. What it is at must have been cancelled before; what waits is dropped.
    pub(crate) fn stop(&self) {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { chores, thread }) = worker {
            drop(chores);
            let _ = thread.join();
        }
    }
}

impl Worker {
    /// Nothing when the system has no thread to give.
    fn start() -> Option<Self> {
        let (chores, waiting) = crossbeam_channel::bounded(WAITING_MAX);
        let thread =
            Builder::new().name("tonnage-chores".to_owned()).spawn(move || work(&waiting)).ok()?;
        Some(Self { chores, thread })
    }
}

fn work(waiting: &Receiver<Chore>) {
    let mut undone: Vec<Chore> = Vec::new();
    loop {
        let next = match undone.is_empty() {
            true => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => waiting.recv_timeout(PAUSE),
        };
        match next {
            Ok(mut chore) => {
                if !chore() {
                    undone.push(chore);
                }
            }
            Err(RecvTimeoutError::Timeout) => undone.retain_mut(|chore| !chore()),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn compact(db: &Arc<DB>, start: &[u8], end: &[u8]) {
    let Some(rows) = db.cf_handle(ROWS) else { return };
    let mut options = CompactOptions::default();
    options.set_exclusive_manual_compaction(false);
    db.compact_range_cf_opt(rows, Some(start), Some(end), &options);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_chore_that_cannot_be_done_is_tried_again() {
        let (tell, told) = mpsc::channel();
        let chores = RangeCompactor::default();
        let mut tries = 0;
        let told_by_first = tell.clone();
        chores.add(Box::new(move || {
            tries += 1;
            told_by_first.send(tries).unwrap();
            tries == 3
        }));
        chores.add(Box::new(move || tell.send(100).is_ok()));
        let all: Vec<i32> = told.iter().take(4).collect();
        assert!(all.contains(&100), "the second chore waits for none: {all:?}");
        assert_eq!(all.into_iter().filter(|told| *told != 100).collect::<Vec<_>>(), [1, 2, 3]);
        chores.stop();
    }
}
