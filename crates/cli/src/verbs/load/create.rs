//! Derives a table from files, and checks files against a table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use tonnage::{
    ColumnDefinition, ColumnType, Error, Generated, Identity, Result, Statement, TableDefinition,
    TableEntry, TableSchema, parse_ddl,
};
use tonnage_files::{InferredSchema, is_variant_field, type_name};

use super::type_hints::notes;
use crate::args::Globals;
use crate::exit::{CliResult, Failure};
use crate::load::{Mapping, RowMapping, records_hint};
use crate::values::grouped;

/// A primary key as `--primary-key` gives it.
pub(super) struct PrimaryKey {
    columns: Vec<String>,
    shard_key_len: Option<usize>,
}

impl PrimaryKey {
    /// A key of one column.
    pub(super) fn of(column: &str) -> Self {
        Self { columns: vec![column.to_owned()], shard_key_len: None }
    }

    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }
}

/// Reads a primary key as DDL does.
pub(super) fn parse_key(text: &str) -> CliResult<PrimaryKey> {
    let wrong = |what: &str| {
        let how = "write it as in CREATE TABLE, for instance 'SHARD(a, b), c', with names that hold blanks in double quotes";
        Failure::usage(format!("--primary-key '{text}': {what}: {how}"))
    };
    let statements = parse_ddl(&format!("CREATE TABLE t (PRIMARY KEY ({text}))"))
        .map_err(|_| wrong("it cannot be read"))?;
    match statements.as_slice() {
        [Statement::CreateTable { definition, .. }]
            if definition.columns.is_empty() && definition.ttl_ms.is_none() =>
        {
            Ok(PrimaryKey {
                columns: definition.key.clone(),
                shard_key_len: definition.shard_key_len,
            })
        }
        _ => Err(wrong("it is more than a list of columns")),
    }
}

/// A table that is there already must have the key that was asked for.
pub(super) fn check_key(schema: &TableSchema, key: &PrimaryKey) -> CliResult<()> {
    let own: Vec<_> = schema.key_columns().skip(schema.inherited_key_len()).collect();
    let same_columns = own.len() == key.columns.len()
        && own.iter().zip(&key.columns).all(|(own, name)| own.is_named(name));
    let same_shard = !schema.ancestors.is_empty()
        || schema.shard_key_len == key.shard_key_len.unwrap_or(key.columns.len());
    if same_columns && same_shard {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "table {} exists already with another primary key: leave out --create and --primary-key, or choose another name\n{};",
        schema.path,
        schema.to_ddl()
    )))
}

/// What a header may be instead.
const HEADER_HINT: &str =
    "if the first line is a record, give --no-header, and --columns for the names";

/// A table that is to be created, and notes about it.
pub(super) struct NewTablePlan {
    pub(super) definition: TableDefinition,
    pub(super) notes: Vec<String>,
    /// The records that decided the types, if there are more.
    sample: Option<u64>,
}

impl NewTablePlan {
    /// The table that the columns of the files make.
    pub(super) fn of(
        path: &str,
        key: PrimaryKey,
        found: &InferredSchema,
        ignore_columns: bool,
        numbered: Option<&str>,
        mapping: Option<&Mapping>,
        parent: Option<&TableSchema>,
    ) -> CliResult<Self> {
        check_header(&key, found)?;
        let schema = match mapping {
            Some(mapping) => mapping.plan(&found.schema, |_, _| true)?.schema().clone(),
            None => Arc::new(found.schema.clone()),
        };
        let is_key =
            |field: &Field| key.columns.iter().any(|name| name.eq_ignore_ascii_case(field.name()));
        let mut columns = Vec::new();
        for field in schema.fields() {
            match column(field, is_key(field)) {
                Ok(column) => columns.push(column),
                Err(_) if ignore_columns => {}
                Err(error) => return Err(error.into()),
            }
        }
        // Added before the checks below: the key may name it, and no file has it.
        if let Some(name) = numbered {
            check_single_column(&found.schema)?;
            columns.insert(0, numbered_column(name, &columns)?);
        }
        check_names(&columns, &found.header_values)?;
        if let Some(parent) = parent {
            check_inherited(parent, path, &key, &columns)?;
            // The table has these from its parent.
            columns.retain(|column| !parent.key_columns().any(|key| key.is_named(&column.name)));
        }
        check_key_columns(&key, &columns, found)?;
        let is_filled = |name: &str| mapping.is_some_and(|mapping| mapping.fills(name));
        let mut notes = notes(found, &is_filled);
        // A key out of the header says that it is one.
        if numbered.is_some() && !found.header_values.is_empty() {
            let values = some_of(&found.header_values);
            notes.push(format!(
                "hint: the header has values among its names, such as {values}: {HEADER_HINT}"
            ));
        }
        let sample = (!found.is_whole).then_some(found.records);
        let definition = TableDefinition {
            path: path.to_owned(),
            columns,
            key: key.columns,
            shard_key_len: key.shard_key_len,
            ttl_ms: None,
        };
        Ok(Self { definition, notes, sample })
    }

