//! A table with one column of a type, in the store of a server.

use std::cell::RefCell;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use tonnage::{
    BulkPutOptions, EntryStream, ErrorsMax, Row, Table, Value, WriteOptions, record_batch_stream,
};
use tonnage_files::{ReadOptions, RecordReader, Source};
use tonnage_sql::{Request, Sql, SqlOptions};

use super::cell::Cell;
use crate::support::{Running, SqlClient};

/// A server with a session of SQL beside it: one for all columns.
pub(super) struct Served {
    server: Running,
    sql: Sql,
    client: RefCell<SqlClient>,
}

impl Served {
    pub(super) fn new() -> Self {
        let server = Running::new();
        // COPY reads files for a session of this machine alone.
        let options = SqlOptions { is_local: true, ..SqlOptions::default() };
        let sql = Sql::new(server.store.clone(), options).unwrap();
        let client = RefCell::new(server.sql());
        Served { server, sql, client }
    }
}

/// A column `v` beside a key `k`, and its value.
pub(super) struct TestColumn<'a> {
    served: &'a Served,
    pub(super) cell: &'a Cell,
    pub(super) path: String,
    pub(super) table: Table,
}

impl<'a> TestColumn<'a> {
    pub(super) fn new(served: &'a Served, number: usize, cell: &'a Cell) -> Self {
        let path = format!("t{number}");
        let made = format!("CREATE TABLE {path} (k LONG, v {}, PRIMARY KEY (k))", cell.column_type);
        let store = &served.server.store;
        store.execute(&made).unwrap_or_else(|error| panic!("{made}: {error}"));
        let table = store.table(&path).unwrap();
        TestColumn { served, cell, path, table }
    }

    /// What the row has now: `rejected` where there is none.
    pub(super) fn outcome(&self, key: i64) -> String {
        match self.table.get(&Row::new().with("k", key)).unwrap() {
            None => "rejected".to_owned(),
            Some(row) => Cell::outcome_of(row.row.get("v").unwrap_or(&Value::Null)),
        }
    }

    /// Text says bytes in base64, which a column of text takes as it is.
    pub(super) fn takes_bytes_for_text(&self) -> bool {
        self.cell.kind == "binary" && self.cell.column_type == "STRING"
    }

    pub(super) fn put_nothing(&self, key: i64) {
        self.table.put(&Row::new().with("k", key), &WriteOptions::default()).unwrap();
    }

    pub(super) fn delete(&self, key: i64) {
        self.table.delete(&Row::new().with("k", key), &WriteOptions::default()).unwrap();
    }

    /// One row with the value in its own type.
    pub(super) fn batch(&self, key: i64) -> RecordBatch {
        let (own_type, value) = (self.cell.own_type(), self.cell.own_value());
        let (field, array) = match self.cell.kind.as_str() {
            "null" => {
                let array: ArrayRef = Arc::new(arrow::array::NullArray::new(1));
                (Field::new("v", DataType::Null, true), array)
            }
            _ => (own_type.to_arrow("v", true), value.to_array(own_type, 1).unwrap()),
        };
        let schema = Schema::new(vec![Field::new("k", DataType::Int64, true), field]);
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![key]));
        RecordBatch::try_new(Arc::new(schema), vec![keys, array]).unwrap()
    }

    pub(super) fn bulk_put(&self, batch: RecordBatch) -> Result<(), String> {
        self.put_stream(record_batch_stream("rows", self.path.as_str(), [Ok(batch)]))
    }

    /// Stores what a stream gives, none of which may fail.
    pub(super) fn put_stream(&self, stream: Box<dyn EntryStream>) -> Result<(), String> {
        let options = BulkPutOptions { errors_max: ErrorsMax::Count(0), ..Default::default() };
        let told = self.served.server.store.bulk_put(vec![stream], &options);
        told.map(drop).map_err(shown)
    }

    /// Loads a file as the program does: the table's types lead the reader.
    pub(super) fn load(&self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        let schema = Some(self.table.schema().arrow_schema());
        let options = ReadOptions { schema, ..ReadOptions::default() };
        for read in RecordReader::open(&Source::memory(name, bytes), &options).map_err(shown)? {
            let read = read.map_err(shown)?;
            if let Some(rejected) = read.rejected.first() {
                assert_eq!(rejected.column.as_deref(), Some("v"), "{rejected:?}");
                return Err(rejected.reason.clone());
            }
            self.bulk_put(read.batch)?;
        }
        Ok(())
    }

    pub(super) fn sql(&self, request: Request) -> Result<(), String> {
        self.served.sql.execute(request).map(drop).map_err(shown)
    }

    pub(super) fn http(&self, request: &str, headers: &str, body: &str) -> Result<(), String> {
        let (head, told) = self.served.server.http(request, headers, body);
        let is_done = head.starts_with("HTTP/1.1 20") && !told.contains("\"reason\"");
        if is_done { Ok(()) } else { Err(told) }
    }

    pub(super) fn with_client<T>(&self, work: impl FnOnce(&mut SqlClient) -> T) -> T {
        work(&mut self.served.client.borrow_mut())
    }
}

pub(super) fn shown(error: impl std::fmt::Display) -> String {
    error.to_string()
}
