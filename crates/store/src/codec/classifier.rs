//! Which table of a space a key belongs to.

use std::sync::Arc;

use tonnage_engine::Result;

use crate::TableSchema;

/// What a key says of its row's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOwner {
    /// A row of the table with this number.
    Table(u32),
    /// A row of a table that was dropped, or made after this classifier: pass over it.
    Other,
}

/// Tells the tables of a space apart by their keys. Immutable; share it by `Arc`.
#[derive(Debug)]
pub struct KeyClassifier {
    tables: Vec<Arc<TableSchema>>,
}

impl KeyClassifier {
    /// A classifier for the tables of one space, the top-level one among them.
    pub fn new(tables: &[Arc<TableSchema>]) -> Self {
        Self { tables: tables.to_vec() }
    }

    /// The table that a key belongs to.
    ///
    /// # Errors
    /// `Corruption` for bytes that are no key of the space.
    pub fn classify(&self, key: &[u8]) -> Result<KeyOwner> {
        let _ = (key, &self.tables);
        unimplemented!()
    }

    /// How many leading bytes of a key, of the table `table_id` or one below it, are the key of its row in the table
    /// `ancestor_id`. For the table itself it is the length of its own row's key.
    ///
    /// # Errors
    /// `Corruption` for bytes that are no key of the space; `Invalid` when the key is not of that table or below it.
    pub fn ancestor_key_len(&self, key: &[u8], ancestor_id: u32) -> Result<usize> {
        let _ = (key, ancestor_id);
        unimplemented!()
    }
}
