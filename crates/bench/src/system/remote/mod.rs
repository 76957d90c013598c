//! Tonnage behind a server: the server runs in this process, on loopback, and everything measured
//! goes through the client and a socket.

mod client;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tonnage::arrow::array::RecordBatch;
use tonnage::{BulkPutOptions, Error, Result};
use tonnage_client::{BulkGetRequest, ClientOptions, Fetched, batch_of_keys};
use tonnage_server::{Server, Settings, Stop};

use super::embedded::Embedded;
use super::library::{bulk_put, text_key};
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PairSource, PutInput, RecordShape,
    Rows, System, SystemKind, SystemSpec,
};

/// Calls and loads that a server of a benchmark takes at a time: what waits is not measured.
const CALLS_MAX: usize = 1_024;

/// Tonnage behind a server on loopback.
pub(super) struct Remote {
    embedded: Embedded,
    client: tonnage_client::Client,
    shape: Mutex<Option<RecordShape>>,
    stop: Stop,
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
        let stop = Stop::default();
        let stopped = stop.clone();
        let thread = Some(std::thread::spawn(move || server.run(&stopped)));
        let address = format!("grpc://{address}");
        let client = tonnage_client::Client::connect(&address, ClientOptions::default())?;
        Ok(Self { embedded, client, shape: Mutex::default(), stop, thread })
    }

    /// What YCSB's records look like, once there are some.
    fn shape(&self) -> MutexGuard<'_, Option<RecordShape>> {
        self.shape.lock().unwrap_or_else(PoisonError::into_inner)
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
        *self.shape() = Some(shape.clone());
        self.embedded.create_records(shape)
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::RemoteClient::new(self)))
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
            GetKeys::Pairs(keys) => (Box::new(batches_of(keys)), BulkGetRequest::default()),
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

    fn multi_query(
        &self,
        statements: &[&str],
        sink: &mut dyn FnMut(usize, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
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

fn batches_of(mut keys: Box<dyn PairSource>) -> impl Iterator<Item = Result<RecordBatch>> {
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let more = keys.next_batch(&mut |key, _| {
            batch.push(text_key(key)?);
            Ok(())
        });
        more.map(|more| more.then(|| batch_of_keys(&batch)))
            .unwrap_or_else(|error| Some(Err(error)))
    })
}
