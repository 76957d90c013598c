//! `information_schema`: the tables, columns, keys and indexes of the store as rows. Names and
//! columns are those of the SQL standard, for tools ask by them. `statistics` is that of MySQL.
//!
//! A table of the store with such a path takes precedence.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::MemTable;
use tonnage::{Column, ColumnType, Generated, Index, Store, TableSchema};

use crate::text::{CATALOG, SCHEMA};

/// The prefix of the tables that describe the store.
pub const INFORMATION_SCHEMA: &str = "information_schema";

/// The rows of one of these tables as the store has them now; nothing for other paths.
pub(super) fn table(store: &Store, path: &str) -> Option<Result<MemTable>> {
    let (schema, name) = path.split_once('.')?;
    if !schema.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
        return None;
    }
    let batch = match name.to_ascii_lowercase().as_str() {
        "schemata" => schemata(),
        "tables" => tables(store),
        "columns" => columns(store),
        "key_column_usage" => key_columns(store),
        "statistics" => indexed_columns(store),
        _ => return None,
    };
    Some(batch.and_then(|batch| MemTable::try_new(batch.schema(), vec![vec![batch]])))
}

fn schemata() -> Result<RecordBatch> {
    let names = vec![SCHEMA.to_owned(), INFORMATION_SCHEMA.to_owned()];
    batch([
        ("catalog_name", repeated_text(CATALOG, names.len())),
        ("schema_name", text_array(names)),
    ])
}

fn tables(store: &Store) -> Result<RecordBatch> {
    let paths: Vec<String> = store.tables().iter().map(|table| table.path().to_owned()).collect();
    let count = paths.len();
    batch([
        ("table_catalog", repeated_text(CATALOG, count)),
        ("table_schema", repeated_text(SCHEMA, count)),
        ("table_name", text_array(paths)),
        ("table_type", repeated_text("BASE TABLE", count)),
    ])
}

fn columns(store: &Store) -> Result<RecordBatch> {
    let schemas = schemas(store);
    // All arrays below are built from this one list: their lengths must agree.
    let columns: Vec<(&TableSchema, usize, &Column)> = schemas
        .iter()
        .flat_map(|schema| {
            let columns = schema.columns.iter().enumerate();
            columns.map(|(place, column)| (schema.as_ref(), place, column))
        })
        .collect();
    let of_each = |tell: &dyn Fn(&Column) -> Option<String>| {
        nullable_text_array(columns.iter().map(|(_, _, column)| tell(column)).collect())
    };
    let digits = |tell: &dyn Fn(ColumnType) -> Option<i32>| {
        number_array(columns.iter().map(|(_, _, column)| tell(column.column_type)).collect())
    };
    let yes = |is: bool| Some(if is { "YES" } else { "NO" }.to_owned());
    // Names are those of the SQL standard, for tools ask by them; `slt/information.slt` holds them.
    batch([
        ("table_catalog", repeated_text(CATALOG, columns.len())),
        ("table_schema", repeated_text(SCHEMA, columns.len())),
        (
            "table_name",
            text_array(columns.iter().map(|(schema, ..)| schema.path.clone()).collect()),
        ),
        ("column_name", of_each(&|column| Some(column.name.clone()))),
        (
            "ordinal_position",
            number_array(columns.iter().map(|(_, place, _)| Some(*place as i32 + 1)).collect()),
        ),
        ("column_default", of_each(&Column::default_text)),
        ("is_nullable", of_each(&|column| yes(column.nullable))),
        ("data_type", of_each(&|column| Some(column.column_type.to_string()))),
        ("numeric_precision", digits(&precision)),
        ("numeric_scale", digits(&scale)),
        ("is_identity", of_each(&|column| yes(column.identity.is_some()))),
        (
            "identity_generation",
            of_each(&|column| {
                column.identity.as_ref().map(|identity| match identity.generated {
                    Generated::Always => "ALWAYS".to_owned(),
                    Generated::ByDefault | Generated::ByDefaultOnNull => "BY DEFAULT".to_owned(),
                })
            }),
        ),
    ])
}

