//! The columns of rows as items, each at the place that its table has for it.

use std::sync::Arc;

use tonnage::{Row, Table};

use super::stored_row::FoundRow;
use crate::query::evaluate::{RowFacts, Scope};
use crate::query::item::{Item, item_of_value};
use crate::query::plan::UsedColumns;

/// Which columns a statement needs, and the items of the row that it looks at.
pub(super) struct RowColumns {
    names: Vec<Arc<str>>,
    /// The places of those that are needed; all without it.
    needed: Option<Vec<usize>>,
    /// The column with the other fields, in a JSON collection.
    document: Option<usize>,
    /// The first column of the key.
    first_key: usize,
    pub(super) items: Vec<Item>,
    /// The table, where the times of its rows are asked for.
    timed: Option<Table>,
    version: u64,
    expires_at_ms: u64,
    modified_ms: u64,
    bytes: usize,
}

impl RowColumns {
    pub(super) fn new(table: &Table, used: &UsedColumns) -> Self {
        let schema = table.schema();
        let names = schema.columns.iter().map(|column| Arc::from(column.name.as_str())).collect();
        let mut needed = used.columns.clone();
        // The key decides the shard, which has times of its own.
        if used.has_write_time {
            needed.extend(schema.key.iter().filter(|key| !used.columns.contains(key)));
        }
        Self {
            names,
            needed: (!used.has_row).then_some(needed),
            document: schema.collection_column(),
            first_key: schema.key.first().copied().unwrap_or_default(),
            items: vec![Item::Null; schema.columns.len()],
            timed: used.has_write_time.then(|| table.clone()),
            version: 0,
            expires_at_ms: 0,
            modified_ms: 0,
            bytes: 0,
        }
    }

    /// The names of the columns that are to be read; all without it.
    pub(super) fn wanted(&self) -> Option<Vec<String>> {
        let needed = self.needed.as_ref()?;
        // A row of no columns at all cannot be read.
        let places: &[usize] =
            if needed.is_empty() { std::slice::from_ref(&self.first_key) } else { needed };
        Some(places.iter().map(|place| self.names[*place].to_string()).collect())
    }

    /// Looks at a row.
    pub(super) fn load(&mut self, found: &FoundRow) {
        (self.version, self.expires_at_ms) = (found.version, found.expires_at_ms);
        if let Some(table) = &self.timed {
            self.modified_ms = table.written_ms(&found.row, found.version);
        }
        match &self.needed {
            Some(needed) => {
                for place in needed {
                    self.items[*place] = item_in(&found.row, &self.names[*place]);
                }
            }
            None => {
                for (item, name) in self.items.iter_mut().zip(&self.names) {
                    *item = item_in(&found.row, name);
                }
            }
        }
        self.bytes = self.items.iter().map(Item::bytes).sum();
    }

    /// How many kilobytes the row counts as.
    pub(super) fn kilobytes(&self) -> usize {
        self.bytes.div_ceil(1_024).max(1)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn scope<'s>(&'s self, unnested: &'s [Item]) -> Scope<'s> {
        let facts = RowFacts {
            version: self.version,
            expires_at_ms: self.expires_at_ms,
            modified_ms: self.modified_ms,
            bytes: self.bytes,
        };
        Scope {
            names: &self.names,
            columns: &self.items,
            document: self.document,
            unnested,
            facts,
            ..Scope::default()
        }
    }
}

fn item_in(row: &Row, name: &str) -> Item {
    row.get(name).map_or(Item::Null, item_of_value)
}
