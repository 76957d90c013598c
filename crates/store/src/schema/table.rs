//! The schema of a table.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, KeyPart, KeyShape, Result};

use super::{Column, ColumnType, Layout, LayoutColumn};

/// Makes the values of so many rows that do not name a column.
pub type MakeDefaults = Arc<dyn Fn(usize) -> Result<ArrayRef> + Send + Sync>;

/// A table: its columns, its key, and the layouts its rows were ever written with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSchema {
    /// Its full name, `phones.images` for a child table; matched without regard to ASCII case.
    pub path: String,
    /// Its number inside its space; 0 for the top-level table. Never given to another table of the
    /// space.
    pub table_id: u32,
    /// The number of the layout that rows are written with now, from 1.
    pub number: u16,
    /// All columns: the inherited key columns first, then the table's own in declared order.
    pub columns: Vec<Column>,
    /// The primary key columns in key order, as positions in `columns`; the inherited ones first.
    pub key: Vec<usize>,
    /// How many of the leading key columns make the shard key.
    pub shard_key_len: usize,
    /// The tables above this one, the top-level table first.
    pub ancestors: Vec<Ancestor>,
    /// How long rows live when their put does not say; for ever without it.
    pub ttl_ms: Option<u64>,
    /// The number that the next column will get.
    pub next_column_id: u16,
    /// The layouts of earlier schema numbers.
    pub history: Vec<Layout>,
}

/// What a table must know of a table above it to build keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Its number inside the space.
    pub table_id: u32,
    /// How many key columns it has, its own ancestors' included.
    pub key_len: usize,
}

impl TableSchema {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    /// The path of the table above this one.
    pub fn parent_path(&self) -> Option<&str> {
        self.path.rsplit_once('.').map(|(parent, _)| parent)
    }

    /// The path of the top-level table of the space.
    pub fn root_path(&self) -> &str {
        self.path.split('.').next().unwrap_or(&self.path)
    }

    /// How many of the leading key columns come from the tables above.
    pub fn inherited_key_len(&self) -> usize {
        self.ancestors.last().map_or(0, |parent| parent.key_len)
    }

    /// The position of the column that the store numbers rows in, if there is one.
    pub fn identity_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.identity.is_some())
    }

    /// The position of the column that holds the fields without a column of their own: the table is
    /// a JSON collection.
    pub fn collection_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_collection)
    }

    /// The position of the column of that name.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.is_named(name))
    }

    /// The position of the column of that name.
    ///
    /// # Errors
    /// `Invalid`, naming the columns that there are.
    pub fn require_column(&self, name: &str) -> Result<usize> {
        self.column_index(name).ok_or_else(|| self.unknown_column(name))
    }

    #[cold]
    fn unknown_column(&self, name: &str) -> Error {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        Error::invalid(format!(
            "table {} has no column '{name}'; its columns are {}",
            self.path,
            names.join(", ")
        ))
        .in_table(&self.path)
        .in_column(name)
    }

    /// The key columns in key order.
    pub fn key_columns(&self) -> impl ExactSizeIterator<Item = &Column> {
        self.key.iter().map(|&index| &self.columns[index])
    }

    /// Whether the column at `index` is part of the primary key.
    pub fn is_key(&self, index: usize) -> bool {
        self.key.contains(&index)
    }

    /// The position in the key of the column at `index`.
    pub fn key_position(&self, index: usize) -> Option<usize> {
        self.key.iter().position(|&key| key == index)
    }

    /// The columns outside the key, as positions in `columns`.
    pub fn value_columns(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|index| !self.is_key(*index))
    }

    /// The layout that rows are written with now.
    pub fn layout(&self) -> Layout {
        let column = |index: usize| LayoutColumn {
            id: self.columns[index].id,
            column_type: self.columns[index].column_type,
        };
        Layout { number: self.number, columns: self.value_columns().map(column).collect() }
    }

    /// The Arrow schema of the table's record batches.
    pub fn arrow_schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::to_arrow).collect::<Vec<_>>()))
    }

    /// What rows hold that do not name a column: for each column outside the key that has a default its
    /// name, and what makes the values of so many rows.
    pub fn default_makers(&self) -> impl Iterator<Item = (String, MakeDefaults)> {
        let columns = self.value_columns().map(|index| &self.columns[index]);
        let with_default = columns.filter(|column| column.default_text().is_some());
        with_default.map(|column| (column.name.clone(), default_maker(column.clone())))
    }

    /// Whether the parts of a schema that was read from disk agree with each other.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let in_place = |index: &usize| *index < self.columns.len();
        let sound = !self.key.is_empty()
            && self.key.iter().all(in_place)
            && (1..=self.key.len()).contains(&self.shard_key_len)
            && self.ancestors.iter().map(|ancestor| ancestor.key_len).is_sorted()
            && self.inherited_key_len() < self.key.len()
            && self.ancestors.is_empty() == (self.table_id == 0);
        if sound {
            Ok(())
        } else {
            Err(format!("the schema of table {} contradicts itself", self.path))
        }
    }

    /// Where the shard key ends in the keys of the table's space.
    pub fn key_shape(&self) -> KeyShape {
        let part = |column: &Column| match column.column_type.fixed_width() {
            Some(width) => KeyPart::Fixed(width as u16),
            None => KeyPart::Terminated,
        };
        KeyShape::new(self.key_columns().take(self.shard_key_len).map(part).collect::<Vec<_>>())
    }
}

fn default_maker(mut column: Column) -> MakeDefaults {
    // Readers give nested values as JSON, so the values beside them are JSON as well.
    if column.column_type.is_nested() {
        column.column_type = ColumnType::Json;
    }
    Arc::new(move |rows| match column.default_array(rows)? {
        Some(made) => Ok(made),
        None => Ok(new_null_array(&column.column_type.data_type(), rows)),
    })
}
