//! Tonnage behind a server: everything measured goes through the client and a socket. The server
//! runs in this process, on loopback, or elsewhere.
//!
//! A server elsewhere may hold tables of its own. Those of the benchmark must not exist, and the
//! server must hold no pairs: both are removed at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tonnage::arrow::array::{Array, AsArray, RecordBatch};
use tonnage::{
    Cancel, DdlOutcome, Durability, Error, GetOptions, PairGetOptions, Result, Row, Value,
};
use tonnage_client::{
    Answer, ClientOptions, Fetched, PreparedStatement, RemotePairs, RemoteStore, RemoteTable,
};

use super::library::{
    SingleCalls, bulk_get, bulk_put, field_name, gauges_of, no_records, records_definition,
    write_options,
};
use super::loopback_server::LoopbackServer;
use super::{
    AnswerSink, BulkDone, BulkOptions, Client, Feature, Fields, Gauges, GetKeys, PutInput, Record,
    RecordScan, RecordShape, RowSink, System, SystemKind, SystemSpec,
};

/// Threads that delete pairs of a server elsewhere.
const DELETERS: usize = 16;
/// How often a server elsewhere is asked whether it has settled.
const LOOK: Duration = Duration::from_millis(200);
/// Work that does not become less for so long is the work of others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tonnage behind a server.
pub(super) struct Remote {
    name: String,
    connections: Vec<RemoteStore>,
    sessions: AtomicUsize,
    durability: Durability,
    /// The tables of the benchmark.
    tables: Mutex<Vec<Arc<str>>>,
    /// The table of YCSB's records, once there is one.
    records: Mutex<Option<Arc<str>>>,
    settings: Vec<(String, String)>,
    /// Whether a server elsewhere held no pairs, so that all pairs there are the benchmark's.
    is_clearable: bool,
    /// The server of this process. Dropped behind the connections to it.
    own: Option<LoopbackServer>,
}

impl Remote {
    /// Starts a server in this process.
    pub(super) fn on_loopback(spec: &SystemSpec) -> Result<Self> {
        let server = LoopbackServer::start(spec)?;
        // Options for another server are of no use here.
        let spec = SystemSpec { client: ClientOptions::default(), ..spec.clone() };
        let mut settings = server.embedded.settings();
        settings.push(("transport".to_owned(), "Arrow Flight, loopback".to_owned()));
        let name = SystemKind::TonnageRemote.name();
        let mut remote = Self::over(&spec, name, &server.address, settings)?;
        remote.own = Some(server);
        Ok(remote)
    }

    /// Connects to a server that runs already.
    ///
    /// # Errors
    /// `Invalid` where it holds pairs of a benchmark, and what the server says.
    pub(super) fn connect(spec: &SystemSpec, address: &str) -> Result<Self> {
        let settings = [
            ("durability", format!("{:?}", spec.durability).to_lowercase()),
            ("transport", "Arrow Flight".to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).into();
        let mut remote = Self::over(spec, address, address, settings)?;
        // The limit of a scan holds for all pairs together.
        let first = PairGetOptions { limit_per_key: Some(1), ..all_keys() };
        for batch in remote.any().kv().scan(&first)? {
            if !batch?.is_empty() {
                return Err(Error::invalid(format!(
                    "{address}: the server holds pairs, among which those of a benchmark would be \
                     lost: give it a server without pairs"
                )));
            }
        }
        remote.is_clearable = true;
        Ok(remote)
    }

    fn over(
        spec: &SystemSpec,
        name: &str,
        address: &str,
        mut settings: Vec<(String, String)>,
    ) -> Result<Self> {
        let count = spec.connections.unwrap_or(1).max(1);
        settings.push(("connections".to_owned(), count.to_string()));
        let first = RemoteStore::connect(address, spec.client.clone())?;
        let mut connections = vec![first];
        while connections.len() < count {
            connections.push(connections[0].connect_again()?);
        }
        Ok(Self {
            name: name.to_owned(),
            connections,
            sessions: AtomicUsize::new(0),
            durability: spec.durability,
            tables: Mutex::default(),
            records: Mutex::default(),
            settings,
            is_clearable: false,
            own: None,
        })
    }

    fn any(&self) -> &RemoteStore {
        &self.connections[0]
    }

    /// Removes what the benchmark stored on a server that is not its own.
    fn clear(&self) -> Result<()> {
        // What called the benchmark off does not call this off.
        let connections = self.connections.iter();
        let connections: Vec<_> =
            connections.map(|connection| connection.with_limits(&Cancel::new(), None)).collect();
        // A child goes before its parent.
        for table in self.tables.lock().drain(..).rev() {
            connections[0].drop_table(&table, true)?;
        }
        let keys = Mutex::new(connections[0].kv().scan(&all_keys())?);
        let (keys, connections) = (&keys, &connections);
        thread::scope(|scope| {
            let deleters: Vec<_> = (0..DELETERS)
                .map(|number| {
                    let connection = &connections[number % connections.len()];
                    scope.spawn(|| delete_pairs(keys, connection))
                })
                .collect();
            let ended = |deleter: thread::ScopedJoinHandle<'_, Result<()>>| {
                deleter.join().unwrap_or_else(|_| Err(Error::internal("a thread panicked")))
            };
            deleters.into_iter().map(ended).fold(Ok(()), Result::and)
        })
    }
}