    /// Values were rejected: the sample may be why.
    pub(super) fn note_sample(&self, globals: &Globals) {
        if let Some(records) = self.sample {
            globals.info(format_args!(
                "hint: the types of {} come from the first {} records; with --sample all they come from all: DROP TABLE, load again",
                self.definition.path,
                grouped(records)
            ));
        }
    }
}

/// A column in which the store numbers the rows.
fn numbered_column(name: &str, others: &[ColumnDefinition]) -> CliResult<ColumnDefinition> {
    if others.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
        return Err(Failure::usage(format!(
            "--make-key {name}: the files have such a column: choose another name, or make it the key with --primary-key"
        )));
    }
    // JSON records bring NULL for members that they lack, and unloaded rows their numbers.
    let identity = Some(Identity { generated: Generated::ByDefaultOnNull, ..Identity::default() });
    Ok(ColumnDefinition { identity, ..ColumnDefinition::new(name, ColumnType::Long) })
}

/// Refuses a header of nothing but values, unless the key has one of them.
fn check_header(key: &PrimaryKey, found: &InferredSchema) -> CliResult<()> {
    let values = &found.header_values;
    let is_key = |name: &String| key.columns.iter().any(|key| key.eq_ignore_ascii_case(name));
    if !found.has_only_values || values.iter().any(is_key) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the header has values for names, such as {}: {HEADER_HINT}; if they are names, give one of them another with --rename",
        some_of(values)
    )))
}

/// Enough of many values to see what they are.
fn some_of(values: &[String]) -> String {
    values[..values.len().min(3)].join(", ")
}

/// Names that no column of a table can have. Some of them may be values.
fn check_names(columns: &[ColumnDefinition], values: &[String]) -> CliResult<()> {
    let is_wrong = |name: &str| name.contains('.') || name.chars().any(char::is_control);
    let Some(column) = columns.iter().find(|column| is_wrong(&column.name)) else { return Ok(()) };
    let name = &column.name;
    if let Some(hint) = delimiter_hint(columns.iter().map(|column| column.name.as_str())) {
        return Err(Failure::usage(format!("the files have a single column, {name:?}: {hint}")));
    }
    let better = name.replace(|char: char| char == '.' || char.is_control(), "_");
    let all = if name.contains('.') { ", or '.=_' for all names with dots" } else { "" };
    let doubt = match values.contains(name) {
        true => format!("; {HEADER_HINT}"),
        false => String::new(),
    };
    let rename = shell_word(&format!("{name}={better}"));
    Err(Failure::usage(format!(
        "column {} has a dot or a control character in its name, which the columns of a table cannot: give it another with --rename {rename}{all}{doubt}",
        shown_name(name)
    )))
}

fn shown_name(name: &str) -> String {
    match name.contains(char::is_control) {
        true => name.escape_debug().to_string(),
        false => name.to_owned(),
    }
}

/// A word as bash reads it. A control character in it cannot be typed as it is, and would be shown
/// as something else.
fn shell_word(word: &str) -> String {
    if !word.contains(|char: char| char.is_control() || char == '\'') {
        return format!("'{word}'");
    }
    let quoted = word.chars().map(|char| match char {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\\' | '\'' => format!("\\{char}"),
        char if char.is_control() => format!("\\u{:04x}", u32::from(char)),
        char => char.to_string(),
    });
    format!("$'{}'", quoted.collect::<String>())
}

