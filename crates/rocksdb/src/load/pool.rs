//! The memory of a load session, handed out as runs.
//!
//! A fixed number of *permits* bounds the memory. Each is good for one run. A run passes these
//! stages:
//!
//! ```text
//! open --checked out by a pusher, who copies entries into it--> open
//! open --full--> sealed --sorted by a worker--> sorted --somebody waits for memory--> spilled (gives its permit back)
//! ```
//!
//! A pusher without room takes a free permit. If there is none, it waits for the workers. If these
//! have nothing to do, it first seals the fullest idle run for them. No thread holds a run while it
//! waits, so one can always continue. The first full run starts the workers, or the first pusher
//! that must wait: a small load on few shards has none.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tonnage_engine::sync::lock;
use tonnage_engine::{Deadline, Error, ErrorKind, Result};

use super::lane::Lane;
use super::range::KeyBounds;
use super::record::{NewRecord, Precedence};
use super::run::{RunBuffer, SortedRun};
use super::sources::Sources;
use super::spill::{SpillFile, SpillSettings, SpillWriter};

/// With this many spill files in a lane they are merged into one.
const FILES_MAX: usize = 128;

/// How a pool is set up.
#[derive(Clone, Debug)]
pub(super) struct PoolSettings {
    pub(super) permits: usize,
    pub(super) run_bytes_max: usize,
    pub(super) precedence: Precedence,
    pub(super) spill: SpillSettings,
}

/// The runs of a session and who may do what with them.
#[derive(Debug)]
pub(super) struct Pool {
    settings: PoolSettings,
    state: Mutex<PoolState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    permits_free: usize,
    open: Vec<RunBuffer>,
    checked_out: usize,
    sealed: VecDeque<RunBuffer>,
    sorted: Vec<SortedRun>,
    spilled: Vec<SpillFile>,
    /// Pushers who wait for a permit.
    starving: usize,
    /// Workers at work.
    busy: usize,
    /// A flush wants all runs back: no pusher gets one.
    draining: bool,
    /// A flush stores what it gathered with threads of its own: workers rest.
    storing: bool,
    closed: bool,
    /// Why the load stopped.
    stopped: Option<(ErrorKind, String)>,
    /// Bytes of keys and values pushed since the last flush.
    pending_bytes: u64,
}

/// What a flush takes out of the pool.
#[derive(Debug, Default)]
pub(super) struct DrainedRuns {
    pub(super) unsorted: Vec<RunBuffer>,
    pub(super) sorted: Vec<SortedRun>,
    pub(super) spilled: Vec<SpillFile>,
}

impl DrainedRuns {
    /// Whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        self.permits() == 0 && self.spilled.is_empty()
    }

    /// The permits to give back once this is stored.
    pub(super) fn permits(&self) -> usize {
        self.unsorted.len() + self.sorted.len()
    }
}

/// A run in the hands of a pusher. It returns to the pool whatever happens to the pusher: a flush
/// waits for it.
pub(super) struct RunLease<'p> {
    pool: &'p Pool,
    run: Option<RunBuffer>,
    pushed_bytes: u64,
    is_full: bool,
}

impl<'p> RunLease<'p> {
    fn new(pool: &'p Pool, run: RunBuffer) -> Self {
        Self { pool, run: Some(run), pushed_bytes: 0, is_full: false }
    }

    /// Whether there is no room for `record`. An empty run has room for anything.
    #[inline]
    pub(super) fn is_full_for(&self, record: &NewRecord<'_>) -> bool {
        self.run.as_ref().is_none_or(|run| run.is_full_for(record))
    }

    /// Copies an entry into the run.
    #[inline]
    pub(super) fn push(&mut self, record: &NewRecord<'_>) {
        if let Some(run) = &mut self.run {
            run.push(record);
            self.pushed_bytes += (record.key.len() + record.payload.len()) as u64;
        }
    }

    /// Gives the run back. A full one is sealed; says whether it was.
    pub(super) fn give_back(mut self, is_full: bool) -> bool {
        self.is_full = is_full;
        is_full
    }
}

impl Drop for RunLease<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.pool.stop(&Error::internal(
                "a push panicked: what it was to bring is not whole; start the load anew",
            ));
        }
        if let Some(run) = self.run.take() {
            self.pool.take_back(run, self.pushed_bytes, self.is_full);
        }
    }
}

/// What a worker does next.
enum PoolTask {
    Sort(RunBuffer),
    Spill(SortedRun),
    MergeFiles(Vec<SpillFile>),
}

