//! The least and greatest value of a column as text, and back.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;

/// What is kept of a text.
const TEXT_CHARS_MAX: usize = 64;

/// A value as it is kept, if it comes back from that as it was; of a long text the beginning.
pub(super) fn text_of(value: &ScalarValue) -> Option<String> {
    let text = match value.cast_to(&DataType::Utf8).ok()? {
        ScalarValue::Utf8(text) => text?,
        _ => return None,
    };
    if value.data_type() == DataType::Utf8 {
        return Some(text.chars().take(TEXT_CHARS_MAX).collect());
    }
    (scalar_of(&text, &value.data_type()).as_ref() == Some(value)).then_some(text)
}

/// The value that a text means in a column of a type.
pub(super) fn scalar_of(text: &str, data_type: &DataType) -> Option<ScalarValue> {
    let value = ScalarValue::Utf8(Some(text.to_owned())).cast_to(data_type).ok()?;
    (!value.is_null()).then_some(value)
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;

    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        for value in [
            ScalarValue::Int32(Some(i32::MIN)),
            ScalarValue::Int64(Some(i64::MAX)),
            ScalarValue::Float32(Some(0.1)),
            ScalarValue::Float64(Some(-0.0)),
            ScalarValue::Float64(Some(f64::MIN_POSITIVE / 4.0)),
            ScalarValue::Float64(Some(f64::MAX)),
            ScalarValue::Decimal128(Some(-12_345), 38, 3),
            ScalarValue::Decimal256(Some(i256::from_i128(i128::MAX)), 76, 10),
            ScalarValue::Date32(Some(-719_528)),
            ScalarValue::Time64Nanosecond(Some(86_399_999_999_999)),
            ScalarValue::TimestampSecond(Some(-1), None),
            ScalarValue::TimestampMillisecond(Some(1_700_000_000_123), None),
            ScalarValue::TimestampMicrosecond(Some(1), None),
            ScalarValue::TimestampNanosecond(Some(i64::MAX), None),
            ScalarValue::Utf8(Some("two\nlines and 'quotes'".to_owned())),
            ScalarValue::Utf8(Some(String::new())),
        ] {
            let text = text_of(&value).unwrap_or_else(|| panic!("{value:?} has no text"));
            assert_eq!(scalar_of(&text, &value.data_type()), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_of_the_type_is_left_out() {
        assert_eq!(text_of(&ScalarValue::Int32(None)), None);
        assert_eq!(scalar_of("seven", &DataType::Int32), None);
        assert_eq!(scalar_of("", &DataType::Date32), None);
        let long = ScalarValue::Utf8(Some("ä".repeat(1_000)));
        assert_eq!(text_of(&long), Some("ä".repeat(64)));
    }
}
