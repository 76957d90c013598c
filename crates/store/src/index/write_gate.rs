//! Orders writers, loads and changes of tables and indexes, so that none misses another.
//!
//! - Every write of rows holds a [`WriterPass`] from before it looks up the indexes of its table
//!   until it is stored. A statement that drops a table or changes its indexes publishes the
//!   change. Then it waits until all passes given out before are back.
//! - A load stores entries before rows. A write in between may change a row with the same entry. If
//!   it removed that entry, the row of the load would have none. So while a load holds rows of a
//!   table with indexes, no write to that table removes entries. Those it leaves are stale, which
//!   readers notice.
//!
//! ```text
//! load                                   write
//! stores entry (red, 7)
//!                                        deletes row 7, which is red, and would remove entry (red, 7)
//! stores row 7, red: without its entry
//! ```
//!
//! - A load *joins* the space of a table before it pushes the first entries for it. After a flush
//!   it leaves the spaces that nothing was pushed to since the flush began: rows and entries are
//!   stored by then. So a load that is open but idle blocks no other call.
//! - A load that began before an index was created holds rows without entries. One that began
//!   before a table was dropped holds rows of a space that is to go. It learns of both with its
//!   next batch. What it pushed before must be stored first, so the statement asks it to flush
//!   ([`WriteGate::wait_for_loads`]).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tonnage_engine::sync::lock;
use tonnage_engine::{Deadline, Error, Result, SpaceId};

/// Each thread keeps to one slot, so that writers on several cores do not share a cache line.
const SLOTS: usize = 16;

/// How often a call that waits for a load checks whether it has flushed.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How many loads have joined each space.
type JoinedLoads = BTreeMap<SpaceId, usize>;

/// A slot of the gate. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct GateSlot(RwLock<JoinedLoads>);

/// The gate of one store.
#[derive(Debug, Default)]
pub(crate) struct WriteGate {
    slots: [GateSlot; SLOTS],
    loads: Mutex<Vec<Arc<GateLoad>>>,
    /// Held by a call that waits for loads: one at a time moves their epochs.
    waiting: parking_lot::Mutex<()>,
}

/// What a writer holds while it writes.
pub(crate) struct WriterPass<'a>(PassGuard<'a>);

enum PassGuard<'a> {
    /// Others write too.
    Shared(RwLockReadGuard<'a, JoinedLoads>),
    /// No other call does.
    Alone(Vec<RwLockWriteGuard<'a, JoinedLoads>>),
}

impl WriterPass<'_> {
    /// Whether a load holds rows of this space, so that no entries of its indexes may be removed.
    #[inline]
    pub(crate) fn sees_loads(&self, space: SpaceId) -> bool {
        match &self.0 {
            PassGuard::Shared(joined) => joined.contains_key(&space),
            PassGuard::Alone(slots) => slots.iter().any(|joined| joined.contains_key(&space)),
        }
    }
}

/// A load as others see it.
#[derive(Debug, Default)]
struct GateLoad {
    /// Grows when a call has to know which pushes looked tables up before.
    epoch: AtomicU64,
    /// The pushes under way that began in even and in odd epochs.
    pushing: [AtomicUsize; 2],
    /// The epoch up to which a flush is wanted, and that up to which one is done.
    flush_wanted: AtomicU64,
    flush_done: AtomicU64,
    ended: AtomicBool,
    /// The spaces with rows that may not be stored yet.
    spaces: Mutex<BTreeMap<SpaceId, SpaceUse>>,
}

/// What a load has to do with a space.
#[derive(Debug, Default)]
struct SpaceUse {
    /// Pushes that began, and those of them that are not over.
    begun: u64,
    under_way: u64,
    /// Whether it has joined the space.
    joined: bool,
}

/// A push under way.
pub(crate) struct Pushing<'a> {
    gate: &'a WriteGate,
    load: &'a GateLoad,
    epoch: u64,
    space: Option<SpaceId>,
}

/// A flush under way.
pub(crate) struct FlushTicket {
    wanted: Option<u64>,
    /// The spaces that no push was under way to when the flush began, each with the pushes begun by
    /// then.
    quiet: Vec<(SpaceId, u64)>,
}

/// A load under way; dropping it tells the gate.
pub(crate) struct OpenLoad<'a> {
    gate: &'a WriteGate,
    load: Arc<GateLoad>,
}