/// The rows of a child table say whose children they are.
fn check_inherited(
    parent: &TableSchema,
    path: &str,
    key: &PrimaryKey,
    columns: &[ColumnDefinition],
) -> CliResult<()> {
    let is_there = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let names: Vec<_> = parent.key_columns().map(|column| column.name.as_str()).collect();
    let is_inherited = |name: &str| parent.key_columns().any(|column| column.is_named(name));
    if let Some(name) = key.columns.iter().find(|name| is_inherited(name)) {
        return Err(Failure::usage(format!(
            "--primary-key names {name}, which {path} has from {}: name only the columns after it",
            parent.path
        )));
    }
    match names.iter().find(|name| !is_there(name)) {
        None => Ok(()),
        Some(missing) => Err(Failure::usage(format!(
            "{path} is a child of {}, so its rows need the key of that, {}: the files have no column {missing}",
            parent.path,
            names.join(", ")
        ))),
    }
}

fn check_key_columns(
    key: &PrimaryKey,
    columns: &[ColumnDefinition],
    found: &InferredSchema,
) -> CliResult<()> {
    let is_there =
        |name: &&String| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let Some(name) = key.columns.iter().find(|name| !is_there(name)) else { return Ok(()) };
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    let doubt = || (!found.header_values.is_empty()).then(|| format!("; {HEADER_HINT}"));
    let records_at = found.records_at.as_deref();
    let hint = records_at
        .map(records_hint)
        .or_else(|| delimiter_hint(names.iter().copied()).map(|hint| format!("; {hint}")))
        .or_else(doubt);
    Err(Failure::usage(format!(
        "--primary-key names {name}, but the files have no such column; they have {}{}",
        names.join(", "),
        hint.unwrap_or_default()
    )))
}

/// Refuses a single column that looks like several, where no key that it lacks would tell.
fn check_single_column(found: &Schema) -> CliResult<()> {
    let names = found.fields().iter().map(|field| field.name().as_str());
    let (Some(hint), [only]) = (delimiter_hint(names), &found.fields()[..]) else { return Ok(()) };
    let name = only.name();
    Err(Failure::usage(format!(
        "the files have a single column, {name:?}: {hint}; if it is one, give it another name with --rename"
    )))
}

/// How a single column becomes several, if its name looks like several.
fn delimiter_hint<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let (Some(only), None) = (names.next(), names.next()) else { return None };
    let delimiters = [(';', "';'"), ('\t', "tab"), ('|', "'|'")];
    let (_, option) = delimiters.into_iter().find(|(delimiter, _)| only.contains(*delimiter))?;
    Some(format!("--delimiter {option} splits it"))
}

/// Records of a new table had the keys of others: the key may be the wrong one.
pub(super) fn repeated_keys_note(schema: &TableSchema, existed: u64) -> String {
    let rows = match existed {
        1 => "1 row has".to_owned(),
        _ => format!("{} rows have", grouped(existed)),
    };
    let key: Vec<_> = schema.key_columns().map(|column| column.name.as_str()).collect();
    format!(
        "hint: {rows} a key that came earlier in the files: the primary key ({}) does not tell them apart",
        key.join(", ")
    )
}

fn column(field: &Field, is_key: bool) -> Result<ColumnDefinition> {
    // Nested columns for which there is no type are JSON.
    let is_json = || field.data_type().is_nested() && !is_variant_field(field);
    let of_nested = || is_json().then_some(ColumnType::Json);
    let column_type = ColumnType::of_arrow(field).or_else(of_nested).ok_or_else(|| {
        Error::invalid(format!(
            "column {} holds {}, for which there is no column type: leave it out with --ignore-columns, or convert the file",
            field.name(),
            type_name(field)
        ))
    })?;
    // Values of several kinds are JSON, which no key can be.
    let column_type =
        if is_key && column_type == ColumnType::Json { ColumnType::String } else { column_type };
    Ok(ColumnDefinition::new(field.name(), column_type))
}

