//! A background thread that no caller waits for. It compacts deleted ranges, and repeats drops of
//! spaces that the disk refused.

use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use rocksdb::{CompactOptions, DB};
use tonnage_engine::sync::lock;

use crate::rows_family::ROWS;
use crate::shard::Shard;

/// Something to do. It returns whether it is done.
type BackgroundTask = Box<dyn FnMut() -> bool + Send>;

/// How long after a task could not be done it is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// How many tasks may wait. One more is dropped: ordinary compaction gets there too, only later.
const TASKS_MAX: usize = 1_024;

/// A thread that does one task after another. The first task starts it.
#[derive(Default)]
pub(crate) struct RangeCompactor {
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    tasks: Sender<BackgroundTask>,
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
    pub(crate) fn add(&self, task: BackgroundTask) {
        let mut worker = lock(&self.worker);
        if worker.is_none() {
            *worker = Worker::start();
        }
        if let Some(worker) = &*worker {
            // Full or gone: see `TASKS_MAX`.
            let _ = worker.tasks.try_send(task);
        }
    }

    /// Stops the thread. Cancel running compactions first; tasks that wait are discarded.
    pub(crate) fn stop(&self) {
        let worker = lock(&self.worker).take();
        if let Some(Worker { tasks, thread }) = worker {
            drop(tasks);
            let _ = thread.join();
        }
    }
}

impl Worker {
    /// `None` if a thread cannot be spawned.
    fn start() -> Option<Self> {
        let (tasks, waiting) = crossbeam_channel::bounded(TASKS_MAX);
        let thread =
            Builder::new().name("tonnage-chores".to_owned()).spawn(move || work(&waiting)).ok()?;
        Some(Self { tasks, thread })
    }
}

fn work(waiting: &Receiver<BackgroundTask>) {
    let mut undone: Vec<BackgroundTask> = Vec::new();
    loop {
        let next = match undone.is_empty() {
            true => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => waiting.recv_timeout(RETRY_DELAY),
        };
        match next {
            Ok(mut task) => {
                if !task() {
                    undone.push(task);
                }
            }
            Err(RecvTimeoutError::Timeout) => undone.retain_mut(|task| !task()),
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
    fn a_task_that_cannot_be_done_is_tried_again() {
        let (tell, told) = mpsc::channel();
        let tasks = RangeCompactor::default();
        let mut tries = 0;
        let told_by_first = tell.clone();
        tasks.add(Box::new(move || {
            tries += 1;
            told_by_first.send(tries).unwrap();
            tries == 3
        }));
        tasks.add(Box::new(move || tell.send(100).is_ok()));
        let all: Vec<i32> = told.iter().take(4).collect();
        assert!(all.contains(&100), "the second task waits for none: {all:?}");
        assert_eq!(all.into_iter().filter(|told| *told != 100).collect::<Vec<_>>(), [1, 2, 3]);
        tasks.stop();
    }
}