impl WriteGate {
    /// Lets a writer in.
    #[inline]
    pub(crate) fn enter(&self) -> WriterPass<'_> {
        WriterPass(PassGuard::Shared(self.slots[own_slot()].0.read()))
    }

    /// Lets a writer in and keeps all others out.
    pub(crate) fn enter_alone(&self) -> WriterPass<'_> {
        WriterPass(PassGuard::Alone(self.slots.iter().map(|slot| slot.0.write()).collect()))
    }

    /// Waits until every pass that was given out before is back. False when that takes too long.
    pub(crate) fn wait_for_writers_by(&self, deadline: Deadline) -> bool {
        self.slots.iter().all(|slot| match deadline.moment() {
            None => {
                drop(slot.0.write());
                true
            }
            Some(moment) => slot.0.try_write_until(moment).is_some(),
        })
    }

    /// Opens a load.
    pub(crate) fn open_load(&self) -> OpenLoad<'_> {
        let load = Arc::new(GateLoad::default());
        self.lock_loads().push(load.clone());
        OpenLoad { gate: self, load }
    }

    /// Waits until every load that is open now has stored the rows of a space that it pushed before
    /// it could know of a change that was published just now.
    ///
    /// # Errors
    /// `Unavailable` when that takes longer than `patience`, `Cancelled` when `give_up` says so.
    pub(crate) fn wait_for_loads(
        &self,
        space: SpaceId,
        patience: Duration,
        give_up: impl Fn() -> bool,
    ) -> Result<()> {
        let deadline = Instant::now().checked_add(patience);
        let open = self.lock_loads().clone();
        if open.is_empty() {
            return Ok(());
        }
        let _waiting = self.wait_for_turn(deadline, &give_up)?;
        for load in &open {
            load.end_epoch(space, |is_so| wait_until(deadline, &give_up, is_so))?;
        }
        open.iter().try_for_each(|load| {
            wait_until(deadline, &give_up, &|| {
                load.has_ended() || !load.holds(space) || load.epoch_to_flush().is_none()
            })
        })
    }

    /// Waits until no other call waits for loads. Some do so for minutes.
    fn wait_for_turn(
        &self,
        deadline: Option<Instant>,
        give_up: &impl Fn() -> bool,
    ) -> Result<parking_lot::MutexGuard<'_, ()>> {
        loop {
            if let Some(turn) = self.waiting.try_lock_for(LOOK_EVERY) {
                return Ok(turn);
            }
            check_wait(deadline, give_up)?;
        }
    }

    /// Whether no load holds rows of a space that cannot be looked up any more.
    pub(crate) fn is_free(&self, space: SpaceId) -> bool {
        let is_free =
            |load: &Arc<GateLoad>| load.is_quiet(0) && load.is_quiet(1) && !load.holds(space);
        self.lock_loads().iter().all(is_free)
    }

    fn join(&self, space: SpaceId) {
        self.visit_slots(|joined| *joined.entry(space).or_default() += 1);
    }

    fn leave(&self, space: SpaceId) {
        self.visit_slots(|joined| {
            if let Some(loads) = joined.get_mut(&space) {
                *loads -= 1;
                if *loads == 0 {
                    joined.remove(&space);
                }
            }
        });
    }

    fn visit_slots(&self, visit: impl Fn(&mut JoinedLoads)) {
        self.slots.iter().for_each(|slot| visit(&mut slot.0.write()));
    }

    fn lock_loads(&self) -> MutexGuard<'_, Vec<Arc<GateLoad>>> {
        lock(&self.loads)
    }
}

impl GateLoad {
    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn is_quiet(&self, epoch: u64) -> bool {
        self.has_ended() || self.pushing[(epoch % 2) as usize].load(Ordering::SeqCst) == 0
    }

