//! Drops the spaces of dropped tables and indexes.
//!
//! 1. The catalog no longer names the table, and its handles know that it is dropped. The drops of
//!    its spaces are *pending*.
//! 2. The drop waits for writes that began before. Such a write has looked its indexes up, and
//!    would fail where one of them has no space.
//! 3. The drop asks bulk puts that hold rows of the table to flush. A flush that met a dropped
//!    space would fail, and lose rows of other tables.
//! 4. The engine drops the spaces. A write, a bulk put that does not flush in time, a deadline or
//!    the disk may hold that up: then a thread does it later ([`super::background_drops`]).
//! 5. The next opening of the store does what a crash has cut short. Where several processes use
//!    the store, the next opening that finds no other one does so in the background.
//!
//! Index entries need no step 3: engines leave out those whose space is gone.

use std::time::{Duration, Instant};

use tonnage_engine::{Deadline, ErrorKind, SpaceId};

use super::Catalog;
use super::background_drops::drop_space;

/// How long DROP TABLE waits for bulk puts to flush.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// How long an opening drops what a crash left, where one process alone has the store.
const OPENING_MAX_WAIT: Duration = Duration::from_secs(5);

impl Catalog {
    /// Notes spaces as to be dropped, before others may take their names.
    pub(super) fn add_pending_drops<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.pending_drops.add(spaces);
    }

    pub(super) fn is_drop_pending(&self, space: SpaceId) -> bool {
        self.pending_drops.contains(space)
    }

    /// Drops the space of a table, if it has one of its own, and those of its indexes, as soon as
    /// no write to them is in flight: now, or in the background where the deadline or the disk cuts
    /// it short. The table or the index is gone in any case.
    pub(crate) fn drop_spaces(
        &self,
        rows: Option<SpaceId>,
        indexes: &[SpaceId],
        deadline: Deadline,
    ) {
        if !self.gate.wait_for_writers_by(deadline) {
            self.pending_drops.note_writers_ending(rows.iter().chain(indexes));
            return self.background_drops.begin();
        }
        self.pending_drops.note_writers_gone(rows.iter().chain(indexes));
        indexes.iter().for_each(|space| self.drop_pending_space(*space, deadline));
        let Some(rows) = rows else { return };
        let until = deadline.or_before(Instant::now() + MAX_WAIT);
        let patience = until.saturating_duration_since(Instant::now());
        match self.gate.wait_for_loads(rows, patience, || false) {
            Ok(()) => self.drop_pending_space(rows, deadline),
            Err(_) => self.background_drops.begin(),
        }
    }

    /// Drops the spaces that an opening found without a table. No store stays closed because they
    /// cannot be dropped. On a cluster each of them takes a second, or a minute while nodes do not
    /// agree, and until the opening is done no thread announces this process to the others: so that
    /// is done in the background.
    pub(super) fn drop_orphans(&self, orphans: &[SpaceId]) {
        self.add_pending_drops(orphans.iter());
        if !self.is_shared() {
            let deadline = Deadline::after(OPENING_MAX_WAIT);
            orphans.iter().for_each(|space| self.drop_pending_space(*space, deadline));
        } else if !orphans.is_empty() {
            orphans.iter().for_each(|space| self.pending_drops.note_cut_short(*space));
            self.background_drops.begin_at_once();
        }
    }

    /// Drops the spaces that were left to a bulk put, which has ended.
    pub(crate) fn drop_after_load(&self) {
        for space in self.pending_drops.without_writers() {
            if self.gate.is_free(space) {
                self.drop_pending_space(space, Deadline::NONE);
            }
        }
    }

    /// Of several who want to drop a space, one does.
    fn drop_pending_space(&self, space: SpaceId, deadline: Deadline) {
        if !self.is_drop_pending(space) {
            return;
        }
        match drop_space(&*self.engine, space, deadline) {
            Ok(()) => self.pending_drops.remove(space),
            Err(error) => {
                if error.kind() != ErrorKind::TimedOut {
                    tracing::warn!(%error, "a dropped space stays for a while");
                }
                self.pending_drops.note_cut_short(space);
                self.background_drops.begin();
            }
        }
    }
}
