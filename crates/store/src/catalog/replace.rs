//! Replaces one table by another.
//!
//! The catalog rows of top-level tables have shard keys of their own, so they cannot change in one
//! atomic write. First the row of the new table is deleted, then it is written under the name of
//! the old one. A crash in between leaves the old table, and a space that no row names.

use std::sync::Arc;

use tonnage_engine::sync::write;
use tonnage_engine::{Deadline, Error, ErrorKind, Result};

use super::rows::StoredTable;
use super::{Catalog, TableEntry, lost_root};

impl Catalog {
    /// Puts the table `new` in place of the table `path`, whose rows and indexes are
    /// dropped. Both stand under the same table, or at the top level. A look-up of `path` finds the
    /// one or the other, all of it.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` when either of them has child tables; `Invalid` when they do not
    /// stand under the same table. When it fails the old table is as it was, and the new one may be
    /// gone.
    pub fn replace_table(&self, path: &str, new: &str) -> Result<()> {
        let ddl = self.lock(Deadline::NONE)?;
        let (old, new) = (self.cached_table(path)?, self.cached_table(new)?);
        check_places(&old, &new)?;
        let leaving: Vec<_> =
            self.row_of(&old)?.indexes.iter().map(|index| index.space()).collect();
        let is_root = new.schema.ancestors.is_empty();
        match is_root {
            true => self.replace_root(&old, &new)?,
            false => self.replace_child(&old, &new)?,
        }
        self.add_pending_drops(leaving.iter().chain(is_root.then_some(&old.space)));
        drop(ddl);
        self.announce(Deadline::NONE);
        self.remove_numbers(&old);
        self.drop_spaces(is_root.then_some(old.space), &leaving, Deadline::NONE);
        Ok(())
    }

    fn replace_root(&self, old: &TableEntry, new: &TableEntry) -> Result<()> {
        let before = self.row_of(new)?;
        let after = renamed(&before, &self.row_of(old)?);
        self.commit(&[], &[before], Deadline::NONE)?;
        if let Err(error) = self.commit(std::slice::from_ref(&after), &[], Deadline::NONE) {
            // A row that may or may not be stored can still come to name the space: then that is
            // left to the next opening. Else the state is as it is stored now.
            let is_in_doubt = error.kind() == ErrorKind::Unavailable;
            if !is_in_doubt && !self.state().spaces().contains(&new.space) {
                self.add_pending_drops(std::iter::once(&new.space));
                self.drop_spaces(Some(new.space), &[], Deadline::NONE);
            }
            return Err(error);
        }
        let mut state = write(&self.state);
        state.replace_family(old.space, Vec::new(), self.limits);
        state.replace_family(new.space, vec![after], self.limits);
        drop(state);
        self.bump_version();
        Ok(())
    }

    fn replace_child(&self, old: &TableEntry, new: &TableEntry) -> Result<()> {
        let (before, replaced) = (self.row_of(new)?, self.row_of(old)?);
        let after = renamed(&before, &replaced);
        self.commit(std::slice::from_ref(&after), &[before], Deadline::NONE)?;
        let mut family = self.state().stored(new.space);
        let ids = [old, new].map(|table| table.schema.table_id);
        family.retain(|table| !ids.contains(&table.schema.table_id));
        family.push(after);
        self.publish(new.space, family);
        Ok(())
    }

    fn row_of(&self, table: &TableEntry) -> Result<StoredTable> {
        let family = self.state().stored(table.space).into_iter();
        let mut own = family.filter(|row| row.schema.table_id == table.schema.table_id);
        own.next().ok_or_else(|| lost_root(&table.schema.path))
    }
}

/// The row of a table under the name of another one, in the place of that one's row.
fn renamed(table: &StoredTable, replaced: &StoredTable) -> StoredTable {
    let mut schema = (*table.schema).clone();
    schema.path.clone_from(&replaced.schema.path);
    StoredTable { schema: Arc::new(schema), version: replaced.version, ..table.clone() }
}

fn check_places(old: &TableEntry, new: &TableEntry) -> Result<()> {
    let (from, to) = (&new.schema.path, &old.schema.path);
    let is_same = (old.space, old.schema.table_id) == (new.space, new.schema.table_id);
    let parents = [old, new].map(|table| table.schema.parent_path().map(str::to_ascii_lowercase));
    if is_same || parents[0] != parents[1] {
        return Err(Error::invalid(format!(
            "table {from} cannot take the place of {to}: name two tables that stand side by side"
        )));
    }
    match [old, new].into_iter().find(|table| !table.children.is_empty()) {
        None => Ok(()),
        Some(table) => Err(Error::conflict(format!(
            "table {} has child tables: drop {} first",
            table.schema.path,
            table.children.join(", ")
        ))),
    }
}
