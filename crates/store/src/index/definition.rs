//! The definition of an index: its name, its table, its columns.

use std::fmt;

use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result, SpaceId};

use super::function::{IndexArgument, IndexFunction, IndexFunctionName};
use super::path_step::{PathParts, PathStep};
use super::path_walks::check_paths;
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

/// One column of an index: a column of the table, a place inside a column, or the cells of two
/// columns that are longitude and latitude ([`crate::geo`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The name of the table's column; that of latitudes where it is a matter of cells.
    pub column: String,
    /// The steps that lead from the root of a JSON document, an array, a map or a record to the
    /// value; empty for the column itself. With a step to several parts a row has an entry for
    /// each.
    pub path: Vec<PathStep>,
    /// What makes a cell of the column.
    pub cells: Option<GeoCells>,
    /// A function of what is there.
    pub function: Option<IndexFunction>,
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
        Self { column: column.into(), path: Vec::new(), cells: None, function: None }
    }

    /// The cells of a column of longitudes and one of latitudes.
    pub fn geo_cell(lon: impl Into<String>, lat: impl Into<String>, level: u8) -> Self {
        Self { cells: Some(GeoCells { lon: lon.into(), level }), ..Self::new(lat) }
    }

    /// A place in a JSON column, an array, a map or a record: names, or steps to several parts.
    pub fn json_path(
        column: impl Into<String>,
        path: impl IntoIterator<Item = impl Into<PathStep>>,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        Self { path, ..Self::new(column) }
    }

    /// A function of a column or a place.
    pub fn of_function(self, name: IndexFunctionName, arguments: Vec<IndexArgument>) -> Self {
        Self { function: Some(IndexFunction { name, arguments }), ..self }
    }

    /// Whether it is a column of the table, and nothing that is made of one.
    pub fn is_plain(&self) -> bool {
        !self.is_tagged() && self.cells.is_none()
    }

    /// Whether its cells tell the kinds of their values: what is there, or comes of a function, may
    /// be of any.
    pub(super) fn is_tagged(&self) -> bool {
        !self.path.is_empty() || self.function.is_some()
    }

    /// Whether names alone lead to it, these.
    pub fn is_place(&self, names: &[String]) -> bool {
        self.function.is_none()
            && self.path.len() == names.len()
            && self.path.iter().zip(names).all(|(step, name)| step.name() == Some(name))
    }

    /// Whether a row may have several entries for it.
    pub fn has_parts(&self) -> bool {
        self.path.iter().any(PathStep::is_each)
    }

    /// The names of the table's columns that it is made of.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let lon = self.cells.as_ref().map(|cells| cells.lon.as_str());
        lon.into_iter().chain([self.column.as_str()])
    }

    /// The name of the column and the steps after it, none of them quoted.
    pub fn bare_name(&self) -> String {
        let mut name = self.column.clone();
        for step in &self.path {
            match step {
                PathStep::Name(own) => name.extend([".", own]),
                each => name.push_str(&each.to_string()),
            }
        }
        match &self.function {
            Some(function) => function.shown(&name),
            None => name,
        }
    }

    /// Whether someone who writes `name`, with points between names and quoted or not, means this
    /// column.
    pub fn is_named(&self, name: &str) -> bool {
        self.column.eq_ignore_ascii_case(name) && self.is_plain()
            || self.cells.is_none() && self.bare_name() == name
            || self.to_string() == name
    }
}

/// `doc.address.city`, each name in double quotes where it needs them, or `upper(name)`, or
/// `geo_cell(lon, lat)`.
impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(GeoCells { lon, level }) = &self.cells {
            write!(f, "geo_cell({}, {}", quoted_name(lon), quoted_name(&self.column))?;
            return match *level {
                LEVEL_MAX => f.write_str(")"),
                level => write!(f, ", {level})"),
            };
        }
        let path = self.path.iter().map(PathStep::to_string);
        let place = quoted_name(&self.column) + &path.collect::<String>();
        match &self.function {
            Some(function) => f.write_str(&function.shown(&place)),
            None => f.write_str(&place),
        }
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
    pub(crate) path: Vec<PathStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cells: Option<StoredCells>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<IndexFunction>,
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
                    function: stored.function.clone(),
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
            self.check_path(column.column_type, asked)?;
            // By number and not by name: RENAME COLUMN leaves the indexes of a table as they are.
            // Arguments are the same for all rows, so that they are checked once, here.
            let function = asked.function.clone();
            let of_function = function.as_ref().map_or(Ok(()), IndexFunction::check);
            of_function.map_err(|what| self.wrong_column(asked, &what))?;
            let stored =
                StoredColumn { column: column.id, path: asked.path.clone(), cells, function };
            if columns.contains(&stored) {
                return Err(Error::invalid(format!(
                    "index {}: column '{asked}' occurs twice in it",
                    self.name
                )));
            }
            columns.push(stored);
            // After each column, so that the error names the one that does not fit.
            let paths = columns.iter().map(|column| (column.column, &column.path[..]));
            check_paths(paths).map_err(|what| self.wrong_column(asked, what))?;
        }
        Ok(columns)
    }

    /// Whether a path leads to what has an order: documents and arrays have places inside only, and
    /// other columns none.
    fn check_path(&self, column_type: ColumnType, asked: &IndexColumn) -> Result<()> {
        let mut inside = column_type;
        for (at, step) in asked.path.iter().enumerate() {
            inside = match (inside, step) {
                // What a document holds is known when there is one.
                (ColumnType::Json, _) => return Ok(()),
                (ColumnType::Array(element), PathStep::Each(PathParts::Elements)) => {
                    element.column_type()
                }
                (ColumnType::Map(_), PathStep::Each(PathParts::Keys)) => ColumnType::String,
                (ColumnType::Map(element), PathStep::Each(PathParts::Values))
                | (ColumnType::Map(element), PathStep::Name(_)) => element.column_type(),
                (ColumnType::Record(fields), PathStep::Name(name)) => {
                    let field = fields.field_index(name).map(|at| &fields.fields()[at]);
                    let lacks = || self.wrong_column(asked, &format!("has no field {name}"));
                    field.ok_or_else(lacks)?.column_type
                }
                (inside, PathStep::Name(_)) if at == 0 && !inside.is_nested() => {
                    return Err(self.wrong_column(asked, "is not of type JSON: name it alone"));
                }
                (inside, step) => {
                    let what =
                        format!("is of type {inside} before '{step}', which does not lead into it");
                    return Err(self.wrong_column(asked, &what));
                }
            };
        }
        // Only a value without parts has an order.
        match inside {
            ColumnType::Json if asked.path.is_empty() => {
                Err(self.wrong_column(asked, "is of type JSON: name a place inside it"))
            }
            inside if inside.is_nested() => {
                let what = format!("is of type {inside}, which has no order");
                Err(self.wrong_column(asked, &what))
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn wrong_column(&self, asked: &IndexColumn, what: &str) -> Error {
        Error::invalid(format!("index {}: column '{asked}' {what}", self.name))
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
