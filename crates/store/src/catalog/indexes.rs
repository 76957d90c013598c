//! Indexes in the catalog. An index is part of the row of its table, so both change in one write.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::sync::lock;
use tonnage_engine::{Deadline, Error, KeyShape, Result, SpaceId};

use super::entry::TableEntry;
use super::rows::StoredTable;
use super::space_names::INDEX_PREFIX;
use super::{Catalog, lost_root};
use crate::already_exists::AlreadyExists;
use crate::index::{INDEXES_MAX, IndexDefinition, IndexState, OpenIndex, StoredIndex};
use crate::members::Members;

/// How long DROP INDEX waits for the readers of other processes.
const DROP_MAX_WAIT: Duration = Duration::from_secs(30);

/// What is to be done about an index that someone asks for.
pub(crate) enum NewIndex {
    /// Nothing: it is there.
    Exists,
    /// Its rows must be put in.
    ToBuild {
        /// Its table.
        table: Arc<TableEntry>,
        /// Its space.
        space: SpaceId,
        /// The mark of the table's indexes from before this one got its first entry. Nothing where
        /// it was begun earlier, and may have stale entries.
        unused_at: Option<u64>,
    },
}

impl Catalog {
    /// The path of the table that has an index of this name, if one has.
    ///
    /// # Errors
    /// `Conflict` when several tables have one.
    pub(crate) fn table_of_index(&self, name: &str) -> Result<Option<String>> {
        let mut paths: Vec<String> = self
            .tables()
            .iter()
            .filter(|table| table.indexes.set().find(name).is_some())
            .map(|table| table.schema.path.clone())
            .collect();
        if paths.len() > 1 {
            return Err(Error::conflict(format!(
                "tables {} have an index {name}: write DROP INDEX {name} ON the one that is meant",
                paths.join(", ")
            )));
        }
        Ok(paths.pop())
    }

    /// Makes an index in the state building, or finds the one of that name whose building was cut
    /// short.
    pub(crate) fn begin_index(
        &self,
        definition: &IndexDefinition,
        if_not_exists: bool,
        deadline: Deadline,
    ) -> Result<NewIndex> {
        let _ddl = self.lock(deadline)?;
        let table = self.cached_table(&definition.table)?;
        let columns = definition
            .check(&table.schema)
            .map_err(|error| error.at(format_args!("table {}", table.schema.path)))?;
        let set = table.indexes.set();
        if let Some(found) = set.find(&definition.name) {
            // The claim comes last: if a later condition failed, it would never be released.
            let is_left = !found.is_ready()
                && found.stored.columns == columns
                && !self.is_built_elsewhere(&found.stored)?
                && self.claim_build(found.space());
            return match is_left {
                true => {
                    let space = found.space();
                    self.adopt_build(&table, space, deadline)
                        .inspect_err(|_| self.release_build(space))?;
                    Ok(NewIndex::ToBuild { space, table: table.clone(), unused_at: None })
                }
                false if if_not_exists => Ok(NewIndex::Exists),
                false => Err(index_exists(definition, &table)),
            };
        }
        if set.indexes.len() >= INDEXES_MAX {
            return Err(Error::invalid(format!(
                "table {} has {INDEXES_MAX} indexes, which is the most",
                table.schema.path
            )));
        }
        let space = self.make_index_space(&table, definition, deadline)?;
        let index = StoredIndex {
            name: definition.name.clone(),
            space: space.0,
            state: IndexState::Building,
            columns,
            builder: self.own_id(),
        };
        // Claimed under the lock: the next CREATE INDEX would else take it for one that was cut
        // short.
        self.claim_build(space);
        // Before writers know the index: from then on one of them may leave a stale entry in it.
        let unused_at = Some(table.indexes.clean.now());
        self.change_indexes(&table, deadline, |indexes| indexes.push(index))
            .inspect_err(|_| self.release_build(space))?;
        Ok(NewIndex::ToBuild { table: self.cached_table(&definition.table)?, space, unused_at })
    }

