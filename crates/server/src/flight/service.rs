//! The calls of the Arrow Flight service.

use std::sync::Arc;
use std::time::Instant;

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket,
};
use arrow_ipc::writer::IpcWriteOptions;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use tonnage::{Error, Result, Table};
use tracing::Instrument;

use super::actions::{self, ACTIONS};
use super::bulk_get::{BulkGetCall, take_keys};
use super::bulk_put::BulkPutCall;
use super::calls::CallStream;
use super::client_stream::ClientStream;
use super::command::{BulkGetCommand, BulkPutCommand, FlightCommand, ScanCommand, parse};
use super::encode::FlightEncoder;
use super::key_spool::KeySpool;
use super::lob;
use super::opened_stream::{MessageMemory, OpenedStream};
use super::outbox::Outbox;
use super::report_backlog::ReportBacklog;
use super::reports::{report_batch, report_schema};
use super::row_sender::row_channel;
use super::scan::{ScanCall, info};
use super::sql;
use super::stream_event::StreamEvent;
use super::within::WithinCall;
use super::within_command::WithinCommand;
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::counted_body::CallMemory;
use crate::error::status;
use crate::listen::BodyEnd;
use crate::metrics::ListenerKind;
use crate::sessions::SESSION_COOKIE;

type Reply<T> = std::result::Result<Response<T>, Status>;
type ReplyStream<T> = BoxStream<'static, std::result::Result<T, Status>>;

/// The calls, over one store.
pub(crate) struct FlightHandler {
    context: Arc<ServerContext>,
}

impl FlightHandler {
    pub(crate) fn new(context: Arc<ServerContext>) -> Self {
        Self { context }
    }

    /// Counts a call, and makes a status of its error.
    async fn count<T>(
        &self,
        call: &'static str,
        answer: impl Future<Output = Result<T>>,
    ) -> Reply<T> {
        let started = Instant::now();
        let answer = match self.context.check_open() {
            Ok(()) => answer.await,
            Err(error) => Err(error),
        };
        let outcome = answer.as_ref().map_or_else(|error| error.kind().label(), |_| "ok");
        self.context.metrics.count_call(ListenerKind::flight, call, outcome, started.elapsed());
        answer.map(Response::new).map_err(|error| status(&error))
    }

    /// Reads the first message of a client's stream.
    async fn open(&self, request: Request<Streaming<FlightData>>) -> Result<OpenedStream> {
        let end = request.extensions().get::<BodyEnd>().cloned().unwrap_or_default();
        let memory = request.extensions().get::<CallMemory>().cloned().unwrap_or_default();
        // Before the first message comes: an error on the way gives back what it took.
        let held = MessageMemory::new(memory);
        let config = &self.context.config;
        let phases = self.context.phases.clone();
        let mut wire = ClientStream::new(request.into_inner(), end, phases, config.idle_timeout);
        let mut first = match wire.next().await? {
            StreamEvent::Message(message) => message,
            StreamEvent::Ended => return Err(Error::invalid("the stream is empty")),
            StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
        };
        let descriptor = first.flight_descriptor.take().ok_or_else(|| {
            Error::invalid("the first message has no descriptor: docs/flight.md tells which")
        })?;
        Ok(OpenedStream { first, descriptor, wire, held })
    }

    /// Takes entries, and says what becomes of them.
    pub(super) fn put(
        &self,
        caller: &Caller,
        command: BulkPutCommand,
        opened: OpenedStream,
    ) -> Result<Arc<Outbox>> {
        command.check(caller)?;
        // Wrong options are reported at once.
        command.options()?;
        command.ttl()?;
        let spool = self.context.spool.clone();
        let backlog = ReportBacklog::new(command.reports, command.reports_max(), spool);
        let outbox = Outbox::new(backlog);
        let user = caller.user().map(str::to_owned);
        let put =
            BulkPutCall { context: self.context.clone(), command, user, outbox: outbox.clone() };
        tokio::spawn(put.run(opened).in_current_span());
        Ok(outbox)
    }

    /// Takes keys and sends rows.
    pub(super) async fn get(
        &self,
        command: BulkGetCommand,
        mut opened: OpenedStream,
    ) -> Result<ReplyStream<FlightData>> {
        let mut decoder = super::decode::FlightDecoder::default();
        decoder.decode(&opened.first)?;
        // The keys' columns decide those of the answer: pairs come back in the form of their keys.
        while decoder.schema().is_none() {
            opened.first = match opened.wire.next().await? {
                StreamEvent::Message(message) => message,
                StreamEvent::Ended => return Err(Error::invalid("the keys have no schema")),
                StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
            };
            decoder.decode(&opened.first)?;
        }
        let keys = decoder.schema().cloned().ok_or_else(|| Error::internal("no schema"))?;
        let place = self.context.calls.acquire().await?;
        // From now on `key_memory_bytes` bounds the keys.
        drop(opened.held);
        let get = BulkGetCall::new(&self.context, command, &keys)?;
        let (sender, stream) = row_channel(&self.context, get.schema())?;
        let memory = self.context.config.key_memory_bytes;
        let spool = Arc::new(KeySpool::new(memory, self.context.spool.clone()));
        // A task of its own takes the keys: a client may send all of them before it reads a row.
        tokio::spawn(take_keys(spool.clone(), opened.first, opened.wire));
        tokio::task::spawn_blocking(move || {
            let _place = place;
            get.run(spool, sender);
        });
        Ok(stream.boxed())
    }

