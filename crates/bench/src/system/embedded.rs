//! Tonnage inside this process, through its library.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tonnage::{
    BulkGetOptions, Durability, Error, KeySource, KeyValue, PairGetOptions, Result, Row,
    RowSession, RowView, Store, Table, ValueRef,
};
use tonnage_sql::{Answer, Sql, SqlOptions};

use super::library::{
    SourceKeys, bulk_put, gauges_of, no_records, records_definition, text_key, write_options,
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
        bulk_put(
            input,
            options,
            |streams, options| Ok(self.store.bulk_put(streams, options)?.total),
            |rows, options| Ok(self.store.multi_put(rows, options)?.report.total),
        )
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let mut done = BulkDone::default();
        match keys {
            GetKeys::Pairs(source, batches_left) => {
                // The call takes keys, not results: what fails in the source is told when it ended.
                let failure = Arc::<Mutex<_>>::default();
                let keys = SourceKeys { source, batches_left, failure: failure.clone() };
                let get = PairGetOptions {
                    max_concurrent_requests: options.parallelism,
                    memory_bytes_max: options.memory_bytes_max,
                    ..PairGetOptions::default()
                };
                // Keys go in as contiguous memory: making a value of each would be measured, too.
                for batch in self.store.kv().bulk_get_batches(keys, &get)? {
                    let batch = batch?;
                    done.count(batch.len() as u64, batch.bytes() as u64, options);
                }
                failure.lock().take().map_or(Ok(()), Err)?;
            }
            GetKeys::Rows(table, keys, children) => {
                let get = get_options(children, options);
                let table = self.store.table(table)?;
                for batch in table.bulk_get(KeySource::batches(keys), &get)? {
                    done.count_batch(&batch?.rows, options);
                }
            }
            GetKeys::Tables(keys) => {
                for (_, batch) in self.store.multi_get(keys, &get_options(&[], options))? {
                    done.count_batch(&batch?.rows, options);
                }
            }
        }
        Ok(done)
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

fn get_options(children: &[&str], options: &BulkOptions<'_>) -> BulkGetOptions {
    let defaults = BulkGetOptions::default();
    BulkGetOptions {
        max_concurrent_requests: options.parallelism,
        relatives: children.iter().map(|child| (*child).to_owned()).collect(),
        memory_bytes_max: options.memory_bytes_max.unwrap_or(defaults.memory_bytes_max),
        ..defaults
    }
}

/// A session of one thread.
struct EmbeddedClient<'a> {
    system: &'a Embedded,
    pairs: KeyValue,
    /// The session with YCSB's records, if there are some.
    records: Option<RowSession>,
    /// Tables that were used, with their names: few.
    tables: Vec<(String, Table)>,
}

impl<'a> EmbeddedClient<'a> {
    fn new(system: &'a Embedded) -> Self {
        let records = system.records.get().map(Table::session);
        EmbeddedClient { system, pairs: system.store.kv(), records, tables: Vec::new() }
    }

    fn table(&mut self, name: &str) -> Result<&Table> {
        let known = self.tables.iter().position(|(known, _)| known == name);
        if known.is_none() {
            self.tables.push((name.to_owned(), self.system.store.table(name)?));
        }
        Ok(&self.tables[known.unwrap_or(self.tables.len() - 1)].1)
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
        self.pairs.put(&text_key(key)?, value, &write_options(durability)).map(drop)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.pairs.get(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        self.table(table)?.put(row, &write_options(durability)).map(drop)
    }

    /// A whole key without children is one lookup; anything else is the rows of one partial key.
    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        let table = self.table(table)?;
        if children.is_empty() && key.len() == table.schema().key.len() {
            return Ok(table.get(key)?.is_some().into());
        }
        let options = get_options(children, &BulkOptions::quiet(Durability::None));
        let batches = table.bulk_get(KeySource::keys([key.clone()]), &options)?;
        batches.into_iter().try_fold(0, |rows, batch| Ok(rows + batch?.rows.num_rows() as u64))
    }
}
