//! `_read_text`: the values that texts spell, row by row, with all of their digits.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tonnage::{ColumnType, Value};

use crate::access::array_of;
use crate::errors::into_datafusion;

const NAME: &str = "_read_text";

/// A text read as a value of another type: a decimal, bytes, a UUID or a timestamp.
pub(super) fn read_text(text: Expr, kind: &DataType) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let func = ScalarUDF::new_from_impl(TextReader { kind: kind.clone(), signature });
    Expr::ScalarFunction(ScalarFunction { func: Arc::new(func), args: vec![text] })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TextReader {
    kind: DataType,
    signature: Signature,
}

impl TextReader {
    /// The type of column that reads such texts.
    fn column_type(&self) -> Option<ColumnType> {
        match &self.kind {
            DataType::Decimal256(precision, scale) => {
                Some(ColumnType::Number { precision: *precision, scale: *scale })
            }
            DataType::Binary => Some(ColumnType::Binary),
            DataType::FixedSizeBinary(16) => Some(ColumnType::Uuid),
            DataType::Timestamp(TimeUnit::Microsecond, None) => Some(ColumnType::Timestamp(6)),
            DataType::Timestamp(TimeUnit::Nanosecond, None) => Some(ColumnType::Timestamp(9)),
            _ => None,
        }
    }
}

impl ScalarUDFImpl for TextReader {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.kind.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(column_type) = self.column_type() else {
            return exec_err!("{NAME} reads no {}", self.kind);
        };
        let given = arguments.args[0].to_array(arguments.number_rows)?;
        // CASE has the type of its first value until the texts in it are read. So what was a text
        // when this was planned may be a value since.
        if !given.data_type().is_string() {
            return Ok(ColumnarValue::Array(cast(&given, &self.kind)?));
        }
        let texts = cast(&given, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        let value =
            |text: Option<&str>| text.map_or(Ok(Value::Null), |text| read(text, column_type));
        let values = texts.iter().map(value).collect::<Result<Vec<Value>>>()?;
        let values: ArrayRef = array_of(&values, column_type).map_err(into_datafusion)?;
        debug_assert_eq!(values.data_type(), &self.kind);
        Ok(ColumnarValue::Array(values))
    }
}

/// The value of a text, unless some of its digits would be lost.
fn read(text: &str, column_type: ColumnType) -> Result<Value> {
    let value = match Value::parse(text, column_type) {
        Ok(value) => value,
        // Nanoseconds reach from 1677 to 2262. What is outside is before or after all of them.
        Err(_) if column_type == ColumnType::Timestamp(9) => {
            return match Value::parse(text, ColumnType::Timestamp(6)) {
                Ok(Value::Timestamp { value, .. }) => {
                    let value = value.saturating_mul(1_000);
                    Ok(Value::Timestamp { value, precision: 9 })
                }
                Ok(_) => exec_err!("'{text}' is not a timestamp"),
                Err(error) => exec_err!("{}", error.message()),
            };
        }
        Err(error) => return exec_err!("{}", error.message()),
    };
    match Value::String(text.to_owned()).is_kept_as(&value) {
        true => Ok(value),
        false => exec_err!(
            "'{text}' has more digits than values that are compared: CAST it to a type first"
        ),
    }
}
