//! Keeps the catalogs of several processes in step.
//!
//! Each process that has the store open is a member ([`crate::members`]). A process that changes
//! tables notifies the others, and they read the catalog again.

use std::collections::BTreeSet;
use std::sync::MutexGuard;
use std::time::Duration;

use tonnage_engine::sync::lock;
use tonnage_engine::{
    Deadline, Durability, Engine, Error, ErrorKind, Result, SpaceId, WriteBatch, WriteOutcome,
};

use super::{Catalog, rows};
use crate::members::Members;

/// How long a statement waits for the others where nothing depends on it: those who know of a table
/// that is gone get errors.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// How long a statement of DDL, writes, or loads with their flush may take before this process
/// announces that it is alive.
const STEP: Duration = Duration::from_millis(500);

/// What became of a write.
pub(crate) struct LeasedWrite {
    pub(crate) outcome: Result<WriteOutcome>,
    /// Whether it may be stored, and the lease has ended by now: then others may have gone on without
    /// this process before it was.
    pub(crate) is_late: bool,
}

impl LeasedWrite {
    fn refused(error: Error) -> Self {
        Self { outcome: Err(error), is_late: false }
    }

    fn with_lease(outcome: Result<WriteOutcome>, has_lease: bool) -> Self {
        let may_be_stored = match &outcome {
            Ok(WriteOutcome::Applied { .. }) => true,
            Ok(WriteOutcome::Refused { .. }) => false,
            Err(error) => error.kind() == ErrorKind::Unavailable,
        };
        Self { outcome, is_late: may_be_stored && !has_lease }
    }
}

impl Catalog {
    /// The openings of the store, where there may be several.
    pub(crate) fn members(&self) -> Option<&Members> {
        self.members.as_ref()
    }

    /// Whether this opening knows the tables well enough to write, and to read by indexes.
    ///
    /// # Errors
    /// `Unavailable`: see [`Members::check`].
    #[inline]
    pub(crate) fn check_member(&self) -> Result<()> {
        self.members.as_ref().map_or(Ok(()), Members::check)
    }

    /// Writes what was encoded for the tables as they are known here, and sends nothing after the
    /// end of the lease, as far as it can know: this process may pause at any time, and others then
    /// continue without it. What was given up for that is tried again as long as it may write.
    ///
    /// The outcome is that of [`Engine::write_by`], or `Unavailable` where the lease has ended.
    pub(crate) fn write_within_lease(
        &self,
        engine: &dyn Engine,
        batch: &WriteBatch,
        durability: Durability,
        deadline: Deadline,
    ) -> LeasedWrite {
        loop {
            if let Err(error) = self.check_member() {
                return LeasedWrite::refused(error);
            }
            let by = self.by_lease(deadline);
            match engine.write_by(batch, durability, by) {
                Err(error)
                    if error.kind() == ErrorKind::TimedOut
                        && !deadline.is_over()
                        && by != deadline => {}
                outcome => return LeasedWrite::with_lease(outcome, self.check_member().is_ok()),
            }
        }
    }

    /// The same for batches of which each is carried out by itself.
    pub(crate) fn write_many_within_lease(
        &self,
        engine: &dyn Engine,
        batches: &[WriteBatch],
        durability: Durability,
        deadline: Deadline,
    ) -> Vec<LeasedWrite> {
        let by = self.by_lease(deadline);
        let written = engine.write_many_by(batches, durability, by);
        let has_lease = self.check_member().is_ok();
        let again = |(batch, written): (&WriteBatch, Result<WriteOutcome>)| match written {
            Err(error) if error.kind() == ErrorKind::TimedOut && by != deadline => {
                self.write_within_lease(engine, batch, durability, deadline)
            }
            outcome => LeasedWrite::with_lease(outcome, has_lease),
        };
        batches.iter().zip(written).map(again).collect()
    }

    /// Reads the tables as they are stored now. Later changes wait for this process, though others
    /// may have considered it gone.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let Some(members) = &self.members else { return Ok(()) };
        self.shared_refresh.run(|| {
            members.renew()?;
            // The holder of the lock reads the tables.
            self.lock(Deadline::after(MAX_WAIT)).map(drop)
        })
    }

    /// By when a write is to be sent.
    fn by_lease(&self, deadline: Deadline) -> Deadline {
        match &self.members {
            Some(members) => Deadline::at(deadline.or_before(members.lease_end())),
            None => deadline,
        }
    }

    /// Reads the tables as they are stored now. For the holder of the DDL lock.
    pub(super) fn refresh(&self) -> Result<()> {
        let stored = rows::read(self.engine.as_ref(), self.space)?;
        let before = self.state().index_lists();
        self.publish_all(stored);
        let after = self.state().index_lists();
        let changed = before.iter().filter(|(space, lists)| after.get(space) != Some(lists));
        self.unsettled().extend(changed.map(|(space, _)| *space));
        Ok(())
    }

    /// Takes over what others changed. Answers whether no call here uses the earlier tables any
    /// more.
    pub(crate) fn follow(&self) -> Result<bool> {
        // A statement may make tables for longer than the others believe in this process.
        let Some(ddl) = self.ddl.try_lock_for(STEP) else { return Ok(false) };
        self.refresh()?;
        drop(ddl);
        if !self.gate.wait_for_writers_by(Deadline::after(STEP)) {
            return Ok(false);
        }
        let unsettled = self.unsettled().clone();
        for space in unsettled {
            if self.gate.wait_for_loads(space, STEP, || false).is_err() {
                return Ok(false);
            }
            self.unsettled().remove(&space);
        }
        Ok(true)
    }

    /// Tells the others of a change that they need not know at once. A process that misses it
    /// learns of it with the next one.
    pub(super) fn notify_members(&self) {
        if let Some(Err(error)) = self.members.as_ref().map(Members::notify) {
            tracing::warn!(%error, "the other processes were not told of a change of the tables");
        }
    }

    /// Tells the others of a change, and waits for them as long as is reasonable.
    pub(crate) fn announce(&self, deadline: Deadline) {
        if let Err(error) = self.announce_to_all(MAX_WAIT, deadline, &|| false) {
            tracing::warn!(%error, "not all processes have taken over a change of the tables");
        }
    }

    /// Tells the others of a change, and waits until all that are there work by it.
    ///
    /// # Errors
    /// As [`Members::notify_and_wait`].
    pub(crate) fn announce_to_all(
        &self,
        patience: Duration,
        deadline: Deadline,
        give_up: &dyn Fn() -> bool,
    ) -> Result<()> {
        match &self.members {
            Some(members) => members.notify_and_wait(patience, deadline, give_up),
            None => Ok(()),
        }
    }

    fn unsettled(&self) -> MutexGuard<'_, BTreeSet<SpaceId>> {
        lock(&self.unsettled)
    }
}
