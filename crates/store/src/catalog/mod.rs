//! The tables of a store, kept in the store itself.

use std::sync::Arc;

use tonnage_engine::{Engine, Result, SpaceId};

use crate::codec::Limits;
use crate::schema::Change;
use crate::{KeyClassifier, TableCodec, TableDefinition, TableSchema};

/// A table that is open for use. A snapshot: DDL makes new entries and leaves old ones as they are.
#[derive(Debug)]
pub struct TableEntry {
    /// What the table is.
    pub schema: Arc<TableSchema>,
    /// Its codec.
    pub codec: Arc<TableCodec>,
    /// Where its rows are.
    pub space: SpaceId,
    /// Tells the tables of the space apart.
    pub classifier: Arc<KeyClassifier>,
    /// The full names of the tables right below it.
    pub children: Vec<String>,
}

/// The tables of a store.
pub struct Catalog {
    engine: Arc<dyn Engine>,
}

impl Catalog {
    /// Opens the catalog of a store, making it if need be, and clears away what a crash in the middle of DDL left.
    ///
    /// # Errors
    /// `Unsupported` for a catalog of a newer format, `Corruption` for one that cannot be read; what the engine says.
    pub fn open(engine: Arc<dyn Engine>) -> Result<Catalog> {
        let _ = Limits::default();
        Ok(Catalog { engine })
    }

    /// All tables, by path.
    pub fn tables(&self) -> Vec<Arc<TableEntry>> {
        unimplemented!()
    }

    /// A table by its full name.
    ///
    /// # Errors
    /// `NotFound`, naming the table, the ones with a name like it, and the ones that there are.
    pub fn table(&self, path: &str) -> Result<Arc<TableEntry>> {
        let _ = (path, &self.engine);
        unimplemented!()
    }

    /// Makes a table. The answer tells whether it was made now.
    ///
    /// # Errors
    /// `Conflict` when there is one of that name and `if_not_exists` is off; `Invalid` for a definition that breaks a rule.
    pub fn create_table(&self, definition: &TableDefinition, if_not_exists: bool) -> Result<(Arc<TableEntry>, bool)> {
        let _ = (definition, if_not_exists);
        unimplemented!()
    }

    /// Drops a table and its rows. The answer tells whether there was one.
    ///
    /// # Errors
    /// `NotFound` when there is none and `if_exists` is off; `Conflict` when it has child tables.
    pub fn drop_table(&self, path: &str, if_exists: bool) -> Result<bool> {
        let _ = (path, if_exists);
        unimplemented!()
    }

    /// Changes a table.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a change that breaks a rule.
    pub fn alter_table(&self, path: &str, changes: &[Change]) -> Result<Arc<TableEntry>> {
        let _ = (path, changes);
        unimplemented!()
    }

    /// The tables of one space, the top-level one first, each before the ones below it.
    pub fn family(&self, space: SpaceId) -> Vec<Arc<TableEntry>> {
        let _ = space;
        unimplemented!()
    }
}
