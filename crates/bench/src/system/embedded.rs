//! Tonnage inside this process, through its library.

use std::sync::OnceLock;

use tonnage::{Durability, Error, Result, Row, RowSession, RowView, Store, Table, ValueRef};
use tonnage_sql::{Answer, Sql, SqlOptions};

use super::library::{
    SingleCalls, bulk_get, bulk_put, gauges_of, no_records, records_definition, write_options,
};
use super::{
    AnswerSink, BulkDone, BulkOptions, Client, Feature, Fields, Gauges, GetKeys, PutInput, Record,
    RecordScan, RecordShape, RowSink, System, SystemSpec,
};

/// Tonnage embedded, on either engine.
pub(super) struct Embedded {
    pub(super) spec: SystemSpec,
    pub(super) store: Store,
    /// The table of YCSB's records, once there is one.
    pub(super) records: OnceLock<Table>,
    /// The session that statements run in, once there was one: it has threads of its own.
    sql: OnceLock<Sql>,
}

impl Embedded {
    pub(super) fn open(spec: &SystemSpec) -> Result<Self> {
        let url = match spec.directory.to_str() {
            _ if spec.target.is_volatile() => "memory:".to_owned(),
            Some(directory) => format!("rocksdb:{directory}"),
            None => return Err(Error::invalid("the directory's name is not text")),
        };
        let store = Store::builder(url).rocksdb_settings(spec.rocksdb_settings()).open()?;
        let (records, sql) = (OnceLock::new(), OnceLock::new());
        Ok(Embedded { spec: spec.clone(), store, records, sql })
    }

    fn sql(&self) -> Result<&Sql> {
        if let Some(sql) = self.sql.get() {
            return Ok(sql);
        }
        let options = SqlOptions { durability: self.spec.durability, ..SqlOptions::default() };
        let sql = Sql::new(self.store.clone(), options)?;
        Ok(self.sql.get_or_init(|| sql))
    }
}

impl System for Embedded {
    fn name(&self) -> &str {
        self.spec.target.name()
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.spec.shown()
    }

    fn offers(&self, _feature: Feature) -> bool {
        true
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        self.define(&records_definition(shape))?;
        let twice = |_| Error::invalid("there are records already");
        self.records.set(self.store.table(&shape.table)?).map_err(twice)
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(EmbeddedClient::new(self)))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        bulk_put(&self.store.clone().into(), input, options)
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        bulk_get(&self.store.clone().into(), keys, options)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.store.execute(statement).map(drop)
    }

    fn query(&self, statement: &str, sink: &mut RowSink<'_>) -> Result<()> {
        self.sql()?.execute(statement)?.into_rows()?.try_for_each(|batch| sink(&batch?))
    }

    fn multi_query(&self, statements: &[&str], sink: &mut AnswerSink<'_>) -> Result<()> {
        let answers = self.sql()?.fetch_all(statements.iter().copied());
        answers.into_iter().enumerate().try_for_each(|(number, answer)| {
            let at = |error: Error| error.at(format!("statement {number}"));
            let mut rows = answer.and_then(Answer::into_rows).map_err(at)?;
            rows.try_for_each(|batch| sink(number, &batch.map_err(at)?))
        })
    }

    fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    fn settle(&self) -> Result<()> {
        self.store.settle()
    }

    fn gauges(&self) -> Result<Gauges> {
        Ok(gauges_of(&self.store.statistics()?))
    }
}

/// A session of one thread.
struct EmbeddedClient<'a> {
    system: &'a Embedded,
    calls: SingleCalls,
    /// The session with YCSB's records, if there are some.
    records: Option<RowSession>,
}

impl<'a> EmbeddedClient<'a> {
    fn new(system: &'a Embedded) -> Self {
        let records = system.records.get().map(Table::session);
        EmbeddedClient { system, calls: SingleCalls::new(system.store.clone()), records }
    }

    fn records(&mut self) -> Result<&mut RowSession> {
        self.records.as_mut().ok_or_else(no_records)
    }
}

/// Appends fields of a row: those asked for, or all. Column 0 is the key.
fn push_fields(
    row: &RowView<'_>,
    columns: usize,
    fields: Option<&[usize]>,
    into: &mut Record,
) -> Result<()> {
    let mut push = |field: usize| {
        if let ValueRef::Binary(bytes) = row.get(field + 1)? {
            into.push(bytes);
        }
        Ok(())
    };
    match fields {
        Some(fields) => fields.iter().try_for_each(|field| push(*field)),
        None => (0..columns - 1).try_for_each(push),
    }
}

impl Client for EmbeddedClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let session = self.records()?;
        let columns = session.columns();
        let Some(row) = session.get(&[key.into()])? else { return Ok(false) };
        push_fields(&row, columns, fields, into)?;
        Ok(true)
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut cells: Vec<ValueRef<'_>> = Vec::with_capacity(fields.len() + 1);
        cells.push(key.into());
        fields.for_each(|field| cells.push(field.into()));
        let options = write_options(self.system.spec.durability);
        self.records()?.put(&cells, &options).map(drop)
    }

    fn scan(&mut self, scan: &RecordScan<'_>, into: &mut Record) -> Result<usize> {
        into.clear();
        let session = self.records()?;
        let columns = session.columns();
        let mut rows = session.scan(&[scan.start.into()], scan.count)?;
        let mut found = 0;
        while let Some(row) = rows.next_row()? {
            push_fields(&row, columns, scan.fields, into)?;
            found += 1;
        }
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.calls.put_pair(key, value, durability)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        self.calls.get_pair(key)
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        self.calls.put_row(table, row, durability)
    }

    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        self.calls.get_rows(table, key, children)
    }
}
