//! The catalog's rows on disk.
//!
//! The key is the name of the top-level table and the full name of the table, both in lower case,
//! each as an escaped part of a key; the first is the shard key. The value is JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tonnage_engine::{
    Deadline, Engine, Error, KeyPart, KeyShape, Projection, Ranges, ReadOptions, Result, Rows,
    ScanOptions, Slices, SpaceId,
};

use crate::codec::push_escaped;
use crate::index::{PathStep, StoredColumn, StoredIndex};
use crate::schema::{Column, ColumnType, TableSchema};

/// The name of the catalog's own space.
pub(super) const SPACE_NAME: &str = "catalog";

/// The newest format of rows that can be read.
const FORMAT: u32 = 8;

/// The format of the row of a table without indexes and of the first types, which every Tonnage can
/// read. A version that lacks indexes, further types, identity columns, numbers of more than 38
/// digits, defaults computed for each row, cells of the globe, indexes on parts of typed values and
/// arrays or on functions, JSON collections, or identities with bounds must not write such a table.
const FORMAT_PLAIN: u32 = 1;
const FORMAT_WITH_INDEXES: u32 = 2;
const FORMAT_WITH_FURTHER_TYPES: u32 = 3;
const FORMAT_WITH_IDENTITY: u32 = 4;
const FORMAT_WITH_WIDE_NUMBERS: u32 = 5;
const FORMAT_WITH_DEFAULT_FUNCTIONS: u32 = 6;
const FORMAT_WITH_GEO_CELLS: u32 = 7;
const FORMAT_WITH_INDEXED_PARTS: u32 = 8;

/// A table as the catalog stores it.
#[derive(Clone, Debug)]
pub(super) struct StoredTable {
    pub(super) space: SpaceId,
    /// The number of the next child table of the space; kept with the top-level table.
    pub(super) next_table_id: u32,
    pub(super) schema: Arc<TableSchema>,
    pub(super) indexes: Vec<StoredIndex>,
    /// That of the row as it was read; none for a table that is new.
    pub(super) version: Option<u64>,
}