    fn make_index_space(
        &self,
        table: &TableEntry,
        definition: &IndexDefinition,
        deadline: Deadline,
    ) -> Result<SpaceId> {
        let name = format!("{INDEX_PREFIX}{}.{}", table.schema.path, definition.name);
        self.make_space(&name.to_ascii_lowercase(), &KeyShape::shard_prefixed(), deadline)
    }

    /// Notes that an index has every row.
    pub(crate) fn finish_index(&self, table: &TableEntry, space: SpaceId) -> Result<()> {
        let _ddl = self.lock(Deadline::NONE)?;
        if index_in(table, space).is_none() {
            return Err(Error::not_found("it was dropped while it was made"));
        }
        self.change_index(table, space, Deadline::NONE, mark_ready)?;
        self.release_build(space);
        Ok(())
    }

    /// Takes on the making of an index that was cut short.
    fn adopt_build(&self, table: &TableEntry, space: SpaceId, deadline: Deadline) -> Result<()> {
        let own = self.own_id();
        if own.is_none() {
            return Ok(());
        }
        self.change_index(table, space, deadline, |index| index.builder = own)
    }

    /// Whether another process is making an index.
    fn is_built_elsewhere(&self, index: &StoredIndex) -> Result<bool> {
        match (&self.members, index.builder) {
            (Some(members), Some(builder)) if builder != members.id() => members.is_there(builder),
            _ => Ok(false),
        }
    }

    /// What names this opening in the catalog, where there may be several.
    fn own_id(&self) -> Option<u64> {
        self.members.as_ref().map(Members::id)
    }

    /// Takes an index off its table. The answer is its space, which is to be dropped once its
    /// writers are done; nothing when there is no such index.
    ///
    /// Where several processes have the store open their readers leave it first: the index is
    /// *building* again, so all writers keep it up and no reader uses it. Else a process that has
    /// not heard of the drop would answer without the rows that were written meanwhile.
    ///
    /// # Errors
    /// `NotFound` when there is none and `if_exists` is off; `TimedOut`, `Unavailable` when another
    /// process does not take it over: the index is as it was.
    pub(crate) fn remove_index_named(
        &self,
        table: &str,
        name: &str,
        if_exists: bool,
        deadline: Deadline,
    ) -> Result<Option<SpaceId>> {
        let mut ddl = self.lock(deadline)?;
        let table = match self.find(table) {
            None if if_exists => return Ok(None),
            _ => self.cached_table(table)?,
        };
        let set = table.indexes.set();
        let Some(index) = set.find(name) else {
            return if if_exists { Ok(None) } else { Err(unknown_index(&table, name)) };
        };
        let space = index.space();
        let mut may_be_read = self.is_shared();
        while may_be_read {
            let is_withheld = self.hide_from_readers(&table, space, deadline)?;
            drop(ddl);
            let told = self.announce_to_all(DROP_MAX_WAIT, deadline, &|| false);
            if let Err(error) = told {
                if is_withheld {
                    self.restore_to_readers(&table, space);
                }
                return Err(error.at(format_args!("index {name} on {}", table.schema.path)));
            }
            ddl = self.lock(Deadline::NONE)?;
            // The process that created it, or gave up its drop, may have finished it in between.
            match index_in(&table, space) {
                Some(index) if !table.indexes.is_dropped() => may_be_read = index.is_ready(),
                _ => return Ok(None),
            }
        }
        // Past the point of no return: the deadline was for the way there.
        let deadline = if self.is_shared() { Deadline::NONE } else { deadline };
        self.detach_index(&table, space, deadline)?;
        drop(ddl);
        Ok(Some(space))
    }

    /// Stops all reads of an index, while all writers still keep it up. Answers whether anybody
    /// could read it.
    fn hide_from_readers(
        &self,
        table: &TableEntry,
        space: SpaceId,
        deadline: Deadline,
    ) -> Result<bool> {
        let is_ready = index_in(table, space).is_some_and(|index| index.is_ready());
        if is_ready {
            let own = self.own_id();
            self.change_index(table, space, deadline, |index| {
                (index.state, index.builder) = (IndexState::Building, own);
            })?;
        }
        Ok(is_ready)
    }

