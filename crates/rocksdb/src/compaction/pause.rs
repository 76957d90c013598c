//! Compaction that waits while loads come one after another.
//!
//! A load over keys that are stored already leaves files at level 0, above what they overlap, and
//! compaction then rewrites everything below them. After the next load it does so again. Measured,
//! 20 M rows in ten loads: 35 s with it, 31 s without; most of the rest were look-ups of stored
//! keys ([`crate::load`]). So:
//!
//! 1. **Resting.** While a load merges, and for two seconds after, compaction is off. At most
//!    [`OVERLAPPING_MAX`] loads may leave files at level 0 meanwhile, and small writes and loads
//!    together [`FILES_MAX`]: so many places a lookup has to look into at worst.
//! 2. **Catching up.** Then compaction is on again and rewrites everything once. Level 0 is long by
//!    then, and much waits for compaction. The usual limits would hold small writes up until it is
//!    through, for hours after large loads. So what is there already does not count: only what
//!    small writes add to it does.
//! 3. **Steady.** As ever. Where little waits for compaction that comes right after 1: RocksDB writes
//!    and syncs its OPTIONS file twice for each change of phase.
//!
//! A store that was closed in between is opened catching up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use rocksdb::{DB, ErrorKind, WriteBatch, WriteOptions};

use crate::backlog::{Backlog, Limits, STEADY};
use crate::pace::Pace;
use crate::rows_family::ROWS;

/// How long no load may have merged before compaction goes on.
const PAUSE: Duration = Duration::from_secs(2);
/// Loads that may leave files at level 0 before compaction goes on all the same.
const OVERLAPPING_MAX: usize = 16;
/// Files at level 0 with which compaction goes on all the same.
const FILES_MAX: u64 = 64;
/// Files at level 0 and bytes that wait for compaction with which the usual limits hold again: well
/// below the slowdown.
const USUAL: Backlog = Backlog { files: 8, bytes: STEADY.slow_bytes / 2 };
/// How often the keeper looks.
const TICK: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;

/// What small writes may add to what was there when compaction went on.
fn limits_above(backlog: Backlog) -> Limits {
    Limits {
        slow_files: backlog.files + 32,
        stop_files: backlog.files + 64,
        slow_bytes: backlog.bytes + STEADY.slow_bytes,
        stop_bytes: backlog.bytes + STEADY.stop_bytes,
    }
}

/// Whether RocksDB takes no writes after a failure.
///
/// Its options stay as they are then. A file that the MANIFEST may name after a failed write of it
/// is in quarantine, until RocksDB has written a MANIFEST. It takes a change of options for that,
/// and would delete the file as it closes: the store would never open again.
fn has_stopped(db: &DB) -> bool {
    if db.property_int_value("rocksdb.background-errors").ok().flatten() == Some(0) {
        return false;
    }
    // It may have recovered, as from a full disk: an empty batch tells.
    let mut options = WriteOptions::default();
    options.set_no_slowdown(true);
    let probe = db.write_opt(WriteBatch::default(), &options);
    probe.is_err_and(|error| error.kind() != ErrorKind::Incomplete)
}

/// When compaction of a shard may work. Dropping it ends its thread.
pub(crate) struct CompactionPause {
    shared: Arc<Shared>,
    keeper: Mutex<Option<Keeper>>,
}

struct Shared {
    db: Arc<DB>,
    pace: Arc<Pace>,
    state: Mutex<State>,
}

struct State {
    phase: PausePhase,
    /// Loads that merge at this moment.
    merging: usize,
    /// Loads that left files at level 0 since compaction last worked.
    overlapping: usize,
    last_load: Instant,
    /// Whether there is a keeper that will look again.
    kept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PausePhase {
    Steady,
    Resting,
    CatchingUp,
}

/// The thread that looks when compaction may go on.
struct Keeper {
    /// Its end is what the thread waits for.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl CompactionPause {
    /// For a database that was just opened.
    pub(crate) fn new(db: Arc<DB>, pace: Arc<Pace>) -> Self {
        let state = State {
            phase: PausePhase::Steady,
            merging: 0,
            overlapping: 0,
            last_load: Instant::now(),
            kept: false,
        };
        let respite = Self {
            shared: Arc::new(Shared { db, pace, state: Mutex::new(state) }),
            keeper: Mutex::new(None),
        };
        if !respite.shared.is_usual() {
            respite.keep(&mut respite.shared.state(), PausePhase::CatchingUp);
        }
        respite
    }

