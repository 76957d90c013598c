//! How the row or the pair of a single call is encoded.

use arrow::array::{Array, AsArray};
use serde::Deserialize;
use tonnage::{Error, Key, Result, Row};
use tonnage_wire::{PairMessage, RowMessage};

use super::frame::RawFrame;
use super::one_row::{key_of, only_row, row_of};
use super::pairs;

/// The encoding of the data of a frame, and of the frame that answers it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowEncoding {
    /// An Arrow IPC stream of one row.
    #[default]
    Arrow,
    /// A message in Protocol Buffers, which costs less for a single row.
    Protobuf,
}

impl RowEncoding {
    /// The row of a frame.
    ///
    /// # Errors
    /// `Invalid` for data that is not one row.
    pub(super) fn row(self, frame: RawFrame<'_>) -> Result<Row> {
        match self {
            RowEncoding::Arrow => row_of(only_row(&frame.batches()?)?),
            RowEncoding::Protobuf => RowMessage::read(frame.data),
        }
    }

    /// The key of the pair of a frame.
    ///
    /// # Errors
    /// `Invalid` for data that is not one key.
    pub(super) fn key(self, frame: RawFrame<'_>) -> Result<Key> {
        match self {
            RowEncoding::Arrow => key_of(only_row(&frame.batches()?)?),
            RowEncoding::Protobuf => Ok(PairMessage::read(frame.data)?.0),
        }
    }

    /// The key and the value of the pair of a frame.
    ///
    /// # Errors
    /// `Invalid` for data that is not one pair.
    pub(super) fn pair(self, frame: RawFrame<'_>) -> Result<(Key, Vec<u8>)> {
        if self == RowEncoding::Protobuf {
            return PairMessage::read(frame.data);
        }
        let batches = frame.batches()?;
        let batch = only_row(&batches)?;
        let value = match pairs::values(batch)?.as_binary::<i32>() {
            // Read as bytes, a NULL would be stored as an empty value.
            values if values.is_null(0) => return Err(Error::invalid("the value is NULL")),
            values => values.value(0).to_vec(),
        };
        Ok((key_of(batch)?, value))
    }
}
