//! Pauses compaction while loads come one after another.
//!
//! A load over stored keys leaves files at level 0, above the files that they overlap. Compaction
//! then rewrites everything below them, and does so again after the next load. Measured, 20 M rows
//! in ten loads: 35 s with that, 31 s without; look-ups of stored keys took most of the rest
//! ([`crate::load`]). So a shard has three phases:
//!
//! 1. **Paused.** While a load merges, and for two seconds after, compaction is off. Meanwhile at
//!    most [`OVERLAPPING_MAX`] loads may leave files at level 0, small writes and loads together
//!    [`FILES_MAX`]. A lookup has to search that many files at worst.
//! 2. **Catching up.** Compaction is on again and rewrites everything once. The backlog is large by
//!    then, and the usual limits would hold small writes up until it is gone, for hours after large
//!    loads. So the limits count only what small writes add to that backlog.
//! 3. **Steady.** The usual limits hold. If the backlog is small, this phase follows the first at
//!    once: RocksDB writes and syncs its OPTIONS file twice for each change of phase.
//!
//! A store that is opened with a large backlog begins in the second phase, others in the third.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use rocksdb::{DB, ErrorKind, WriteBatch, WriteOptions};
use tonnage_engine::sync::lock;

use crate::backlog::{BacklogLimits, CompactionBacklog, STEADY};
use crate::rows_family::ROWS;
use crate::write_throttle::WriteThrottle;

/// How long no load may have merged before compaction continues.
const PAUSE: Duration = Duration::from_secs(2);
/// Loads that may leave files at level 0 before compaction continues all the same.
const OVERLAPPING_MAX: usize = 16;
/// Files at level 0 with which compaction continues all the same.
const FILES_MAX: u64 = 64;
/// Files at level 0 and bytes that wait for compaction with which the usual limits hold again: well
/// below the slowdown.
const USUAL: CompactionBacklog = CompactionBacklog { files: 8, bytes: STEADY.slow_bytes / 2 };
/// How often the watcher looks.
const TICK: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;

/// What small writes may add to what was there when compaction went on.
fn limits_above(backlog: CompactionBacklog) -> BacklogLimits {
    BacklogLimits {
        slow_files: backlog.files + 32,
        stop_files: backlog.files + 64,
        slow_bytes: backlog.bytes + STEADY.slow_bytes,
        stop_bytes: backlog.bytes + STEADY.stop_bytes,
    }
}

/// Whether RocksDB takes no writes after a failure.
///
/// Its options stay as they are then. A file that the MANIFEST may name after a failed write of it
/// is in quarantine, until RocksDB has written a MANIFEST. It takes a change of options for that
/// (docs/rocksdb-ingestion-fsync.md).
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
    shared: Arc<PauseShared>,
    watcher: Mutex<Option<PauseWatcher>>,
}

struct PauseShared {
    db: Arc<DB>,
    throttle: Arc<WriteThrottle>,
    state: Mutex<PauseState>,
}

struct PauseState {
    phase: PausePhase,
    /// Loads that are merging now.
    merging: usize,
    /// Loads that left files at level 0 since compaction last worked.
    overlapping: usize,
    last_load: Instant,
    /// Whether there is a watcher that will look again.
    is_watched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PausePhase {
    Steady,
    Paused,
    CatchingUp,
}

/// The thread that looks when compaction may continue.
struct PauseWatcher {
    /// Its end is what the thread waits for.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl CompactionPause {
    /// For a database that was just opened.
    pub(crate) fn new(db: Arc<DB>, throttle: Arc<WriteThrottle>) -> Self {
        let state = PauseState {
            phase: PausePhase::Steady,
            merging: 0,
            overlapping: 0,
            last_load: Instant::now(),
            is_watched: false,
        };
        let pause = Self {
            shared: Arc::new(PauseShared { db, throttle, state: Mutex::new(state) }),
            watcher: Mutex::new(None),
        };
        if !pause.shared.is_usual() {
            pause.enter_watched(&mut pause.shared.state(), PausePhase::CatchingUp);
        }
        pause
    }

    /// A load begins to merge; it has merged when the answer is dropped.
    pub(crate) fn begin_load(&self) -> MergingLoad<'_> {
        let mut state = self.shared.state();
        state.merging += 1;
        let files_before = self.shared.files_at_top();
        if state.phase != PausePhase::Paused
            && state.overlapping < OVERLAPPING_MAX
            && files_before <= FILES_MAX
        {
            self.enter_watched(&mut state, PausePhase::Paused);
        }
        MergingLoad { shared: &self.shared, files_before }
    }

