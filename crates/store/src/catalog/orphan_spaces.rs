//! Finds orphan spaces: those that no catalog row names, left by a crash in the middle of DDL.
//!
//! Several processes may have the store open. Then the row of such a space may still be on its way.
//! The space is an orphan only if no process can write such a row any more:
//!
//! 1. No other opening is there before the spaces are listed, none is there after the rows were
//!    read, and no process announced a change in between. A process that changed a row meanwhile
//!    and has ended has notified of it. A process that was killed still has its row among the
//!    members.
//! 2. A write that got no answer may still be completed by the next serial read of its row. So the
//!    opening completes such writes, under all top-level tables and under those that the names of
//!    the orphans tell of. Then it reads the rows once more.

use std::collections::BTreeSet;
use std::time::Duration;

use tonnage_engine::{Deadline, Engine, Result, SpaceId, SpaceInfo};

use super::rows;
use super::space_names::{is_of_table, roots};
use super::state::CatalogState;
use crate::codec::Limits;
use crate::members::{MemberView, Members};

/// How long an opening waits for the decisions under way: for longer only while a node is away.
const SETTLE_TIME: Duration = Duration::from_secs(5);

/// The tables of a store, and the spaces that none of them has nor ever will.
pub(super) struct CatalogSnapshot {
    pub(super) state: CatalogState,
    pub(super) orphans: Vec<SpaceId>,
}

impl CatalogSnapshot {
    /// Reads the catalog in `space`.
    ///
    /// # Errors
    /// What the engine says of the spaces and the rows.
    pub(super) fn of(
        engine: &dyn Engine,
        space: SpaceId,
        limits: Limits,
        members: Option<&Members>,
    ) -> Result<Self> {
        let before = members.map(Members::view).transpose()?;
        let spaces = engine.spaces()?;
        let state = CatalogState::new(rows::read(engine, space)?, limits, None);
        let reading = Self { orphans: orphans(&spaces, &state), state };
        if !engine.capability().shared || reading.orphans.is_empty() {
            return Ok(reading);
        }
        match (members, before) {
            (Some(members), Some(before)) if before.is_alone() => {
                reading.settle(engine, space, limits, members, before, &spaces)
            }
            _ => Ok(Self { orphans: Vec::new(), ..reading }),
        }
    }

    /// The same once no process can write a row any more. Where that is unknown the spaces stay:
    /// they do no harm, and a cluster opens with a copy away.
    fn settle(
        self,
        engine: &dyn Engine,
        space: SpaceId,
        limits: Limits,
        members: &Members,
        before: MemberView,
        spaces: &[SpaceInfo],
    ) -> Result<Self> {
        let of_names = spaces.iter().filter(|info| self.orphans.contains(&info.id));
        let mut wanted: BTreeSet<String> = self.state.root_names().collect();
        wanted.extend(of_names.flat_map(|info| roots(&info.name)).map(str::to_owned));
        if let Err(error) = rows::settle(engine, space, &wanted, Deadline::after(SETTLE_TIME)) {
            tracing::warn!(%error, "spaces that no table has stay");
            return Ok(Self { orphans: Vec::new(), ..self });
        }
        let state = CatalogState::new(rows::read(engine, space)?, limits, None);
        let orphans = match before.was_alone_until(members.view()?) {
            true => orphans(spaces, &state),
            false => Vec::new(),
        };
        Ok(Self { state, orphans })
    }
}

fn orphans(spaces: &[SpaceInfo], state: &CatalogState) -> Vec<SpaceId> {
    let named = state.spaces();
    let orphans =
        spaces.iter().filter(|space| is_of_table(&space.name) && !named.contains(&space.id));
    orphans.map(|space| space.id).collect()
}
