//! The arguments of a call, to be measured before the call.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

use super::scalar::texts;

/// The arguments of a call, each as it came: a value for all rows, or one for each row.
pub(super) struct GivenColumns {
    /// How many rows the result has.
    pub(super) rows: usize,
    columns: Vec<GivenColumn>,
}

struct GivenColumn {
    array: ArrayRef,
    is_for_all: bool,
}

impl GivenColumns {
    pub(super) fn new(arguments: &ScalarFunctionArgs) -> Result<Self> {
        // A value for all rows is not written out: that may be what takes the memory.
        let column = |argument: &ColumnarValue| {
            let is_for_all = matches!(argument, ColumnarValue::Scalar(_));
            let rows = if is_for_all { 1 } else { arguments.number_rows };
            Ok(GivenColumn { array: argument.to_array(rows)?, is_for_all })
        };
        let columns = arguments.args.iter().map(column).collect::<Result<Vec<_>>>()?;
        let is_one = columns.iter().all(|column| column.is_for_all);
        Ok(Self { rows: if is_one { 1 } else { arguments.number_rows }, columns })
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn array(&self, place: usize) -> &ArrayRef {
        &self.columns[place].array
    }

    /// Where the value of a row is in the array.
    pub(super) fn index(&self, place: usize, row: usize) -> usize {
        if self.columns[place].is_for_all { 0 } else { row }
    }

    pub(super) fn texts(&self, place: usize) -> Result<StringArray> {
        texts(self.array(place))
    }

    pub(super) fn numbers(&self, place: usize) -> Result<Int64Array> {
        Ok(cast(self.array(place), &DataType::Int64)?.as_primitive::<Int64Type>().clone())
    }

    /// How many bytes the value of a row takes; none of a NULL.
    pub(super) fn bytes_of(&self, place: usize, row: usize) -> i64 {
        let value = self.array(place).slice(self.index(place, row), 1);
        let bytes = if value.is_valid(0) { value.to_data().get_slice_memory_size() } else { Ok(0) };
        bytes.map_or(i64::MAX, |bytes| bytes as i64)
    }

    /// The sum over the rows of which all arguments are there.
    pub(super) fn sum(&self, of_row: impl Fn(usize) -> i64) -> i64 {
        let is_there = |row: &usize| {
            (0..self.len()).all(|place| self.array(place).is_valid(self.index(place, *row)))
        };
        (0..self.rows).filter(is_there).fold(0, |sum, row| sum.saturating_add(of_row(row)))
    }
}
