//! Rows from a server. The caller pulls them.

use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::decode::{DecodedFlightData, DecodedPayload, FlightDataDecoder};
use arrow_flight::error::FlightError;
use futures::StreamExt;
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use crate::failure;
use crate::limits::CallLimits;
use crate::store::RemoteStore;

/// What went wrong with what the client itself sends.
pub(crate) type SourceFailure = Arc<Mutex<Option<Error>>>;

/// Record batches of one schema. They are pulled: the server reads on when they are taken. Dropping
/// them ends the call.
#[derive(Debug)]
pub struct Rows {
    client: RemoteStore,
    limits: CallLimits,
    schema: SchemaRef,
    /// Nothing once all rows came.
    decoder: Option<FlightDataDecoder>,
    source: SourceFailure,
}

type DecodedMessage = Option<std::result::Result<DecodedFlightData, FlightError>>;

impl Rows {
    /// Takes the schema in, which comes first.
    pub(crate) fn open(
        client: RemoteStore,
        limits: CallLimits,
        decoder: FlightDataDecoder,
        source: SourceFailure,
    ) -> Result<Self> {
        let schema = Arc::new(arrow::datatypes::Schema::empty());
        let mut rows = Self { client, limits, schema, decoder: Some(decoder), source };
        while let Some(payload) = rows.payload()? {
            if let DecodedPayload::Schema(schema) = payload {
                rows.schema = schema;
                return Ok(rows);
            }
        }
        let server = rows.client.server();
        Err(Error::internal(format!("{server}: rows came without their columns")))
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn payload(&mut self) -> Result<Option<DecodedPayload>> {
        let Some(mut decoder) = self.decoder.take() else { return Ok(None) };
        let next = async move {
            let next: DecodedMessage = decoder.next().await;
            (decoder, next)
        };
        let (decoder, next) = self.client.wait(&self.limits, next)?;
        if let Some(error) = lock(&self.source).take() {
            return Err(error);
        }
        match next {
            None => Ok(None),
            Some(Ok(data)) => {
                self.decoder = Some(decoder);
                Ok(Some(data.payload))
            }
            Some(Err(error)) => Err(failure::of_flight(self.client.server(), error)),
        }
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.payload()? {
                // Empty ones only keep the connection alive.
                Some(DecodedPayload::RecordBatch(batch)) if batch.num_rows() > 0 => {
                    return Ok(Some(batch));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
