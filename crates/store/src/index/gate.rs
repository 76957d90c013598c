//! What keeps writers, loads and changes of indexes from missing each other.
//!
//! - Every write of rows holds a [`Pass`] from before it looks up the indexes of its table until it is stored. Whoever changes the
//!   list of indexes publishes the change and then waits until all passes given out before are back.
//! - A load stores entries before rows. Would a write remove an entry in between, because it changes a row with the same
//!   entry, the row of the load could be left without. So while a load is open no write removes entries: those it
//!   leaves behind are stale, which readers notice.
//!
//! ```text
//! load                                   write
//! stores entry (red, 7)
//!                                        deletes row 7, which is red, and would remove entry (red, 7)
//! stores row 7, red: without its entry
//! ```
//!
//! - A load that began before an index was made holds rows without entries. It learns of the index with its next batch; what it
//!   pushed before must be stored before the index is built, so the builder asks it to flush ([`WriteGate::wait_for_loads`]).

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use tonnage_engine::{Error, Result};

/// Each thread keeps to one slot, so that writers on several cores do not share a cache line.
const SLOTS: usize = 16;

/// How often a builder looks whether a load has flushed.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A slot of the gate: how many loads are open. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot(RwLock<usize>);

/// The gate of one store.
#[derive(Debug, Default)]
pub(crate) struct WriteGate {
    slots: [Slot; SLOTS],
    loads: Mutex<Vec<Arc<Load>>>,
    /// Held by whoever waits for loads: one at a time moves their epochs.
    waiting: Mutex<()>,
}

/// What a writer holds while it writes.
pub(crate) struct Pass<'a>(RwLockReadGuard<'a, usize>);

impl Pass<'_> {
    /// Whether a load is open, so that no entries may be removed.
    pub(crate) fn sees_loads(&self) -> bool {
        *self.0 > 0
    }
}

/// What whoever keeps all writers out holds.
pub(crate) struct Shut<'a> {
    _slots: Vec<RwLockWriteGuard<'a, usize>>,
}

/// A load as those who make indexes see it.
#[derive(Debug, Default)]
struct Load {
    /// Goes up when someone has to know which pushes looked indexes up before.
    epoch: AtomicU64,
    /// The pushes under way that began in even and in odd epochs.
    pushing: [AtomicUsize; 2],
    /// The epoch up to which a flush is wanted, and that up to which one is done.
    flush_wanted: AtomicU64,
    flush_done: AtomicU64,
    ended: AtomicBool,
}

/// A push under way.
pub(crate) struct Pushing<'a> {
    load: &'a Load,
    epoch: u64,
}

/// A load under way; dropping it tells the gate.
pub(crate) struct OpenLoad<'a> {
    gate: &'a WriteGate,
    load: Arc<Load>,
}

impl WriteGate {
    /// Lets a writer in.
    #[inline]
    pub(crate) fn enter(&self) -> Pass<'_> {
        Pass(self.slots[own_slot()].0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until every pass that was given out before is back.
    pub(crate) fn wait_for_writers(&self) {
        self.visit_slots(|_| {});
    }

    /// Keeps all writers out, and loads from being opened, for as long as the answer lives. Nothing while a load is open.
    pub(crate) fn shut(&self) -> Option<Shut<'_>> {
        let slots: Vec<_> = self.slots.iter().map(|slot| slot.0.write().unwrap_or_else(PoisonError::into_inner)).collect();
        slots.iter().all(|loads| **loads == 0).then_some(Shut { _slots: slots })
    }

    /// Opens a load. No write removes entries from now on until it ends.
    pub(crate) fn open_load(&self) -> OpenLoad<'_> {
        let load = Arc::new(Load::default());
        self.lock_loads().push(load.clone());
        self.visit_slots(|loads| *loads += 1);
        OpenLoad { gate: self, load }
    }

    /// Waits until every load that is open now has stored what it pushed before it could know of a new index.
    ///
    /// # Errors
    /// `Unavailable` when that takes longer than `patience`, or `give_up` says so.
    pub(crate) fn wait_for_loads(&self, patience: Duration, give_up: impl Fn() -> bool) -> Result<()> {
        let deadline = Instant::now().checked_add(patience);
        let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.lock_loads().clone();
        for load in &open {
            load.end_epoch(|is_so| wait_until(deadline, &give_up, is_so))?;
        }
        open.iter().try_for_each(|load| wait_until(deadline, &give_up, &|| load.has_ended() || load.wanted().is_none()))
    }

    fn visit_slots(&self, visit: impl Fn(&mut usize)) {
        self.slots.iter().for_each(|slot| visit(&mut slot.0.write().unwrap_or_else(PoisonError::into_inner)));
    }

    fn lock_loads(&self) -> MutexGuard<'_, Vec<Arc<Load>>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Load {
    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn is_quiet(&self, epoch: u64) -> bool {
        self.has_ended() || self.pushing[(epoch % 2) as usize].load(Ordering::SeqCst) == 0
    }

    /// Waits for the pushes of this epoch, then asks for a flush of what they pushed. Those of the epoch before are over first, since they
    /// are counted with those of the next.
    fn end_epoch(&self, wait: impl Fn(&dyn Fn() -> bool) -> Result<()>) -> Result<()> {
        let epoch = self.epoch.load(Ordering::SeqCst);
        wait(&|| self.is_quiet(epoch + 1))?;
        self.epoch.store(epoch + 1, Ordering::SeqCst);
        wait(&|| self.is_quiet(epoch))?;
        self.flush_wanted.store(epoch + 1, Ordering::SeqCst);
        Ok(())
    }

    fn wanted(&self) -> Option<u64> {
        let wanted = self.flush_wanted.load(Ordering::SeqCst);
        (wanted > self.flush_done.load(Ordering::SeqCst)).then_some(wanted)
    }
}