/// Holds the columns of a file against a table before anything is read.
pub(super) fn check_columns(
    schema: &TableSchema,
    source: &str,
    found: &Schema,
    ignore_unknown: bool,
) -> CliResult<()> {
    let unknown: Vec<_> = found
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .filter(|name| schema.column_index(name).is_none())
        .collect();
    if !unknown.is_empty() && !ignore_unknown {
        let columns: Vec<_> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        let found = found.fields().iter().map(|field| field.name().as_str());
        let remedy = delimiter_hint(found).unwrap_or_else(|| {
            "add it with ALTER TABLE, load it under another name with --rename, or leave it out with --ignore-columns".to_owned()
        });
        return Err(Failure::usage(format!(
            "{source}: table {} has no column {} (it has {}): {remedy}",
            schema.path,
            unknown.join(", "),
            columns.join(", ")
        )));
    }
    for column in &schema.columns {
        let Some((_, field)) =
            found.fields().iter().enumerate().find(|(_, field)| column.is_named(field.name()))
        else {
            continue;
        };
        // Text says nested values as JSON.
        let is_said = column.column_type.is_nested() && tonnage::internal::is_json(field);
        if field.data_type() != &column.column_type.data_type() && !is_said {
            if is_variant_field(field) {
                return Err(Failure::usage(format!(
                    "{source}: column {} holds VARIANT, which is not read: let the program that wrote it write JSON, or leave it out with --rename and --ignore-columns",
                    column.name
                )));
            }
            return Err(Failure::usage(format!(
                "{source}: column {0} holds {1}, which does not fit {2} in table {3}: say what becomes of it with --map '{0}=...'",
                column.name,
                type_name(field),
                column.column_type,
                schema.path
            )));
        }
    }
    // A key column with an identity may be missing: the store numbers such rows.
    let missing: Vec<_> = schema
        .key_columns()
        .filter(|column| column.identity.is_none())
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

/// Refuses to resume later with records that the store numbers: those that were stored after the
/// last note before a crash would be stored again, under further numbers.
pub(super) fn check_resumed(schema: &TableSchema, source: &str, found: &Schema) -> CliResult<()> {
    let is_there =
        |name: &str| found.fields().iter().any(|field| field.name().eq_ignore_ascii_case(name));
    let numbered = schema.key_columns().filter(|column| column.identity.is_some());
    match numbered.map(|column| &column.name).find(|name| !is_there(name)) {
        // A file without columns has no records.
        Some(name) if !found.fields().is_empty() => Err(Failure::usage(format!(
            "{source}: the store numbers these records ({name}), so --resume could store some twice: leave out --resume, or number them in the file"
        ))),
        _ => Ok(()),
    }
}

/// Refuses to continue later with records whose keys another run would not give again, for the same
/// reason.
pub(super) fn check_mapping_resumed(
    schema: &TableSchema,
    source: &str,
    rows: &RowMapping,
) -> CliResult<()> {
    match schema.key_columns().find(|column| rows.changes(&column.name)) {
        Some(column) => Err(Failure::usage(format!(
            "{source}: --map gives the key column {} values that change from run to run, so --resume could store some records twice: leave out --resume, or make the key of fields of the file",
            column.name
        ))),
        None => Ok(()),
    }
}

/// What [`check_columns`] does, for the rows that a mapping makes of a file. What it computes the
/// store converts.
pub(super) fn check_mapped(
    table: &TableEntry,
    source: &str,
    mapping: &Mapping,
    rows: &RowMapping,
    ignore_unknown: bool,
) -> CliResult<()> {
    let schema = &table.schema;
    let is_filled = |field: &Field| mapping.fills(field.name());
    let filled = rows.schema().fields().iter().filter(|field| is_filled(field));
    for field in filled {
        schema.require_column(field.name()).map_err(|error| error.at("--map"))?;
    }
    let fields = rows.schema().fields().iter().map(|field| {
        let own = schema.column_index(field.name()).filter(|_| is_filled(field));
        own.map_or_else(|| field.clone(), |own| Arc::new(schema.columns[own].to_arrow()))
    });
    let fields = Schema::new(fields.collect::<Vec<_>>());
    check_columns(schema, source, &fields, ignore_unknown)?;
    let none = RecordBatch::new_empty(rows.schema().clone());
    match table.codec.align_unnumbered(&none) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.at(source).into()),
    }
}
