//! The tables of a store, kept in the store itself.
//!
//! A space named `catalog` holds one row per table. DDL takes two steps where it makes or drops a
//! space:
//!
//! 1. `CREATE TABLE` makes the space, then writes the row. A crash in between leaves a space that
//!    no row names.
//! 2. `DROP TABLE` deletes the row, then drops the space. A crash in between leaves the same.
//!
//! Indexes have spaces of their own and work the same way ([`crate::index`]).
//!
//! So the next opening drops each space of a table or index that no row names. The catalog rows of
//! a table and of its child tables share a shard key, so they change in one atomic write.
//!
//! Several processes may have the store open. Then a space without a row may be one that another
//! process is just making, so it stays unless no other process is there ([`orphan_spaces`]). Each
//! statement of DDL reads the rows first, and writes each row on the condition that it has not
//! changed since. Then it notifies all processes ([`follow`]).
//!
//! Dropping waits for those who write to the table ([`drops`]): a write that began before counts as
//! one before the drop.
//!
//! Child tables live in the space of their top-level table. Dropping one deletes its catalog row
//! only. No other table gets its number, so the [`KeyClassifier`] skips the rows that it leaves.
//! They go with their parent rows or their space.

mod alter_checks;
mod background_drops;
mod drops;
mod entry;
mod follow;
mod identities;
mod indexes;
mod orphan_spaces;
mod pending_drops;
mod relatives;
mod replace;
mod rows;
mod shared_refresh;
mod space_names;
mod state;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard};

use tonnage_engine::sync::{read, write};
use tonnage_engine::{
    Condition, Deadline, Durability, Engine, Error, ErrorKind, KeyShape, Result, SpaceId,
    WriteBatch, WriteOutcome,
};

use crate::already_exists::AlreadyExists;
use crate::codec::Limits;
use crate::index::WriteGate;
use crate::members::Members;
use crate::schema::{Change, Identity};
use crate::schema::{TableDefinition, TableSchema};
use alter_checks::{check_indexed_columns, check_inherited};
use background_drops::BackgroundDrops;
pub use entry::TableEntry;
pub(crate) use follow::LeasedWrite;
use identities::Identities;
pub(crate) use identities::IdentityColumn;
pub(crate) use indexes::{NewIndex, unknown_index};
use orphan_spaces::CatalogSnapshot;
use pending_drops::PendingDrops;
pub(crate) use relatives::Relatives;
use rows::StoredTable;
use shared_refresh::SharedRefresh;
use space_names::TABLE_PREFIX;
use state::CatalogState;

/// The tables of a store. Readers never wait for the disk: a statement of DDL changes the state
/// once its row is stored.
pub struct Catalog {
    engine: Arc<dyn Engine>,
    /// What those who write rows hold.
    gate: Arc<WriteGate>,
    space: SpaceId,
    limits: Limits,
    state: RwLock<CatalogState>,
    /// Grows with each change of the state, so that holders of entries know when to look again.
    version: AtomicU64,
    /// Held through each statement of DDL.
    ddl: parking_lot::Mutex<()>,
    /// The spaces of the indexes that are being built now.
    building: Mutex<BTreeSet<SpaceId>>,
    /// The spaces of dropped tables and indexes that the engine still has.
    pending_drops: Arc<PendingDrops>,
    background_drops: BackgroundDrops,
    /// The numbers that rows are given.
    identities: Identities,
    /// The openings of the store, where there may be several.
    members: Option<Members>,
    /// The spaces of tables whose indexes others changed, and into which loads here may still bring
    /// rows that were encoded before.
    unsettled: Mutex<BTreeSet<SpaceId>>,
    shared_refresh: SharedRefresh,
    /// Whether who asks for a table that there is not learns which there are.
    tells_names: AtomicBool,
}

