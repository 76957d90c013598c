//! The calls of Arrow Flight.

use std::sync::Arc;
use std::time::Instant;

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket,
};
use arrow_ipc::writer::IpcWriteOptions;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use tonnage::{Error, Result, Table};

use super::actions::{self, ACTIONS};
use super::bulk_get::{BulkGet, take_keys};
use super::bulk_put::BulkPut;
use super::command::{BulkPutCommand, Command, parse};
use super::encode::Encoder;
use super::key_spool::KeySpool;
use super::outbox::Outbox;
use super::reports::{report_batch, report_schema};
use super::rows::rows;
use super::scan::{Scan, info};
use super::wire::{Arrival, Wire};
use crate::context::Context;
use crate::error::status;
use crate::listen::BodyEnd;
use crate::metrics::Door;

type Answer<T> = std::result::Result<Response<T>, Status>;
type Answers<T> = BoxStream<'static, std::result::Result<T, Status>>;

/// The calls, over one store.
pub(crate) struct Flight {
    context: Arc<Context>,
}

/// A call with a stream of the client's.
struct Opened {
    first: Box<FlightData>,
    descriptor: FlightDescriptor,
    wire: Wire,
}

impl Flight {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// Counts a call, and makes a status of its error.
    async fn count<T>(
        &self,
        call: &'static str,
        answer: impl Future<Output = Result<T>>,
    ) -> Answer<T> {
        let started = Instant::now();
        let answer = match self.context.check_open() {
            Ok(()) => answer.await,
            Err(error) => Err(error),
        };
        let outcome = answer.as_ref().map_or_else(|error| error.kind().label(), |_| "ok");
        self.context.metrics.answered(Door::flight, call, outcome, started.elapsed());
        answer.map(Response::new).map_err(|error| status(&error))
    }

    /// Reads the first message of a client's stream.
    async fn open(&self, request: Request<Streaming<FlightData>>) -> Result<Opened> {
        let end = request.extensions().get::<BodyEnd>().cloned().unwrap_or_default();
        let config = &self.context.config;
        let phases = self.context.phases.clone();
        let mut wire = Wire::new(request.into_inner(), end, phases, config.idle_timeout);
        let mut first = match wire.next().await? {
            Arrival::Message(message) => message,
            Arrival::Ended => return Err(Error::invalid("the stream is empty")),
            Arrival::Torn(why) => return Err(Error::cancelled(why)),
        };
        let descriptor = first.flight_descriptor.take().ok_or_else(|| {
            Error::invalid("the first message has no descriptor: docs/flight.md tells which")
        })?;
        Ok(Opened { first, descriptor, wire })
    }

    fn put(&self, command: BulkPutCommand, opened: Opened) -> Result<Arc<Outbox>> {
        // What is wrong with the options is told at once.
        command.options()?;
        command.ttl()?;
        let outbox = Outbox::new(command.reports_max());
        let put = BulkPut { context: self.context.clone(), command, outbox: outbox.clone() };
        tokio::spawn(put.run(opened.first, opened.wire));
        Ok(outbox)
    }

    /// Takes keys and sends rows.
    async fn get(
        &self,
        command: super::command::BulkGetCommand,
        mut opened: Opened,
    ) -> Result<Answers<FlightData>> {
        let mut decoder = super::decode::Decoder::default();
        decoder.decode(&opened.first)?;
        while decoder.schema().is_none() {
            opened.first = match opened.wire.next().await? {
                Arrival::Message(message) => message,
                Arrival::Ended => return Err(Error::invalid("the keys have no schema")),
                Arrival::Torn(why) => return Err(Error::cancelled(why)),
            };
            decoder.decode(&opened.first)?;
        }
        let keys = decoder.schema().cloned().ok_or_else(|| Error::internal("no schema"))?;
        let place = self.context.calls.take().await?;
        let get = BulkGet::new(&self.context, command, &keys)?;
        let (sender, stream) = rows(&self.context, get.schema())?;
        let spool = Arc::new(KeySpool::new(self.context.config.key_memory_bytes));
        tokio::spawn(take_keys(spool.clone(), opened.first, opened.wire));
        tokio::task::spawn_blocking(move || {
            let _place = place;
            get.run(spool, sender);
        });
        Ok(stream.boxed())
    }

    /// The table that a descriptor names.
    fn table(&self, descriptor: &FlightDescriptor) -> Result<Table> {
        if descriptor.path.is_empty() {
            return Err(Error::unsupported(
                "this descriptor is not known: give a path, [TABLE]; SQL is not offered",
            ));
        }
        self.context.store.table(&descriptor.path.join("."))
    }
}

fn command_of(descriptor: &FlightDescriptor) -> Result<Option<Command>> {
    match (descriptor.path.is_empty(), descriptor.cmd.is_empty()) {
        (false, _) => Ok(None),
        (true, false) => parse("the command", &descriptor.cmd).map(Some),
        (true, true) => Err(Error::invalid("the descriptor has neither a path nor a command")),
    }
}

