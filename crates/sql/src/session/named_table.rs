//! A table as a statement names it.

use datafusion::sql::sqlparser::tokenizer::Location;
use tonnage::{Result, Store, Table};

use crate::catalog::read_path;
use crate::errors::located;
use crate::text::Cursor;

/// The path of a table, in lower case, with its position in the text.
pub(crate) struct NamedTable {
    pub(crate) path: String,
    pub(crate) place: Location,
}

impl NamedTable {
    /// Reads the name that is here, as queries take it.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(crate) fn read(cursor: &mut Cursor) -> Result<Self> {
        let place = cursor.location();
        let path = read_path(cursor).ok_or_else(|| cursor.expected("the name of a table"))?;
        Ok(Self { path, place })
    }

    /// The table itself.
    ///
    /// # Errors
    /// `NotFound` with the position.
    pub(crate) fn table(&self, store: &Store) -> Result<Table> {
        store.table(&self.path).map_err(|error| located(error, self.place))
    }
}