impl OpenLoad<'_> {
    /// To be held from before the indexes of a table are looked up until rows and entries are pushed.
    pub(crate) fn pushing(&self) -> Pushing<'_> {
        loop {
            let epoch = self.load.epoch.load(Ordering::SeqCst);
            let pushing = Pushing { load: &self.load, epoch };
            self.load.pushing[(epoch % 2) as usize].fetch_add(1, Ordering::SeqCst);
            // Who ends the epoch in between may not have seen this push.
            if self.load.epoch.load(Ordering::SeqCst) == epoch {
                return pushing;
            }
        }
    }

    /// The flush that someone waits for, if there is one: to be told to [`OpenLoad::flushed`] once a flush that began later is done.
    pub(crate) fn flush_wanted(&self) -> Option<u64> {
        self.load.wanted()
    }

    /// Tells that a flush is done that was wanted.
    pub(crate) fn flushed(&self, wanted: u64) {
        self.load.flush_done.fetch_max(wanted, Ordering::SeqCst);
    }
}

impl Drop for Pushing<'_> {
    fn drop(&mut self) {
        self.load.pushing[(self.epoch % 2) as usize].fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for OpenLoad<'_> {
    fn drop(&mut self) {
        self.gate.lock_loads().retain(|load| !Arc::ptr_eq(load, &self.load));
        self.gate.visit_slots(|loads| *loads -= 1);
        self.load.ended.store(true, Ordering::SeqCst);
    }
}

fn own_slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS));
    OWN.get()
}

fn wait_until(deadline: Option<Instant>, give_up: &impl Fn() -> bool, is_so: &dyn Fn() -> bool) -> Result<()> {
    while !is_so() {
        if give_up() {
            return Err(Error::unavailable("the making of the index was cancelled"));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::unavailable(
                "a bulk put that began before the index was made does not come to a flush: make the index when it has ended",
            ));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_see_whether_a_load_is_open() {
        let gate = WriteGate::default();
        assert!(!gate.enter().sees_loads());
        let load = gate.open_load();
        assert!(gate.enter().sees_loads());
        drop(load);
        assert!(!gate.enter().sees_loads());
    }

    #[test]
    fn a_gate_is_shut_while_nobody_writes_and_no_load_is_open() {
        let gate = WriteGate::default();
        let load = gate.open_load();
        assert!(gate.shut().is_none());
        drop(load);
        std::thread::scope(|scope| {
            let shut = gate.shut().unwrap();
            let writer = scope.spawn(|| drop(gate.enter()));
            std::thread::sleep(20 * LOOK_EVERY);
            assert!(!writer.is_finished());
            drop(shut);
            writer.join().unwrap();
        });
    }

    #[test]
    fn a_load_that_does_not_flush_is_not_waited_for_for_ever() {
        let gate = WriteGate::default();
        let load = gate.open_load();
        let pushing = load.pushing();
        let error = gate.wait_for_loads(Duration::from_millis(20), || false).unwrap_err();
        assert!(error.message().contains("bulk put"), "{error}");
        assert_eq!(load.flush_wanted(), None, "there is a push under way that knows nothing");
        drop(pushing);
        assert!(gate.wait_for_loads(Duration::MAX, || true).unwrap_err().message().contains("cancelled"));
        load.flushed(load.flush_wanted().unwrap());
        assert_eq!(load.flush_wanted(), None);
    }

    #[test]
    fn a_load_is_waited_for_until_it_has_flushed() {
        let gate = WriteGate::default();
        std::thread::scope(|scope| {
            let load = gate.open_load();
            let waiting = scope.spawn(|| gate.wait_for_loads(Duration::from_secs(60), || false));
            while load.flush_wanted().is_none() {
                std::thread::sleep(LOOK_EVERY);
            }
            assert!(!waiting.is_finished());
            load.flushed(1);
            waiting.join().unwrap().unwrap();
        });
    }
}
