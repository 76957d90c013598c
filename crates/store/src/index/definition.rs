//! The definition of an index: its name, its table, its columns.

use std::fmt;

use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result, SpaceId};

use crate::schema::ColumnType;
use crate::schema::{TableSchema, check_name, quoted_name};
use crate::value::Value;

/// The most columns of one index.
pub(super) const INDEX_COLUMNS_MAX: usize = 16;
/// The most indexes of one table.
pub(crate) const INDEXES_MAX: usize = 64;

/// An index as someone asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Its name, unique among the indexes of its table; matched without regard to ASCII case.
    pub name: String,
    /// The path of its table.
    pub table: String,
    /// What it orders the rows by, the first column first.
    pub columns: Vec<IndexColumn>,
}

/// One column of an index: a column of the table, or a place inside a JSON column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The name of the table's column.
    pub column: String,
    /// The names that lead from the root of a JSON document to the value; empty for the column
    /// itself.
    pub path: Vec<String>,
}

impl IndexColumn {
    /// A column of the table.
    pub fn new(column: impl Into<String>) -> Self {
        Self { column: column.into(), path: Vec::new() }
    }

    /// A place in a JSON column.
    pub fn json_path(
        column: impl Into<String>,
        path: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self { column: column.into(), path: path.into_iter().map(Into::into).collect() }
    }

    /// Whether someone who writes `name`, with points between names and quoted or not, means this
    /// column.
    pub fn is_named(&self, name: &str) -> bool {
        let plain = || {
            std::iter::once(&self.column)
                .chain(&self.path)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(".")
        };
        self.column.eq_ignore_ascii_case(name) && self.path.is_empty()
            || plain() == name
            || self.to_string() == name
    }
}

/// `doc.address.city`, each name in double quotes where it needs them.
impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted_name(&self.column))?;
        self.path.iter().try_for_each(|name| write!(f, ".{}", quoted_name(name)))
    }
}

/// How far an index has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IndexState {
    /// Writers keep it up, but rows from before may be missing.
    Building,
    /// It has every row.
    Ready,
}

/// An index as the catalog stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredIndex {
    pub(crate) name: String,
    pub(crate) space: u32,
    pub(crate) state: IndexState,
    pub(crate) columns: Vec<StoredColumn>,
    /// Which opening of the store makes it, where there may be several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) builder: Option<u64>,
}

/// A column of an index, by its number, which no other column of the table ever gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredColumn {
    pub(crate) column: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) path: Vec<String>,
}

/// A column of an index with what the table says of it.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedColumn {
    pub(crate) id: u16,
    pub(crate) column_type: ColumnType,
    /// What rows hold that were written before the column was added.
    pub(crate) default: Value,
    /// The names as people write them.
    pub(crate) shown: IndexColumn,
}

impl StoredIndex {
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(crate) fn space(&self) -> SpaceId {
        SpaceId(self.space)
    }

    /// The columns as the table has them. The error is what does not fit.
    pub(crate) fn resolve(
        &self,
        schema: &TableSchema,
    ) -> std::result::Result<Vec<ResolvedColumn>, String> {
        let resolve = |stored: &StoredColumn| {
            let column = schema.columns.iter().find(|column| column.id == stored.column);
            let column = column.ok_or_else(|| {
                format!("index {} is on a column that table {} lacks", self.name, schema.path)
            })?;
            Ok(ResolvedColumn {
                id: column.id,
                column_type: column.column_type,
                default: column.default.clone().unwrap_or(Value::Null),
                shown: IndexColumn { column: column.name.clone(), path: stored.path.clone() },
            })
        };
        self.columns.iter().map(resolve).collect()
    }
}

impl IndexDefinition {
    /// The columns by number.
    ///
    /// # Errors
    /// `Invalid` for a definition that breaks a rule.
    pub(crate) fn check(&self, schema: &TableSchema) -> Result<Vec<StoredColumn>> {
        check_name(&self.name, "index")?;
        if self.columns.is_empty() || self.columns.len() > INDEX_COLUMNS_MAX {
            return Err(Error::invalid(format!(
                "index {}: an index has 1 to {INDEX_COLUMNS_MAX} columns",
                self.name
            )));
        }
        let mut columns: Vec<StoredColumn> = Vec::new();
        for asked in &self.columns {
            let column = &schema.columns[schema.require_column(&asked.column)?];
            let is_json = column.column_type == ColumnType::Json;
            if column.column_type.is_nested() {
                return Err(Error::invalid(format!(
                    "index {}: column '{asked}' is of type {}, which has no order",
                    self.name, column.column_type
                )));
            }
            // A whole document has no order to index, and only a document has paths inside.
            if is_json == asked.path.is_empty() {
                let what = if is_json {
                    "is of type JSON: name a place inside it"
                } else {
                    "is not of type JSON: name it alone"
                };
                return Err(Error::invalid(format!(
                    "index {}: column '{asked}' {what}",
                    self.name
                )));
            }
            // By number and not by name: RENAME COLUMN leaves the indexes of a table as they are.
            let stored = StoredColumn { column: column.id, path: asked.path.clone() };
            if columns.contains(&stored) {
                return Err(Error::invalid(format!(
                    "index {}: column '{asked}' stands twice in it",
                    self.name
                )));
            }
            columns.push(stored);
        }
        Ok(columns)
    }
}
