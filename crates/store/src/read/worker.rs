//! The worker threads of a bulk read.
//!
//! A worker whose scan is paused ends its thread, and the scan releases what it holds of the engine
//! ([`paused_scans`](super::paused_scans)).

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, select};
use tonnage_engine::{Error, NEVER_MS, ReadOptions, Result, Rows, Slices};

use crate::read::job::ReadJob;
use crate::read::open_scan::OpenScan;
use crate::read::paused_scans::{PausableScan, PausedScans};
use crate::read::piece_sender::PieceSender;
use crate::read::plan::{BatchSize, ReadPlan, Shaper};
use crate::read::task::ReadTask;

/// A worker, on any thread.
pub(crate) struct ReadWorker<S: Shaper> {
    pub(crate) plan: Arc<ReadPlan<S>>,
    pub(crate) jobs: [Receiver<ReadJob<S::Output>>; 2],
    pub(crate) stop: Receiver<()>,
    pub(crate) paused: Arc<PausedScans<S>>,
}

impl<S: Shaper> Clone for ReadWorker<S> {
    fn clone(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            jobs: self.jobs.clone(),
            stop: self.stop.clone(),
            paused: self.paused.clone(),
        }
    }
}

impl<S: Shaper> ReadWorker<S> {
    /// Starts a thread that works, first on a scan that was paused. `None` if no thread can be had:
    /// then that scan is over, and the caller lets the reader know.
    pub(crate) fn spawn(&self, scan: Option<PausableScan<S>>) -> Option<JoinHandle<()>> {
        let worker = self.clone();
        std::thread::Builder::new().spawn(move || worker.work(scan)).ok()
    }

    /// Continues a scan that was paused. Then takes jobs from either queue until there are no more,
    /// the reader is gone, or a scan is paused.
    pub(crate) fn work(&self, scan: Option<PausableScan<S>>) {
        if let Some(scan) = scan
            && !self.run_scan(scan)
        {
            return;
        }
        let [first, second] = &self.jobs;
        loop {
            // A queue whose sender is gone may still hold jobs, and so may the other: only both at
            // their end are the end.
            let job = select! {
                recv(first) -> job => job.or_else(|_| second.recv()),
                recv(second) -> job => job.or_else(|_| first.recv()),
                recv(self.stop) -> _ => return,
            };
            let Ok(ReadJob { task, results }) = job else { return };
            if !self.run_task(&task, PieceSender::to(results)) {
                return;
            }
        }
    }

    /// False when the scan was paused: then the worker ends.
    fn run_task(&self, task: &ReadTask, mut sender: PieceSender<S::Output>) -> bool {
        let plan = &*self.plan;
        match catch_panic(|| OpenScan::of(plan, task)) {
            Ok(Some(scan)) => self.run_scan(PausableScan::new(scan, sender)),
            Ok(None) => {
                let mut emit = |piece| {
                    let is_cut = plan.cuts(&piece);
                    sender.send(Ok(plan.ahead.count_piece(piece)), is_cut)
                };
                if let Err(error) = catch_panic(|| read_task(plan, task, &mut emit)) {
                    // A reader that is gone does not want to hear of it.
                    let _ = sender.send(Err(error), false);
                }
                true
            }
            Err(error) => {
                let _ = sender.send(Err(error), false);
                true
            }
        }
    }

    /// Reads a scan to its end. False when it was paused: then the worker ends.
    fn run_scan(&self, mut scan: PausableScan<S>) -> bool {
        loop {
            match catch_panic(|| scan.read_until_paused(&self.plan, &self.paused)) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    scan.fail(error);
                    return true;
                }
            }
            match self.paused.pause(scan) {
                Some(ready) => scan = ready,
                None => return false,
            }
        }
    }
}

/// Runs a step; a panic in it becomes an error.
pub(crate) fn catch_panic<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    tonnage_engine::catch_panic(step, |_| {
        Error::internal("a reading thread panicked: report it with the store's log")
    })
}

/// Reads what a task asks for, until it is done or `emit` answers that no reader wants more.
pub(crate) fn read_task<S: Shaper>(
    plan: &ReadPlan<S>,
    task: &ReadTask,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    match (task.plain(), OpenScan::of(plan, task)?) {
        (ReadTask::Entries { keys, is_exact: true, .. }, _) => {
            emit_keys(plan, keys, plan.shaper.begin(task), emit)
        }
        (ReadTask::Keys(keys) | ReadTask::Entries { keys, .. }, _) => {
            read_keys(plan, keys, plan.shaper.begin(task), emit)
        }
        (_, Some(scan)) => read_scan(plan, scan, emit),
        (_, None) => Ok(()),
    }
}

/// Hands over keys whose rows need not be read.
fn emit_keys<S: Shaper>(
    plan: &ReadPlan<S>,
    keys: &Slices,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    plan.control.check()?;
    let count = keys.len();
    let mut rows = Rows {
        keys: keys.clone(),
        values: Slices::from_parts(Vec::new(), vec![0; count]),
        versions: vec![0; count],
        expiries_ms: vec![NEVER_MS; count],
        origins: (0..count as u32).collect(),
    };
    plan.control.progress.note_batch(count, rows.bytes());
    plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, emit)
}

/// Keys handed to the engine at once before it is known how many of them fill a batch.
const FIRST_READ_KEYS: usize = 256;

/// Looks keys up and emits what the shaper makes of the rows: a batch at a time, so that what is in
/// memory stays within the bytes of a batch, however large the rows are.
fn read_keys<S: Shaper>(
    plan: &ReadPlan<S>,
    keys: &Slices,
    mut memory: S::Memory,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let mut rows = Rows::new();
    let (mut first, mut wanted) = (0, true);
    let mut count = FIRST_READ_KEYS;
    while wanted && first < keys.len() {
        plan.control.check()?;
        let most = plan.batch_max(BatchSize::Full);
        let end = keys.len().min(first + count.min(most.rows));
        let options = ReadOptions {
            projection: plan.projection,
            keys: first..end,
            bytes_max: most.bytes,
            deadline: plan.scan.deadline,
        };
        let taken = plan.engine.read_some(plan.space, keys, &options, &mut rows)?;
        // The engine looks at all keys that it is handed, so it gets about as many as it will take.
        count = (taken * 2).max(FIRST_READ_KEYS);
        first += taken;
        // All of these keys may be missing, and shapers count on one row at least.
        if !rows.is_empty() {
            plan.control.progress.note_batch(rows.len(), rows.bytes());
            plan.shaper.shape(&*plan.engine, &mut rows, &mut memory, &mut |batch| {
                wanted = emit(batch);
                wanted
            })?;
        }
    }
    if wanted { plan.shaper.end(&*plan.engine, memory, emit) } else { Ok(()) }
}

fn read_scan<S: Shaper>(
    plan: &ReadPlan<S>,
    mut scan: OpenScan<S>,
    emit: &mut dyn FnMut(S::Output) -> bool,
) -> Result<()> {
    let (mut rows, mut wanted) = (Rows::new(), true);
    while wanted && !scan.is_over() {
        scan.read(plan, BatchSize::Full, &mut rows, &mut |batch| {
            wanted = emit(batch);
            wanted
        })?;
    }
    Ok(())
}