impl Catalog {
    /// Opens the catalog of a store, making it if need be, and clears away what a crash in the
    /// middle of DDL left.
    ///
    /// # Errors
    /// `Unsupported` for a catalog of a newer format, `Corruption` for one that cannot be read;
    /// what the engine says.
    pub fn open(engine: Arc<dyn Engine>) -> Result<Catalog> {
        Self::open_with(engine, None)
    }

    /// The same as one of several openings of the store.
    ///
    /// # Errors
    /// As [`Catalog::open`].
    pub(crate) fn open_as_member(engine: Arc<dyn Engine>) -> Result<Catalog> {
        let members = engine.capability().shared.then(|| Members::join(&engine)).transpose()?;
        Self::open_with(engine, members)
    }

    fn open_with(engine: Arc<dyn Engine>, members: Option<Members>) -> Result<Catalog> {
        let space = rows::open_space(engine.as_ref())?;
        let limits = Limits::from(engine.capability());
        // Read once this opening is among the members: who changes tables from now on waits for it.
        let CatalogSnapshot { state, orphans } =
            CatalogSnapshot::of(engine.as_ref(), space, limits, members.as_ref())?;
        let (gate, pending_drops) = (Arc::<WriteGate>::default(), Arc::<PendingDrops>::default());
        let catalog = Catalog {
            background_drops: BackgroundDrops::new(&engine, gate.clone(), pending_drops.clone()),
            pending_drops,
            engine,
            gate,
            space,
            limits,
            state: RwLock::new(state),
            version: AtomicU64::new(0),
            ddl: parking_lot::Mutex::new(()),
            building: Mutex::default(),
            identities: Identities::default(),
            members,
            unsettled: Mutex::default(),
            shared_refresh: SharedRefresh::default(),
            tells_names: AtomicBool::new(true),
        };
        // Last, since a space that cannot be dropped now is left to the background thread of the
        // catalog.
        catalog.drop_orphans(&orphans);
        Ok(catalog)
    }

    /// From here on errors name no table but the one that was asked for.
    pub(crate) fn hide_names(&self) {
        self.tells_names.store(false, Ordering::Relaxed);
    }

    /// What those who write rows hold.
    pub(crate) fn gate(&self) -> &Arc<WriteGate> {
        &self.gate
    }

    /// Another number after each change of any table. Taken before tables are looked up, it tells
    /// later whether they may have changed since.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// So many unassigned numbers of an identity column.
    pub(crate) fn draw_numbers(
        &self,
        column: IdentityColumn,
        identity: &Identity,
        count: usize,
    ) -> Result<Vec<i64>> {
        self.identities.draw(&*self.engine, column, identity, count)
    }

