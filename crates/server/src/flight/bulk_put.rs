//! Bulk put: a stream of record batches becomes a stream of a load.
//!
//! 1. The call waits for a permit among the streams. Then a thread of the blocking pool takes over.
//! 2. The first message brings the schema, which is checked against the table. The stream joins its
//!    job, and the client receives `ready`.
//! 3. Each batch is decoded and pushed. The load's back-pressure reaches the client: what is not
//!    pushed is not read, and HTTP/2's window closes.
//! 4. The stream ends in one of four ways ([`StreamEnd`]). Only a marked end completes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow_flight::FlightData;
use serde::Deserialize;
use tokio::runtime::Handle;
use tonnage::{Counts, EntryBatch, Error, Result};
use tracing::Span;

use super::client_stream::ClientStream;
use super::command::{BulkPutCommand, EndRule, parse};
use super::decode::FlightDecoder;
use super::opened_stream::OpenedStream;
use super::outbox::{Outbox, PutMessage};
use super::pairs;
use super::reports::StreamCallbacks;
use super::stream_event::StreamEvent;
use crate::context::ServerContext;
use crate::error::{error_code, status};
use crate::jobs::{JobMembership, JobRequest, JobResult, StreamOrigin, StreamOutcome};
use crate::metrics::ListenerKind;

const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How often a stream that waits for its completion looks whether its load still lives.
const COMPLETION_LOOK: Duration = Duration::from_millis(200);
const COMPLETION_PAUSE: Duration = Duration::from_millis(2);

/// What a client may say beside a batch, or instead of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BulkPutMetadata {
    /// These were all.
    end: Option<RowsEndMarker>,
    /// The client wants to know when the batch is durable.
    id: Option<u64>,
    /// The client waits for that, and cannot continue before.
    flush: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowsEndMarker {
    rows: u64,
}

/// How a stream ended.
enum StreamEnd {
    /// With its marker, which tells as many rows as came.
    Marked,
    /// Without one, though the client closed the stream.
    Unmarked,
    /// The client went away.
    Torn(String),
    /// It was stopped.
    Failed(Error),
}

/// A bulk put of one stream.
pub(crate) struct BulkPutCall {
    pub(crate) context: Arc<ServerContext>,
    pub(crate) command: BulkPutCommand,
    /// Who sends it.
    pub(crate) user: Option<String>,
    pub(crate) outbox: Arc<Outbox>,
}

/// Where a stream's entries go.
struct PutTarget {
    /// The table's path; nothing for pairs.
    table: Option<Arc<str>>,
    ttl: Option<Duration>,
}

/// What a stream has brought so far.
struct StreamCursor {
    stream: usize,
    position: u64,
    told: Instant,
}

impl BulkPutCall {
    /// Runs the stream to its end; the outbox hears of it.
    pub(super) async fn run(self, opened: OpenedStream) {
        let OpenedStream { first, wire, held, .. } = opened;
        let place = match self.context.streams.acquire().await {
            Ok(place) => place,
            Err(error) => return self.outbox.close(Some(status(&error))),
        };
        drop(held);
        let (outbox, span) = (self.outbox.clone(), Span::current());
        let thread = tokio::task::spawn_blocking(move || {
            let _place = place;
            let _inside = span.enter();
            if let Err(error) = self.run_blocking(first, wire) {
                self.outbox.close(Some(status(&error)));
            }
        });
        if thread.await.is_err() {
            let error = Error::internal("the stream's thread panicked: see the log");
            outbox.close(Some(status(&error)));
        }
    }

    fn run_blocking(&self, first: Box<FlightData>, mut wire: ClientStream) -> Result<()> {
        let mut decoder = FlightDecoder::default();
        let mut batch = decoder.decode(&first)?;
        // A descriptor may come ahead of the schema.
        while decoder.schema().is_none() {
            let message = match Handle::current().block_on(wire.next())? {
                StreamEvent::Message(message) => message,
                StreamEvent::Ended => return Err(Error::invalid("the stream has no schema")),
                StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
            };
            batch = decoder.decode(&message)?;
        }
        let target = self.target(decoder.schema().map(AsRef::as_ref))?;
        let options = self.command.options()?;
        let callbacks = StreamCallbacks::new(format!("{:?}", options.durability).to_lowercase());
        let request = JobRequest {
            name: self.command.job.clone(),
            // Streams without a name share loads with those of any sender, and get only their own
            // reports.
            user: self.user.clone().filter(|_| self.command.job.is_some()),
            terms: self.command.terms(),
            shares: self.command.shares_load(),
        };
        let membership =
            self.context.jobs.join(&self.context.store, request, options, Arc::new(callbacks))?;
        let origin = StreamOrigin {
            user: self.user.clone(),
            table: target.table.as_deref().map(str::to_owned),
            expected_rows: self.command.expected_rows,
        };
        let stream = membership.begin_stream(&self.stream_name(), origin);
        if let Some(callbacks) = membership.job.callbacks.downcast_ref::<StreamCallbacks>() {
            callbacks.register(stream, &self.outbox);
        }
        self.outbox.ready(&membership.job.id, stream);
        let mut brought = StreamCursor { stream, position: 0, told: Instant::now() };
        let ending = self.read(&membership, &target, &mut decoder, &mut wire, &mut brought, batch);
        self.end(membership, &brought, ending);
        Ok(())
    }

