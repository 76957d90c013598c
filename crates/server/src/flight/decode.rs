//! Decodes Flight messages into record batches.

use std::collections::HashMap;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow_flight::FlightData;
use arrow_flight::utils::flight_data_to_arrow_batch;
use arrow_ipc::reader::read_dictionary;
use arrow_ipc::{MessageHeader, root_as_message};
use tonnage::internal::catch_panic;
use tonnage::{Error, Result};
use tonnage_files::check_ipc_message;

/// What one packed message may unpack to.
pub(crate) const UNPACKED_BYTES_MAX: u64 = 1 << 30;

/// Decodes the messages of one stream. What comes from the network is validated in full.
#[derive(Default)]
pub(crate) struct FlightDecoder {
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl FlightDecoder {
    /// The schema, once it came.
    pub(crate) fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// Decodes a message. Those of schemas and dictionaries give no batch, and neither do messages
    /// of metadata alone.
    ///
    /// # Errors
    /// `Invalid` for a message that is not Arrow IPC, or comes before its schema.
    pub(crate) fn decode(&mut self, data: &FlightData) -> Result<Option<RecordBatch>> {
        // Arrow's decoder expects mostly correct data.
        catch_panic(
            || self.decode_message(data),
            |_| malformed("its buffers contradict each other"),
        )
    }

    fn decode_message(&mut self, data: &FlightData) -> Result<Option<RecordBatch>> {
        if data.data_header.is_empty() {
            return Ok(None);
        }
        let message =
            root_as_message(&data.data_header).map_err(|error| malformed(&error.to_string()))?;
        // Checked before it is unpacked: Arrow allocates whatever lengths the message declares.
        check_ipc_message(message, &data.data_body, UNPACKED_BYTES_MAX)
            .map_err(|error| arrow_error(&error))?;
        match message.header_type() {
            MessageHeader::NONE => Ok(None),
            MessageHeader::Schema => {
                let schema = Schema::try_from(data).map_err(|error| arrow_error(&error))?;
                self.schema = Some(schema.into());
                // Dictionaries have numbers of their schema: old ones would pass for the new one's.
                self.dictionaries.clear();
                Ok(None)
            }
            MessageHeader::DictionaryBatch => {
                let batch = message
                    .header_as_dictionary_batch()
                    .ok_or_else(|| malformed("a dictionary without its header"))?;
                let schema = self.schema.as_ref().ok_or_else(before_schema)?;
                let buffer = Buffer::from(data.data_body.as_ref());
                let version = message.version();
                read_dictionary(&buffer, batch, schema, &mut self.dictionaries, &version)
                    .map_err(|error| arrow_error(&error))?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let schema = self.schema.clone().ok_or_else(before_schema)?;
                flight_data_to_arrow_batch(data, schema, &self.dictionaries)
                    .map(Some)
                    .map_err(|error| arrow_error(&error))
            }
            other => Err(malformed(&format!("a message of type {other:?}"))),
        }
    }
}

fn before_schema() -> Error {
    malformed("data comes before its schema")
}

fn arrow_error(error: &ArrowError) -> Error {
    malformed(&error.to_string())
}

fn malformed(what: &str) -> Error {
    Error::invalid(format!("the stream is not Arrow IPC: {what}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, Int64Array};
    use arrow::datatypes::Int32Type;

    use super::*;
    use crate::flight::encode::FlightEncoder;

    #[test]
    fn what_is_encoded_is_decoded() {
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let numbers = Int64Array::from(vec![Some(1), None, Some(3)]);
        let columns: Vec<(&str, ArrayRef, bool)> =
            vec![("n", Arc::new(numbers), true), ("w", Arc::new(words), true)];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let mut encoder = FlightEncoder::default();
        let mut decoder = FlightDecoder::default();
        let mut messages = vec![encoder.schema(&batch.schema())];
        messages.extend(encoder.batch(&batch).unwrap());
        let decoded: Vec<RecordBatch> =
            messages.iter().filter_map(|message| decoder.decode(message).unwrap()).collect();
        assert_eq!(decoded, [batch]);
    }

    /// A message of numbers that are packed, to so little that it cannot unpack to 4 MiB.
    fn packed() -> Vec<FlightData> {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![0; 12_345]));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let mut encoder = FlightEncoder::packed(arrow_ipc::CompressionType::ZSTD);
        let mut messages = vec![encoder.schema(&batch.schema())];
        messages.extend(encoder.batch(&batch).unwrap());
        messages
    }

    #[test]
    fn a_message_that_says_that_it_unpacks_to_more_than_it_can_is_an_error() {
        let mut messages = packed();
        let mut decoder = FlightDecoder::default();
        assert!(decoder.decode(&messages[0]).unwrap().is_none());
        assert_eq!(decoder.decode(&messages[1]).unwrap().unwrap().num_rows(), 12_345);
        let mut body = messages[1].data_body.to_vec();
        let told = 98_760_u64.to_le_bytes();
        let at = body.windows(8).position(|word| word == told).unwrap();
        body[at..at + 8].copy_from_slice(&(4_u64 << 20).to_le_bytes());
        messages[1].data_body = body.into();
        let error = decoder.decode(&messages[1]).unwrap_err();
        assert!(error.message().contains("unpacks to 4194304"), "{error}");
    }

    #[test]
    fn rows_without_bytes_are_an_error() {
        let nulls: ArrayRef = Arc::new(arrow::array::NullArray::new((1 << 24) + 1));
        let batch = RecordBatch::try_from_iter([("n", nulls)]).unwrap();
        let mut encoder = FlightEncoder::default();
        let mut decoder = FlightDecoder::default();
        assert!(decoder.decode(&encoder.schema(&batch.schema())).unwrap().is_none());
        let messages = encoder.batch(&batch).unwrap();
        let error = decoder.decode(&messages[0]).unwrap_err();
        assert!(error.message().contains("16777217 rows"), "{error}");
    }

    #[test]
    fn rubbish_is_an_error() {
        let data = FlightData::new().with_data_header(vec![7_u8; 64]);
        let error = FlightDecoder::default().decode(&data).unwrap_err();
        assert!(error.message().contains("not Arrow IPC"), "{error}");
    }

    #[test]
    fn a_batch_before_its_schema_is_an_error() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let messages = FlightEncoder::default().batch(&batch).unwrap();
        let error = FlightDecoder::default().decode(&messages[0]).unwrap_err();
        assert!(error.message().contains("before its schema"), "{error}");
    }
}
