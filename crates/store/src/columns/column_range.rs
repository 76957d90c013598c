//! What a column of rows must have for them to be wanted.

use std::ops::RangeInclusive;

use arrow::array::Array;
use tonnage_columns::bounds_of;
use tonnage_engine::Result;

/// Rows without a value of this range in a column are not wanted, and may be left out of a scan.
#[derive(Clone, Debug)]
pub struct ColumnRange {
    /// A place in the schema.
    pub(crate) column: usize,
    pub(crate) numbers: RangeInclusive<i64>,
}

impl ColumnRange {
    /// From the least of some values of the type of the column to their greatest; an end that is
    /// not given is open. Nothing where values of this type are not left out.
    ///
    /// # Errors
    /// `Corruption` for values that their type has not.
    pub fn new(
        column: usize,
        low: Option<&dyn Array>,
        high: Option<&dyn Array>,
    ) -> Result<Option<Self>> {
        let least = match low {
            Some(values) => bounds_of(values)?.map(|bounds| *bounds.start()),
            None => Some(i64::MIN),
        };
        let greatest = match high {
            Some(values) => bounds_of(values)?.map(|bounds| *bounds.end()),
            None => Some(i64::MAX),
        };
        let ends = least.zip(greatest);
        Ok(ends.map(|(least, greatest)| Self { column, numbers: least..=greatest }))
    }
}
