//! The upload of one stream: a DoPut call, and the server's messages about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::{FlightData, FlightDescriptor};
use futures::{Stream, StreamExt};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonnage::{Error, FailedEntry, Result};

use super::command;
use super::job::PutJob;
use super::server_message::{CountsMessage, FailedRow, ServerMessage, StoppedMessage};
use crate::failure;

/// Batches that wait for the network.
const QUEUE_BATCHES: usize = 2;

/// Set once the source said that everything was read: only then the end marker is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct EndMarkerFlag(Arc<AtomicBool>);

impl EndMarkerFlag {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Begins the upload of a stream, of pairs where there is no table. It ends when the sender is
/// dropped; with its end marker, if that is set by then.
pub(super) fn begin(
    job: &Arc<PutJob>,
    number: usize,
    table: Option<&str>,
    ttl: Option<Duration>,
    schema: SchemaRef,
) -> Result<(mpsc::Sender<RecordBatch>, EndMarkerFlag)> {
    let (queue, batches) = mpsc::channel(QUEUE_BATCHES);
    let marker = EndMarkerFlag::default();
    let name = job.stream_name(number);
    let name = if name.is_empty() { table.unwrap_or("pairs") } else { name };
    let command = command::of(table, name, &job.name, ttl, &job.options);
    let descriptor = FlightDescriptor::new_cmd(command.to_string());
    let messages = messages(job.clone(), number, batches, marker.clone(), schema, descriptor);
    job.with_state(number, |tally| tally.is_sent = true);
    let end = UploadGuard { job: job.clone(), number };
    job.client.spawn(async move {
        if let Err(error) = run(&end.job, number, messages).await {
            end.job.stop(error);
        }
    })?;
    Ok((queue, marker))
}

/// Tells the end of an upload, even of one whose callbacks panicked.
struct UploadGuard {
    job: Arc<PutJob>,
    number: usize,
}

impl Drop for UploadGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let name = self.job.stream_name(self.number);
            self.job.stop(Error::internal(format!("{name}: a callback panicked: see above")));
        }
        self.job.end(self.number);
    }
}

/// The messages of a stream: its schema, its rows, and its marker if it may have one.
fn messages(
    job: Arc<PutJob>,
    number: usize,
    batches: mpsc::Receiver<RecordBatch>,
    marker: EndMarkerFlag,
    schema: SchemaRef,
    descriptor: FlightDescriptor,
) -> impl Stream<Item = FlightData> + Send + 'static {
    let hung_up = hung_up(job.hung_up());
    let batches = ReceiverStream::new(batches).take_until(hung_up).map(Ok);
    // Rows that cannot be encoded are left out, so the stream must not end with its marker.
    let is_broken = Arc::new(AtomicBool::new(false));
    let (breaks, stopping) = (is_broken.clone(), job.clone());
    let rows = FlightDataEncoderBuilder::new()
        .with_schema(schema)
        .with_flight_descriptor(Some(descriptor))
        .build(batches)
        .filter_map(move |message| {
            if let Err(error) = &message {
                breaks.store(true, Ordering::Release);
                stopping.stop(Error::internal(format!("rows cannot be encoded: {error}")));
            }
            std::future::ready(message.ok())
        });
    let end = futures::stream::once(async move {
        let is_whole = marker.is_set() && !is_broken.load(Ordering::Acquire);
        is_whole.then(|| {
            // Where the job hung up, rows of the queue are missing: the server compares this count
            // with those that came, and does not complete the stream.
            let rows = job.with_state(number, |tally| tally.positions.sent());
            FlightData::new().with_app_metadata(json!({"end": {"rows": rows}}).to_string())
        })
    });
    rows.chain(end.filter_map(std::future::ready))
}

async fn hung_up(mut hang_up: watch::Receiver<bool>) {
    // A job that is gone has hung up, too.
    let _ = hang_up.wait_for(|is_hung_up| *is_hung_up).await;
}