    /// A load begins to merge; it has merged when the answer is dropped.
    pub(crate) fn load(&self) -> Merging<'_> {
        let mut state = self.shared.state();
        state.merging += 1;
        let files_before = self.shared.files_at_top();
        if state.phase != PausePhase::Resting
            && state.overlapping < OVERLAPPING_MAX
            && files_before <= FILES_MAX
        {
            self.keep(&mut state, PausePhase::Resting);
        }
        Merging { shared: &self.shared, files_before }
    }

    /// Lets compaction go on at once.
    pub(crate) fn end(&self) {
        let mut state = self.shared.state();
        if state.phase == PausePhase::Resting {
            self.shared.end_rest(&mut state);
        }
    }

    /// Enters a phase that a keeper has to end. Where no thread can be had for one, everything
    /// stays as it is.
    fn keep(&self, state: &mut State, phase: PausePhase) {
        if !state.kept {
            let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            *keeper = Keeper::start(&self.shared);
            state.kept = keeper.is_some();
        }
        if state.kept {
            self.shared.enter(state, phase);
        }
    }
}

impl Drop for CompactionPause {
    fn drop(&mut self) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Keeper { stop, thread }) = keeper {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl Keeper {
    fn start(shared: &Arc<Shared>) -> Option<Self> {
        let (stop, stopped) = bounded::<()>(0);
        let shared = Arc::clone(shared);
        let work = move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) && !shared.go_on() {}
        };
        let thread = Builder::new().name("tonnage-respite".to_owned()).spawn(work).ok()?;
        Some(Self { stop, thread })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes to the next phase if it is time. Tells whether that leaves nothing to look after; then
    /// the keeper ends.
    fn go_on(&self) -> bool {
        let mut state = self.state();
        let is_over = state.merging == 0 && state.last_load.elapsed() >= PAUSE;
        match state.phase {
            PausePhase::Resting
                if is_over
                    || state.overlapping >= OVERLAPPING_MAX
                    || self.files_at_top() > FILES_MAX =>
            {
                self.end_rest(&mut state);
            }
            PausePhase::CatchingUp if self.is_usual() => self.enter(&mut state, PausePhase::Steady),
            _ => {}
        }
        state.kept = state.phase != PausePhase::Steady;
        !state.kept
    }

    fn end_rest(&self, state: &mut State) {
        let next = if self.is_usual() { PausePhase::Steady } else { PausePhase::CatchingUp };
        self.enter(state, next);
    }

    /// A phase that RocksDB does not take, as on a full disk, is tried again by the keeper.
    fn enter(&self, state: &mut State, phase: PausePhase) {
        let Some(rows) = self.db.cf_handle(ROWS) else { return };
        if has_stopped(&self.db) {
            return;
        }
        let limits = match phase {
            // RocksDB has none either while compaction is off.
            PausePhase::Resting => None,
            PausePhase::CatchingUp => Some(limits_above(Backlog::of(&self.db))),
            PausePhase::Steady => Some(STEADY),
        };
        let triggers = limits.map(Limits::options);
        let mut options = vec![(
            "disable_auto_compactions",
            if phase == PausePhase::Resting { "true" } else { "false" },
        )];
        options.extend(triggers.iter().flatten().map(|(name, value)| (*name, value.as_str())));
        if self.db.set_options_cf(rows, &options).is_ok() {
            state.phase = phase;
            self.pace.set_limits(limits);
            if phase == PausePhase::Steady {
                state.overlapping = 0;
            }
        }
    }

    fn files_at_top(&self) -> u64 {
        Backlog::of(&self.db).files
    }

    /// Whether so little waits for compaction that the usual limits hold nobody up.
    fn is_usual(&self) -> bool {
        let backlog = Backlog::of(&self.db);
        backlog.files <= USUAL.files && backlog.bytes <= USUAL.bytes
    }
}

/// A load that merges.
pub(crate) struct Merging<'a> {
    shared: &'a Shared,
    files_before: u64,
}

impl Drop for Merging<'_> {
    fn drop(&mut self) {
        let files = self.shared.files_at_top();
        let mut state = self.shared.state();
        state.merging -= 1;
        state.overlapping += usize::from(files > self.files_before);
        state.last_load = Instant::now();
    }
}