impl Pool {
    pub(super) fn new(settings: PoolSettings) -> Self {
        let state = PoolState { permits_free: settings.permits, ..PoolState::default() };
        Self { settings, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, PoolState>) -> MutexGuard<'a, PoolState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The same by a deadline; the answer is whether it is over.
    fn wait_by<'a>(
        &self,
        state: MutexGuard<'a, PoolState>,
        deadline: Deadline,
    ) -> (MutexGuard<'a, PoolState>, bool) {
        let Some(moment) = deadline.moment() else { return (self.wait(state), false) };
        let left = moment.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout(state, left);
        (waited.unwrap_or_else(PoisonError::into_inner).0, deadline.is_over())
    }

    /// Why the load stopped, if it did.
    pub(super) fn check(&self) -> Result<()> {
        self.lock().check()
    }

    /// Stops the load: from now on every call fails with this error. The first one stays.
    pub(super) fn stop(&self, error: &Error) {
        let mut state = self.lock();
        state.stopped.get_or_insert_with(|| (error.kind(), error.message().to_owned()));
        self.changed.notify_all();
    }

    /// Bytes of keys and values pushed since the last flush.
    pub(super) fn pending_bytes(&self) -> u64 {
        self.lock().pending_bytes
    }

    /// Gives a pusher a run of a lane with room in it, if there is one.
    pub(super) fn try_check_out(&self, lane: Lane) -> Result<Option<RunLease<'_>>> {
        let mut state = self.lock();
        state.check()?;
        let run =
            if state.draining { None } else { state.take_run(lane, self.settings.run_bytes_max) };
        Ok(run.map(|run| RunLease::new(self, run)))
    }

    /// The same, but waits for one, by a deadline. There must be workers.
    pub(super) fn check_out(&self, lane: Lane, deadline: Deadline) -> Result<RunLease<'_>> {
        let (mut state, mut is_over) = (self.lock(), false);
        loop {
            state.check()?;
            if !state.draining {
                if let Some(run) = state.take_run(lane, self.settings.run_bytes_max) {
                    return Ok(RunLease::new(self, run));
                }
                state.seal_idle_run();
            }
            if is_over {
                return Err(Deadline::passed(match state.draining || state.storing {
                    true => "a flush of the same load",
                    false => "memory for what is pushed",
                }));
            }
            let starving = usize::from(!state.draining);
            state.starving += starving;
            self.changed.notify_all();
            (state, is_over) = self.wait_by(state, deadline);
            state.starving -= starving;
        }
    }

    /// Takes a run back from a pusher, who put entries of so many bytes into it. A full one is
    /// sealed.
    fn take_back(&self, run: RunBuffer, pushed_bytes: u64, full: bool) {
        let mut state = self.lock();
        state.checked_out -= 1;
        state.pending_bytes += pushed_bytes;
        if run.len() == 0 {
            state.permits_free += 1;
        } else if full {
            state.sealed.push_back(run);
        } else {
            state.open.push(run);
        }
        if full || state.draining || state.starving > 0 {
            self.changed.notify_all();
        }
    }

    /// Takes everything out, once all pushers have given back their runs and the workers have put
    /// down their work. From a success on, workers rest until [`Pool::resume`]. When the deadline
    /// comes first everything stays as it is.
    pub(super) fn drain(&self, deadline: Deadline) -> Result<DrainedRuns> {
        let (mut state, mut is_over) = (self.lock(), false);
        state.draining = true;
        while state.stopped.is_none() && state.checked_out > 0 && !is_over {
            (state, is_over) = self.wait_by(state, deadline);
        }
        // From here on workers take nothing new: what they hold would be missing from what is
        // gathered.
        state.storing = true;
        while state.stopped.is_none() && state.busy > 0 && !is_over {
            (state, is_over) = self.wait_by(state, deadline);
        }
        state.draining = false;
        self.changed.notify_all();
        let is_ready = state.checked_out == 0 && state.busy == 0;
        let in_time =
            if is_ready { Ok(()) } else { deadline.check("pushes and sorting under way") };
        // Nothing was taken out yet, so an error leaves all runs where they are.
        if let Err(error) = state.check().and(in_time) {
            state.storing = false;
            return Err(error);
        }
        state.pending_bytes = 0;
        let open = std::mem::take(&mut state.open);
        Ok(DrainedRuns {
            unsorted: state.sealed.drain(..).chain(open).collect(),
            sorted: std::mem::take(&mut state.sorted),
            spilled: std::mem::take(&mut state.spilled),
        })
    }

    /// Gives back the permits of what a flush took out, once it is stored, and lets the workers
    /// continue.
    pub(super) fn resume(&self, permits: usize) {
        let mut state = self.lock();
        state.permits_free += permits;
        state.storing = false;
        self.changed.notify_all();
    }

    /// Ends the workers.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// What a worker thread does until the pool is closed or the load stopped.
    pub(super) fn work(&self) {
        while let Some(work) = self.next_work() {
            let done = super::context::catch(|| self.carry_out(work));
            let mut state = self.lock();
            state.busy -= 1;
            if let Err(error) = done {
                state.stopped.get_or_insert_with(|| (error.kind(), error.message().to_owned()));
            }
            self.changed.notify_all();
        }
    }

    fn next_work(&self) -> Option<PoolTask> {
        let mut state = self.lock();
        loop {
            if state.closed || state.stopped.is_some() {
                return None;
            }
            if !state.storing
                && let Some(work) = state.take_work()
            {
                state.busy += 1;
                return Some(work);
            }
            state = self.wait(state);
        }
    }

    fn carry_out(&self, work: PoolTask) -> Result<()> {
        let PoolSettings { precedence, spill, .. } = &self.settings;
        match work {
            PoolTask::Sort(run) => {
                // The lock is taken for the result alone, so that workers sort and spill side by
                // side.
                let sorted = run.sort(*precedence);
                self.lock().sorted.push(sorted);
            }
            PoolTask::Spill(run) => {
                let lane = run.lane;
                let file = spill_merged(
                    &Sources { runs: vec![run], files: Vec::new() },
                    lane,
                    *precedence,
                    spill,
                )?;
                // The permit is free only now: while the file was written the run held its memory.
                let mut state = self.lock();
                state.spilled.push(file);
                state.permits_free += 1;
            }
            PoolTask::MergeFiles(files) => {
                let lane = files[0].lane;
                let file =
                    spill_merged(&Sources { runs: Vec::new(), files }, lane, *precedence, spill)?;
                // Spilled files hold no permits, so there is none to give back.
                self.lock().spilled.push(file);
            }
        }
        Ok(())
    }
}

