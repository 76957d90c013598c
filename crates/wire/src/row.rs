//! A row of a table, or its key.

use prost::Message;
use tonnage::{Error, Result, Row, Value};

use crate::value::CellMessage;

/// A row: the values of some or all of its columns, by their names.
#[derive(Clone, PartialEq, Message)]
pub struct RowMessage {
    #[prost(message, repeated, tag = "1")]
    cells: Vec<CellMessage>,
}

impl RowMessage {
    /// The message of a row.
    pub fn of(row: &Row) -> Self {
        Self::of_cells(row.iter())
    }

    /// The message of values, each with the name of its column.
    pub fn of_cells<'a>(cells: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Self {
        let cells = cells.into_iter().map(|(name, value)| CellMessage::new(name, value));
        Self { cells: cells.collect() }
    }

    /// The row of a message.
    ///
    /// # Errors
    /// `Invalid` for bytes that are no such message, and values that are none of their type.
    pub fn read(bytes: &[u8]) -> Result<Row> {
        let message = RowMessage::decode(bytes)
            .map_err(|error| Error::invalid(format!("no row in Protocol Buffers: {error}")))?;
        message.cells.into_iter().map(CellMessage::into_value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::i256;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn leaf() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Boolean),
            any::<i32>().prop_map(Value::Integer),
            any::<i64>().prop_map(Value::Long),
            any::<f32>().prop_filter("equal to itself", |f| !f.is_nan()).prop_map(Value::Float),
            any::<f64>().prop_filter("equal to itself", |f| !f.is_nan()).prop_map(Value::Double),
            (any::<i128>(), any::<i8>())
                .prop_map(|(unscaled, scale)| Value::Number { unscaled, scale }),
            (any::<[u8; 32]>(), any::<i8>())
                .prop_map(|(digits, scale)| Value::number(i256::from_be_bytes(digits), scale)),
            (-300_i128..300, 0..3_i8)
                .prop_map(|(unscaled, scale)| Value::Number { unscaled, scale }),
            ".*".prop_map(Value::String),
            vec(any::<u8>(), 0..40).prop_map(Value::Binary),
            (any::<i64>(), 0..=9_u8)
                .prop_map(|(value, precision)| Value::Timestamp { value, precision }),
            any::<[u8; 16]>().prop_map(Value::Uuid),
            ".*".prop_map(Value::Json),
            any::<i32>().prop_map(Value::Date),
            any::<i64>().prop_map(Value::Time),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        leaf().prop_recursive(3, 20, 4, |inner| {
            let named = || vec(("[a-z]{0,3}", inner.clone()), 0..4);
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::Array),
                named().prop_map(Value::Map),
                named().prop_map(Value::Record),
            ]
        })
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_went(values in vec(value(), 0..8)) {
            let named = values.into_iter().enumerate();
            let row: Row =
                named.map(|(number, value)| (format!("column{number}"), value)).collect();
            prop_assert_eq!(RowMessage::read(&RowMessage::of(&row).encode_to_vec()).unwrap(), row);
        }

        #[test]
        fn bytes_of_any_kind_are_a_row_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
            if let Err(error) = RowMessage::read(&bytes) {
                prop_assert_eq!(error.kind(), tonnage::ErrorKind::Invalid);
            }
        }

        #[test]
        fn a_row_that_is_damaged_is_another_row_or_an_error(
            values in vec(value(), 1..5), place in any::<proptest::sample::Index>(), byte in any::<u8>()
        ) {
            let named = values.into_iter().enumerate();
            let row: Row =
                named.map(|(number, value)| (format!("column{number}"), value)).collect();
            let mut bytes = RowMessage::of(&row).encode_to_vec();
            let at = place.index(bytes.len());
            bytes[at] = byte;
            if let Err(error) = RowMessage::read(&bytes) {
                prop_assert_eq!(error.kind(), tonnage::ErrorKind::Invalid);
            }
        }
    }

    #[test]
    fn values_that_are_none_of_their_type_are_refused_with_the_column() {
        // A UUID of one byte, in column `u`.
        let bytes = [10, 6, 10, 1, b'u', 90, 1, 7];
        let error = RowMessage::read(&bytes).unwrap_err().to_string();
        assert!(error.contains("column u") && error.contains("16 bytes, not 1"), "{error}");
    }
}