/// Sends the messages, and takes in what the server says.
async fn run(
    job: &Arc<PutJob>,
    number: usize,
    messages: impl Stream<Item = FlightData> + Send + 'static,
) -> Result<()> {
    let mut flight = job.client.flight();
    let answers = flight.do_put(job.client.request(messages)).await;
    let mut answers = answers.map_err(|status| failed(job, &status))?.into_inner();
    let mut stopped = None;
    loop {
        match answers.message().await {
            Ok(Some(answer)) => {
                let said: ServerMessage =
                    serde_json::from_slice(&answer.app_metadata).map_err(|error| {
                        let server = job.client.server();
                        Error::internal(format!("{server}: an answer cannot be read: {error}"))
                    })?;
                // Callbacks may wait, even for further calls of the client.
                tokio::task::block_in_place(|| handle_message(job, number, said, &mut stopped))?;
                job.update_progress(false);
            }
            Ok(None) => break,
            Err(status) => {
                return Err(stopped.map_or_else(
                    || failed(job, &status),
                    |stopped| of_stopped(job, number, stopped),
                ));
            }
        }
    }
    // A good end of the call proves nothing: only after `completed` may the rows be forgotten.
    match job.with_state(number, |tally| tally.is_completed) {
        true => Ok(()),
        false => Err(stopped.map_or_else(
            || never_completed(job, number),
            |stopped| of_stopped(job, number, stopped),
        )),
    }
}

fn handle_message(
    job: &PutJob,
    number: usize,
    said: ServerMessage,
    stopped: &mut Option<StoppedMessage>,
) -> Result<()> {
    if let Some(counts) = said.progress {
        job.with_state(number, |tally| tally.told = counts.into());
    }
    for row in said.failed.into_iter().flatten() {
        report_failed_row(job, number, &row)?;
    }
    if let Some(completed) = said.completed {
        // The callback runs after this: the states are locked here, and it may take long.
        let report = job.with_state(number, |tally| {
            tally.told = completed.counts.into();
            tally.is_completed = true;
            tally.is_flushed = true;
            tally.report(number, job.stream_name(number))
        });
        job.options.callbacks.completed(&report);
    }
    // No error yet: the status that ends the call follows, and tells less than this message.
    if let Some(told) = said.stopped {
        note_stored(job, number, told.counts, told.flushed);
        *stopped = Some(told);
    }
    Ok(())
}

/// Notes what is stored of a stream that was stopped.
fn note_stored(job: &PutJob, number: usize, counts: CountsMessage, flushed: bool) {
    job.with_state(number, |tally| {
        tally.told = counts.into();
        tally.is_flushed = flushed && tally.told.read == tally.positions.sent();
    });
}

fn report_failed_row(job: &PutJob, number: usize, row: &FailedRow) -> Result<()> {
    let Some(position) = job.with_state(number, |tally| tally.positions.of(row.position)) else {
        return Ok(());
    };
    job.options.callbacks.failed(&FailedEntry {
        stream: number,
        stream_name: job.stream_name(number),
        position,
        table: None,
        column: row.column.as_deref(),
        reason: &row.reason,
        entry: None,
    })
}

fn failed(job: &PutJob, status: &Status) -> Error {
    let error = failure::of_status(job.client.server(), status);
    match error.kind() {
        tonnage::ErrorKind::Unavailable => {
            let message = format!(
                "{}: which of the rows that were sent are stored is not known: put them again with \
                 on_existing keep",
                error.message()
            );
            error.with_message(message)
        }
        _ => error,
    }
}

/// The server's reason. Where it counts entries, it counts what it was sent.
fn of_stopped(job: &PutJob, number: usize, stopped: StoppedMessage) -> Error {
    let kind = failure::of_label(&stopped.kind).unwrap_or(tonnage::ErrorKind::Internal);
    let message = match job.with_state(number, |tally| tally.refused) {
        0 => stopped.message,
        refused => format!(
            "{} (entries are counted without the {refused} that did not fit and were not sent)",
            stopped.message
        ),
    };
    failure::with_code(Error::new(kind, message), stopped.code.as_deref())
}

fn never_completed(job: &PutJob, number: usize) -> Error {
    let (server, name) = (job.client.server(), job.stream_name(number));
    Error::unavailable(format!("{server}: {name} ended, but was never called completed"))
}
