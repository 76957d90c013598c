//! The definition of an index: its name, its table, its columns.

use std::fmt;

use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result, SpaceId};

use crate::geo::LEVEL_MAX;
use crate::schema::{Column, ColumnType, TableSchema, check_name, quoted_name};
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

/// One column of an index: a column of the table, a place inside a JSON column, or the cells of
/// two columns that are longitude and latitude ([`crate::geo`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The name of the table's column; that of latitudes where it is a matter of cells.
    pub column: String,
    /// The names that lead from the root of a JSON document to the value; empty for the column
    /// itself.
    pub path: Vec<String>,
    /// What makes a cell of the column.
    pub cells: Option<GeoCells>,
}

/// How the cells of an index are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeoCells {
    /// The name of the table's column of longitudes.
    pub lon: String,
    /// The level of the cells, 1 to [`LEVEL_MAX`].
    pub level: u8,
}

impl IndexColumn {
    /// A column of the table.
    pub fn new(column: impl Into<String>) -> Self {
        Self { column: column.into(), path: Vec::new(), cells: None }
    }

    /// The cells of a column of longitudes and one of latitudes.
    pub fn geo_cell(lon: impl Into<String>, lat: impl Into<String>, level: u8) -> Self {
        Self { cells: Some(GeoCells { lon: lon.into(), level }), ..Self::new(lat) }
    }

    /// A place in a JSON column.
    pub fn json_path(
        column: impl Into<String>,
        path: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        Self { column: column.into(), path, cells: None }
    }

    /// Whether it is a column of the table, and nothing that is made of one.
    pub fn is_plain(&self) -> bool {
        self.path.is_empty() && self.cells.is_none()
    }

    /// The names of the table's columns that it is made of.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let lon = self.cells.as_ref().map(|cells| cells.lon.as_str());
        lon.into_iter().chain([self.column.as_str()])
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
        self.column.eq_ignore_ascii_case(name) && self.is_plain()
            || self.cells.is_none() && plain() == name
            || self.to_string() == name
    }
}

/// `doc.address.city`, each name in double quotes where it needs them, or `geo_cell(lon, lat)`.
impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(GeoCells { lon, level }) = &self.cells {
            write!(f, "geo_cell({}, {}", quoted_name(lon), quoted_name(&self.column))?;
            return match *level {
                LEVEL_MAX => f.write_str(")"),
                level => write!(f, ", {level})"),
            };
        }
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cells: Option<StoredCells>,
}

/// What makes a cell of a column of latitudes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredCells {
    /// The number of the column of longitudes.
    pub(crate) lon: u16,
    pub(crate) level: u8,
}

impl StoredColumn {
    /// The numbers of the table's columns that it is made of.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u16> {
        self.cells.iter().map(|cells| cells.lon).chain([self.column])
    }
}

/// A column of an index with what the table says of it.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedColumn {
    pub(crate) source: SourceColumn,
    /// The type of its cells in entries.
    pub(crate) column_type: ColumnType,
    /// Where longitudes come from, of a cell.
    pub(crate) lon: Option<SourceColumn>,
    /// The names as people write them.
    pub(crate) shown: IndexColumn,
}

/// A column of the table that one of an index is made of.
#[derive(Clone, Debug)]
pub(crate) struct SourceColumn {
    pub(crate) id: u16,
    pub(crate) column_type: ColumnType,
    /// What rows hold that were written before the column was added.
    pub(crate) default: Value,
}

impl ResolvedColumn {
    /// The table's columns that it is made of: longitudes before latitudes.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceColumn> {
        self.lon.iter().chain([&self.source])
    }
}

impl From<&Column> for SourceColumn {
    fn from(column: &Column) -> Self {
        Self {
            id: column.id,
            column_type: column.column_type,
            default: column.default.clone().unwrap_or(Value::Null),
        }
    }
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
        // By number: names change, and a number is never given twice.
        let find = |id: u16| {
            let column = schema.columns.iter().find(|column| column.id == id);
            column.ok_or_else(|| {
                format!("index {} is on a column that table {} lacks", self.name, schema.path)
            })
        };
        let resolve = |stored: &StoredColumn| {
            let column = find(stored.column)?;
            let lon = match &stored.cells {
                Some(StoredCells { lon, level }) => Some((find(*lon)?, *level)),
                None => None,
            };
            let cells = |(lon, level): (&Column, u8)| GeoCells { lon: lon.name.clone(), level };
            // An entry of cells has neither coordinate, so its type is that of the cell.
            Ok(ResolvedColumn {
                source: column.into(),
                column_type: if lon.is_some() { ColumnType::Long } else { column.column_type },
                lon: lon.map(|(lon, _)| lon.into()),
                shown: IndexColumn {
                    column: column.name.clone(),
                    path: stored.path.clone(),
                    cells: lon.map(cells),
                },
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
            let cells = match &asked.cells {
                Some(cells) => Some(self.check_cells(schema, asked, cells)?),
                None => None,
            };
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
            let stored = StoredColumn { column: column.id, path: asked.path.clone(), cells };
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

    fn check_cells(
        &self,
        schema: &TableSchema,
        asked: &IndexColumn,
        GeoCells { lon, level }: &GeoCells,
    ) -> Result<StoredCells> {
        for name in asked.sources() {
            let column_type = schema.columns[schema.require_column(name)?].column_type;
            if !matches!(column_type, ColumnType::Double | ColumnType::Float) {
                return Err(Error::invalid(format!(
                    "index {}: column '{name}' of {asked} is of type {column_type}: longitudes and latitudes are DOUBLE or FLOAT",
                    self.name
                )));
            }
        }
        if !(1..=LEVEL_MAX).contains(level) {
            return Err(Error::invalid(format!(
                "index {}: cells have a level of 1 (half of the globe) to {LEVEL_MAX} (1 cm), not {level}",
                self.name
            )));
        }
        Ok(StoredCells { lon: schema.columns[schema.require_column(lon)?].id, level: *level })
    }
}
