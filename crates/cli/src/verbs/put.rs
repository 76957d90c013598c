//! `tonnage put`: single rows as JSON.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use tonnage::internal::json_text::{self, JsonKind};
use tonnage::{
    ColumnType, Condition, Error, Result, Row, TableSchema, Value, WriteOptions, WriteResult,
};

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit, Failure};
use crate::values::{self, Durability};
use crate::{interrupt, stderr, time_limit};

/// Store single rows given as JSON objects (for many rows use load)
#[derive(Args)]
pub(crate) struct PutArgs {
    /// The table
    table: String,
    /// Rows, each a JSON object: '{"maker": "Nokia", "price": 300}'
    #[arg(value_name = "JSON", required_unless_present = "file", conflicts_with = "file")]
    rows: Vec<String>,
    /// Read the rows from a file of JSON lines; - is standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    time: TimeoutArgs,
}

/// Under which conditions and how durably single entries are written.
#[derive(Args)]
pub(crate) struct WriteArgs {
    /// Store only if there is none yet
    #[arg(long, conflicts_with_all = ["if_present", "if_version"])]
    pub(crate) if_absent: bool,
    /// Store only if there is one
    #[arg(long, conflicts_with = "if_version")]
    pub(crate) if_present: bool,
    /// Store only over this version
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<u64>,
    /// Time to live, such as 90s, 12h or 30d
    #[arg(long, value_parser = values::duration, value_name = "DURATION")]
    pub(crate) ttl: Option<Duration>,
    /// Durability: when it counts as stored
    #[arg(long, value_enum, default_value_t)]
    pub(crate) durability: Durability,
}

impl WriteArgs {
    pub(crate) fn condition(&self) -> Condition {
        match (self.if_absent, self.if_present, self.if_version) {
            (true, _, _) => Condition::IfAbsent,
            (_, true, _) => Condition::IfPresent,
            (_, _, Some(version)) => Condition::IfVersion(version),
            _ => Condition::Always,
        }
    }

    pub(crate) fn options(&self) -> WriteOptions {
        WriteOptions {
            durability: self.durability.into(),
            ttl: self.ttl,
            timeout: time_limit::remaining(),
            ..WriteOptions::default()
        }
    }
}

impl PutArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let connection = globals.connection()?;
        let table = connection.table(&self.table)?;
        let (condition, options) = (self.write.condition(), self.write.options());
        let (mut exit, cancel) = (Exit::Success, interrupt::cancel());
        for (number, (source, row)) in self.rows(table.schema())?.into_iter().enumerate() {
            interrupt::check(&cancel)?;
            let written = table.put_if(&row, condition, &options);
            let written = written.map_err(|error| failure_after(number, error.at(&source)))?;
            if !report_write(globals, &source, written) {
                exit = Exit::Rejected;
            }
        }
        Ok(exit)
    }

    /// All rows, each with a name for messages. A row that cannot be read fails before any is
    /// stored.
    fn rows(&self, schema: &TableSchema) -> CliResult<Vec<(String, Row)>> {
        let read = |(source, text): (String, String)| {
            let row = row_of(schema, &text).map_err(|error| error.at(&source))?;
            Ok((source, row))
        };
        self.texts()?.into_iter().map(read).collect()
    }

    /// The texts of the rows, each with a name for messages.
    fn texts(&self) -> CliResult<Vec<(String, String)>> {
        let Some(path) = &self.file else {
            return Ok(self
                .rows
                .iter()
                .enumerate()
                .map(|(number, text)| (format!("row {number}"), text.clone()))
                .collect());
        };
        // Wrong input, not a stop (exit code 3): no row is stored before all texts are read.
        let cannot = |error: std::io::Error| {
            Failure::from(
                Error::invalid(format!("{}: cannot be read: {error}", path.display()))
                    .with_source(error),
            )
        };
        let reader: Box<dyn BufRead> = match path.as_os_str() == "-" {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(BufReader::new(std::fs::File::open(path).map_err(cannot)?)),
        };
        let mut texts = Vec::new();
        // Blank lines are counted though they are passed over: messages name the line of the file.
        for (number, line) in reader.lines().enumerate() {
            let line = line.map_err(cannot)?;
            if !line.trim().is_empty() {
                texts.push((format!("{}, line {}", path.display(), number + 1), line));
            }
        }
        Ok(texts)
    }
}

/// The rows before one that fails are stored.
fn failure_after(number: usize, error: Error) -> Failure {
    if number == 0 { error.into() } else { Failure::stopped(error) }
}

/// Says what became of a conditional write. Answers whether it was carried out.
pub(crate) fn report_write(globals: &Globals, place: &str, written: WriteResult) -> bool {
    match written {
        WriteResult::Stored { version } => {
            globals.info(format_args!("{place}: stored as version {version}"));
        }
        WriteResult::ConditionFailed { current: Some(version), .. } => {
            stderr::line(format_args!(
                "tonnage: {place}: not stored: there is one, of version {version}"
            ));
        }
        WriteResult::ConditionFailed { current: None, .. } => {
            stderr::line(format_args!("tonnage: {place}: not stored: there is none"))
        }
    }
    written.is_stored()
}

