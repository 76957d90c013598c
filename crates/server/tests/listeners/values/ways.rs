//! The ways in. Each takes a value to the row of a key, or tells that it cannot say such a value.

use arrow::array::RecordBatch;
use arrow_flight::sql::{
    CommandStatementIngest, TableDefinitionOptions, TableExistsOption, TableNotExistOption,
};
use tonnage::{Row, WriteOptions, row_stream};
use tonnage_files::{Compression, Format, RecordWriter};
use tonnage_sql::{Parameters, Request};

use super::column::{TestColumn, shown};
use crate::support::SqlClient;

/// Nothing for a value that the way cannot say; else whether it was taken.
type Told = Option<Result<(), String>>;
type Way = fn(&TestColumn<'_>, i64) -> Told;

pub(super) const WAYS: [(&str, Way); 19] = [
    ("csv", |column, key| column.load("rows.csv", csv(column, key)?.into()).told()),
    ("json", |column, key| Some(column.load("rows.json", json_line(column, key)?.into()))),
    ("parquet", |column, key| file(column, key, Format::Parquet)),
    ("arrow", |column, key| file(column, key, Format::ArrowStream)),
    ("batch", |column, key| column.bulk_put(column.batch(key)).told()),
    ("rows", rows),
    ("put", put),
    ("literal", |column, key| values(column, key, "INSERT INTO")),
    ("upsert", |column, key| values(column, key, "UPSERT INTO")),
    ("update", update),
    ("merge", merge),
    ("parameter", parameter),
    ("update parameter", update_parameter),
    ("http csv", |column, key| posted(column, "text/csv", &csv(column, key)?)),
    ("http json", |column, key| posted(column, "application/x-ndjson", &json_line(column, key)?)),
    ("http row", http_row),
    ("http parameter", http_parameter),
    ("copy", copy),
    ("ingest", ingest),
];

trait ToTold {
    fn told(self) -> Told;
}

impl ToTold for Result<(), String> {
    fn told(self) -> Told {
        Some(self)
    }
}

/// The value in CSV; nothing for bytes in a column of text, where nothing tells them apart.
fn csv(column: &TestColumn<'_>, key: i64) -> Option<String> {
    if column.takes_bytes_for_text() {
        return None;
    }
    let value = match column.cell.kind.as_str() {
        "null" => String::new(),
        "text" | "json" => format!("\"{}\"", column.cell.value.replace('"', "\"\"")),
        "binary" => column.cell.own_value().to_string(),
        _ => column.cell.value.clone(),
    };
    Some(format!("k,v\n{key},{value}\n"))
}

/// The value in JSON; nothing for what JSON has no words for but text.
fn json(column: &TestColumn<'_>) -> Option<String> {
    if column.takes_bytes_for_text() {
        return None;
    }
    Some(match column.cell.kind.as_str() {
        "null" => "null".to_owned(),
        "whole" | "number" | "double" | "boolean" | "json" => column.cell.value.clone(),
        // A document that is a text is a JSON string, and no document that is not well formed.
        "text" if column.cell.column_type == "JSON" => return None,
        "binary" => serde_json::Value::from(column.cell.own_value().to_string()).to_string(),
        _ => serde_json::Value::from(column.cell.value.as_str()).to_string(),
    })
}

fn json_line(column: &TestColumn<'_>, key: i64) -> Option<String> {
    Some(format!("{{\"k\": {key}, \"v\": {}}}\n", json(column)?))
}

fn file(column: &TestColumn<'_>, key: i64, format: Format) -> Told {
    let batch = column.batch(key);
    let mut writer =
        RecordWriter::new(format, Vec::new(), batch.schema(), Compression::None).unwrap();
    writer.write(&batch).unwrap();
    column.load("rows", writer.finish().unwrap()).told()
}

fn row(column: &TestColumn<'_>, key: i64) -> Row {
    Row::new().with("k", key).with("v", column.cell.own_value())
}

fn put(column: &TestColumn<'_>, key: i64) -> Told {
    column.table.put(&row(column, key), &WriteOptions::default()).map(drop).map_err(shown).told()
}

fn rows(column: &TestColumn<'_>, key: i64) -> Told {
    let table = column.path.as_str().into();
    column.put_stream(row_stream(column.path.as_str(), [Ok((table, row(column, key)))])).told()
}

/// The value as a literal of SQL.
fn literal(column: &TestColumn<'_>) -> Option<String> {
    let value = &column.cell.value;
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    Some(match column.cell.kind.as_str() {
        "null" => "NULL".to_owned(),
        "double" if !value.contains('e') => format!("{value}e0"),
        _ if column.cell.is_number() || column.cell.kind == "boolean" => value.clone(),
        "text" | "json" => quoted(value),
        "timestamp" => format!("TIMESTAMP {}", quoted(value)),
        "date" => format!("DATE {}", quoted(value)),
        "time" => format!("TIME {}", quoted(value)),
        "uuid" => format!("{}::UUID", quoted(value)),
        "binary" => format!("X{}", quoted(value)),
        _ => return None,
    })
}

fn values(column: &TestColumn<'_>, key: i64, verb: &str) -> Told {
    let text = format!("{verb} {} VALUES ({key}, {})", column.path, literal(column)?);
    column.sql(Request::new(text)).told()
}

/// A row that an UPDATE was to change and did not is as good as none.
fn changed(column: &TestColumn<'_>, key: i64, request: Request) -> Told {
    column.put_nothing(key);
    let told = column.sql(request);
    if told.is_err() {
        column.delete(key);
    }
    told.told()
}

fn update(column: &TestColumn<'_>, key: i64) -> Told {
    let text = format!("UPDATE {} SET v = {} WHERE k = {key}", column.path, literal(column)?);
    changed(column, key, Request::new(text))
}

fn update_parameter(column: &TestColumn<'_>, key: i64) -> Told {
    let text = format!("UPDATE {} SET v = $1 WHERE k = {key}", column.path);
    changed(column, key, Request::new(text).bind(column.cell.own_value()))
}

fn merge(column: &TestColumn<'_>, key: i64) -> Told {
    let (path, literal) = (&column.path, literal(column)?);
    let text = format!(
        "MERGE INTO {path} USING (VALUES ({key})) AS s (k) ON {path}.k = s.k \
         WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, {literal})"
    );
    column.sql(Request::new(text)).told()
}

fn parameter(column: &TestColumn<'_>, key: i64) -> Told {
    let text = format!("INSERT INTO {} VALUES ({key}, $1)", column.path);
    let parameters = Parameters::numbered([column.cell.own_value()]);
    column.sql(Request::new(text).parameters(parameters)).told()
}

fn posted(column: &TestColumn<'_>, kind: &str, body: &str) -> Told {
    let url = format!("POST /v1/tables/{}/rows?errors_max=0", column.path);
    column.http(&url, &format!("Content-Type: {kind}\r\n"), body).told()
}

fn http_row(column: &TestColumn<'_>, key: i64) -> Told {
    let url = format!("PUT /v1/tables/{}/row?k={key}", column.path);
    Some(column.http(&url, "", &format!("{{\"v\": {}}}", json(column)?)))
}

/// A parameter says numbers, texts and booleans by itself, and other values by the name of a type.
fn http_parameter(column: &TestColumn<'_>, key: i64) -> Told {
    let (value, named) = match column.cell.kind.as_str() {
        "timestamp" | "date" | "time" | "uuid" | "json" => {
            let text = serde_json::Value::from(column.cell.value.as_str()).to_string();
            (text, format!("\"{}\"", column.cell.own_type()))
        }
        "binary" => (json(column)?, "\"BINARY\"".to_owned()),
        "text" => (serde_json::Value::from(column.cell.value.as_str()).to_string(), "null".into()),
        _ => (json(column)?, "null".to_owned()),
    };
    let body = format!(
        "{{\"sql\": \"INSERT INTO {} VALUES ({key}, ?)\", \"parameters\": [{value}], \
         \"types\": [{named}]}}",
        column.path
    );
    column.http("POST /v1/sql", "", &body).told()
}

fn copy(column: &TestColumn<'_>, key: i64) -> Told {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), csv(column, key)?).unwrap();
    let text = format!("COPY {} FROM '{}'", column.path, file.path().display());
    column.sql(Request::new(text)).told()
}

/// Bulk ingestion over Flight SQL, as ADBC does it.
fn ingest(column: &TestColumn<'_>, key: i64) -> Told {
    let definition = TableDefinitionOptions {
        if_not_exist: TableNotExistOption::Fail.into(),
        if_exists: TableExistsOption::Append.into(),
    };
    let command = CommandStatementIngest {
        table_definition_options: Some(definition),
        table: column.path.clone(),
        ..CommandStatementIngest::default()
    };
    let batch: Result<RecordBatch, _> = Ok(column.batch(key));
    let taken = column.with_client(|SqlClient { runtime, flight }| {
        runtime.block_on(flight.execute_ingest(command, futures::stream::iter([batch])))
    });
    taken.map(drop).map_err(shown).told()
}
