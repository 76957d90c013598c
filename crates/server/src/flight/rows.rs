//! Rows on their way to a client.
//!
//! A thread of the blocking pool reads and encodes; a queue of a few messages leads to the network.
//! Where the client takes nothing, the queue is full and nothing is read. While the store works and
//! has nothing to send, an empty batch goes out from time to time: proxies cut silent streams.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::FlightData;
use futures::Stream;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tonic::Status;
use tonnage::{Error, Result};

use super::encode::{Encoder, slices};
use crate::context::Context;
use crate::error::status;
use crate::metrics::Listener;

const QUEUE_MESSAGES: usize = 2;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type Sent = std::result::Result<FlightData, Status>;

/// Where rows are sent to.
pub(crate) struct RowSender {
    context: Arc<Context>,
    queue: mpsc::Sender<Sent>,
    encoder: Encoder,
}

/// Opens a way for rows: the sender is for a thread that may block.
///
/// # Errors
/// `Internal` for a schema that Arrow cannot write.
pub(crate) fn rows(
    context: &Arc<Context>,
    schema: &SchemaRef,
) -> Result<(RowSender, impl Stream<Item = Sent> + use<>)> {
    let (queue, receiver) = mpsc::channel(QUEUE_MESSAGES);
    let mut encoder = Encoder::default();
    let first = encoder.schema(schema);
    // Made by an encoder of its own: dictionaries are told with the rows that need them.
    let empty = Encoder::default().batch(&RecordBatch::new_empty(schema.clone()))?;
    let empty = empty.into_iter().last().unwrap_or_default();
    let sender =
        RowSender { context: context.clone(), queue, encoder: std::mem::take(&mut encoder) };
    let stream = futures::stream::unfold((Some(first), receiver), move |(first, mut receiver)| {
        let empty = empty.clone();
        async move {
            if let Some(first) = first {
                return Some((Ok(first), (None, receiver)));
            }
            match tokio::time::timeout(KEEP_ALIVE, receiver.recv()).await {
                Ok(sent) => sent.map(|sent| (sent, (None, receiver))),
                Err(_) => Some((Ok(empty), (None, receiver))),
            }
        }
    });
    Ok((sender, stream))
}

impl RowSender {
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Sends rows. False when the client is gone.
    ///
    /// # Errors
    /// `TimedOut` when the client takes nothing for too long.
    pub(crate) fn send(&mut self, batch: &RecordBatch) -> Result<bool> {
        for slice in slices(batch) {
            for message in self.encoder.batch(&slice)? {
                if !self.put(Ok(message))? {
                    return Ok(false);
                }
            }
            self.context.metrics.rows_out(Listener::flight, slice.num_rows() as u64);
        }
        Ok(true)
    }

    /// Tells the client why no more rows come.
    pub(crate) fn fail(&self, error: &Error) {
        // A client that is gone need not hear it.
        let _ = self.put(Err(status(error)));
    }

    fn put(&self, sent: Sent) -> Result<bool> {
        let limit = self.context.config.reader_timeout;
        let put = Handle::current().block_on(tokio::time::timeout(limit, self.queue.send(sent)));
        put.map(|put| put.is_ok()).map_err(|_| {
            self.context.metrics.slow_readers.inc();
            Error::timed_out(format!("the client took no row for {limit:?} (reader_timeout)"))
        })
    }
}
