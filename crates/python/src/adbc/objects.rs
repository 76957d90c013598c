//! The tables of a store, as ADBC's tree of catalogs, schemas, tables and columns.

use std::collections::HashMap;
use std::sync::Arc;

use adbc_core::error::Result;
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::GET_OBJECTS_SCHEMA;
use serde_json::{Value as Json, json};
use tonnage::{Store, Table};

use super::error::internal;
use super::reader::{BoxedReader, single_batch_reader};

/// The one catalog.
pub(super) const CATALOG: &str = "tonnage";
/// The one schema.
const SCHEMA: &str = "public";

/// What is asked for. Names are patterns of LIKE.
pub(super) struct ObjectFilter<'a> {
    pub(super) depth: ObjectDepth,
    pub(super) catalog: Option<&'a str>,
    pub(super) db_schema: Option<&'a str>,
    pub(super) table_name: Option<&'a str>,
    pub(super) table_type: Option<Vec<&'a str>>,
    pub(super) column_name: Option<&'a str>,
}

/// The objects that are asked for.
pub(super) fn objects(store: &Store, wanted: &ObjectFilter<'_>) -> Result<BoxedReader> {
    let mut decoder = arrow_json::ReaderBuilder::new(GET_OBJECTS_SCHEMA.clone())
        .build_decoder()
        .map_err(|error| internal(&error))?;
    let mut catalogs = Vec::new();
    if is_like(wanted.catalog, CATALOG) {
        let schemas = match wanted.depth {
            ObjectDepth::Catalogs => Json::Null,
            _ => Json::Array(schemas(store, wanted)),
        };
        catalogs.push(json!({"catalog_name": CATALOG, "catalog_db_schemas": schemas}));
    }
    decoder.serialize(&catalogs).map_err(|error| internal(&error))?;
    let batch = decoder.flush().map_err(|error| internal(&error))?;
    let empty = || arrow::array::RecordBatch::new_empty(Arc::clone(&GET_OBJECTS_SCHEMA));
    Ok(single_batch_reader(batch.unwrap_or_else(empty)))
}

fn schemas(store: &Store, wanted: &ObjectFilter<'_>) -> Vec<Json> {
    if !is_like(wanted.db_schema, SCHEMA) {
        return Vec::new();
    }
    let tables = match wanted.depth {
        ObjectDepth::Schemas => Json::Null,
        _ => Json::Array(tables(store, wanted)),
    };
    vec![json!({"db_schema_name": SCHEMA, "db_schema_tables": tables})]
}

fn tables(store: &Store, wanted: &ObjectFilter<'_>) -> Vec<Json> {
    let is_wanted_type = wanted.table_type.as_ref().is_none_or(|types| types.contains(&"TABLE"));
    let mut told = Vec::new();
    for table in store.tables() {
        if !is_wanted_type || !is_like(wanted.table_name, table.path()) {
            continue;
        }
        let is_deep = matches!(wanted.depth, ObjectDepth::All | ObjectDepth::Columns);
        let (columns, constraints) = match is_deep {
            true => (Json::Array(columns(&table, wanted)), constraints(&table)),
            false => (Json::Null, Json::Null),
        };
        told.push(json!({
            "table_name": table.path(),
            "table_type": "TABLE",
            "table_columns": columns,
            "table_constraints": constraints,
        }));
    }
    told
}

fn columns(table: &Table, wanted: &ObjectFilter<'_>) -> Vec<Json> {
    let columns = table.schema().columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| is_like(wanted.column_name, &column.name));
    columns
        .map(|(index, column)| {
            json!({
                "column_name": column.name,
                "ordinal_position": index + 1,
                "xdbc_type_name": column.column_type.to_string(),
                "xdbc_nullable": i16::from(column.nullable),
                "xdbc_is_nullable": if column.nullable { "YES" } else { "NO" },
                "xdbc_is_autoincrement": column.identity.is_some(),
            })
        })
        .collect()
}

fn constraints(table: &Table) -> Json {
    let names: Vec<_> = table.schema().key_columns().map(|column| column.name.clone()).collect();
    json!([{
        "constraint_type": "PRIMARY KEY",
        "constraint_column_names": names,
    }])
}

/// Whether a name is like a pattern, in which `%` means any text and `_` any character.
fn is_like(pattern: Option<&str>, name: &str) -> bool {
    fn matches(pattern: &[char], name: &[char], known: &mut HashMap<(usize, usize), bool>) -> bool {
        let place = (pattern.len(), name.len());
        if let Some(known) = known.get(&place) {
            return *known;
        }
        let is_like = match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(('%', rest)), _) => {
                matches(rest, name, known)
                    || name.split_first().is_some_and(|(_, name)| matches(pattern, name, known))
            }
            (Some(_), None) => false,
            (Some((wanted, rest)), Some((char, name))) => {
                (*wanted == '_' || wanted == char) && matches(rest, name, known)
            }
        };
        known.insert(place, is_like);
        is_like
    }
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    pattern.is_none_or(|pattern| matches(&chars(pattern), &chars(name), &mut HashMap::new()))
}
