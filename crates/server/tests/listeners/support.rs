//! A server on free ports, its clients, and record batches.

use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::utils::batches_to_flight_data;
use arrow_flight::{Action, FlightData, FlightDescriptor, FlightInfo};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use futures::StreamExt;
use serde_json::Value as Json;
use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonnage::Store;
use tonnage_server::{Server, Settings, ShutdownHandle};

/// Where a server listens on TCP.
pub(crate) struct Addresses {
    pub(crate) http: Option<SocketAddr>,
    pub(crate) flight: Option<SocketAddr>,
    pub(crate) redis: Option<SocketAddr>,
    pub(crate) nosql: Option<SocketAddr>,
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) store: Store,
    pub(crate) addresses: Addresses,
    stop: ShutdownHandle,
    thread: Option<JoinHandle<tonnage::Result<()>>>,
}

impl Running {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::over(Store::open("memory:").unwrap(), settings)
    }

    /// The same over a store, which gets the table of ships unless it has it.
    pub(crate) fn over(store: Store, settings: Settings) -> Self {
        let free = Settings {
            http: Some("127.0.0.1:0".into()),
            flight: Some("127.0.0.1:0".into()),
            ..Settings::default()
        };
        let ships = "CREATE TABLE IF NOT EXISTS ships (id LONG, name STRING, PRIMARY KEY (id))";
        store.execute(ships).unwrap();
        let config = settings.or(free).resolve().unwrap();
        let server = Server::open(store.clone(), config).unwrap();
        let (bound, stop) = (server.addresses(), ShutdownHandle::default());
        let addresses = Addresses {
            http: bound.http.and_then(|address| address.tcp()),
            flight: bound.flight.and_then(|address| address.tcp()),
            redis: bound.redis.and_then(|address| address.tcp()),
            nosql: bound.nosql.and_then(|address| address.tcp()),
        };
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || server.run(&stopped));
        Running { store, addresses, stop, thread: Some(thread) }
    }

    pub(crate) fn stop(&self) {
        self.stop.stop();
    }

    pub(crate) fn wait(&mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    pub(crate) fn flight_address(&self) -> SocketAddr {
        self.addresses.flight.unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        let runtime = Runtime::new().unwrap();
        let address = format!("http://{}", self.flight_address());
        let channel = runtime.block_on(Channel::from_shared(address).unwrap().connect()).unwrap();
        Client { runtime, flight: FlightServiceClient::new(channel) }
    }

    pub(crate) fn sql(&self) -> SqlClient {
        let Client { runtime, flight } = self.client();
        SqlClient { runtime, flight: FlightSqlServiceClient::new_from_inner(flight) }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.store.table("ships").unwrap().count().unwrap()
    }

    /// The jobs that ended, waited for until there are as many.
    pub(crate) fn ended_jobs(&self, count: usize) -> Vec<Json> {
        let mut client = self.client();
        let started = Instant::now();
        loop {
            let jobs: Vec<Json> = client.act("tonnage.Jobs", "").unwrap();
            let ended = jobs.into_iter().filter(|job| job["state"] != "running");
            let ended: Vec<Json> = ended.collect();
            if ended.len() >= count {
                return ended;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "only {ended:?} ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One HTTP/1.1 request; status line and headers, then the body.
    pub(crate) fn http(&self, request: &str, headers: &str, body: &str) -> (String, String) {
        let mut socket = TcpStream::connect(self.addresses.http.unwrap()).unwrap();
        let length = body.len();
        let text = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        );
        socket.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
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

/// A client that blocks.
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) flight: FlightServiceClient<Channel>,
}

impl Client {
    pub(crate) fn act(
        &mut self,
        action: &str,
        body: impl Into<String>,
    ) -> Result<Vec<Json>, Status> {
        let results = self.act_bytes(action, body.into().into_bytes())?;
        Ok(results.iter().map(|body| serde_json::from_slice(body).unwrap()).collect())
    }

    pub(crate) fn act_bytes(
        &mut self,
        action: &str,
        body: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Status> {
        let Self { runtime, flight } = self;
        runtime.block_on(async {
            let answer = flight.do_action(Action::new(action, body)).await?;
            let results: Vec<_> = answer.into_inner().collect().await;
            results.into_iter().map(|result| result.map(|result| result.body.to_vec())).collect()
        })
    }

    /// A put: what the server said, and the status that ended it.
    pub(crate) fn put(&mut self, messages: Vec<FlightData>) -> (Vec<Json>, Option<Status>) {
        let Self { runtime, flight } = self;
        runtime.block_on(async {
            let answer = flight.do_put(futures::stream::iter(messages)).await;
            let mut answers = match answer {
                Ok(answer) => answer.into_inner(),
                Err(status) => return (Vec::new(), Some(status)),
            };
            let mut said = Vec::new();
            loop {
                match answers.message().await {
                    Ok(Some(result)) => {
                        said.push(serde_json::from_slice(&result.app_metadata).unwrap());
                    }
                    Ok(None) => return (said, None),
                    Err(status) => return (said, Some(status)),
                }
            }
        })
    }

    /// An exchange: what came, and the status that ended it.
    pub(crate) fn exchange(
        &mut self,
        messages: Vec<FlightData>,
    ) -> (Vec<FlightData>, Option<Status>) {
        let Self { runtime, flight } = self;
        runtime.block_on(async {
            let answer = flight.do_exchange(futures::stream::iter(messages)).await;
            let mut answers = match answer {
                Ok(answer) => answer.into_inner(),
                Err(status) => return (Vec::new(), Some(status)),
            };
            let mut came = Vec::new();
            loop {
                match answers.message().await {
                    Ok(Some(data)) => came.push(data),
                    Ok(None) => return (came, None),
                    Err(status) => return (came, Some(status)),
                }
            }
        })
    }
}

/// A client of Flight SQL that blocks.
pub(crate) struct SqlClient {
    pub(crate) runtime: Runtime,
    pub(crate) flight: FlightSqlServiceClient<Channel>,
}

impl SqlClient {
    /// Asks for a statement, and fetches its answer.
    pub(crate) fn query(&mut self, text: &str) -> Result<RecordBatch, String> {
        let info = self.info(text)?;
        self.fetch(&info)
    }

    pub(crate) fn info(&mut self, text: &str) -> Result<FlightInfo, String> {
        let asked = self.flight.execute(text.to_owned(), None);
        self.runtime.block_on(asked).map_err(|error| error.to_string())
    }

    /// The rows of all endpoints.
    pub(crate) fn fetch(&mut self, info: &FlightInfo) -> Result<RecordBatch, String> {
        let Self { runtime, flight } = self;
        runtime.block_on(async {
            let mut batches = Vec::new();
            let mut schema = None;
            for endpoint in &info.endpoint {
                let ticket = endpoint.ticket.clone().unwrap();
                let rows = flight.do_get(ticket).await.map_err(|error| error.to_string())?;
                let mut rows = std::pin::pin!(rows);
                while let Some(batch) = rows.next().await {
                    batches.push(batch.map_err(|error| error.to_string())?);
                }
                schema = rows.schema().cloned().or(schema);
            }
            concat_batches(&schema.unwrap(), &batches).map_err(|error| error.to_string())
        })
    }

    pub(crate) fn update(&mut self, text: &str) -> Result<i64, String> {
        let updated = self.flight.execute_update(text.to_owned(), None);
        self.runtime.block_on(updated).map_err(|error| error.to_string())
    }

    /// The one number that a statement gives.
    pub(crate) fn number(&mut self, text: &str) -> i64 {
        let batch = self.query(text).unwrap();
        batch.column(0).as_primitive::<Int64Type>().value(0)
    }
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

/// The messages of batches, led by a descriptor.
pub(crate) fn messages(descriptor: FlightDescriptor, batches: Vec<RecordBatch>) -> Vec<FlightData> {
    let schema = batches[0].schema();
    let mut messages = batches_to_flight_data(&schema, batches).unwrap();
    messages[0].flight_descriptor = Some(descriptor);
    messages
}

pub(crate) fn command(json: Json) -> FlightDescriptor {
    FlightDescriptor::new_cmd(json.to_string())
}

pub(crate) fn path() -> FlightDescriptor {
    FlightDescriptor::new_path(vec!["ships".into()])
}

/// A message that holds nothing but what is said.
pub(crate) fn say(said: Json) -> FlightData {
    FlightData::new().with_app_metadata(said.to_string())
}

pub(crate) fn end(rows: u64) -> FlightData {
    say(serde_json::json!({"end": {"rows": rows}}))
}

/// The message of this name among what was said.
pub(crate) fn told<'a>(said: &'a [Json], name: &str) -> Option<&'a Json> {
    said.iter().find_map(|message| message.get(name))
}

pub(crate) fn code(status: &Option<Status>) -> Option<Code> {
    status.as_ref().map(Status::code)
}

/// A frame of an action.
pub(crate) fn frame(header: Json, batch: &RecordBatch) -> Vec<u8> {
    let mut data = Vec::new();
    let mut writer = StreamWriter::try_new(&mut data, batch.schema_ref()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let header = header.to_string().into_bytes();
    [header, data]
        .iter()
        .flat_map(|part| (part.len() as u32).to_le_bytes().into_iter().chain(part.iter().copied()))
        .collect()
}

/// The header and the rows of a frame.
pub(crate) fn read_frame(answer: &[u8]) -> (Json, Vec<RecordBatch>) {
    let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&answer[4..4 + length]).unwrap();
    let data = &answer[8 + length..];
    let rows = match data.is_empty() {
        true => Vec::new(),
        false => StreamReader::try_new(Cursor::new(data), None)
            .unwrap()
            .map(|batch| batch.unwrap())
            .collect(),
    };
    (header, rows)
}
