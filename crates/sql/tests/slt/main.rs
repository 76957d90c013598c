//! Runs the files under `tests/slt` on every kind of store, and each with and without the ways that
//! only make statements faster.
//!
//! A file is run as it is; `UPDATE_SLT=1` writes what came out into it.

use std::path::{Path, PathBuf};

use sqllogictest::{DB, DBOutput, DefaultColumnType, QueryExpect, Record, Runner};
use tempfile::TempDir;
use tonnage::{ColumnType, Error, RocksDbSettings, Store, Value};
use tonnage_sql::{Answer, Sql, SqlOptions};

/// What a file is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backend {
    Memory,
    RocksDb,
}

struct Database {
    sql: Sql,
    /// How often a query runs before its answer counts.
    warm_ups: usize,
    _directory: Option<TempDir>,
}

impl Database {
    fn new(backend: Backend, options: SqlOptions, warm_ups: usize) -> Self {
        let directory = (backend == Backend::RocksDb).then(|| tempfile::tempdir().unwrap());
        let url = directory.as_ref().map_or("memory:".to_owned(), |directory| {
            directory.path().join("store").display().to_string()
        });
        let settings = RocksDbSettings {
            cache_bytes: 8 << 20,
            memtable_bytes: 4 << 20,
            ..RocksDbSettings::default()
        };
        let store = Store::builder(url).rocksdb_settings(settings);
        // Segments of few rows, of which the tables of the files have several.
        let store = if warm_ups > 0 { store.column_segments(3, 8 << 20) } else { store };
        let store = store.open().unwrap();
        // Plans report it.
        let options = SqlOptions { parallelism: Some(2), ..options };
        Self { sql: Sql::new(store, options).unwrap(), warm_ups, _directory: directory }
    }
}

impl DB for Database {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, statement: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        if statement.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select")) {
            for _ in 0..self.warm_ups {
                self.sql.execute(statement)?.into_rows()?.into_batch()?;
            }
        }
        match self.sql.execute(statement)? {
            Answer::Done(_) => Ok(DBOutput::StatementComplete(0)),
            Answer::Changed(changes) => Ok(DBOutput::StatementComplete(changes.total())),
            Answer::Rows(rows) => {
                let fields = rows.schema().fields().clone();
                let types =
                    fields.iter().map(|field| letter(ColumnType::of_arrow(field))).collect();
                let mut lines = Vec::new();
                for batch in rows {
                    let batch = batch?;
                    for row in 0..batch.num_rows() {
                        let cell = |(field, array): (
                            &std::sync::Arc<arrow::datatypes::Field>,
                            &arrow::array::ArrayRef,
                        )| { text(array, field, row) };
                        split(fields.iter().zip(batch.columns()).map(cell).collect(), &mut lines);
                    }
                }
                Ok(DBOutput::Rows { types, rows: lines })
            }
        }
    }

    fn shutdown(&mut self) {}
}

/// A row as it is in a file: one whose last cell has several lines becomes several rows.
fn split(mut row: Vec<String>, lines: &mut Vec<Vec<String>>) {
    let last = row.pop().unwrap_or_default();
    let mut parts = last.split('\n');
    row.push(parts.next().unwrap_or_default().to_owned());
    lines.push(row);
    lines.extend(parts.map(|part| vec![part.to_owned()]));
}

fn letter(column_type: Option<ColumnType>) -> DefaultColumnType {
    match column_type {
        Some(ColumnType::Integer | ColumnType::Long) => DefaultColumnType::Integer,
        Some(ColumnType::Float | ColumnType::Double | ColumnType::Number { .. }) => {
            DefaultColumnType::FloatingPoint
        }
        Some(_) => DefaultColumnType::Text,
        None => DefaultColumnType::Any,
    }
}

