//! Catalogs, schemas, tables and keys.
//!
//! There is one catalog, `tonnage`, with one schema, `public`. A table is called by its path,
//! `phones.images`, as in statements.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray, UInt8Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{SqlInfoData, SqlInfoDataBuilder, XdbcTypeInfoData};
use arrow_flight::sql::{Command, CommandGetCatalogs, CommandGetTables, UpdateDeleteRules};
use tonnage::{Error, Result, TableSchema};

use super::names::{CATALOG, SCHEMA};
use super::{info, types};
use crate::context::ServerContext;

static SQL_INFO: LazyLock<Result<SqlInfoData>> = LazyLock::new(info::sql_info);
static TYPE_INFO: LazyLock<Result<XdbcTypeInfoData>> = LazyLock::new(types::type_info);

/// Whether a command asks for metadata.
pub(super) fn is_metadata(command: &Command) -> bool {
    matches!(
        command,
        Command::CommandGetCatalogs(_)
            | Command::CommandGetDbSchemas(_)
            | Command::CommandGetTables(_)
            | Command::CommandGetTableTypes(_)
            | Command::CommandGetSqlInfo(_)
            | Command::CommandGetPrimaryKeys(_)
            | Command::CommandGetImportedKeys(_)
            | Command::CommandGetExportedKeys(_)
            | Command::CommandGetCrossReference(_)
            | Command::CommandGetXdbcTypeInfo(_)
    )
}

/// The columns of the answer.
///
/// # Errors
/// `Internal` for a command that asks for no metadata.
pub(super) fn schema(command: &Command) -> Result<SchemaRef> {
    Ok(match command.clone() {
        Command::CommandGetCatalogs(command) => command.into_builder().schema(),
        Command::CommandGetDbSchemas(command) => command.into_builder().schema(),
        Command::CommandGetTables(command) => command.into_builder().schema(),
        Command::CommandGetTableTypes(command) => command.into_builder().schema(),
        Command::CommandGetSqlInfo(_) => Arc::new(SqlInfoDataBuilder::schema().clone()),
        Command::CommandGetPrimaryKeys(_) => PRIMARY_KEYS.clone(),
        Command::CommandGetImportedKeys(_)
        | Command::CommandGetExportedKeys(_)
        | Command::CommandGetCrossReference(_) => FOREIGN_KEYS.clone(),
        Command::CommandGetXdbcTypeInfo(_) => type_info()?.schema(),
        _ => return Err(Error::internal("the command asks for no metadata")),
    })
}

/// The answer, of the tables that the caller may see.
///
/// # Errors
/// `Internal` when Arrow cannot hold it.
pub(super) fn answer(
    context: &ServerContext,
    command: Command,
    is_visible: impl Fn(&str) -> bool,
) -> Result<RecordBatch> {
    // Tables that the caller may not see are left out here, once for all commands.
    let tables = || {
        let tables = context.store.tables().into_iter().map(|table| table.schema().clone());
        tables.filter(|table| is_visible(&table.path)).collect::<Vec<_>>()
    };
    // The commands of `is_metadata` and `schema`: a new one must be added to all three.
    match command {
        Command::CommandGetCatalogs(command) => catalogs(command),
        Command::CommandGetDbSchemas(command) => {
            let mut builder = command.into_builder();
            builder.append(CATALOG, SCHEMA);
            checked_batch(builder.build())
        }
        Command::CommandGetTables(command) => all_tables(command, &tables()),
        Command::CommandGetTableTypes(command) => {
            let mut builder = command.into_builder();
            builder.append("TABLE");
            checked_batch(builder.build())
        }
        Command::CommandGetSqlInfo(command) => {
            let infos = SQL_INFO.as_ref().map_err(copy_of_error)?;
            checked_batch(command.into_builder(infos).build())
        }
        Command::CommandGetXdbcTypeInfo(command) => {
            checked_batch(command.into_builder(type_info()?).build())
        }
        Command::CommandGetPrimaryKeys(command) => {
            let is_asked = is_own_schema(command.catalog.as_deref(), command.db_schema.as_deref());
            let found = tables()
                .into_iter()
                .find(|table| is_asked && table.path.eq_ignore_ascii_case(&command.table));
            primary_keys(found.as_deref())
        }
        Command::CommandGetImportedKeys(command) => {
            let is_asked = is_own_schema(command.catalog.as_deref(), command.db_schema.as_deref());
            foreign_keys(&tables(), |parent, child| {
                let _ = parent;
                is_asked && child.eq_ignore_ascii_case(&command.table)
            })
        }
        Command::CommandGetExportedKeys(command) => {
            let is_asked = is_own_schema(command.catalog.as_deref(), command.db_schema.as_deref());
            foreign_keys(&tables(), |parent, _| {
                is_asked && parent.eq_ignore_ascii_case(&command.table)
            })
        }
        Command::CommandGetCrossReference(command) => {
            let is_asked =
                is_own_schema(command.pk_catalog.as_deref(), command.pk_db_schema.as_deref())
                    && is_own_schema(
                        command.fk_catalog.as_deref(),
                        command.fk_db_schema.as_deref(),
                    );
            foreign_keys(&tables(), |parent, child| {
                is_asked
                    && parent.eq_ignore_ascii_case(&command.pk_table)
                    && child.eq_ignore_ascii_case(&command.fk_table)
            })
        }
        _ => Err(Error::internal("the command asks for no metadata")),
    }
}