    /// Gives an index back to its readers that was not dropped after all: it has every row.
    fn restore_to_readers(&self, table: &TableEntry, space: SpaceId) {
        let offered = self.lock(Deadline::NONE).and_then(|_ddl| {
            match index_in(table, space).filter(|index| index.stored.builder == self.own_id()) {
                Some(_) => self.change_index(table, space, Deadline::NONE, mark_ready),
                None => Ok(()),
            }
        });
        match offered {
            Ok(()) => self.notify_members(),
            Err(error) => tracing::warn!(%error, "an index stays building: drop it again"),
        }
    }

    /// Takes an index off its table whose building failed, if it is still there.
    pub(crate) fn remove_index(&self, table: &TableEntry, space: SpaceId) -> Result<()> {
        let _ddl = self.lock(Deadline::NONE)?;
        self.release_build(space);
        let index = index_in(table, space);
        if index.is_some_and(|index| index.stored.builder != self.own_id()) {
            return Err(Error::conflict("another process makes the index by now"));
        }
        self.detach_index(table, space, Deadline::NONE)
    }

    fn detach_index(&self, table: &TableEntry, space: SpaceId, deadline: Deadline) -> Result<()> {
        let others = |indexes: &mut Vec<StoredIndex>| {
            indexes.retain(|index| index.space() != space);
        };
        self.change_indexes(table, deadline, others)?;
        self.add_pending_drops(std::iter::once(&space));
        Ok(())
    }

    fn change_index(
        &self,
        table: &TableEntry,
        space: SpaceId,
        deadline: Deadline,
        change: impl FnMut(&mut StoredIndex),
    ) -> Result<()> {
        self.change_indexes(table, deadline, |indexes| {
            indexes.iter_mut().filter(|index| index.space() == space).for_each(change);
        })
    }

    fn change_indexes(
        &self,
        table: &TableEntry,
        deadline: Deadline,
        change: impl FnOnce(&mut Vec<StoredIndex>),
    ) -> Result<()> {
        let mut family = self.state().stored(table.space);
        let stored: Option<&mut StoredTable> =
            family.iter_mut().find(|stored| stored.schema.table_id == table.schema.table_id);
        let stored = stored.ok_or_else(|| lost_root(&table.schema.path))?;
        change(&mut stored.indexes);
        self.commit(std::slice::from_ref(stored), &[], deadline)?;
        self.publish(table.space, family);
        Ok(())
    }

    /// Takes the building of an index on; false when someone else has.
    fn claim_build(&self, space: SpaceId) -> bool {
        lock(&self.building).insert(space)
    }

    fn release_build(&self, space: SpaceId) {
        lock(&self.building).remove(&space);
    }
}

/// The index of a table that has this space.
fn index_in(table: &TableEntry, space: SpaceId) -> Option<Arc<OpenIndex>> {
    table.indexes.set().indexes.iter().find(|index| index.space() == space).cloned()
}

fn mark_ready(index: &mut StoredIndex) {
    (index.state, index.builder) = (IndexState::Ready, None);
}

#[cold]
fn index_exists(definition: &IndexDefinition, table: &TableEntry) -> Error {
    AlreadyExists::error(format!(
        "table {} has an index {} already: drop it first, or choose another name",
        table.schema.path, definition.name
    ))
}

#[cold]
pub(crate) fn unknown_index(table: &TableEntry, name: &str) -> Error {
    let set = table.indexes.set();
    let names: Vec<_> = set.indexes.iter().map(|index| index.stored.name.as_str()).collect();
    let there = match names.is_empty() {
        true => "it has none".to_owned(),
        false => format!("its indexes are {}", names.join(", ")),
    };
    Error::not_found(format!("table {} has no index {name}; {there}", table.schema.path))
}
