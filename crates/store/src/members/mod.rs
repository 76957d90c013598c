//! The openings of a store that several processes may have open at once.
//!
//! All of them must know of a change of the tables: a process that does not know an index writes
//! rows that the index misses. So each opening is a *member*, with a row in a space of its own:
//!
//! 1. An opening puts its row, then reads the *epoch*, then the catalog.
//! 2. A statement of DDL changes the catalog, then adds one to the epoch ([`Members::notify`]).
//! 3. Every member reads the epoch each second. When it has changed, the member reads the catalog,
//!    waits until no call in its process uses the old tables, then notes in its row that it has
//!    *followed*.
//! 4. A statement that depends on it waits until all members have followed
//!    ([`Members::notify_and_wait`]).
//!
//! ```text
//! CREATE INDEX here                     a writer there
//! catalog: building; epoch 8
//!                                       sees epoch 8, reads the catalog, waits for its writers
//!                                       followed 8: from now on its writers keep the index up
//! all have followed 8: reads all rows
//! ```
//!
//! A member that does not renew its row is *gone* after 60 seconds: another member removes its row,
//! and no change waits for it any more.
//!
//! - By then the member has long refused to write ([`Members::check`]), and it sends nothing after
//!   the end of its lease ([`Members::lease_end`]).
//! - When it comes back, it finds its row gone, and follows before it writes.
//! - Rows that were in flight while it paused are indexed before they are acknowledged
//!   (`index/late_writes`).
//! - Each member measures these times with its own clock, and never compares clocks.

mod row;
mod tracker;
mod view;
mod watch;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{JoinHandle, current};
use std::time::{Duration, Instant};

use tonnage_engine::sync::{get_mut, lock};
use tonnage_engine::{Deadline, Engine, Error, Result};

use row::{MemberRows, MemberState};
use tracker::MemberTracker;
pub(crate) use view::MemberView;

/// How long members take for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberTimes {
    /// How often a member looks at the epoch.
    pub(crate) look: Duration,
    /// How often it renews its row.
    pub(crate) renew: Duration,
    /// How long after a renewal it continues to write.
    pub(crate) lease: Duration,
    /// How long a row stays as it is until its member counts as gone. So much longer than the
    /// lease that what was sent within it is over.
    pub(crate) gone: Duration,
    /// How often the catalog is read without an announced change: a process may have died just
    /// before it could.
    pub(crate) reread: Duration,
}

impl MemberTimes {
    const DEFAULT: Self = Self {
        look: Duration::from_secs(1),
        renew: Duration::from_secs(5),
        lease: Duration::from_secs(20),
        gone: Duration::from_secs(60),
        reread: Duration::from_secs(30),
    };
}

/// How often a call that waits for the others reads their rows.
const WAIT_STEP: Duration = Duration::from_millis(50);

/// This opening among the others.
pub(crate) struct Members {
    shared: Arc<MembershipState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the members of a process and the thread that watches have in common.
struct MembershipState {
    rows: MemberRows,
    times: MemberTimes,
    started: Instant,
    /// Until when this member may write, in milliseconds since it started.
    lease_end_ms: AtomicU64,
    /// Its form in its row.
    own: Mutex<OwnMember>,
    /// What is known of the others.
    tracker: Mutex<MemberTracker>,
    stopping: AtomicBool,
    /// Woken to stop.
    woken: (Mutex<()>, Condvar),
}

/// A member's own row.
struct OwnMember {
    state: MemberState,
    version: Option<u64>,
    /// When it was renewed last, by the time that the write was sent.
    renewed: Option<Instant>,
    /// Whether tables may have changed while no change waited for this opening. It may not write
    /// until it has followed.
    is_behind: bool,
    /// When the catalog was read last.
    reread: Instant,
}

impl Members {
    /// Puts this opening's row, before its catalog is read.
    ///
    /// # Errors
    /// What the engine says.
    pub(crate) fn join(engine: &Arc<dyn Engine>) -> Result<Self> {
        Self::join_with(engine, MemberTimes::DEFAULT)
    }

    pub(crate) fn join_with(engine: &Arc<dyn Engine>, times: MemberTimes) -> Result<Self> {
        let rows = MemberRows::open(engine)?;
        let own = OwnMember {
            state: MemberState::new(),
            version: None,
            renewed: None,
            // So the first renewal gives no lease: what tables there are is not known yet.
            is_behind: true,
            reread: Instant::now(),
        };
        let shared = MembershipState {
            rows,
            times,
            started: Instant::now(),
            lease_end_ms: AtomicU64::new(0),
            own: Mutex::new(own),
            tracker: Mutex::default(),
            stopping: AtomicBool::new(false),
            woken: Default::default(),
        };
        // The row before the epoch: who changes tables from now on waits for this opening.
        shared.renew(&mut shared.own())?;
        let epoch = shared.rows.epoch()?;
        // The catalog is read after this: so it is followed from the start.
        let mut own = shared.own();
        own.state.followed = epoch;
        own.is_behind = false;
        shared.renew(&mut own)?;
        drop(own);
        Ok(Self { shared: Arc::new(shared), thread: Mutex::default() })
    }

    /// What names this opening to the others.
    pub(crate) fn id(&self) -> u64 {
        self.shared.own().state.id
    }

    /// Whether an opening is there, as far as its row tells.
    pub(crate) fn is_there(&self, id: u64) -> Result<bool> {
        let all = self.shared.rows.read()?;
        let mut tracker = self.shared.tracker();
        tracker.record(&all, Instant::now());
        Ok(all.members.iter().any(|(member, _)| {
            member.id == id && !tracker.is_gone(id, Instant::now(), self.shared.times.gone)
        }))
    }