    fn state(&self) -> RwLockReadGuard<'_, CatalogState> {
        read(&self.state)
    }

    /// Replaces the tables of one space.
    fn publish(&self, space: SpaceId, family: Vec<StoredTable>) {
        let mut state = write(&self.state);
        state.replace_family(space, family, self.limits);
        self.bump_version();
    }

    /// From here on holders of entries look again.
    fn bump_version(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Replaces all tables by what is stored.
    fn publish_all(&self, stored: Vec<StoredTable>) {
        let mut state = write(&self.state);
        let read = CatalogState::new(stored, self.limits, Some(&state));
        state.drop_others(&read);
        *state = read;
        self.bump_version();
    }

    /// For one statement of DDL. From here on the tables are as they are stored now.
    fn lock(&self, deadline: Deadline) -> Result<parking_lot::MutexGuard<'_, ()>> {
        let ddl = match deadline.moment() {
            None => self.ddl.lock(),
            Some(moment) => self
                .ddl
                .try_lock_until(moment)
                .ok_or_else(|| Deadline::passed("another statement of DDL"))?,
        };
        if self.is_shared() {
            self.refresh()?;
        }
        Ok(ddl)
    }

    /// Whether other processes may change the tables too.
    fn is_shared(&self) -> bool {
        self.engine.capability().shared
    }

    /// All tables, by path.
    pub fn tables(&self) -> Vec<Arc<TableEntry>> {
        self.state().tables()
    }

    /// A table by its full name.
    ///
    /// # Errors
    /// `NotFound`, naming the table, the ones with a name like it, and the ones that there are.
    pub fn table(&self, path: &str) -> Result<Arc<TableEntry>> {
        match self.cached_table(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.is_shared() => {}
            known => return known,
        }
        // Another process may have created it.
        let _ddl = self.lock(Deadline::NONE)?;
        self.cached_table(path)
    }

    /// A table by its full name, as far as this process knows.
    fn cached_table(&self, path: &str) -> Result<Arc<TableEntry>> {
        self.state().table(path, self.tells_names.load(Ordering::Relaxed))
    }

    /// A table by its full name, if this process knows one.
    pub(crate) fn find(&self, path: &str) -> Option<Arc<TableEntry>> {
        self.state().find(path)
    }

    /// The tables of one space, the top-level one first, each before the ones below it.
    pub fn family(&self, space: SpaceId) -> Vec<Arc<TableEntry>> {
        self.state().family(space)
    }

    /// Makes a table. Answers whether it was created now.
    ///
    /// # Errors
    /// `Conflict` when there is one of that name and `if_not_exists` is off, or when its definition
    /// differs, naming the difference; `Invalid` for a
    /// definition that breaks a rule; `NotFound` when the table above it does not exist.
    pub fn create_table(
        &self,
        definition: &TableDefinition,
        if_not_exists: bool,
    ) -> Result<(Arc<TableEntry>, bool)> {
        self.create_table_by(definition, if_not_exists, Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// As [`Catalog::create_table`]; `TimedOut`: there is no such table.
    pub fn create_table_by(
        &self,
        definition: &TableDefinition,
        if_not_exists: bool,
        deadline: Deadline,
    ) -> Result<(Arc<TableEntry>, bool)> {
        let _ddl = self.lock(deadline)?;
        // The lock has read the tables anew, so one that another process created is found here.
        if let Some(entry) = self.find(&definition.path) {
            if !if_not_exists {
                let path = &entry.schema.path;
                return Err(AlreadyExists::error(format!("table {path} exists already")));
            }
            self.check_same(definition, &entry)?;
            return Ok((entry, false));
        }
        match definition.path.rsplit_once('.') {
            None => self.create_root(definition, deadline)?,
            Some((parent, _)) => {
                let parent = self
                    .cached_table(parent)
                    .map_err(|error| error.at(format_args!("table {}", definition.path)))?;
                self.create_child(definition, &parent, deadline)?;
            }
        }
        // The others need not follow at once: a process that does not know a table reads the
        // catalog again.
        self.notify_members();
        Ok((self.cached_table(&definition.path)?, true))
    }

    /// Refuses a definition that asks for another table than the one that is there.
    fn check_same(&self, definition: &TableDefinition, entry: &TableEntry) -> Result<()> {
        let schema = &entry.schema;
        let parent = schema.parent_path().map(|path| self.cached_table(path)).transpose()?;
        let parent = parent.as_ref().map(|parent| &parent.schema);
        let wanted = TableSchema::define(definition, parent, schema.table_id)?;
        match schema.difference(&wanted) {
            None => Ok(()),
            Some(difference) => Err(AlreadyExists::error(format!(
                "table {} exists already and is not as it is asked for: {difference}; alter it, or leave the definition as it is",
                schema.path
            ))),
        }
    }

    fn create_root(&self, definition: &TableDefinition, deadline: Deadline) -> Result<()> {
        let schema = Arc::new(TableSchema::define(definition, None, 0)?);
        let name = format!("{TABLE_PREFIX}{}", schema.path.to_ascii_lowercase());
        let space = self.make_space(&name, &schema.key_shape(), deadline)?;
        let family = vec![StoredTable::root(space, schema)];
        self.commit(&family, &[], deadline).inspect_err(|error| {
            if error.kind() != ErrorKind::Unavailable {
                let _ = self.engine.drop_space(space);
            }
        })?;
        self.publish(space, family);
        Ok(())
    }

    fn create_child(
        &self,
        definition: &TableDefinition,
        parent: &TableEntry,
        deadline: Deadline,
    ) -> Result<()> {
        let mut family = self.state().stored(parent.space);
        let root = family.first_mut().ok_or_else(|| lost_root(&parent.schema.path))?;
        let table_id = root.next_table_id;
        root.next_table_id = table_id
            .checked_add(1)
            .ok_or_else(|| Error::invalid("the top-level table has had too many child tables"))?;
        let path = format!(
            "{}.{}",
            parent.schema.path,
            definition.path.rsplit('.').next().unwrap_or_default()
        );
        let definition = TableDefinition { path, ..definition.clone() };
        let schema = Arc::new(TableSchema::define(&definition, Some(&parent.schema), table_id)?);
        let child = StoredTable::child(parent.space, schema);
        self.commit(&[root.clone(), child.clone()], &[], deadline)?;
        family.push(child);
        self.publish(parent.space, family);
        Ok(())
    }

    /// Drops a table and its rows. It answers whether there was one.
    ///
    /// Once this returns no write to the table is possible. Rows that a bulk put was given before
    /// may still count as stored in its report; they go with the table.
    ///
    /// # Errors
    /// `NotFound` when there is none and `if_exists` is off; `Conflict` when it has child tables.
    pub fn drop_table(&self, path: &str, if_exists: bool) -> Result<bool> {
        self.drop_table_by(path, if_exists, Deadline::NONE)
    }

    /// The same by a deadline. Once the table cannot be found any more it is dropped: what the
    /// deadline cuts short after that is done later.
    ///
    /// # Errors
    /// As [`Catalog::drop_table`]; `TimedOut`: the table is as it was.
    pub fn drop_table_by(&self, path: &str, if_exists: bool, deadline: Deadline) -> Result<bool> {
        let ddl = self.lock(deadline)?;
        let entry = match self.find(path) {
            Some(entry) => entry,
            None if if_exists => return Ok(false),
            None => self.cached_table(path)?,
        };
        if !entry.children.is_empty() {
            let children = entry.children.join(", ");
            return Err(Error::conflict(format!(
                "table {} has child tables: drop {children} first",
                entry.schema.path
            )));
        }
        let (dropped, family): (Vec<_>, Vec<_>) = self
            .state()
            .stored(entry.space)
            .into_iter()
            .partition(|table| table.schema.table_id == entry.schema.table_id);
        self.commit(&[], &dropped, deadline)?;
        let rows = entry.schema.ancestors.is_empty().then_some(entry.space);
        let indexes: Vec<_> =
            dropped.iter().flat_map(|table| &table.indexes).map(|index| index.space()).collect();
        // Under the lock: a new table of that name would else take the space for what a crash left.
        self.add_pending_drops(rows.iter().chain(&indexes));
        self.publish(entry.space, family);
        // The lock is released first: this process follows others while it waits for them to follow
        // it.
        drop(ddl);
        self.announce(deadline);
        self.remove_numbers(&entry);
        self.drop_spaces(rows, &indexes, deadline);
        Ok(true)
    }

    /// A note that cannot be deleted does no harm: no table gets its number again.
    fn remove_numbers(&self, table: &TableEntry) {
        let (space, schema) = (table.space, &table.schema);
        for column in schema.columns.iter().filter(|column| column.identity.is_some()) {
            let column = IdentityColumn { space, table: schema.table_id, column: column.id };
            let _ = self.identities.remove(&*self.engine, column);
        }
    }

    /// Changes a table.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a change that breaks a rule.
    pub fn alter_table(&self, path: &str, changes: &[Change]) -> Result<Arc<TableEntry>> {
        self.alter_table_by(path, changes, Deadline::NONE)
    }

    /// The same by a deadline.
    ///
    /// # Errors
    /// As [`Catalog::alter_table`]; `TimedOut`: the table is as it was.
    pub fn alter_table_by(
        &self,
        path: &str,
        changes: &[Change],
        deadline: Deadline,
    ) -> Result<Arc<TableEntry>> {
        let ddl = self.lock(deadline)?;
        let entry = self.cached_table(path)?;
        let schema = Arc::new(entry.schema.alter(changes)?);
        check_inherited(&entry, changes)?;
        let mut family = self.state().stored(entry.space);
        let table = family.iter_mut().find(|table| table.schema.table_id == schema.table_id);
        let table = table.ok_or_else(|| lost_root(&entry.schema.path))?;
        check_indexed_columns(&table.indexes, &entry.schema, &schema)?;
        table.schema = schema;
        self.commit(std::slice::from_ref(table), &[], deadline)?;
        self.publish(entry.space, family);
        drop(ddl);
        self.announce(deadline);
        self.cached_table(path)
    }

    /// Makes a space of this name, or of one like it: the space of a dropped table of that name may
    /// still be waiting for its drop, and another process may be making one.
    fn make_space(&self, name: &str, shape: &KeyShape, deadline: Deadline) -> Result<SpaceId> {
        match self.engine.create_space_by(name, shape, deadline) {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            made => return made,
        }
        let left = self.engine.spaces()?.into_iter().find(|space| space.name == name);
        let is_used = left.as_ref().is_some_and(|left| {
            self.is_shared()
                || self.is_drop_pending(left.id)
                || self.state().spaces().contains(&left.id)
        });
        if !is_used {
            // A statement that failed half-way may have left it, unnoticed; or it was dropped just
            // now.
            match left.map(|left| self.engine.drop_space_by(left.id, deadline)) {
                Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            match self.engine.create_space_by(name, shape, deadline) {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                made => return made,
            }
        }
        // Names are tried, not looked up: after a look-up another process may take one.
        let mut number = 2_u64;
        loop {
            match self.engine.create_space_by(&format!("{name}~{number}"), shape, deadline) {
                Err(error) if error.kind() == ErrorKind::Conflict => number += 1,
                made => return made,
            }
        }
    }

    /// Writes and deletes rows of one family atomically. When it fails the state is read anew, for
    /// the write may have gone through.
    fn commit(
        &self,
        put: &[StoredTable],
        delete: &[StoredTable],
        deadline: Deadline,
    ) -> Result<()> {
        let mut batch = WriteBatch::new(self.space);
        for table in put {
            batch.put(&table.key(), &table.value()?, 0, self.unchanged(table));
        }
        for table in delete {
            batch.delete(&table.key(), self.unchanged(table));
        }
        // A process that was considered gone may have lost the space that it is to name.
        let engine = self.engine.as_ref();
        let written = self.write_within_lease(engine, &batch, Durability::Fsync, deadline).outcome;
        // Even where the rows cannot be read, the caller learns the outcome of the write.
        if !matches!(written, Ok(WriteOutcome::Applied { .. })) {
            let _ = self.refresh();
        }
        match written? {
            WriteOutcome::Applied { .. } => Ok(()),
            WriteOutcome::Refused { .. } => {
                let last = put.iter().chain(delete).next_back();
                let path = last.map(|table| table.schema.path.as_str());
                Err(Error::conflict(format!(
                    "another process changed table {} at the same time: look at it, and try again",
                    path.unwrap_or_default()
                )))
            }
        }
    }

    /// What must hold of the row of a table for it to be written. Where one process alone writes,
    /// its lock is enough.
    fn unchanged(&self, table: &StoredTable) -> Condition {
        match table.version {
            _ if !self.is_shared() => Condition::Always,
            None => Condition::IfAbsent,
            Some(version) => Condition::IfVersion(version),
        }
    }
}

#[cold]
fn lost_root(path: &str) -> Error {
    Error::internal(format!("the catalog has lost a row of the family of table {path}"))
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog").field("tables", &self.tables().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
