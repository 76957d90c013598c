//! Reads keys from arguments and files.

use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{FieldRef, Schema};
use tonnage::{BulkKey, Error, KeySource, Result, TableSchema, Value};
use tonnage_files::{
    CsvOptions, ExtraColumns, Format, ReadOptions, RecordReader, Source, type_name,
};

/// Keys, however they were given.
pub(crate) enum Keys {
    /// The values of leading key columns.
    Values(Vec<Vec<Value>>),
    /// Batches of leading key columns.
    Batches(KeyBatches),
}

type KeyBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl Keys {
    /// The keys for a bulk get.
    pub(crate) fn source(self) -> KeySource {
        match self {
            Keys::Values(keys) => KeySource::keys(keys.into_iter().map(BulkKey::Values)),
            Keys::Batches(batches) => KeySource::batches(batches),
        }
    }
}

/// Reads keys given as arguments: the leading key columns of each, parted by commas, in double
/// quotes where they hold commas.
pub(crate) fn from_arguments(
    schema: &TableSchema,
    arguments: &[String],
) -> Result<Vec<Vec<Value>>> {
    arguments
        .iter()
        .map(|argument| {
            key(schema, argument).map_err(|error| {
                let error = error.at(format!("key '{argument}'"));
                if !argument.starts_with('{') {
                    return error;
                }
                let remedy = "a key is its values with commas between, such as 1,2024-01-01";
                let message = format!("{}: {remedy}", error.message());
                error.with_message(message)
            })
        })
        .collect()
}

fn key(schema: &TableSchema, argument: &str) -> Result<Vec<Value>> {
    let texts = fields(argument)?;
    let columns: Vec<_> = schema.key_columns().collect();
    if texts.len() > columns.len() {
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        return Err(Error::invalid(format!(
            "it has {} fields, the key of {} has {}: {} (put fields that hold commas in double quotes)",
            texts.len(),
            schema.path,
            columns.len(),
            names.join(", ")
        )));
    }
    let values = texts.iter().zip(&columns);
    values
        .map(|(text, column)| {
            Value::parse_exact(text, column.column_type)
                .map_err(|error| error.at(format!("key column {}", column.name)))
        })
        .collect()
}

/// Parts an argument at its commas.
fn fields(argument: &str) -> Result<Vec<String>> {
    let mut fields = vec![String::new()];
    let mut in_quotes = false;
    let mut characters = argument.chars().peekable();
    while let Some(character) = characters.next() {
        let is_new = fields.last().is_some_and(String::is_empty);
        match character {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut fields, '"');
            }
            '"' if in_quotes || is_new => in_quotes = !in_quotes,
            ',' if !in_quotes => fields.push(String::new()),
            other => push(&mut fields, other),
        }
    }
    if in_quotes {
        return Err(Error::invalid("a double quote is never closed"));
    }
    Ok(fields)
}

fn push(fields: &mut [String], character: char) {
    if let Some(field) = fields.last_mut() {
        field.push(character);
    }
}

/// Keys in a file: its leading key columns by name, all other columns are passed over. The answer
/// says how many key columns the file has; of JSON, how many its first key has.
pub(crate) fn from_file(
    schema: &TableSchema,
    file: &Source,
    options: &ReadOptions,
) -> Result<(Keys, usize)> {
    let wanted =
        Schema::new(schema.key_columns().map(|column| column.to_arrow()).collect::<Vec<_>>());
    // A blank line is not a key.
    let csv = CsvOptions { blank_is_null: false, ..options.csv.clone() };
    let options = ReadOptions {
        schema: Some(Arc::new(wanted.clone())),
        unmentioned: ExtraColumns::Skip,
        csv,
        ..options.clone()
    };
    let reader = RecordReader::open(file, &options)?;
    let found = reader.schema();
    // Types are compared here because the reader leaves a column that no cast leads to as it is.
    for field in found.fields() {
        let column = wanted.field_with_name(field.name()).ok();
        if let Some(column) = column.filter(|column| column.data_type() != field.data_type()) {
            return Err(Error::invalid(format!(
                "{}: column {} holds {}, which does not fit the key column of type {}",
                file.name(),
                field.name(),
                type_name(field),
                type_name(column)
            )));
        }
    }
    let Some(first) = wanted.fields().first() else {
        return Err(Error::internal("a table without a key"));
    };
    if found.column_with_name(first.name()).is_none() {
        return Err(Error::invalid(format!(
            "{}: it has no column {}, the first key column of {}: name the key columns in its header",
            file.name(),
            first.name(),
            schema.path
        )));
    }
    // A key is a prefix of the key columns: one after a gap does not count as given.
    let columns = wanted
        .fields()
        .iter()
        .take_while(|field| found.column_with_name(field.name()).is_some())
        .count();
    let is_json = reader.format() == Format::JsonLines;
    let mut keys = reader.map(|batch| batch.and_then(keys_of)).peekable();
    // JSON has no header: any record may have any member, and only a key says which it has.
    let columns = if is_json { given_by_first(keys.peek(), &wanted)? } else { columns };
    Ok((Keys::Batches(Box::new(keys)), columns))
}

/// How many leading key columns the first key gives. One without the first column is refused later,
/// and without a key it does not matter.
fn given_by_first(keys: Option<&Result<RecordBatch>>, wanted: &Schema) -> Result<usize> {
    let keys = match keys {
        None => return Ok(1),
        Some(Err(error)) => return Err(error.restated()),
        Some(Ok(keys)) => keys,
    };
    let is_given = |field: &&FieldRef| {
        let column = keys.column_by_name(field.name());
        column.is_some_and(|column| !column.is_empty() && column.is_valid(0))
    };
    Ok(wanted.fields().iter().take_while(is_given).count().max(1))
}

/// The keys of one batch; a record that cannot be read is an error: else it would be unknown which
/// rows are missing.
fn keys_of(read: tonnage_files::ReadBatch) -> Result<RecordBatch> {
    match read.rejected.first() {
        None => Ok(read.batch),
        Some(rejected) => {
            let line = rejected.line.map(|line| format!(", line {line}")).unwrap_or_default();
            let column = rejected
                .column
                .as_ref()
                .map(|column| format!(", column {column}"))
                .unwrap_or_default();
            Err(Error::invalid(format!("{}{line}{column}: {}", rejected.source, rejected.reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_parted_by_commas_outside_quotes() {
        assert_eq!(fields("367379190").unwrap(), ["367379190"]);
        assert_eq!(fields("a,b").unwrap(), ["a", "b"]);
        assert_eq!(fields(r#""a,b",c"#).unwrap(), ["a,b", "c"]);
        assert_eq!(fields(r#""say ""hi""",5""#).unwrap(), [r#"say "hi""#, "5\""]);
        assert!(fields(r#""open"#).is_err());
    }
}