    /// Sends the rows of a table, or the pairs.
    pub(super) async fn scan(
        &self,
        caller: &Caller,
        command: ScanCommand,
    ) -> Result<ReplyStream<FlightData>> {
        // Rights come before the place: who may not read need not wait for one.
        command.check(caller)?;
        let place = self.context.calls.acquire().await?;
        let scan = ScanCall::new(&self.context, command)?;
        let (sender, stream) = row_channel(&self.context, scan.schema())?;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            scan.run(sender);
        });
        Ok(stream.boxed())
    }

    /// Sends the rows of regions.
    pub(super) async fn within(
        &self,
        caller: &Caller,
        command: WithinCommand,
    ) -> Result<ReplyStream<FlightData>> {
        command.check(caller)?;
        let place = self.context.calls.acquire().await?;
        let call = WithinCall::new(&self.context, &command)?;
        let (sender, stream) = row_channel(&self.context, call.schema())?;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            call.run(sender);
        });
        Ok(stream.boxed())
    }

    /// What there is to know of a table or a statement.
    async fn info(&self, request: Request<FlightDescriptor>) -> Result<FlightInfo> {
        let caller = caller_of(&request)?;
        let descriptor = request.into_inner();
        if let Some(command) = sql::command_of(&descriptor.cmd)? {
            return sql::info(&self.context, &caller, command, descriptor).await;
        }
        let table = self.described_table(&caller, &descriptor)?;
        self.context.blocking(move |_| info(&table)).await
    }

    /// The table that a descriptor names, if the caller may know of it.
    fn described_table(&self, caller: &Caller, descriptor: &FlightDescriptor) -> Result<Table> {
        if descriptor.path.is_empty() {
            return Err(Error::invalid(
                "this descriptor is not known: give a path, [TABLE], or a command of Flight SQL",
            ));
        }
        let path = descriptor.path.join(".");
        // Rights come before the look: whether a table exists is not everybody's to know.
        caller.check_description(&path)?;
        self.context.store.table(&path)
    }
}

/// The caller, as the gate let them in.
fn caller_of<T>(request: &Request<T>) -> Result<Caller> {
    let caller = request.extensions().get::<Caller>().cloned();
    caller.ok_or_else(|| Error::internal("a call came in without its caller"))
}

fn command_of(descriptor: &FlightDescriptor) -> Result<Option<FlightCommand>> {
    match (descriptor.path.is_empty(), descriptor.cmd.is_empty()) {
        (false, _) => Ok(None),
        (true, false) => parse("the command", &descriptor.cmd).map(Some),
        (true, true) => Err(Error::invalid("the descriptor has neither a path nor a command")),
    }
}