    /// Lets compaction continue at once.
    pub(crate) fn resume(&self) {
        let mut state = self.shared.state();
        if state.phase == PausePhase::Paused {
            self.shared.end_pause(&mut state);
        }
    }

    /// Enters a phase that a watcher has to end. Where no thread can be had for one, everything
    /// stays as it is.
    fn enter_watched(&self, state: &mut PauseState, phase: PausePhase) {
        if !state.is_watched {
            let mut watcher = lock(&self.watcher);
            *watcher = PauseWatcher::start(&self.shared);
            state.is_watched = watcher.is_some();
        }
        if state.is_watched {
            self.shared.enter(state, phase);
        }
    }
}

impl Drop for CompactionPause {
    fn drop(&mut self) {
        let watcher = lock(&self.watcher).take();
        if let Some(PauseWatcher { stop, thread }) = watcher {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl PauseWatcher {
    fn start(shared: &Arc<PauseShared>) -> Option<Self> {
        let (stop, stopped) = bounded::<()>(0);
        let shared = Arc::clone(shared);
        let work = move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout)
                && !shared.advance_phase()
            {}
        };
        let thread = Builder::new().name("tonnage-respite".to_owned()).spawn(work).ok()?;
        Some(Self { stop, thread })
    }
}

impl PauseShared {
    fn state(&self) -> MutexGuard<'_, PauseState> {
        lock(&self.state)
    }

    /// Enters the next phase if it is time. Returns whether that leaves nothing to look after; then
    /// the watcher ends.
    fn advance_phase(&self) -> bool {
        let mut state = self.state();
        let is_over = state.merging == 0 && state.last_load.elapsed() >= PAUSE;
        match state.phase {
            PausePhase::Paused
                if is_over
                    || state.overlapping >= OVERLAPPING_MAX
                    || self.files_at_top() > FILES_MAX =>
            {
                self.end_pause(&mut state);
            }
            PausePhase::CatchingUp if self.is_usual() => self.enter(&mut state, PausePhase::Steady),
            _ => {}
        }
        state.is_watched = state.phase != PausePhase::Steady;
        !state.is_watched
    }

    fn end_pause(&self, state: &mut PauseState) {
        let next = if self.is_usual() { PausePhase::Steady } else { PausePhase::CatchingUp };
        self.enter(state, next);
    }

    /// A phase that RocksDB does not take, as on a full disk, is tried again by the watcher.
    fn enter(&self, state: &mut PauseState, phase: PausePhase) {
        let Some(rows) = self.db.cf_handle(ROWS) else { return };
        if has_stopped(&self.db) {
            return;
        }
        let limits = match phase {
            // RocksDB has none either while compaction is off.
            PausePhase::Paused => None,
            PausePhase::CatchingUp => Some(limits_above(CompactionBacklog::of(&self.db))),
            PausePhase::Steady => Some(STEADY),
        };
        let triggers = limits.map(BacklogLimits::options);
        let mut options = vec![(
            "disable_auto_compactions",
            if phase == PausePhase::Paused { "true" } else { "false" },
        )];
        options.extend(triggers.iter().flatten().map(|(name, value)| (*name, value.as_str())));
        if self.db.set_options_cf(rows, &options).is_ok() {
            state.phase = phase;
            self.throttle.set_limits(limits);
            if phase == PausePhase::Steady {
                state.overlapping = 0;
            }
        }
    }

    fn files_at_top(&self) -> u64 {
        CompactionBacklog::of(&self.db).files
    }

    /// Whether so little waits for compaction that the usual limits delay no writer.
    fn is_usual(&self) -> bool {
        let backlog = CompactionBacklog::of(&self.db);
        backlog.files <= USUAL.files && backlog.bytes <= USUAL.bytes
    }
}

/// A load that merges.
pub(crate) struct MergingLoad<'a> {
    shared: &'a PauseShared,
    files_before: u64,
}

impl Drop for MergingLoad<'_> {
    fn drop(&mut self) {
        let files = self.shared.files_at_top();
        let mut state = self.shared.state();
        state.merging -= 1;
        state.overlapping += usize::from(files > self.files_before);
        state.last_load = Instant::now();
    }
}