/// The columns of primary keys, in their order.
fn key_columns(store: &Store) -> Result<RecordBatch> {
    let schemas = schemas(store);
    let parts: Vec<(&str, i32, &str)> = schemas
        .iter()
        .flat_map(|schema| {
            // The SQL standard counts positions from 1.
            let columns = (1..).zip(schema.key_columns());
            columns.map(|(place, column)| (schema.path.as_str(), place, column.name.as_str()))
        })
        .collect();
    // A table has one primary key, so all may have one name, as in MySQL.
    let paths = || text_array(parts.iter().map(|(path, ..)| (*path).to_owned()).collect());
    batch([
        ("constraint_catalog", repeated_text(CATALOG, parts.len())),
        ("constraint_schema", repeated_text(SCHEMA, parts.len())),
        ("constraint_name", repeated_text("PRIMARY", parts.len())),
        ("table_catalog", repeated_text(CATALOG, parts.len())),
        ("table_schema", repeated_text(SCHEMA, parts.len())),
        ("table_name", paths()),
        (
            "column_name",
            text_array(parts.iter().map(|(.., column)| (*column).to_owned()).collect()),
        ),
        (
            "ordinal_position",
            number_array(parts.iter().map(|(_, place, _)| Some(*place)).collect()),
        ),
    ])
}

/// The columns of indexes, in their order: a view of MySQL's, which the standard lacks.
fn indexed_columns(store: &Store) -> Result<RecordBatch> {
    let parts: Vec<(String, String, i32, String)> = indexes(store)
        .into_iter()
        .flat_map(|index| {
            let columns = (1..).zip(index.columns().to_vec());
            columns.map(move |(place, column)| {
                (index.table_path().to_owned(), index.name().to_owned(), place, column.to_string())
            })
        })
        .collect();
    batch([
        ("table_catalog", repeated_text(CATALOG, parts.len())),
        ("table_schema", repeated_text(SCHEMA, parts.len())),
        ("table_name", text_array(parts.iter().map(|(table, ..)| table.clone()).collect())),
        ("index_name", text_array(parts.iter().map(|(_, index, ..)| index.clone()).collect())),
        ("seq_in_index", number_array(parts.iter().map(|(_, _, place, _)| Some(*place)).collect())),
        ("column_name", text_array(parts.iter().map(|(.., column)| column.clone()).collect())),
    ])
}

/// The indexes of all tables. A table that was dropped just now has none.
pub(crate) fn indexes(store: &Store) -> Vec<Index> {
    store.tables().iter().flat_map(|table| table.indexes().unwrap_or_default()).collect()
}

fn schemas(store: &Store) -> Vec<Arc<TableSchema>> {
    store.tables().iter().map(|table| table.schema().clone()).collect()
}

fn precision(column_type: ColumnType) -> Option<i32> {
    match column_type {
        ColumnType::Integer => Some(32),
        ColumnType::Long => Some(64),
        ColumnType::Float => Some(24),
        ColumnType::Double => Some(53),
        ColumnType::Number { precision, .. } => Some(i32::from(precision)),
        _ => None,
    }
}

fn scale(column_type: ColumnType) -> Option<i32> {
    match column_type {
        ColumnType::Integer | ColumnType::Long => Some(0),
        ColumnType::Number { scale, .. } => Some(i32::from(scale)),
        _ => None,
    }
}

fn repeated_text(text: &str, count: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, count)))
}

fn text_array(texts: Vec<String>) -> ArrayRef {
    Arc::new(StringArray::from(texts))
}

fn nullable_text_array(texts: Vec<Option<String>>) -> ArrayRef {
    Arc::new(StringArray::from(texts))
}

fn number_array(numbers: Vec<Option<i32>>) -> ArrayRef {
    Arc::new(Int32Array::from(numbers))
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(DataFusionError::from)
}
