//! Sends rows to a client.
//!
//! A thread of the blocking pool reads and encodes. A queue of two messages leads to the network.
//! Where the client takes nothing, the queue is full and nothing is read. While the store works and
//! has nothing to send, an empty batch is sent every 15 seconds: proxies cut silent streams.
//!
//! A stream ends well only where its sender says so. A client that was given up, or a thread that
//! panicked, ends it with an error, so that no client takes a part of the rows for all of them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::FlightData;
use futures::Stream;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tonic::Status;
use tonnage::{Error, Result};

use super::encode::{FlightEncoder, slices};
use crate::context::ServerContext;
use crate::error::status;
use crate::metrics::ListenerKind;

const QUEUE_MESSAGES: usize = 2;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type RowMessage = std::result::Result<FlightData, Status>;

/// How the rows ended, once they did.
type StreamResult = Arc<OnceLock<std::result::Result<(), Status>>>;

/// Where rows are sent to. Dropping it cuts the stream off.
pub(crate) struct RowSender {
    context: Arc<ServerContext>,
    queue: mpsc::Sender<FlightData>,
    end: StreamResult,
    encoder: FlightEncoder,
}

/// Opens a way for rows: the sender is for a thread that may block.
///
/// # Errors
/// `Internal` for a schema that Arrow cannot write.
pub(crate) fn row_channel(
    context: &Arc<ServerContext>,
    schema: &SchemaRef,
) -> Result<(RowSender, impl Stream<Item = RowMessage> + use<>)> {
    let (queue, receiver) = mpsc::channel(QUEUE_MESSAGES);
    let mut encoder = FlightEncoder::default();
    let first = encoder.schema(schema);
    // Encoded by an encoder of its own: dictionaries are sent with the rows that need them.
    let empty = FlightEncoder::default().batch(&RecordBatch::new_empty(schema.clone()))?;
    let empty = empty.into_iter().last().unwrap_or_default();
    let end = StreamResult::default();
    let sender = RowSender { context: context.clone(), queue, end: end.clone(), encoder };
    let state = (Some(first), Some(receiver));
    let stream = futures::stream::unfold(state, move |(first, receiver)| {
        let (empty, end) = (empty.clone(), end.clone());
        async move {
            let mut receiver = receiver?;
            if let Some(first) = first {
                return Some((Ok(first), (None, Some(receiver))));
            }
            // A sender that is dropped closes the queue, whether all rows were sent or not: only
            // `end` tells.
            match tokio::time::timeout(KEEP_ALIVE, receiver.recv()).await {
                Ok(Some(message)) => Some((Ok(message), (None, Some(receiver)))),
                Ok(None) => why_cut_off(&end).map(|status| (Err(status), (None, None))),
                Err(_) => Some((Ok(empty), (None, Some(receiver)))),
            }
        }
    });
    Ok((sender, stream))
}

/// What rows ended with that are not all; nothing where they are.
fn why_cut_off(end: &StreamResult) -> Option<Status> {
    match end.get() {
        Some(Ok(())) => None,
        Some(Err(status)) => Some(status.clone()),
        None => Some(status(&Error::internal("the rows were cut off: see the log"))),
    }
}

impl RowSender {
    pub(crate) fn context(&self) -> &ServerContext {
        &self.context
    }

    /// Sends rows. False when the client is gone.
    ///
    /// # Errors
    /// `TimedOut` when the client takes nothing for too long.
    pub(crate) fn send(&mut self, batch: &RecordBatch) -> Result<bool> {
        // Of many batches no row may be left to send: a client that is gone shows here alone then.
        if self.queue.is_closed() {
            return Ok(false);
        }
        for slice in slices(batch) {
            for message in self.encoder.batch(&slice)? {
                if !self.put(message)? {
                    return Ok(false);
                }
            }
            self.context.metrics.rows_out(ListenerKind::flight, slice.num_rows() as u64);
        }
        Ok(true)
    }

    /// Tells the client that these were all rows, or why no more come.
    pub(crate) fn end(self, sent: Result<()>) {
        self.end.get_or_init(|| sent.map_err(|error| status(&error)));
    }

    fn put(&self, message: FlightData) -> Result<bool> {
        let limit = self.context.config.reader_timeout;
        let put = self.queue.send(message);
        let put = Handle::current().block_on(tokio::time::timeout(limit, put));
        put.map(|put| put.is_ok()).map_err(|_| {
            self.context.metrics.slow_readers.inc();
            Error::timed_out(format!("the client took no row for {limit:?} (reader_timeout)"))
        })
    }
}
