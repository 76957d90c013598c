//! The spaces of dropped tables and indexes, on their way out.
//!
//! 1. The catalog no longer names the table, and its handles know that it is dropped. Its spaces
//!    are *leaving*.
//! 2. Writes that began before are waited for. Until then nobody drops the spaces: such a write has
//!    looked its indexes up, and would fail where one of them has no space.
//! 3. Bulk puts that hold rows of the table are asked to flush, so that no flush meets a space that
//!    is gone and takes rows of other tables down with it.
//! 4. The spaces are dropped. What a write, a bulk put that does not come to a flush in good time,
//!    a deadline or the disk holds up is done in the background ([`super::late_drops`]).
//! 5. What a crash cuts short goes with the next opening of the store. Where several processes use
//!    it that is the next opening while no other is there, and it happens in the background.
//!
//! Entries of indexes need no step 3: engines leave those out whose space is gone.

use std::time::{Duration, Instant};

use tonnage_engine::{Deadline, ErrorKind, SpaceId};

use super::Catalog;
use super::late_drops::drop_space;

/// How long DROP TABLE waits for bulk puts to flush.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long an opening drops what a crash left, where one process alone has the store.
const OPENING_PATIENCE: Duration = Duration::from_secs(5);

impl Catalog {
    /// Notes spaces as leaving, before others may take their names.
    pub(super) fn begin_leaving<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.leaving.add(spaces);
    }

    pub(super) fn is_leaving(&self, space: SpaceId) -> bool {
        self.leaving.contains(space)
    }

    /// Drops the space of a table, if it has one of its own, and those of its indexes, as soon as
    /// nobody writes to them: now, or in the background where the deadline or the disk cuts it
    /// short. The table or the index is gone in any case.
    pub(crate) fn drop_left(&self, rows: Option<SpaceId>, indexes: &[SpaceId], deadline: Deadline) {
        if !self.gate.wait_for_writers_by(deadline) {
            self.leaving.note_writers_ending(rows.iter().chain(indexes));
            return self.late_drops.begin();
        }
        self.leaving.note_writers_gone(rows.iter().chain(indexes));
        indexes.iter().for_each(|space| self.drop_leaving_space(*space, deadline));
        let Some(rows) = rows else { return };
        let until = deadline.or_before(Instant::now() + PATIENCE);
        let patience = until.saturating_duration_since(Instant::now());
        match self.gate.wait_for_loads(rows, patience, || false) {
            Ok(()) => self.drop_leaving_space(rows, deadline),
            Err(_) => self.late_drops.begin(),
        }
    }

    /// Drops the spaces that an opening found without a table. No store stays closed because they
    /// cannot be dropped. On a cluster each of them takes a second, or a minute while nodes do not
    /// agree, and until the opening is done nobody tells the others that it is there: so that is
    /// done in the background.
    pub(super) fn drop_unnamed(&self, unnamed: &[SpaceId]) {
        self.begin_leaving(unnamed.iter());
        if !self.is_shared() {
            let deadline = Deadline::after(OPENING_PATIENCE);
            unnamed.iter().for_each(|space| self.drop_leaving_space(*space, deadline));
        } else if !unnamed.is_empty() {
            unnamed.iter().for_each(|space| self.leaving.note_cut_short(*space));
            self.late_drops.begin_at_once();
        }
    }

    /// Drops the spaces that were left to a bulk put, which has ended.
    pub(crate) fn drop_after_load(&self) {
        for space in self.leaving.without_writers() {
            if self.gate.is_free(space) {
                self.drop_leaving_space(space, Deadline::NONE);
            }
        }
    }

    /// Of several who want to drop a space, one does.
    fn drop_leaving_space(&self, space: SpaceId, deadline: Deadline) {
        if !self.is_leaving(space) {
            return;
        }
        match drop_space(&*self.engine, space, deadline) {
            Ok(()) => self.leaving.remove(space),
            Err(error) => {
                if error.kind() != ErrorKind::TimedOut {
                    tracing::warn!(%error, "a dropped space stays for a while");
                }
                self.leaving.note_cut_short(space);
                self.late_drops.begin();
            }
        }
    }
}