/// What can be read of a row of any format.
#[derive(Deserialize)]
struct AnyRow {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct CatalogRow {
    format: u32,
    space: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    next_table_id: u32,
    schema: TableSchema,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    indexes: Vec<StoredIndex>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl StoredTable {
    pub(super) fn root(space: SpaceId, schema: Arc<TableSchema>) -> Self {
        Self { space, next_table_id: 1, schema, indexes: Vec::new(), version: None }
    }

    pub(super) fn child(space: SpaceId, schema: Arc<TableSchema>) -> Self {
        Self { space, next_table_id: 0, schema, indexes: Vec::new(), version: None }
    }

    pub(super) fn key(&self) -> Vec<u8> {
        row_key(self.schema.root_path(), &self.schema.path)
    }

    fn format(&self) -> u32 {
        let schema = &self.schema;
        let before = schema.history.iter().flat_map(|layout| &layout.columns);
        let types = schema.columns.iter().map(|column| column.column_type);
        let mut types = types.chain(before.map(|column| column.column_type));
        let mut indexed = self.indexes.iter().flat_map(|index| &index.columns);
        let is_json = |id: u16| {
            let of_id = schema.columns.iter().find(|column| column.id == id);
            of_id.is_some_and(|column| column.column_type == ColumnType::Json)
        };
        // Places in documents were there with the first indexes.
        let leads_on = |column: &StoredColumn| {
            let is_typed = || !column.path.is_empty() && !is_json(column.column);
            column.function.is_some() || column.path.iter().any(PathStep::is_each) || is_typed()
        };
        let has_bounds = |column: &Column| column.identity.is_some_and(|own| own.has_bounds());
        let is_later = |column: &Column| column.is_collection || has_bounds(column);
        // The newest first: each can read all that come after it here.
        if schema.columns.iter().any(is_later) || indexed.clone().any(leads_on) {
            FORMAT_WITH_INDEXED_PARTS
        } else if indexed.any(|column| column.cells.is_some()) {
            FORMAT_WITH_GEO_CELLS
        } else if schema.columns.iter().any(|column| column.default_function.is_some()) {
            FORMAT_WITH_DEFAULT_FUNCTIONS
        } else if types.clone().any(|own| own.holds_wide()) {
            FORMAT_WITH_WIDE_NUMBERS
        } else if schema.identity_column().is_some() {
            FORMAT_WITH_IDENTITY
        } else if types.any(|own| own.is_further()) {
            FORMAT_WITH_FURTHER_TYPES
        } else if self.indexes.is_empty() {
            FORMAT_PLAIN
        } else {
            FORMAT_WITH_INDEXES
        }
    }

    pub(super) fn value(&self) -> Result<Vec<u8>> {
        let row = CatalogRow {
            format: self.format(),
            space: self.space.0,
            next_table_id: self.next_table_id,
            schema: (*self.schema).clone(),
            indexes: self.indexes.clone(),
        };
        serde_json::to_vec(&row).map_err(|error| {
            Error::internal(format!("table {} cannot be written to the catalog", self.schema.path))
                .with_source(error)
        })
    }

    fn read(value: &[u8], version: u64) -> Result<Self> {
        let any: AnyRow = serde_json::from_slice(value).map_err(damaged)?;
        if any.format > FORMAT {
            return Err(Error::unsupported(format!(
                "the catalog has format {}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage",
                any.format
            )));
        }
        let row: CatalogRow = serde_json::from_slice(value).map_err(damaged)?;
        row.schema.check().map_err(damaged)?;
        row.indexes
            .iter()
            .try_for_each(|index| index.resolve(&row.schema).map(drop))
            .map_err(damaged)?;
        Ok(Self {
            space: SpaceId(row.space),
            next_table_id: row.next_table_id,
            schema: Arc::new(row.schema),
            indexes: row.indexes,
            version: Some(version),
        })
    }
}

fn row_key(root: &str, path: &str) -> Vec<u8> {
    let mut key = Vec::new();
    push_escaped(root.to_ascii_lowercase().as_bytes(), &mut key);
    push_escaped(path.to_ascii_lowercase().as_bytes(), &mut key);
    key
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let error = error.into();
    Error::corruption(format!(
        "a row of the catalog cannot be read ({error}): restore the store from a copy"
    ))
    .with_source(error)
}

/// The catalog's space, created if need be.
pub(super) fn open_space(engine: &dyn Engine) -> Result<SpaceId> {
    match engine.spaces()?.into_iter().find(|space| space.name == SPACE_NAME) {
        Some(space) => Ok(space.id),
        None => engine.create_space(SPACE_NAME, &KeyShape::new([KeyPart::Terminated])),
    }
}

/// All tables.
pub(super) fn read(engine: &dyn Engine, space: SpaceId) -> Result<Vec<StoredTable>> {
    let mut scanner = engine.scan(space, Ranges::whole_space(), ScanOptions::default())?;
    let mut tables = Vec::new();
    let mut rows = Rows::new();
    while scanner.next_batch(&mut rows)? {
        for (value, version) in rows.values.iter().zip(&rows.versions) {
            tables.push(StoredTable::read(value, *version)?);
        }
    }
    Ok(tables)
}

/// Ends the decisions under way on rows under these top-level tables: no row there comes to be
/// stored later by a write that got no answer.
pub(super) fn settle(
    engine: &dyn Engine,
    space: SpaceId,
    roots: &BTreeSet<String>,
    deadline: Deadline,
) -> Result<()> {
    let mut keys = Slices::default();
    roots.iter().for_each(|root| keys.push(&row_key(root, root)));
    let (mut rows, mut first) = (Rows::new(), 0);
    while first < keys.len() {
        let options = ReadOptions {
            projection: Projection::KeysOnly,
            keys: first..keys.len(),
            bytes_max: usize::MAX,
            deadline,
        };
        first += engine.read_settled(space, &keys, &options, &mut rows)?.max(1);
    }
    Ok(())
}