/// All pairs, without their values.
fn all_keys() -> PairGetOptions {
    PairGetOptions { keys_only: true, ..PairGetOptions::default() }
}

/// Deletes the pairs of the batches that it gets hold of.
fn delete_pairs(batches: &Mutex<RemotePairs>, connection: &RemoteStore) -> Result<()> {
    let (pairs, options) = (connection.kv(), write_options(Durability::None));
    loop {
        // The lock ends with the statement: others get the next batch meanwhile.
        let batch = batches.lock().next();
        let Some(batch) = batch.transpose()? else { return Ok(()) };
        for index in 0..batch.len() {
            pairs.delete(&batch.key(index)?, &options)?;
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if self.is_clearable
            && let Err(error) = self.clear()
        {
            eprintln!("{}: data of the benchmark is left: {error}", self.name);
        }
    }
}

impl System for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    fn offers(&self, feature: Feature) -> bool {
        feature != Feature::MultiTable
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        let mut records = self.records.lock();
        if records.is_some() {
            return Err(Error::invalid("there are records already"));
        }
        self.define(&records_definition(shape))?;
        *records = Some(shape.table.as_str().into());
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        let session = self.sessions.fetch_add(1, Ordering::Relaxed);
        let connection = &self.connections[session % self.connections.len()];
        let records = self.records.lock().clone();
        let calls = SingleCalls::new(connection.clone());
        let records = records.map(|table| connection.table(&table)).transpose()?;
        Ok(Box::new(RemoteClient { system: self, connection, calls, records, scan: None }))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        bulk_put(&self.any().clone().into(), input, options)
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        bulk_get(&self.any().clone().into(), keys, options)
    }

    fn define(&self, statement: &str) -> Result<()> {
        for outcome in self.any().execute(statement)? {
            if let DdlOutcome::Created { table, new: true } = outcome {
                self.tables.lock().push(table.into());
            }
        }
        Ok(())
    }

    fn query(&self, statement: &str, sink: &mut RowSink<'_>) -> Result<()> {
        match self.any().sql(statement)? {
            Answer::Rows(mut rows) => rows.try_for_each(|batch| sink(&batch?)),
            _ => Ok(()),
        }
    }

    fn multi_query(&self, statements: &[&str], sink: &mut AnswerSink<'_>) -> Result<()> {
        let asked: Vec<_> =
            statements.iter().map(|text| ((*text).to_owned(), Vec::new())).collect();
        for (number, answer) in self.any().fetch_all(&asked)?.into_iter().enumerate() {
            let at = |error: Error| error.at(format!("statement {number}"));
            if let Fetched::Rows(_, batches) = answer.map_err(at)? {
                batches.iter().try_for_each(|batch| sink(number, batch).map_err(at))?;
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.any().sync()
    }

    fn settle(&self) -> Result<()> {
        if let Some(own) = &self.own {
            return own.embedded.settle();
        }
        // Others may write to that server all the time: what gets no less is not waited for.
        let (mut least, mut since) = (u64::MAX, Instant::now());
        while since.elapsed() < PATIENCE {
            let pending = self.gauges()?.compaction_pending_bytes;
            if pending == 0 {
                break;
            }
            if pending < least {
                (least, since) = (pending, Instant::now());
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn gauges(&self) -> Result<Gauges> {
        match &self.own {
            Some(own) => own.embedded.gauges(),
            None => Ok(gauges_of(&self.any().statistics()?)),
        }
    }
}

/// A session of one thread, on one of the connections.
struct RemoteClient<'a> {
    system: &'a Remote,
    connection: &'a RemoteStore,
    calls: SingleCalls,
    /// The table of YCSB's records, once there is one.
    records: Option<RemoteTable>,
    /// The statement of a scan, once there was one.
    scan: Option<PreparedStatement>,
}

impl RemoteClient<'_> {
    fn records(&self) -> Result<&RemoteTable> {
        self.records.as_ref().ok_or_else(no_records)
    }
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
        let (table, key) = (self.records()?, Row::new().with("id", key));
        let options = GetOptions::default();
        let found = match names {
            Some(names) => table.get_columns(&key, &names, &options)?,
            None => table.get_with(&key, &options)?,
        };
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
        let options = write_options(self.system.durability);
        self.records()?.put(&row, &options).map(drop)
    }

    fn scan(&mut self, scan: &RecordScan<'_>, into: &mut Record) -> Result<usize> {
        into.clear();
        if self.scan.is_none() {
            let table = self.records()?.path();
            let text = format!("SELECT * FROM {table} WHERE id >= $1 ORDER BY id LIMIT $2");
            self.scan = Some(self.connection.prepare(&text)?);
        }
        let Some(statement) = &mut self.scan else { return Err(no_records()) };
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