/// A cell as the files hold it; the depth of a line of a plan is shown by dashes, for blanks do
/// not count there.
fn text(array: &arrow::array::ArrayRef, field: &arrow::datatypes::Field, row: usize) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    match Value::from_array(array.as_ref(), field, row) {
        Ok(Value::String(text)) if text.is_empty() => "(empty)".to_owned(),
        Ok(Value::String(text)) => text
            .lines()
            .map(|line| format!("{}{}", "-".repeat(indent(line)), line.trim()))
            .collect::<Vec<_>>()
            .join("\n"),
        Ok(value) => value.to_string(),
        Err(_) => arrow::util::display::array_value_to_string(array, row).unwrap(),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("tests/slt").unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "slt")).collect();
    files.sort();
    files
}

/// Runs all files; plans are only looked at where they are what they should be.
fn run(backend: Backend, options: &SqlOptions, warm_ups: usize) {
    let plain = !options.direct || !options.push_down || warm_ups > 0;
    let mut failures = Vec::new();
    for file in files() {
        let is_plans =
            file.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("explain"));
        if plain && is_plans {
            continue;
        }
        let mut runner =
            Runner::new(|| async { Ok(Database::new(backend, options.clone(), warm_ups)) });
        if std::env::var_os("UPDATE_SLT").is_some() && !plain && backend == Backend::Memory {
            let updated = futures::executor::block_on(runner.update_test_file(
                &file,
                " ",
                sqllogictest::default_validator,
                sqllogictest::default_normalizer,
                sqllogictest::default_column_validator,
            ));
            updated.unwrap();
            continue;
        }
        if let Err(error) = runner.run_file(&file) {
            failures.push(format!("{}:\n{}", file.display(), error.display(false)));
        }
    }
    assert!(failures.is_empty(), "on {backend:?}:\n{}", failures.join("\n"));
}

/// The lines of queries whose rows come in no order, and are compared in one: such a file fails
/// when the threads of a query end in another order.
fn unordered(file: &Path) -> Vec<String> {
    let records = sqllogictest::parse_file::<DefaultColumnType>(file).unwrap();
    let mut lines = Vec::new();
    for record in records {
        let Record::Query {
            sql,
            expected: QueryExpect::Results { sort_mode, results, .. },
            loc,
            ..
        } = record
        else {
            continue;
        };
        let text = sql.to_ascii_lowercase();
        let has_list = ["unnest(", "json_each(", "json_array_elements("]
            .iter()
            .any(|list| text.contains(list));
        let has_order = outermost(&text).contains("order by")
            || !text.contains("from")
            || ["explain", "show", "describe"].iter().any(|word| text.starts_with(word))
            || has_list;
        if results.len() > 1 && sort_mode.is_none() && !has_order {
            lines.push(format!("{loc}: {sql}"));
        }
    }
    lines
}

/// What is outside of all parentheses and literals.
fn outermost(text: &str) -> String {
    let (mut depth, mut is_literal) = (0, false);
    let keeps = |letter: &char| {
        is_literal ^= *letter == '\'';
        match letter {
            _ if is_literal => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0 && !is_literal
    };
    text.chars().filter(keeps).collect()
}

#[test]
fn each_answer_of_several_rows_names_its_order() {
    let lines: Vec<_> = files().iter().flat_map(|file| unordered(file)).collect();
    assert!(lines.is_empty(), "add ORDER BY or rowsort:\n{}", lines.join("\n"));
}

#[test]
fn files_hold_on_the_memory_engine() {
    run(Backend::Memory, &SqlOptions::default(), 0);
}

#[test]
fn files_hold_on_rocksdb() {
    run(Backend::RocksDb, &SqlOptions::default(), 0);
}

#[test]
fn files_hold_without_the_direct_way() {
    run(Backend::Memory, &SqlOptions { direct: false, ..SqlOptions::default() }, 0);
}

#[test]
fn files_hold_when_nothing_is_pushed_down() {
    run(
        Backend::Memory,
        &SqlOptions { direct: false, push_down: false, ..SqlOptions::default() },
        0,
    );
}

/// The first two runs of a query have its tables followed and segments built.
#[test]
fn files_hold_from_live_columns() {
    run(Backend::Memory, &SqlOptions::default(), 2);
    run(Backend::RocksDb, &SqlOptions::default(), 2);
}
