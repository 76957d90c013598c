//! Tonnage behind a server: the server runs in this process, on loopback, and everything measured
//! goes through the client and a socket.

use std::thread::JoinHandle;

use tonnage::arrow::array::{Array, AsArray, RecordBatch};
use tonnage::{
    BulkPutOptions, Condition, Durability, Error, GetOptions, Result, Row, RowOperation, Table,
    Value,
};
use tonnage_client::{
    Answer, BulkGetRequest, ClientOptions, Fetched, PairWrite, PreparedStatement, batch_of,
    batch_of_keys,
};
use tonnage_server::{Server, Settings, ShutdownHandle};

use super::embedded::Embedded;
use super::library::{bulk_put, field_name, no_records, text_key, write_options};
use super::{
    AnswerSink, BulkDone, BulkOptions, Client, Feature, Fields, Gauges, GetKeys, PairSource,
    PutInput, Record, RecordScan, RecordShape, RowSink, Rows, System, SystemKind, SystemSpec,
};

/// Calls and loads that a server of a benchmark takes at a time: what waits is not measured.
const CALLS_MAX: usize = 1_024;

/// Tonnage behind a server on loopback.
pub(super) struct Remote {
    embedded: Embedded,
    client: tonnage_client::Client,
    stop: ShutdownHandle,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Remote {
    pub(super) fn open(spec: &SystemSpec) -> Result<Self> {
        let spec = SystemSpec { kind: SystemKind::TonnageRocksDb, ..spec.clone() };
        let embedded = Embedded::open(&spec)?;
        let settings = Settings {
            http: Some("off".to_owned()),
            flight: Some("127.0.0.1:0".to_owned()),
            calls_max: Some(CALLS_MAX),
            ..Settings::default()
        };
        let server = Server::open(embedded.store.clone(), settings.resolve()?)?;
        let address = server.addresses().flight;
        let address =
            address.ok_or_else(|| Error::internal("the server has no Flight listener"))?;
        let stop = ShutdownHandle::default();
        let stopped = stop.clone();
        let thread = Some(std::thread::spawn(move || server.run(&stopped)));
        let address = format!("grpc://{address}");
        let client = tonnage_client::Client::connect(&address, ClientOptions::default())?;
        Ok(Self { embedded, client, stop, thread })
    }

    /// The name of the table of YCSB's records.
    fn records(&self) -> Result<&str> {
        self.embedded.records.get().map(Table::path).ok_or_else(no_records)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // How the server ended is of no interest to a measurement that is over.
            let _ = thread.join();
        }
    }
}

impl System for Remote {
    fn name(&self) -> &str {
        SystemKind::TonnageRemote.name()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = self.embedded.settings();
        settings.push(("transport".to_owned(), "Arrow Flight, loopback".to_owned()));
        settings
    }

    fn offers(&self, feature: Feature) -> bool {
        feature != Feature::MultiTable
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        self.embedded.create_records(shape)
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(RemoteClient { system: self, scan: None }))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let put = |streams, options: &BulkPutOptions| {
            // Memory and threads are the server's.
            let (memory_bytes_max, per_shard_parallelism) = (None, None);
            let options =
                BulkPutOptions { memory_bytes_max, per_shard_parallelism, ..options.clone() };
            Ok(self.client.bulk_put(streams, &options)?.total)
        };
        bulk_put(input, options, put, |_, _| Err(self.unsupported("calls over several tables")))
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let (keys, request): (Rows, _) = match keys {
            GetKeys::Pairs(keys, _) => (Box::new(batches_of(keys)), BulkGetRequest::default()),
            GetKeys::Rows(table, keys, []) => (keys, BulkGetRequest::of(table)),
            GetKeys::Rows(..) => return Err(self.unsupported("rows of child tables in a bulk get")),
            GetKeys::Tables(_) => return Err(self.unsupported("calls over several tables")),
        };
        let mut done = BulkDone::default();
        for batch in self.client.bulk_get(keys, &request)? {
            done.count_batch(&batch?, options);
        }
        Ok(done)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.client.define(statement).map(drop)
    }

    fn query(&self, statement: &str, sink: &mut RowSink<'_>) -> Result<()> {
        match self.client.sql(statement)? {
            Answer::Rows(mut rows) => rows.try_for_each(|batch| sink(&batch?)),
            _ => Ok(()),
        }
    }

    fn multi_query(&self, statements: &[&str], sink: &mut AnswerSink<'_>) -> Result<()> {
        let asked: Vec<_> =
            statements.iter().map(|text| ((*text).to_owned(), Vec::new())).collect();
        for (number, answer) in self.client.fetch_all(&asked)?.into_iter().enumerate() {
            let at = |error: Error| error.at(format!("statement {number}"));
            if let Fetched::Rows(_, batches) = answer.map_err(at)? {
                batches.iter().try_for_each(|batch| sink(number, batch).map_err(at))?;
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.client.sync()
    }

    fn settle(&self) -> Result<()> {
        self.embedded.settle()
    }

    fn gauges(&self) -> Result<Gauges> {
        self.embedded.gauges()
    }
}

fn batches_of(mut keys: PairSource) -> impl Iterator<Item = Result<RecordBatch>> {
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let more = keys(&mut |key, _| {
            batch.push(text_key(key)?);
            Ok(())
        });
        more.map(|more| more.then(|| batch_of_keys(&batch)))
            .unwrap_or_else(|error| Some(Err(error)))
    })
}