    /// What reports call the stream.
    fn stream_name(&self) -> String {
        let name = self.command.stream.as_ref().or(self.command.table.as_ref());
        name.map_or_else(|| "pairs".to_owned(), String::clone)
    }

    /// Finds the table, and holds the stream's columns against it.
    fn target(&self, schema: Option<&Schema>) -> Result<PutTarget> {
        let ttl = self.command.ttl()?;
        let schema = schema.ok_or_else(|| Error::invalid("the stream has no schema"))?;
        let table = match (&self.command.table, self.command.pairs) {
            (Some(table), false) => self.context.store.table(table)?,
            (None, true) => {
                pairs::KeyForm::of(schema)?;
                return Ok(PutTarget { table: None, ttl });
            }
            _ => return Err(Error::invalid("give either `table` or `\"pairs\": true`")),
        };
        for field in schema.fields() {
            table.schema().require_column(field.name())?;
        }
        Ok(PutTarget { table: Some(table.path().into()), ttl })
    }

    /// Reads the stream to its end.
    fn read(
        &self,
        membership: &JobMembership,
        target: &PutTarget,
        decoder: &mut FlightDecoder,
        wire: &mut ClientStream,
        brought: &mut StreamCursor,
        first: Option<RecordBatch>,
    ) -> StreamEnd {
        if let Some(batch) = first
            && let Err(error) = self.push(membership, target, brought, &batch)
        {
            return StreamEnd::Failed(error);
        }
        loop {
            // A push would notice the cancelled load, but an idle client may never send a row.
            let arrival = Handle::current().block_on(async {
                tokio::select! {
                    arrival = wire.next() => arrival,
                    () = membership.job.cancelled.cancelled() => {
                        Err(Error::cancelled("the job was cancelled"))
                    }
                }
            });
            let message = match arrival {
                Ok(StreamEvent::Message(message)) => message,
                Ok(StreamEvent::Ended) => return StreamEnd::Unmarked,
                Ok(StreamEvent::Torn(why)) => return StreamEnd::Torn(why),
                Err(error) => return StreamEnd::Failed(error),
            };
            // What follows the marker is not read: it said that these were all.
            match self.take_message(membership, target, decoder, brought, &message) {
                Ok(false) => {}
                Ok(true) => return StreamEnd::Marked,
                Err(error) => return StreamEnd::Failed(error),
            }
        }
    }

    /// Takes a message in. True for the end marker.
    fn take_message(
        &self,
        membership: &JobMembership,
        target: &PutTarget,
        decoder: &mut FlightDecoder,
        brought: &mut StreamCursor,
        message: &FlightData,
    ) -> Result<bool> {
        let said: BulkPutMetadata = match message.app_metadata.is_empty() {
            true => BulkPutMetadata::default(),
            false => parse("app_metadata", &message.app_metadata)?,
        };
        // The batch is handled first: acknowledgement and marker count the rows of their own
        // message.
        if let Some(batch) = decoder.decode(message)? {
            self.push(membership, target, brought, &batch)?;
        }
        if let Some(id) = said.id {
            self.outbox.request_ack(brought.position, id);
        }
        if said.flush {
            membership.load.flush()?;
        }
        let Some(marker) = said.end else { return Ok(false) };
        // Another number of rows means that some were lost on the way, and the stream must not
        // complete.
        if marker.rows != brought.position {
            return Err(Error::invalid(format!(
                "the end marker tells {} rows, but {} came",
                marker.rows, brought.position
            )));
        }
        Ok(true)
    }