/// The messages of a bulk put as rows with metadata, for DoExchange.
fn exchange_messages(
    outbox: Arc<Outbox>,
) -> impl Stream<Item = std::result::Result<FlightData, Status>> {
    let mut encoder = FlightEncoder::default();
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
impl FlightService for FlightHandler {
    type HandshakeStream = ReplyStream<HandshakeResponse>;
    type ListFlightsStream = ReplyStream<FlightInfo>;
    type DoGetStream = ReplyStream<FlightData>;
    type DoPutStream = ReplyStream<PutResult>;
    type DoExchangeStream = ReplyStream<FlightData>;
    type DoActionStream = ReplyStream<arrow_flight::Result>;
    type ListActionsStream = ReplyStream<ActionType>;

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Reply<Self::HandshakeStream> {
        let mut bearer = None;
        let welcome = async {
            let token = self.context.logins.token(&caller_of(&request)?)?;
            // Without users everybody is welcome, whatever they say of themselves.
            let token = token.unwrap_or_else(|| "anonymous".to_owned());
            bearer = format!("Bearer {token}").parse().ok();
            let payload = Bytes::from(token);
            let answer = HandshakeResponse { protocol_version: 0, payload };
            Ok(futures::stream::iter([Ok(answer)]).boxed())
        };
        let mut response = self.count("Handshake", welcome).await?;
        if let Some(bearer) = bearer {
            response.metadata_mut().insert("authorization", bearer);
        }
        Ok(response)
    }

    async fn list_flights(&self, request: Request<Criteria>) -> Reply<Self::ListFlightsStream> {
        let list = async {
            let caller = caller_of(&request)?;
            let infos = self.context.blocking(move |context| {
                let tables = context.store.tables();
                let seen = tables.iter().filter(|table| caller.may_see(table.path()));
                seen.map(info).collect::<Result<Vec<_>>>()
            });
            Ok(futures::stream::iter(infos.await?.into_iter().map(Ok)).boxed())
        };
        self.count("ListFlights", list).await
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Reply<FlightInfo> {
        self.count("GetFlightInfo", self.info(request)).await
    }

    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Reply<PollInfo> {
        let found = async {
            let info = self.info(request).await?;
            // Nothing is prepared that could take time: the answer is there at once.
            PollInfo::new()
                .with_info(info)
                .try_with_progress(1.0)
                .map_err(|error| Error::internal(error.to_string()))
        };
        self.count("PollFlightInfo", found).await
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Reply<SchemaResult> {
        let found = async {
            let caller = caller_of(&request)?;
            let descriptor = request.into_inner();
            let schema = match sql::command_of(&descriptor.cmd)? {
                Some(command) => sql::schema(&self.context, &caller, command).await?,
                None => self.described_table(&caller, &descriptor)?.schema().arrow_schema(),
            };
            let options = IpcWriteOptions::default();
            SchemaAsIpc::new(&schema, &options)
                .try_into()
                .map_err(|error| Error::internal(format!("the schema cannot be written: {error}")))
        };
        self.count("GetSchema", found).await
    }

    async fn do_get(&self, request: Request<Ticket>) -> Reply<Self::DoGetStream> {
        let got = async {
            let caller = caller_of(&request)?;
            let ticket = request.into_inner().ticket;
            // Tickets of Flight SQL name their type. Whatever names none must be JSON of ours.
            if let Some(command) = sql::command_of(&ticket)? {
                return sql::get(&self.context, &caller, command).await;
            }
            match parse("the ticket", &ticket)? {
                FlightCommand::Scan(command) => self.scan(&caller, command).await,
                FlightCommand::BulkGetWithin(command) => self.within(&caller, command).await,
                FlightCommand::GetLob(command) => {
                    command.check(&caller)?;
                    lob::get(&self.context, command).await
                }
                _ => Err(Error::invalid(
                    "a ticket is a scan, a bulk_get_within or a get_lob; bulk calls of keys and entries are exchanges",
                )),
            }
        };
        self.count("DoGet", got).await
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Reply<Self::DoPutStream> {
        let put = async {
            let caller = caller_of(&request)?;
            let opened = self.open(request).await?;
            if let Some(command) = sql::command_of(&opened.descriptor.cmd)? {
                return sql::put(&self.context, &caller, command, opened).await;
            }
            let command = match command_of(&opened.descriptor)? {
                None => BulkPutCommand::of_path(&opened.descriptor.path),
                Some(FlightCommand::BulkPut(command)) => command,
                Some(FlightCommand::PutLob(command)) => {
                    return Ok(lob::put(&self.context, &caller, command, opened)?.boxed());
                }
                Some(_) => return Err(Error::invalid("DoPut takes a bulk_put or a put_lob")),
            };
            let messages = self.put(&caller, command, opened)?.messages();
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
    ) -> Reply<Self::DoExchangeStream> {
        let exchange = async {
            let caller = caller_of(&request)?;
            let opened = self.open(request).await?;
            match command_of(&opened.descriptor)? {
                Some(FlightCommand::BulkPut(command)) => {
                    Ok(exchange_messages(self.put(&caller, command, opened)?).boxed())
                }
                Some(FlightCommand::BulkGet(command)) => {
                    command.check(&caller)?;
                    self.get(command, opened).await
                }
                Some(FlightCommand::Calls {}) => {
                    Ok(CallStream::start(self.context.clone(), caller, opened).boxed())
                }
                _ => Err(Error::invalid("DoExchange takes bulk_put, bulk_get or calls")),
            }
        };
        self.count("DoExchange", exchange).await
    }

    async fn do_action(&self, request: Request<Action>) -> Reply<Self::DoActionStream> {
        let caller = caller_of(&request).map_err(|error| status(&error))?;
        let action = request.into_inner();
        let mut session = None;
        let done = async {
            let answers = if sql::is_action(&action.r#type) {
                let acted = sql::act(&self.context, &caller, action).await?;
                session = acted.session;
                acted.results
            } else {
                actions::run(&self.context, &caller, action).await?
            };
            let answers = answers.into_iter().map(|body| Ok(arrow_flight::Result::new(body)));
            Ok(futures::stream::iter(answers).boxed())
        };
        let mut response = self.count("DoAction", done).await?;
        let cookie = session.and_then(|id| format!("{SESSION_COOKIE}={id}").parse().ok());
        if let Some(cookie) = cookie {
            response.metadata_mut().insert("set-cookie", cookie);
        }
        Ok(response)
    }

    async fn list_actions(&self, _request: Request<Empty>) -> Reply<Self::ListActionsStream> {
        let actions = ACTIONS.into_iter().chain(sql::ACTIONS).map(|(name, what)| {
            Ok(ActionType { r#type: name.to_owned(), description: what.to_owned() })
        });
        self.count("ListActions", async { Ok(futures::stream::iter(actions).boxed()) }).await
    }
}