    /// Waits for the pushes of this epoch, then asks for a flush if the load holds rows of the
    /// space. Those of the epoch before are over first, since they are counted with those of the
    /// next.
    fn end_epoch(
        &self,
        space: SpaceId,
        wait: impl Fn(&dyn Fn() -> bool) -> Result<()>,
    ) -> Result<()> {
        let epoch = self.epoch.load(Ordering::SeqCst);
        wait(&|| self.is_quiet(epoch + 1))?;
        self.epoch.store(epoch + 1, Ordering::SeqCst);
        wait(&|| self.is_quiet(epoch))?;
        if self.holds(space) {
            self.flush_wanted.store(epoch + 1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn holds(&self, space: SpaceId) -> bool {
        self.lock_spaces().contains_key(&space)
    }

    fn epoch_to_flush(&self) -> Option<u64> {
        let wanted = self.flush_wanted.load(Ordering::SeqCst);
        (wanted > self.flush_done.load(Ordering::SeqCst)).then_some(wanted)
    }

    fn lock_spaces(&self) -> MutexGuard<'_, BTreeMap<SpaceId, SpaceUse>> {
        lock(&self.spaces)
    }
}

impl OpenLoad<'_> {
    /// To be held from before a table and its indexes are looked up until rows and entries are
    /// pushed.
    pub(crate) fn pushing(&self) -> Pushing<'_> {
        loop {
            let epoch = self.load.epoch.load(Ordering::SeqCst);
            let pushing = Pushing { gate: self.gate, load: &self.load, epoch, space: None };
            self.load.pushing[(epoch % 2) as usize].fetch_add(1, Ordering::SeqCst);
            // Who ends the epoch in between may not have seen this push.
            if self.load.epoch.load(Ordering::SeqCst) == epoch {
                return pushing;
            }
        }
    }

    /// Whether someone waits for a flush.
    pub(crate) fn flush_wanted(&self) -> bool {
        self.load.epoch_to_flush().is_some()
    }

    /// To be called before a flush, whose answer [`OpenLoad::flushed`] takes after it.
    pub(crate) fn begin_flush(&self) -> FlushTicket {
        let wanted = self.load.epoch_to_flush();
        let spaces = self.load.lock_spaces();
        let quiet = spaces.iter().filter(|(_, used)| used.under_way == 0);
        FlushTicket { wanted, quiet: quiet.map(|(space, used)| (*space, used.begun)).collect() }
    }

    /// Everything that was pushed before the flush began is stored.
    pub(crate) fn flushed(&self, flushing: FlushTicket) {
        for (space, begun) in flushing.quiet {
            let mut spaces = self.load.lock_spaces();
            if spaces.get(&space).is_some_and(|used| used.begun == begun)
                && let Some(used) = spaces.remove(&space)
                && used.joined
            {
                self.gate.leave(space);
            }
        }
        if let Some(wanted) = flushing.wanted {
            self.load.flush_done.fetch_max(wanted, Ordering::SeqCst);
        }
    }
}

impl Pushing<'_> {
    /// To be called between the look-up of a table and the push of its rows.
    pub(crate) fn rows_of(&mut self, space: SpaceId, with_entries: bool) {
        let mut spaces = self.load.lock_spaces();
        let used = spaces.entry(space).or_default();
        used.begun += 1;
        used.under_way += 1;
        if with_entries && !used.joined {
            used.joined = true;
            self.gate.join(space);
        }
        self.space = Some(space);
    }
}

impl Drop for Pushing<'_> {
    fn drop(&mut self) {
        if let Some(space) = self.space
            && let Some(used) = self.load.lock_spaces().get_mut(&space)
        {
            used.under_way -= 1;
        }
        self.load.pushing[(self.epoch % 2) as usize].fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for OpenLoad<'_> {
    fn drop(&mut self) {
        self.gate.lock_loads().retain(|load| !Arc::ptr_eq(load, &self.load));
        let spaces = std::mem::take(&mut *self.load.lock_spaces());
        spaces
            .iter()
            .filter(|(_, used)| used.joined)
            .for_each(|(space, _)| self.gate.leave(*space));
        self.load.ended.store(true, Ordering::SeqCst);
    }
}

fn own_slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS));
    OWN.get()
}

fn wait_until(
    deadline: Option<Instant>,
    give_up: &impl Fn() -> bool,
    is_so: &dyn Fn() -> bool,
) -> Result<()> {
    while !is_so() {
        check_wait(deadline, give_up)?;
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn check_wait(deadline: Option<Instant>, give_up: &impl Fn() -> bool) -> Result<()> {
    if give_up() {
        return Err(Error::cancelled("the making of the index was cancelled"));
    }
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(Error::unavailable(
            "a bulk put that began before the index was made does not come to a flush: make the index when it has ended",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