/// The messages of a bulk put as rows with metadata, for DoExchange.
fn exchanged(outbox: Arc<Outbox>) -> impl Stream<Item = std::result::Result<FlightData, Status>> {
    let mut encoder = Encoder::default();
    let first = encoder.schema(&report_schema());
    let messages = outbox.messages().map(move |message| {
        let message = message?;
        let batch = report_batch(&message).map_err(|error| status(&error))?;
        let data = encoder.batch(&batch).map_err(|error| status(&error))?;
        let data = data.into_iter().last().unwrap_or_default();
        Ok(data.with_app_metadata(message.to_json().to_string()))
    });
    futures::stream::iter([Ok(first)]).chain(messages)
}

#[tonic::async_trait]
impl FlightService for Flight {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoExchangeStream = Answers<FlightData>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;

    async fn handshake(
        &self,
        _request: Request<Streaming<HandshakeRequest>>,
    ) -> Answer<Self::HandshakeStream> {
        let refusal = async { Err(Error::unsupported("this server has no users: leave it out")) };
        self.count("Handshake", refusal).await
    }

    async fn list_flights(&self, _request: Request<Criteria>) -> Answer<Self::ListFlightsStream> {
        let infos = self.context.blocking(|context| {
            context.store.tables().iter().map(info).collect::<Result<Vec<_>>>()
        });
        let list = async { Ok(futures::stream::iter(infos.await?.into_iter().map(Ok)).boxed()) };
        self.count("ListFlights", list).await
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Answer<FlightInfo> {
        let found = async {
            let table = self.table(&request.into_inner())?;
            self.context.blocking(move |_| info(&table)).await
        };
        self.count("GetFlightInfo", found).await
    }

    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Answer<PollInfo> {
        let found = async {
            let table = self.table(&request.into_inner())?;
            let info = self.context.blocking(move |_| info(&table)).await?;
            // Nothing is prepared that could take time: the answer is there at once.
            PollInfo::new()
                .with_info(info)
                .try_with_progress(1.0)
                .map_err(|error| Error::internal(error.to_string()))
        };
        self.count("PollFlightInfo", found).await
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Answer<SchemaResult> {
        let found = async {
            let schema = self.table(&request.into_inner())?.schema().arrow_schema();
            let options = IpcWriteOptions::default();
            SchemaAsIpc::new(&schema, &options)
                .try_into()
                .map_err(|error| Error::internal(format!("the schema cannot be written: {error}")))
        };
        self.count("GetSchema", found).await
    }

    async fn do_get(&self, request: Request<Ticket>) -> Answer<Self::DoGetStream> {
        let got = async {
            let ticket = request.into_inner().ticket;
            let Command::Scan(command) = parse("the ticket", &ticket)? else {
                return Err(Error::invalid("a ticket is a scan; bulk calls are exchanges"));
            };
            let place = self.context.calls.take().await?;
            let scan = Scan::new(&self.context, command)?;
            let (sender, stream) = rows(&self.context, scan.schema())?;
            tokio::task::spawn_blocking(move || {
                let _place = place;
                scan.run(sender);
            });
            Ok(stream.boxed())
        };
        self.count("DoGet", got).await
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Answer<Self::DoPutStream> {
        let put = async {
            let opened = self.open(request).await?;
            let command = match command_of(&opened.descriptor)? {
                None => BulkPutCommand::of_path(&opened.descriptor.path),
                Some(Command::BulkPut(command)) => command,
                Some(_) => return Err(Error::invalid("DoPut takes a bulk_put")),
            };
            let messages = self.put(command, opened)?.messages();
            let results = messages.map(|message| {
                message
                    .map(|message| PutResult { app_metadata: message.to_json().to_string().into() })
            });
            Ok(results.boxed())
        };
        self.count("DoPut", put).await
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Answer<Self::DoExchangeStream> {
        let exchange = async {
            let opened = self.open(request).await?;
            match command_of(&opened.descriptor)? {
                Some(Command::BulkPut(command)) => {
                    Ok(exchanged(self.put(command, opened)?).boxed())
                }
                Some(Command::BulkGet(command)) => self.get(command, opened).await,
                _ => Err(Error::invalid("DoExchange takes a bulk_put or a bulk_get")),
            }
        };
        self.count("DoExchange", exchange).await
    }

    async fn do_action(&self, request: Request<Action>) -> Answer<Self::DoActionStream> {
        let done = async {
            let answers = actions::run(&self.context, request.into_inner()).await?;
            let answers = answers.into_iter().map(|body| Ok(arrow_flight::Result::new(body)));
            Ok(futures::stream::iter(answers).boxed())
        };
        self.count("DoAction", done).await
    }

    async fn list_actions(&self, _request: Request<Empty>) -> Answer<Self::ListActionsStream> {
        let actions = ACTIONS.map(|(name, what)| {
            Ok(ActionType { r#type: name.to_owned(), description: what.to_owned() })
        });
        self.count("ListActions", async { Ok(futures::stream::iter(actions).boxed()) }).await
    }
}
