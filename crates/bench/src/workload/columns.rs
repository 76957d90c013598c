//! Rows that follow from their numbers, so that nothing is kept for each.

use std::sync::Arc;

use tonnage::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampSecondArray,
};
use tonnage::{Error, Result, Row, Value};

use crate::generate::ValueGenerator;
use crate::system::{PairSource, Rows};

/// A column: what each number has in it.
#[derive(Clone)]
pub(super) enum Column {
    Boolean(fn(u64) -> bool),
    Long(fn(u64) -> i64),
    Integer(fn(u64) -> i32),
    Double(fn(u64) -> f64),
    /// Seconds.
    Timestamp(fn(u64) -> i64),
    Text(fn(u64) -> String),
    Binary(Arc<ValueGenerator>),
}

pub(super) type NamedColumn = (&'static str, Column);

pub(super) fn row(columns: &[NamedColumn], number: u64) -> Row {
    let mut row = Row::with_capacity(columns.len());
    for (name, column) in columns {
        let value: Value = match column {
            Column::Boolean(of) => of(number).into(),
            Column::Long(of) => of(number).into(),
            Column::Integer(of) => of(number).into(),
            Column::Double(of) => of(number).into(),
            Column::Timestamp(of) => Value::Timestamp { value: of(number), precision: 0 },
            Column::Text(of) => of(number).into(),
            Column::Binary(values) => values.of(number).into(),
        };
        row.set(name, value);
    }
    row
}

pub(super) fn batch(
    columns: &[NamedColumn],
    numbers: impl Iterator<Item = u64> + Clone,
) -> Result<RecordBatch> {
    // `row` has the twin of this table: the same kinds of columns, one value at a time.
    let array = |(name, column): &NamedColumn| {
        let numbers = numbers.clone();
        let array: ArrayRef = match column {
            Column::Boolean(of) => {
                Arc::new(numbers.map(|number| Some(of(number))).collect::<BooleanArray>())
            }
            Column::Long(of) => Arc::new(Int64Array::from_iter_values(numbers.map(of))),
            Column::Integer(of) => Arc::new(Int32Array::from_iter_values(numbers.map(of))),
            Column::Double(of) => Arc::new(Float64Array::from_iter_values(numbers.map(of))),
            Column::Timestamp(of) => {
                Arc::new(TimestampSecondArray::from_iter_values(numbers.map(of)))
            }
            Column::Text(of) => Arc::new(StringArray::from_iter_values(numbers.map(of))),
            Column::Binary(values) => {
                Arc::new(BinaryArray::from_iter_values(numbers.map(|number| values.of(number))))
            }
        };
        (*name, array)
    };
    RecordBatch::try_from_iter(columns.iter().map(array))
        .map_err(|error| Error::internal(format!("a batch of rows: {error}")))
}

pub(super) const BATCH_ROWS: usize = 8_192;

pub(super) fn batches(
    columns: &[NamedColumn],
    mut numbers: impl Iterator<Item = u64> + Send + 'static,
) -> Rows {
    let columns = columns.to_vec();
    Box::new(std::iter::from_fn(move || {
        let some: Vec<u64> = numbers.by_ref().take(BATCH_ROWS).collect();
        (!some.is_empty()).then(|| batch(&columns, some.iter().copied()))
    }))
}

/// Pairs of numbers, or without values their keys, so many at a time.
pub(super) fn pairs(
    mut numbers: impl Iterator<Item = u64> + Send + 'static,
    batch_rows: usize,
    key: impl Fn(u64) -> [u8; 16] + Send + 'static,
    values: Option<Arc<ValueGenerator>>,
) -> PairSource {
    Box::new(move |sink| {
        let mut batch = numbers.by_ref().take(batch_rows).peekable();
        let more = batch.peek().is_some();
        for number in batch {
            let value = values.as_ref().map_or(&[][..], |values| values.of(number));
            sink(&key(number), value)?;
        }
        Ok(more)
    })
}
