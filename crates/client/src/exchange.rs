//! Keys in, rows out: one thread sends keys while rows come back.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::FlightDescriptor;
use arrow_flight::decode::FlightDataDecoder;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use crate::limits::CallLimits;
use crate::rows::{Rows, SourceFailure};
use crate::store::RemoteStore;

/// Batches of keys that wait for the network.
const QUEUE_BATCHES: usize = 4;

impl RemoteStore {
    /// Sends keys, which all have these columns, and opens the rows that come for them.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. A source that fails fails
    /// the rows, whatever came before.
    pub(crate) fn exchange_keys(
        &self,
        limits: CallLimits,
        command: &Json,
        schema: SchemaRef,
        keys: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Result<Rows> {
        let descriptor = FlightDescriptor::new_cmd(json!({ "bulk_get": command }).to_string());
        let (sender, receiver) = mpsc::channel(QUEUE_BATCHES);
        // Keys end in good order even where their source fails: only what is noted here fails the
        // rows.
        let source = SourceFailure::default();
        let (failed, failed_encoding) = (source.clone(), source.clone());
        std::thread::Builder::new()
            .name("tonnage-keys".to_owned())
            .spawn(move || {
                for batch in keys {
                    let sent = match batch {
                        Ok(batch) => sender.blocking_send(Ok(batch)),
                        Err(error) => return note(&failed, error),
                    };
                    // No reader wants further keys.
                    if sent.is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| Error::unavailable(format!("no thread for keys: {error}")))?;
        let messages = FlightDataEncoderBuilder::new()
            .with_schema(schema)
            .with_flight_descriptor(Some(descriptor))
            .build(ReceiverStream::new(receiver))
            .filter_map(move |message| {
                let sent = message.map_err(|error| {
                    note(&failed_encoding, Error::invalid(format!("keys cannot be sent: {error}")));
                });
                std::future::ready(sent.ok())
            });
        let (mut flight, exchange) = (self.flight(), self.request(messages));
        let begun = async move { flight.do_exchange(exchange).await };
        let stream = self.checked(self.wait(&limits, begun)?)?.into_inner();
        let decoder = FlightDataDecoder::new(stream.map_err(FlightError::from));
        Rows::open(self.clone(), limits, decoder, source)
    }
}

fn note(failure: &SourceFailure, error: Error) {
    lock(failure).get_or_insert(error);
}
