//! A server on a free port, its clients, and rows.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tonnage::arrow::array::{Int64Array, RecordBatch, StringArray};
use tonnage::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, FailedEntry, Result, Row, Store,
    StreamReport, record_batch_stream, row_stream,
};
use tonnage_client::{ClientOptions, RemoteStore};
use tonnage_server::{Server, Settings, ShutdownHandle};

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) store: Store,
    pub(crate) port: u16,
    stop: ShutdownHandle,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Running {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// A server without tables.
    pub(crate) fn empty() -> Self {
        Self::over(Store::open("memory:").unwrap(), Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let store = Store::open("memory:").unwrap();
        store.execute("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
        Self::over(store, settings)
    }

    fn over(store: Store, settings: Settings) -> Self {
        let free = Settings {
            http: Some("off".into()),
            flight: Some("127.0.0.1:0".into()),
            ..Settings::default()
        };
        let server = Server::open(store.clone(), settings.or(free).resolve().unwrap()).unwrap();
        let (port, stop) =
            (server.addresses().flight.unwrap().tcp().unwrap().port(), ShutdownHandle::default());
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || server.run(&stopped));
        Running { store, port, stop, thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> String {
        format!("grpc://127.0.0.1:{}", self.port)
    }

    pub(crate) fn client(&self) -> RemoteStore {
        RemoteStore::connect(&self.address(), ClientOptions::default()).unwrap()
    }

    /// Ships that are stored.
    pub(crate) fn ships(&self) -> u64 {
        self.store.table("ships").unwrap().count().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}

/// Bulk puts of one stream.
pub(crate) trait BulkCalls {
    /// Puts record batches into a table.
    fn put_batches<B>(
        &self,
        table: &str,
        batches: B,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        B: IntoIterator<Item = Result<RecordBatch>>,
        B::IntoIter: Send + 'static;

    /// Puts rows into a table.
    fn put<R>(
        &self,
        table: &str,
        rows: R,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        R: IntoIterator<Item = Row>,
        R::IntoIter: Send + 'static;
}

impl BulkCalls for RemoteStore {
    fn put_batches<B>(
        &self,
        table: &str,
        batches: B,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        B: IntoIterator<Item = Result<RecordBatch>>,
        B::IntoIter: Send + 'static,
    {
        self.bulk_put(vec![record_batch_stream(table, table, batches)], options)
    }

    fn put<R>(
        &self,
        table: &str,
        rows: R,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        R: IntoIterator<Item = Row>,
        R::IntoIter: Send + 'static,
    {
        let path: Arc<str> = table.into();
        let rows = rows.into_iter().map(move |row| Ok((path.clone(), row)));
        self.bulk_put(vec![row_stream(table, rows)], options)
    }
}

/// Files for TLS: the certificate is for localhost and signs itself.
pub(crate) fn tls_file(name: &str) -> PathBuf {
    Path::new("../server/tests/listeners/tls").join(name)
}

/// Ships with these numbers.
pub(crate) fn ships(ids: impl IntoIterator<Item = i64>) -> RecordBatch {
    let ids: Vec<i64> = ids.into_iter().collect();
    let names: StringArray = ids.iter().map(|id| Some(format!("ship {id}"))).collect();
    RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(ids)) as _),
        ("name", Arc::new(names) as _),
    ])
    .unwrap()
}

/// Ships with these numbers, of which some have none.
pub(crate) fn maybe_ships(ids: &[Option<i64>]) -> RecordBatch {
    RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(ids.to_vec())) as _)]).unwrap()
}

/// Batches of ships, the first of which fails that is not a number.
pub(crate) fn failing(
    batches: i64,
    error: tonnage::Error,
) -> impl Iterator<Item = Result<RecordBatch>> + Send + 'static {
    let whole = (0..batches).map(|batch| Ok(ships(batch * 100..batch * 100 + 100)));
    whole.chain([Err(error)])
}

/// What a bulk put called back.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) failed: Mutex<Vec<(u64, String)>>,
    pub(crate) completed: Mutex<Vec<String>>,
}

impl BulkPutCallbacks for Heard {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        self.failed.lock().unwrap().push((entry.position, entry.reason.to_owned()));
        Ok(())
    }

    fn completed(&self, stream: &StreamReport) {
        self.completed.lock().unwrap().push(stream.name.clone());
    }
}
