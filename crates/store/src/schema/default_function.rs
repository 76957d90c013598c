//! Default functions, which make a new value for each row.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, StringArray};
use arrow::buffer::Buffer;
use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result, SystemClock};

use crate::schema::ColumnType;
use crate::value::Value;
use crate::value::{NANOSECONDS_PER_DAY, rescale_timestamp};

/// How the store makes what a row holds that does not name the column, as the row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DefaultFunction {
    /// The current time, for a TIMESTAMP.
    Now,
    /// The day in UTC, for a DATE.
    CurrentDate,
    /// The time of day in UTC, for a TIME.
    CurrentTime,
    /// A random UUID (version 4 of RFC 9562), for a UUID or, as text, a STRING.
    Uuid,
}

const UUID_LEN: usize = 16;

impl DefaultFunction {
    /// The function that fits a column of that type, where this one is near enough: the current day
    /// for a DATE.
    ///
    /// # Errors
    /// `Invalid` where the column cannot hold it.
    pub(super) fn for_type(self, column_type: ColumnType) -> Result<Self> {
        match (self, column_type) {
            (Self::Now, ColumnType::Timestamp(_)) => Ok(Self::Now),
            (Self::Now | Self::CurrentDate, ColumnType::Date) => Ok(Self::CurrentDate),
            (Self::Now | Self::CurrentTime, ColumnType::Time) => Ok(Self::CurrentTime),
            (Self::Uuid, ColumnType::Uuid | ColumnType::String) => Ok(Self::Uuid),
            _ => Err(Error::invalid(format!("{self} does not fit a {column_type}"))),
        }
    }

    /// Whether all rows of one point in time get the same.
    pub(super) fn is_moment(self) -> bool {
        self != Self::Uuid
    }

    /// What one row gets.
    ///
    /// # Errors
    /// `Unavailable` when the system has no random numbers or a clock out of all range.
    pub(crate) fn value(self, column_type: ColumnType) -> Result<Value> {
        match (self, column_type) {
            (Self::Now, ColumnType::Timestamp(precision)) => {
                let value = rescale_timestamp(nanoseconds()?, 9, precision);
                let value = value.ok_or_else(|| Error::internal("a moment of now is too far"))?;
                Ok(Value::Timestamp { value, precision })
            }
            (Self::CurrentDate, _) => {
                Ok(Value::Date(nanoseconds()?.div_euclid(NANOSECONDS_PER_DAY) as i32))
            }
            (Self::CurrentTime, _) => {
                Ok(Value::Time(nanoseconds()?.rem_euclid(NANOSECONDS_PER_DAY)))
            }
            (Self::Uuid, _) => {
                let mut bytes = [0; UUID_LEN];
                fill_uuids(&mut bytes)?;
                Value::Uuid(bytes).convert_to(column_type)
            }
            (Self::Now, _) => Err(Error::internal(format!("now() for a {column_type}"))),
        }
    }

    /// What so many rows get.
    ///
    /// # Errors
    /// As [`DefaultFunction::value`].
    pub(crate) fn array(self, column_type: ColumnType, rows: usize) -> Result<ArrayRef> {
        if self.is_moment() {
            return self.value(column_type)?.to_array(column_type, rows);
        }
        let mut bytes = vec![0; rows * UUID_LEN];
        fill_uuids(&mut bytes)?;
        if column_type == ColumnType::Uuid {
            let uuids =
                FixedSizeBinaryArray::try_new(UUID_LEN as i32, Buffer::from_vec(bytes), None);
            return Ok(Arc::new(uuids.map_err(|error| Error::internal(error.to_string()))?));
        }
        let (uuids, _) = bytes.as_chunks::<UUID_LEN>();
        Ok(Arc::new(StringArray::from_iter_values(
            uuids.iter().map(|uuid| Value::Uuid(*uuid).to_string()),
        )))
    }
}

/// As DDL reads it back.
impl fmt::Display for DefaultFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now => "now()",
            Self::CurrentDate => "current_date",
            Self::CurrentTime => "current_time",
            Self::Uuid => "uuid()",
        })
    }
}

/// The time by the machine's clock, finer than the store's, which says what has expired.
fn nanoseconds() -> Result<i64> {
    i64::try_from(SystemClock.since_epoch().as_nanos())
        .map_err(|_| Error::unavailable("the clock of this machine is beyond 2262"))
}

/// Fills consecutive UUIDs.
fn fill_uuids(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        Error::unavailable(format!("the system gives no random numbers: {error}"))
    })?;
    let (uuids, _) = bytes.as_chunks_mut::<UUID_LEN>();
    for uuid in uuids {
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
    }
    Ok(())
}