/// A JSON object as a row of a table. Documents and numbers are taken as they are written.
fn row_of(schema: &TableSchema, text: &str) -> Result<Row> {
    let example = "a row is a JSON object, such as {\"maker\": \"Nokia\", \"price\": 300}";
    if !text.trim_start().starts_with('{') {
        return Err(Error::invalid(format!("`{}` is not an object: {example}", text.trim())));
    }
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| Error::invalid(format!("it is not JSON: {error}: {example}")))?;
    let members = json_text::all_members(text)?;
    let mut row = Row::with_capacity(members.len());
    for (name, member) in members {
        let column = &schema.columns[schema.require_column(&name)?];
        if row.get(&column.name).is_some() {
            return Err(Error::invalid(format!("column {} appears twice", column.name)));
        }
        let value = value_of(member, column.column_type)
            .map_err(|error| error.at(format!("column {}", column.name)))?;
        row.set(&column.name, value);
    }
    Ok(row)
}

fn value_of(text: &str, column_type: ColumnType) -> Result<Value> {
    let is_number = matches!(
        column_type,
        ColumnType::Integer | ColumnType::Long | ColumnType::Float | ColumnType::Double
    );
    match JsonKind::of(text) {
        JsonKind::Null => Ok(Value::Null),
        // A document keeps its digits and the order of its members.
        _ if column_type == ColumnType::Json => Ok(Value::Json(text.to_owned())),
        _ if column_type.is_nested() => Value::parse(text, column_type),
        JsonKind::String => Value::parse_given(&json_text::string(text)?, column_type),
        JsonKind::Number if matches!(column_type, ColumnType::Number { .. }) => {
            Value::parse_given(text, column_type)
        }
        JsonKind::Number if is_number => {
            let number = serde_json::from_str(text)
                .map_err(|error| Error::invalid(format!("{text}: {error}")))?;
            Value::parse_json_number(&number, column_type)
        }
        JsonKind::Boolean if column_type == ColumnType::Boolean => {
            Ok(Value::Boolean(text == "true"))
        }
        // As they are written, as all ways in do.
        JsonKind::Number | JsonKind::Boolean if column_type == ColumnType::String => {
            Ok(Value::String(text.to_owned()))
        }
        _ => Err(Error::invalid(format!("{text} does not fit {column_type}"))),
    }
}

/// A row as a JSON object.
pub(crate) fn json_of(row: &Row) -> String {
    let mut text = String::from("{");
    for (place, (name, value)) in row.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&Json::from(name).to_string());
        text.push(':');
        text.push_str(&json_value(value));
    }
    text.push('}');
    text
}

fn json_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::Long(_)
        | Value::Number { .. }
        | Value::WideNumber(_) => value.to_string(),
        Value::Float(number) if number.is_finite() => format!("{number:?}"),
        Value::Double(number) if number.is_finite() => format!("{number:?}"),
        // JSON text is passed on as it is, on one line: line ends in it can only be space between
        // its tokens.
        Value::Json(text) => text.replace(['\n', '\r'], " "),
        nested if nested.is_nested() => nested.to_string().replace(['\n', '\r'], " "),
        other => Json::from(other.to_string()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_take_the_type_of_their_column() {
        assert_eq!(value_of("5", ColumnType::Long).unwrap(), Value::Long(5));
        assert_eq!(value_of("\"5\"", ColumnType::Integer).unwrap(), Value::Integer(5));
        assert_eq!(value_of("true", ColumnType::Boolean).unwrap(), Value::Boolean(true));
        assert_eq!(value_of("null", ColumnType::Json).unwrap(), Value::Null);
        let whole = value_of(&i64::MIN.to_string(), ColumnType::NUMBER).unwrap();
        assert_eq!(whole.to_string(), i64::MIN.to_string());
        for text in ["5", "1.50", "true"] {
            assert_eq!(value_of(text, ColumnType::String).unwrap(), Value::String(text.into()));
        }
        assert!(value_of("{}", ColumnType::String).is_err());
        assert!(value_of("\"x\"", ColumnType::Integer).is_err());
    }

    /// The reader of JSON turned numbers into doubles, in documents too: 12345678901234567890.123
    /// was stored as 1.2345678901234567e19. Of two members of one name the first was lost.
    #[test]
    fn what_is_put_is_stored_as_it_is_written() {
        let document = "{\"z\": 12345678901234567890.123, \"a\": 1.10, \"z\": 2}";
        assert_eq!(value_of(document, ColumnType::Json).unwrap(), Value::Json(document.to_owned()));
        let long = value_of("12345678901234567890.5", ColumnType::NUMBER).unwrap();
        assert!(long.to_string().starts_with("12345678901234567890.5"), "{long}");
        let store = tonnage::Store::open("memory:").unwrap();
        store.execute("CREATE TABLE t (a LONG, b JSON, PRIMARY KEY (a))").unwrap();
        let table = store.table("t").unwrap();
        let row = |text: &str| row_of(table.schema(), text);
        let twice = row("{\"a\": 1, \"A\": 2}").unwrap_err();
        assert!(twice.message().contains("column a appears twice"), "{twice}");
        assert!(row("{\"a\": 1,}").unwrap_err().message().contains("it is not JSON"));
        assert!(row("[1]").unwrap_err().message().contains("is not an object"));
        let row = row(" { \"a\" : 1 , \"b\" : [1.0] } ").unwrap();
        assert_eq!(row.get("b"), Some(&Value::Json("[1.0]".to_owned())));
    }

    #[test]
    fn a_row_as_json() {
        let row = Row::new()
            .with("a", 1)
            .with("b", "x\"y")
            .with("c", 2.5)
            .with("d", Value::Json("{\"e\": 1}".into()));
        assert_eq!(json_of(&row), r#"{"a":1,"b":"x\"y","c":2.5,"d":{"e": 1}}"#);
    }
}