    fn push(
        &self,
        membership: &JobMembership,
        target: &PutTarget,
        brought: &mut StreamCursor,
        batch: &RecordBatch,
    ) -> Result<()> {
        let rows = batch.num_rows() as u64;
        let mut entries = match &target.table {
            Some(table) => EntryBatch::rows(table.clone(), batch.clone()),
            None => pairs::entries(batch, brought.position)?,
        };
        entries.ttl = target.ttl;
        brought.position = membership.load.push(brought.stream, entries)?;
        self.context.metrics.rows_in(ListenerKind::flight, rows);
        if brought.told.elapsed() >= PROGRESS_INTERVAL {
            brought.told = Instant::now();
            self.outbox.progress(counts(membership, brought.stream));
        }
        Ok(())
    }

    /// Ends the stream, leaves the job, and tells the client what became of both.
    fn end(&self, membership: JobMembership, brought: &StreamCursor, ending: StreamEnd) {
        let ending = match ending {
            StreamEnd::Marked => match self.complete(&membership, brought) {
                Ok(()) => StreamEnd::Marked,
                Err(error) => StreamEnd::Failed(error),
            },
            StreamEnd::Unmarked if self.command.end == EndRule::Required => {
                StreamEnd::Failed(Error::invalid(
                    "the stream ended without its end marker, {\"end\": {\"rows\": N}}: what came \
                     is stored, but it may not be all",
                ))
            }
            // Its client takes a good end for the word that what came is stored.
            StreamEnd::Unmarked => match membership.load.flush() {
                Ok(()) => StreamEnd::Unmarked,
                Err(error) => StreamEnd::Failed(error),
            },
            other => other,
        };
        // What came stays, whatever the stream's end was.
        let is_flushed = matches!(ending, StreamEnd::Marked | StreamEnd::Unmarked);
        let mut flushed = is_flushed || membership.load.flush().is_ok();
        let mut counts = counts(&membership, brought.stream);
        let stream = brought.stream;
        let (leaving, failure) = match ending {
            StreamEnd::Marked => (StreamOutcome::Completed, None),
            StreamEnd::Unmarked => {
                self.outbox.last(PutMessage::EndedWithoutMarker { stream, counts });
                (StreamOutcome::Unmarked, None)
            }
            StreamEnd::Torn(why) => (StreamOutcome::Abandoned, Some(Error::cancelled(why))),
            StreamEnd::Failed(error) => (StreamOutcome::Stopped, Some(error)),
        };
        self.context.metrics.count_stream(leaving.label());
        let job = membership.job.clone();
        let ended = self.context.jobs.leave(membership, stream, leaving);
        if let Some(callbacks) = job.callbacks.downcast_ref::<StreamCallbacks>() {
            callbacks.forget(stream);
        }
        let mut failure = failure;
        let mut report = None;
        if let Some(JobResult { result, .. }) = ended {
            report = Some(match result {
                Ok(report) => report,
                Err(stopped) => {
                    flushed = stopped.flushed;
                    failure.get_or_insert(stopped.error);
                    *stopped.report
                }
            });
        }
        if let Some(report) = &report {
            // A load that was stopped stores what it has at its end.
            let own = report.streams.iter().find(|report| report.stream == stream);
            counts = own.map_or(counts, |report| report.counts);
        }
        if job.is_shared() {
            report = Some(job.report_of_stream(stream, self.stream_name(), counts, leaving));
        }
        if let Some(report) = report {
            self.outbox.last(PutMessage::Report(job.report_json(&report)));
        }
        if let Some(error) = &failure {
            self.outbox.last(PutMessage::Stopped {
                kind: error.kind().label(),
                code: error_code(error),
                message: error.message().to_owned(),
                flushed,
                counts,
            });
        }
        self.outbox.close(failure.as_ref().map(status));
    }

    /// Ends a stream whose client sent everything, and waits until all of it is durable.
    fn complete(&self, membership: &JobMembership, brought: &StreamCursor) -> Result<()> {
        self.outbox.mark();
        membership.load.end(brought.stream);
        while !self.outbox.is_completed() {
            let load = &membership.load;
            if load.wait_durable(brought.stream, brought.position, COMPLETION_LOOK)? {
                std::thread::sleep(COMPLETION_PAUSE);
            }
        }
        Ok(())
    }
}

fn counts(membership: &JobMembership, stream: usize) -> Counts {
    let streams = membership.load.progress().report();
    streams.get(stream).map(|stream| stream.counts).unwrap_or_default()
}