/// Writes the merge of some sources to one new file.
fn spill_merged(
    sources: &Sources,
    lane: Lane,
    precedence: Precedence,
    settings: &SpillSettings,
) -> Result<SpillFile> {
    let mut writer = SpillWriter::create(settings)?;
    let mut merge = sources.merge(&KeyBounds::default(), precedence)?;
    while let Some(record) = merge.next()? {
        writer.push(record)?;
    }
    writer.finish(lane)
}

impl PoolState {
    fn check(&self) -> Result<()> {
        match &self.stopped {
            Some((kind, message)) => Err(Error::new(*kind, message.clone())),
            None => Ok(()),
        }
    }

    fn take_run(&mut self, lane: Lane, bytes_max: usize) -> Option<RunBuffer> {
        let run = match self.open.iter().position(|run| run.lane == lane) {
            Some(index) => self.open.swap_remove(index),
            None => {
                self.permits_free = self.permits_free.checked_sub(1)?;
                RunBuffer::new(lane, bytes_max)
            }
        };
        self.checked_out += 1;
        Some(run)
    }

    /// When idle runs of other lanes hold all memory, one of them has to free room.
    fn seal_idle_run(&mut self) {
        let others_will_do = self.busy > 0 || !self.sealed.is_empty() || !self.sorted.is_empty();
        let fullest = self.open.iter().enumerate().max_by_key(|(_, run)| run.bytes());
        if let Some((index, _)) = fullest.filter(|_| !others_will_do) {
            let run = self.open.swap_remove(index);
            self.sealed.push_back(run);
        }
    }

    fn take_work(&mut self) -> Option<PoolTask> {
        if let Some(run) = self.sealed.pop_front() {
            return Some(PoolTask::Sort(run));
        }
        if let Some(files) = self.take_files_to_merge() {
            return Some(PoolTask::MergeFiles(files));
        }
        if self.starving > 0 && self.permits_free == 0 {
            return self.sorted.pop().map(PoolTask::Spill);
        }
        None
    }

    /// The files of a lane that has too many, smallest first, half of them.
    fn take_files_to_merge(&mut self) -> Option<Vec<SpillFile>> {
        if self.spilled.len() < FILES_MAX {
            return None;
        }
        let lane =
            self.spilled.iter().map(|file| file.lane).max_by_key(|lane| self.files_of(*lane))?;
        if self.files_of(lane) < FILES_MAX {
            return None;
        }
        let (mut of_lane, others): (Vec<_>, Vec<_>) =
            self.spilled.drain(..).partition(|file| file.lane == lane);
        of_lane.sort_by_key(SpillFile::bytes);
        self.spilled = others;
        self.spilled.extend(of_lane.split_off(FILES_MAX / 2));
        Some(of_lane)
    }

    fn files_of(&self, lane: Lane) -> usize {
        self.spilled.iter().filter(|file| file.lane == lane).count()
    }
}