fn type_info() -> Result<&'static XdbcTypeInfoData> {
    TYPE_INFO.as_ref().map_err(copy_of_error)
}

fn copy_of_error(error: &Error) -> Error {
    Error::new(error.kind(), error.message())
}

fn checked_batch(batch: std::result::Result<RecordBatch, FlightError>) -> Result<RecordBatch> {
    batch.map_err(|error| Error::internal(format!("metadata cannot be built: {error}")))
}

fn catalogs(command: CommandGetCatalogs) -> Result<RecordBatch> {
    let mut builder = command.into_builder();
    builder.append(CATALOG);
    checked_batch(builder.build())
}

fn all_tables(command: CommandGetTables, tables: &[Arc<TableSchema>]) -> Result<RecordBatch> {
    let mut builder = command.into_builder();
    for table in tables {
        let schema = types::described_schema(table);
        builder
            .append(CATALOG, SCHEMA, &table.path, "TABLE", &schema)
            .map_err(|error| Error::internal(format!("table {}: {error}", table.path)))?;
    }
    checked_batch(builder.build())
}

/// Whether what is asked for may lie in the one schema that there is.
fn is_own_schema(catalog: Option<&str>, schema: Option<&str>) -> bool {
    catalog.is_none_or(|catalog| catalog == CATALOG) && schema.is_none_or(|schema| schema == SCHEMA)
}

static PRIMARY_KEYS: LazyLock<SchemaRef> = LazyLock::new(|| {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    Arc::new(Schema::new(vec![
        text("catalog_name", true),
        text("db_schema_name", true),
        text("table_name", false),
        text("column_name", false),
        Field::new("key_sequence", DataType::Int32, false),
        text("key_name", true),
    ]))
});

static FOREIGN_KEYS: LazyLock<SchemaRef> = LazyLock::new(|| {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    Arc::new(Schema::new(vec![
        text("pk_catalog_name", true),
        text("pk_db_schema_name", true),
        text("pk_table_name", false),
        text("pk_column_name", false),
        text("fk_catalog_name", true),
        text("fk_db_schema_name", true),
        text("fk_table_name", false),
        text("fk_column_name", false),
        Field::new("key_sequence", DataType::Int32, false),
        text("fk_key_name", true),
        text("pk_key_name", true),
        Field::new("update_rule", DataType::UInt8, false),
        Field::new("delete_rule", DataType::UInt8, false),
    ]))
});

fn text_column<'a>(texts: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

fn constant_column(text: &str, count: usize) -> ArrayRef {
    text_column(std::iter::repeat_n(text, count))
}

fn number_column(count: usize) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values((1..).take(count)))
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|error| Error::internal(format!("metadata cannot be built: {error}")))
}

fn primary_keys(table: Option<&TableSchema>) -> Result<RecordBatch> {
    let Some(table) = table else { return Ok(RecordBatch::new_empty(PRIMARY_KEYS.clone())) };
    let names: Vec<&str> = table.key_columns().map(|column| column.name.as_str()).collect();
    let count = names.len();
    batch(
        &PRIMARY_KEYS,
        vec![
            constant_column(CATALOG, count),
            constant_column(SCHEMA, count),
            constant_column(&table.path, count),
            text_column(names),
            number_column(count),
            constant_column("primary_key", count),
        ],
    )
}

/// A child's inherited key columns, as a foreign key that leads to its parent.
fn foreign_keys(
    tables: &[Arc<TableSchema>],
    is_wanted: impl Fn(&str, &str) -> bool,
) -> Result<RecordBatch> {
    let mut batches = Vec::new();
    for child in tables {
        let Some(parent) = child.parent_path() else { continue };
        if !is_wanted(parent, &child.path) {
            continue;
        }
        // A child inherits its parent's key columns, so both sides have the same names in order.
        let inherited = child.key_columns().take(child.inherited_key_len());
        let names: Vec<&str> = inherited.map(|column| column.name.as_str()).collect();
        let count = names.len();
        let rule = UpdateDeleteRules::NoAction as u8;
        let rules: ArrayRef = Arc::new(UInt8Array::from_value(rule, count));
        batches.push(batch(
            &FOREIGN_KEYS,
            vec![
                constant_column(CATALOG, count),
                constant_column(SCHEMA, count),
                constant_column(parent, count),
                text_column(names.iter().copied()),
                constant_column(CATALOG, count),
                constant_column(SCHEMA, count),
                constant_column(&child.path, count),
                text_column(names),
                number_column(count),
                constant_column("parent", count),
                constant_column("primary_key", count),
                rules.clone(),
                rules,
            ],
        )?);
    }
    // With the schema given, an answer about no child at all still has its columns.
    arrow::compute::concat_batches(&FOREIGN_KEYS, &batches)
        .map_err(|error| Error::internal(format!("metadata cannot be built: {error}")))
}
