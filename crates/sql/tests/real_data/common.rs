//! Where the files are, how they come into a store, and how answers are looked at.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tempfile::TempDir;
use tonnage::{BulkPutOptions, Row, Store, record_batch_stream};
use tonnage_files::{ReadOptions, RecordReader, Source};
use tonnage_sql::{Answer, Request, Sql, SqlOptions};

/// The records of a CSV file as they are, without its header.
pub(crate) fn records(path: &Path) -> Vec<Vec<String>> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap(),
        false => bytes.as_slice().read_to_string(&mut text).unwrap(),
    };
    text.lines().skip(1).map(fields).collect()
}

/// The fields of a line; the files have no quotes within quotes, and no line ends.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut in_quotes) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}

/// A session over a store, on the disk by default.
pub(crate) struct Place {
    pub(crate) sql: Sql,
    _directory: Option<TempDir>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("store").to_string_lossy()).unwrap();
        Self { _directory: Some(directory), ..Self::over(store) }
    }

    /// The same over a store that is open.
    pub(crate) fn over(store: Store) -> Self {
        Self { sql: Sql::new(store, SqlOptions::default()).unwrap(), _directory: None }
    }

    /// Loads a file into a table. Returns how many rows went in.
    pub(crate) fn load(&self, table: &str, path: &Path, options: ReadOptions) -> u64 {
        let store = self.sql.store();
        let schema = store.table(table).unwrap().schema().arrow_schema();
        let options = ReadOptions { schema: Some(schema), ..options };
        let batches = RecordReader::open(&Source::file(path), &options).unwrap().map(|read| {
            let read = read.unwrap();
            assert!(read.rejected.is_empty(), "{:?}", read.rejected);
            Ok(read.batch)
        });
        let put = store
            .bulk_put(vec![record_batch_stream("file", table, batches)], &BulkPutOptions::default())
            .unwrap();
        assert_eq!(put.total.failed, 0);
        put.total.inserted
    }

    /// The rows of a query as text.
    #[track_caller]
    pub(crate) fn rows(&self, request: impl Into<Request>) -> Vec<Vec<String>> {
        texts(self.sql.execute(request).unwrap())
    }
}

#[track_caller]
pub(crate) fn texts(answer: Answer) -> Vec<Vec<String>> {
    let batch = answer.into_rows().unwrap().into_batch().unwrap();
    let row = |row| {
        Row::from_batch(&batch, row).unwrap().iter().map(|(_, value)| value.to_string()).collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

/// Sums come out a little different when they are added up in another order.
#[track_caller]
pub(crate) fn assert_near(told: &str, expected: f64, what: &str) {
    let number: f64 = told.parse().unwrap_or_else(|_| panic!("{what}: {told} is not a number"));
    assert!(
        (number - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{what}: {told} instead of {expected}"
    );
}