    /// What is to be seen of the other openings now.
    pub(crate) fn view(&self) -> Result<MemberView> {
        Ok(MemberView::of(&self.shared.rows.read()?, self.id()))
    }

    /// Whether this opening may write: changes of tables still wait for it.
    ///
    /// # Errors
    /// `Unavailable` when its row was not renewed for a while.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        match self.shared.has_lease() {
            true => Ok(()),
            false => Err(lease_lost(self.shared.times.lease)),
        }
    }

    /// Renews the row of this opening, or writes it anew where another process considered it gone.
    ///
    /// # Errors
    /// What the engine says.
    pub(crate) fn renew(&self) -> Result<()> {
        self.shared.renew(&mut self.shared.own())
    }

    /// Until when this opening may write, unless its row is renewed by then. A process may pause
    /// after any check, so writes must be sent by that time.
    pub(crate) fn lease_end(&self) -> Instant {
        let end_ms = self.shared.lease_end_ms.load(Ordering::Acquire);
        self.shared.started + Duration::from_millis(end_ms)
    }

    /// Tells the others that the catalog has changed, without waiting for them.
    ///
    /// # Errors
    /// What the engine says.
    pub(crate) fn notify(&self) -> Result<u64> {
        let epoch = self.shared.rows.advance()?;
        // No other process changed anything in between, so there is nothing to follow.
        let mut own = self.shared.own();
        if own.state.followed + 1 == epoch {
            own.state.followed = epoch;
        }
        Ok(epoch)
    }

    /// Tells the others that the catalog has changed, and waits until those that are there work by
    /// what it says now.
    ///
    /// # Errors
    /// `TimedOut` by the deadline, `Unavailable` past the patience, both naming who has not
    /// followed, and `Cancelled` when `give_up` says so: the others follow all the same, later.
    pub(crate) fn notify_and_wait(
        &self,
        patience: Duration,
        deadline: Deadline,
        give_up: &dyn Fn() -> bool,
    ) -> Result<()> {
        let epoch = self.notify()?;
        let until = Instant::now().checked_add(patience);
        loop {
            let all = self.shared.rows.read()?;
            let (now, own) = (Instant::now(), self.id());
            let mut tracker = self.shared.tracker();
            tracker.record(&all, now);
            // This opening itself is not waited for: its caller is the one that changes the tables.
            let is_behind = |member: &MemberState| member.id != own && member.followed < epoch;
            let behind = all.members.iter().find(|(member, _)| is_behind(member));
            let Some((behind, version)) = behind else { return Ok(()) };
            let is_gone = tracker.is_gone(behind.id, now, self.shared.times.gone);
            drop(tracker);
            if is_gone {
                // It may wake up just now. Without its row it follows before it writes; with it, it
                // would continue by the tables that it knows.
                self.shared.rows.remove(behind.id, *version)?;
                continue;
            }
            if give_up() {
                return Err(Error::cancelled("it was called off before all processes knew of it"));
            }
            deadline.check(&format!("{} to take over the change", behind.process))?;
            if until.is_some_and(|until| now >= until) {
                return Err(Error::unavailable(format!(
                    "{} has the store open and does not take over the change: try again when its bulk puts have ended, or end it",
                    behind.process
                )));
            }
            std::thread::sleep(WAIT_STEP);
        }
    }
}

impl MembershipState {
    fn own(&self) -> MutexGuard<'_, OwnMember> {
        lock(&self.own)
    }

    fn tracker(&self) -> MutexGuard<'_, MemberTracker> {
        lock(&self.tracker)
    }

    fn has_lease(&self) -> bool {
        let now_ms = self.started.elapsed().as_millis() as u64;
        now_ms < self.lease_end_ms.load(Ordering::Acquire)
    }

    /// Writes the own row, and with it prolongs the lease. Where another process considered this
    /// opening gone the row is written anew, and the lease has ended until it has followed.
    fn renew(&self, own: &mut OwnMember) -> Result<()> {
        let sent = Instant::now();
        own.state.beat += 1;
        own.version = match self.rows.put(&own.state, own.version)? {
            Some(version) => Some(version),
            None => {
                self.mark_behind(own);
                self.rows.put_again(&own.state)?
            }
        };
        own.renewed = Some(sent);
        if !own.is_behind {
            let end = (sent + self.times.lease).saturating_duration_since(self.started);
            self.lease_end_ms.store(end.as_millis() as u64, Ordering::Release);
        }
        Ok(())
    }

    /// Notes that tables may have changed without this opening.
    fn mark_behind(&self, own: &mut OwnMember) {
        own.state.followed = 0;
        own.is_behind = true;
        self.lease_end_ms.store(0, Ordering::Release);
    }
}

impl Drop for Members {
    /// The row is deleted, so that no change waits for this opening.
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        drop(self.shared.woken.0.lock());
        self.shared.woken.1.notify_all();
        let thread = get_mut(&mut self.thread);
        // What the thread follows with may be the last that held the store.
        if let Some(thread) = thread.take().filter(|it| it.thread().id() != current().id()) {
            let _ = thread.join();
        }
        let own = self.shared.own();
        if let Some(version) = own.version {
            let _ = self.shared.rows.remove(own.state.id, version);
        }
    }
}

#[cold]
fn lease_lost(lease: Duration) -> Error {
    Error::unavailable(format!(
        "this process could not tell the others for {} s that it is there, so tables may have changed without it: try again when it reaches the cluster",
        lease.as_secs()
    ))
}

#[cfg(test)]
mod tests;
