//! Tables out of files, and files held against tables.

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use tonnage::ddl::{Statement, parse};
use tonnage::{ColumnDefinition, ColumnType, Error, Result, Table, TableDefinition, TableSchema};
use tonnage_files::{ReadOptions, Source, infer_schema};

use crate::exit::{Failure, Outcome};

/// Records that are looked at to find the type of a column.
const SAMPLE_RECORDS: usize = 100_000;
/// Files that are looked at; further ones must fit what these say.
const SAMPLE_FILES: usize = 8;

/// A primary key as `--primary-key` gives it.
pub(super) struct Key {
    columns: Vec<String>,
    shard_key_len: Option<usize>,
}

impl Key {
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }
}

/// Reads a primary key as DDL does.
pub(super) fn parse_key(text: &str) -> Outcome<Key> {
    let wrong = |what: &str| {
        Failure::usage(format!("--primary-key '{text}': {what}: write it as in CREATE TABLE, for instance 'SHARD(a, b), c'"))
    };
    let statements = parse(&format!("CREATE TABLE t (PRIMARY KEY ({text}))")).map_err(|_| wrong("it cannot be read"))?;
    match statements.as_slice() {
        [Statement::CreateTable { definition, .. }] if definition.columns.is_empty() && definition.ttl_ms.is_none() => {
            Ok(Key { columns: definition.key.clone(), shard_key_len: definition.shard_key_len })
        }
        _ => Err(wrong("it is more than a list of columns")),
    }
}

/// A table that is there already must have the key that was asked for.
pub(super) fn check_key(table: &Table, key: &Key) -> Outcome<()> {
    let schema = table.schema();
    let own: Vec<_> = schema.key_columns().skip(schema.inherited_key_len()).collect();
    let same_columns = own.len() == key.columns.len() && own.iter().zip(&key.columns).all(|(own, name)| own.is_named(name));
    let same_shard = !schema.ancestors.is_empty() || schema.shard_key_len == key.shard_key_len.unwrap_or(key.columns.len());
    if same_columns && same_shard {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "table {} exists already with another primary key: leave out --create and --primary-key, or choose another name\n{};",
        schema.path,
        schema.to_ddl()
    )))
}

/// The table that the columns of the files make.
pub(super) fn infer(path: &str, key: Key, sources: &[Source], options: &ReadOptions) -> Outcome<TableDefinition> {
    let mut fields: Vec<Field> = Vec::new();
    for source in sources.iter().take(SAMPLE_FILES) {
        if source.is_stdin() {
            return Err(Failure::usage(
                "--create reads the input twice, which standard input cannot be: make the table first with `tonnage sql`",
            ));
        }
        for field in infer_schema(source, options, SAMPLE_RECORDS)?.fields() {
            match fields.iter_mut().find(|known| known.name().eq_ignore_ascii_case(field.name())) {
                Some(known) => *known = wider(known, field),
                None => fields.push(field.as_ref().clone()),
            }
        }
    }
    let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    for name in &key.columns {
        if !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) && !path.contains('.') {
            let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "--primary-key names {name}, but the files have no such column; they have {}",
                names.join(", ")
            )));
        }
    }
    Ok(TableDefinition { path: path.to_owned(), columns, key: key.columns, shard_key_len: key.shard_key_len, ttl_ms: None })
}

fn column(field: &Field) -> Result<ColumnDefinition> {
    let column_type = ColumnType::of_arrow(field).ok_or_else(|| {
        Error::invalid(format!(
            "column {} holds {}, for which there is no column type: leave it out with --columns, or convert the file",
            field.name(),
            field.data_type()
        ))
    })?;
    Ok(ColumnDefinition::new(field.name(), column_type))
}

/// The field that holds the values of both.
fn wider(a: &Field, b: &Field) -> Field {
    let data_type = match (a.data_type(), b.data_type()) {
        (one, other) if one == other => return a.clone(),
        (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => DataType::Float64,
        (DataType::Timestamp(one, _), DataType::Timestamp(other, _)) => {
            DataType::Timestamp(if digits(*one) > digits(*other) { *one } else { *other }, None)
        }
        _ => DataType::Utf8,
    };
    Field::new(a.name(), data_type, true)
}

fn digits(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// Holds the columns of a file against a table before anything is read.
pub(super) fn check_columns(schema: &TableSchema, source: &str, found: &Schema, ignore_unknown: bool) -> Outcome<()> {
    let unknown: Vec<_> =
        found.fields().iter().map(|field| field.name().as_str()).filter(|name| schema.column_index(name).is_none()).collect();
    if !unknown.is_empty() && !ignore_unknown {
        let columns: Vec<_> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "{source}: table {} has no column {} (it has {}): add it with ALTER TABLE, or leave it out with --ignore-columns",
            schema.path,
            unknown.join(", "),
            columns.join(", ")
        )));
    }
    for column in &schema.columns {
        let Some((_, field)) = found.fields().iter().enumerate().find(|(_, field)| column.is_named(field.name())) else {
            continue;
        };
        if field.data_type() != &column.column_type.data_type() {
            return Err(Failure::usage(format!(
                "{source}: column {} holds {}, which does not fit {} in table {}",
                column.name,
                field.data_type(),
                column.column_type,
                schema.path
            )));
        }
    }
    let missing: Vec<_> = schema
        .key_columns()
        .map(|column| column.name.as_str())
        .filter(|name| !found.fields().iter().any(|field| field.name().eq_ignore_ascii_case(name)))
        .collect();
    if !missing.is_empty() && !found.fields().is_empty() {
        return Err(Failure::usage(format!(
            "{source}: it has no column {}, but the primary key of {} needs it",
            missing.join(", "),
            schema.path
        )));
    }
    Ok(())
}
