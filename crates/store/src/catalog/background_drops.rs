//! Drops spaces in the background that a write, a bulk put, a deadline or the disk held up.
//!
//! The thread lives as long as drops are pending. Each second it does those steps of a drop
//! ([`super::drops`]) that are possible by then. It holds the engine only briefly, so it keeps no
//! store open. The next opening does what the thread has left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{JoinHandle, current};
use std::time::Duration;

use tonnage_engine::sync::{get_mut, lock};
use tonnage_engine::{Deadline, Engine, ErrorKind, Result, SpaceId};

use super::pending_drops::PendingDrops;
use crate::index::WriteGate;

/// How long after a try the next one comes.
const PAUSE: Duration = Duration::from_secs(1);
/// How long one try may take: closing the store waits for it.
const TRY_TIME: Duration = Duration::from_secs(2);
/// How long writes and bulk puts are waited for at a time.
const STEP: Duration = Duration::from_millis(500);

/// The thread that drops what others could not.
pub(super) struct BackgroundDrops {
    shared: Arc<DropWorker>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct DropWorker {
    engine: Weak<dyn Engine>,
    gate: Arc<WriteGate>,
    pending_drops: Arc<PendingDrops>,
    /// Whether the thread will look again.
    running: Mutex<bool>,
    stopping: AtomicBool,
    /// Woken to stop.
    woken: Condvar,
}

impl BackgroundDrops {
    pub(super) fn new(
        engine: &Arc<dyn Engine>,
        gate: Arc<WriteGate>,
        pending_drops: Arc<PendingDrops>,
    ) -> Self {
        let shared = DropWorker {
            engine: Arc::downgrade(engine),
            gate,
            pending_drops,
            running: Mutex::new(false),
            stopping: AtomicBool::new(false),
            woken: Condvar::new(),
        };
        Self { shared: Arc::new(shared), thread: Mutex::default() }
    }

    /// Notified when a drop was cut short, and noted as such. Where no thread can be had it is left
    /// to the next opening.
    pub(super) fn begin(&self) {
        self.begin_after(PAUSE);
    }

    /// The same for drops that were not tried yet.
    pub(super) fn begin_at_once(&self) {
        self.begin_after(Duration::ZERO);
    }

    fn begin_after(&self, pause: Duration) {
        let mut running = self.shared.running();
        if !*running {
            let (shared, name) = (self.shared.clone(), "tonnage-drops".to_owned());
            let work = move || shared.work(pause);
            let thread = std::thread::Builder::new().name(name).spawn(work).ok();
            *running = thread.is_some();
            *lock(&self.thread) = thread;
        }
    }
}

impl Drop for BackgroundDrops {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Taken briefly, so that the thread does not look just before and wait just after.
        drop(self.shared.running());
        self.shared.woken.notify_all();
        let thread = get_mut(&mut self.thread).take();
        // What the thread holds of the engine may be the last of the store.
        if let Some(thread) = thread.filter(|it| it.thread().id() != current().id()) {
            let _ = thread.join();
        }
    }
}

impl DropWorker {
    fn running(&self) -> MutexGuard<'_, bool> {
        lock(&self.running)
    }

    fn work(&self, mut pause: Duration) {
        while self.pause(pause) {
            pause = PAUSE;
            self.check_writers();
            for space in self.pending_drops.cut_short() {
                // Held for this alone: a store is closed once its engine is not held any more.
                let Some(engine) = self.engine.upgrade().filter(|_| !self.is_stopping()) else {
                    return;
                };
                let drop_it = || drop_space(&*engine, space, Deadline::after(TRY_TIME));
                // A panic in one drop leaves the others their turn.
                if matches!(catch_unwind(AssertUnwindSafe(drop_it)), Ok(Ok(()))) {
                    self.pending_drops.remove(space);
                }
            }
        }
    }

    /// Notes for the spaces that were written to whether the writes have ended.
    fn check_writers(&self) {
        let ending = self.pending_drops.with_writers_ending();
        if !ending.is_empty() && self.gate.wait_for_writers_by(Deadline::after(STEP)) {
            self.pending_drops.note_writers_gone(ending.iter());
        }
        let mut patience = STEP;
        for space in self.pending_drops.without_writers() {
            match self.gate.wait_for_loads(space, patience, || self.is_stopping()) {
                Ok(()) => self.pending_drops.note_cut_short(space),
                // Others wait for loads too, one at a time.
                Err(_) => patience = Duration::ZERO,
            }
        }
    }

    /// Waits until it is time for another try. False when none is to come.
    fn pause(&self, pause: Duration) -> bool {
        let waited = self.woken.wait_timeout_while(self.running(), pause, |_| !self.is_stopping());
        let mut running = waited.unwrap_or_else(PoisonError::into_inner).0;
        *running = !self.is_stopping() && self.pending_drops.has_droppable();
        *running
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// Drops a space that may be gone already.
pub(super) fn drop_space(engine: &dyn Engine, space: SpaceId, deadline: Deadline) -> Result<()> {
    match engine.drop_space_by(space, deadline) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        dropped => dropped,
    }
}
