//! Encodes record batches as Flight messages.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow_flight::FlightData;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use tonnage::{Error, Result};

use super::command::MESSAGE_BYTES;
use crate::budget::bytes_of;

/// Encodes the batches of one stream.
pub(crate) struct FlightEncoder {
    generator: IpcDataGenerator,
    options: IpcWriteOptions,
    dictionaries: DictionaryTracker,
    context: IpcWriteContext,
}

impl Default for FlightEncoder {
    fn default() -> Self {
        Self {
            generator: IpcDataGenerator::default(),
            options: IpcWriteOptions::default(),
            dictionaries: DictionaryTracker::new(false),
            context: IpcWriteContext::default(),
        }
    }
}

impl FlightEncoder {
    /// The first message of a stream.
    pub(crate) fn schema(&mut self, schema: &Schema) -> FlightData {
        let Self { generator, options, dictionaries, .. } = self;
        generator.schema_to_bytes_with_dictionary_tracker(schema, dictionaries, options).into()
    }

    /// The messages of a batch: its dictionaries, then its rows.
    ///
    /// # Errors
    /// `Internal` for arrays that Arrow cannot write.
    pub(crate) fn batch(&mut self, batch: &RecordBatch) -> Result<Vec<FlightData>> {
        let Self { generator, options, dictionaries, context } = self;
        let (first, rows) = generator
            .encode(batch, dictionaries, options, context)
            .map_err(|error| Error::internal(format!("rows cannot be encoded: {error}")))?;
        Ok(first.into_iter().chain([rows]).map(FlightData::from).collect())
    }
}

/// Cuts a batch into slices of about two mebibytes. A row that is larger is a slice by itself.
pub(crate) fn slices(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + '_ {
    let bytes = bytes_of(batch);
    let rows = batch.num_rows();
    let count = bytes.div_ceil(MESSAGE_BYTES).clamp(1, rows.max(1));
    let each = rows.div_ceil(count).max(1);
    (0..rows).step_by(each).map(move |start| batch.slice(start, each.min(rows - start)))
}

/// The message of a schema by itself.
pub(crate) fn schema_message(schema: &Schema) -> FlightData {
    FlightEncoder::default().schema(schema)
}

#[cfg(test)]
impl FlightEncoder {
    /// One whose messages are packed, as clients may send them.
    pub(crate) fn packed(compression: arrow_ipc::CompressionType) -> Self {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        Self { options, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryArray};

    use super::*;

    #[test]
    fn slices_are_of_about_two_mebibytes_and_miss_nothing() {
        let value = vec![7_u8; 1 << 20];
        let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(vec![&value; 11]));
        let batch = RecordBatch::try_from_iter([("v", values)]).unwrap();
        let rows: Vec<usize> = slices(&batch).map(|slice| slice.num_rows()).collect();
        assert_eq!(rows.iter().sum::<usize>(), 11);
        assert!(rows.iter().all(|rows| *rows <= 2), "{rows:?}");
        assert_eq!(slices(&batch.slice(0, 0)).count(), 0);
    }
}