/// A session of one thread. All share one connection.
struct RemoteClient<'a> {
    system: &'a Remote,
    /// The statement of a scan, once there was one.
    scan: Option<PreparedStatement>,
}

/// Appends the fields of the rows of a batch, column 0 of which is the key.
fn push_fields(batch: &RecordBatch, fields: Option<&[usize]>, into: &mut Record) -> Result<()> {
    let all: Vec<usize> = (0..batch.num_columns() - 1).collect();
    for row in 0..batch.num_rows() {
        for field in fields.unwrap_or(&all) {
            let cells =
                batch.columns().get(field + 1).and_then(|cells| cells.as_binary_opt::<i32>());
            let cells = cells.ok_or_else(strange)?;
            if !cells.is_null(row) {
                into.push(cells.value(row));
            }
        }
    }
    Ok(())
}

fn strange() -> Error {
    Error::internal("records came in columns of another type")
}

impl Client for RemoteClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let names = |fields: &[usize]| fields.iter().map(|field| field_name(*field)).collect();
        let names: Option<Vec<String>> = fields.map(names);
        let (table, key) = (self.system.records()?, Row::new().with("id", key));
        let (client, options) = (&self.system.client, GetOptions::default());
        let found = client.get_with(table, &key, names.as_deref(), &options)?;
        let Some(found) = found else { return Ok(false) };
        for (name, value) in found.row.iter() {
            match value {
                Value::Binary(field) => into.push(field),
                _ if name == "id" => {}
                _ => return Err(strange()),
            }
        }
        Ok(true)
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut row = Row::with_capacity(fields.len() + 1);
        row.set("id", key);
        for (number, field) in fields.enumerate() {
            row.set(&field_name(number), Value::Binary(field.to_vec()));
        }
        let options = write_options(self.system.embedded.spec.durability);
        let put = [RowOperation::put(self.system.records()?, row)];
        self.system.client.write(&put, &options).map(drop)
    }

    fn scan(&mut self, scan: &RecordScan<'_>, into: &mut Record) -> Result<usize> {
        into.clear();
        let statement = match &mut self.scan {
            Some(known) => known,
            none => {
                let table = self.system.records()?;
                let text = format!("SELECT * FROM {table} WHERE id >= $1 ORDER BY id LIMIT $2");
                none.insert(self.system.client.prepare(&text)?)
            }
        };
        let values = [scan.start.into(), Value::Long(scan.count as i64)];
        let Answer::Rows(rows) = statement.execute(&values)? else {
            return Err(Error::internal("a SELECT gave no rows"));
        };
        let mut found = 0;
        for batch in rows {
            let batch = batch?;
            found += batch.num_rows();
            push_fields(&batch, scan.fields, into)?;
        }
        Ok(found)
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        let (key, put) = (text_key(key)?, PairWrite::Put(value));
        let client = &self.system.client;
        client.write_pair(&key, &put, &Condition::Always, &write_options(durability)).map(drop)
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.system.client.get_pair(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        let put = [RowOperation::put(table, row.clone())];
        self.system.client.write(&put, &write_options(durability)).map(drop)
    }

    fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        if !children.is_empty() {
            return Err(Error::unsupported("a bulk get over Flight brings no child tables"));
        }
        let entry = self.system.embedded.store.table(table)?;
        if key.len() == entry.schema().key_columns().count() {
            return Ok(u64::from(self.system.client.get(table, key)?.is_some()));
        }
        let keys = batch_of(entry.schema(), std::slice::from_ref(key))?;
        let rows = self.system.client.bulk_get([Ok(keys)], &BulkGetRequest::of(table))?;
        rows.into_iter().try_fold(0, |rows, batch| Ok(rows + batch?.num_rows() as u64))
    }
}
