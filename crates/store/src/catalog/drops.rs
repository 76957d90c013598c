//! The spaces of dropped tables and indexes, on their way out.
//!
//! 1. The catalog no longer names the table, and its handles know that it is dropped. Its spaces
//!    are *leaving*.
//! 2. Writes that began before are waited for. Until then nobody drops the spaces: such a write has
//!    looked its indexes up, and would fail where one of them has no space.
//! 3. Bulk puts that hold rows of the table are asked to flush, so that no flush meets a space that
//!    is gone and takes rows of other tables down with it.
//! 4. The spaces are dropped. Where a bulk put does not come to a flush in good time, this happens
//!    when it ends, or at the next opening of the store.
//!
//! Entries of indexes need no step 3: engines leave those out whose space is gone.

use std::time::{Duration, Instant};

use tonnage_engine::{Deadline, ErrorKind, Result, SpaceId};

use super::Catalog;

/// How long DROP TABLE waits for bulk puts to flush.
const PATIENCE: Duration = Duration::from_secs(2);

impl Catalog {
    /// Notes spaces as leaving, before others may take their names.
    pub(super) fn begin_leaving<'a>(&self, spaces: impl Iterator<Item = &'a SpaceId>) {
        self.leaving.add(spaces);
    }

    pub(super) fn is_leaving(&self, space: SpaceId) -> bool {
        self.leaving.contains(space)
    }

    /// Drops the space of a table, if it has one of its own, and those of its indexes, as soon as
    /// nobody writes to them. What the deadline cuts short is left to whoever ends a load, or to
    /// the next opening.
    pub(crate) fn drop_left(
        &self,
        rows: Option<SpaceId>,
        indexes: &[SpaceId],
        deadline: Deadline,
    ) -> Result<()> {
        self.gate.wait_for_writers();
        self.leaving.note_writers_gone(rows.iter().chain(indexes));
        indexes.iter().try_for_each(|space| self.drop_leaving_space(*space, deadline))?;
        let Some(rows) = rows else { return Ok(()) };
        let until = deadline.or_before(Instant::now() + PATIENCE);
        let patience = until.saturating_duration_since(Instant::now());
        match self.gate.wait_for_loads(rows, patience, || false) {
            Ok(()) => self.drop_leaving_space(rows, deadline),
            // Whoever ends the load drops it.
            Err(_) => Ok(()),
        }
    }

    /// Drops the spaces that were left to a bulk put, which has ended.
    pub(crate) fn drop_after_load(&self) {
        for space in self.leaving.without_writers() {
            if self.gate.is_free(space) {
                // What fails now is found at the next opening.
                let _ = self.drop_leaving_space(space, Deadline::NONE);
            }
        }
    }

    /// Of several who want to drop a space, one does.
    fn drop_leaving_space(&self, space: SpaceId, deadline: Deadline) -> Result<()> {
        if !self.is_leaving(space) {
            return Ok(());
        }
        let dropped = self.engine.drop_space_by(space, deadline);
        if dropped.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut) {
            return Ok(());
        }
        self.leaving.remove(space);
        match dropped {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            dropped => dropped,
        }
    }
}
