//! `lpad`, `rpad`, `repeat`, `array_repeat` and `array_resize` of the library, for lengths that it
//! does not bear.
//!
//! It asks for the memory of all rows of a batch at once. To `lpad` and `rpad` a length below zero
//! is one that no memory holds, which panics. Where the memory is not there the process ends.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::compute::kernels::length::length;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::functions::{string, unicode};
use datafusion::functions_nested::{repeat::array_repeat_udf, resize::array_resize_udf};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// What the texts or lists of one batch may have.
const BYTES_MAX: i64 = 512 << 20;
/// What an item of a list takes at least, with the number that it is taken by.
const ITEM_BYTES: i64 = 16;

pub(super) fn functions() -> [ScalarUDF; 5] {
    [
        (unicode::lpad(), LengthUnit::Letter),
        (unicode::rpad(), LengthUnit::Letter),
        (string::repeat(), LengthUnit::Text),
        (array_repeat_udf(), LengthUnit::Item),
        (array_resize_udf(), LengthUnit::Item),
    ]
    .map(|(inner, unit)| ScalarUDF::new_from_impl(Lengthened { inner, unit }))
}

/// What the second argument is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LengthUnit {
    Letter,
    Text,
    Item,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Lengthened {
    inner: Arc<ScalarUDF>,
    unit: LengthUnit,
}

impl Lengthened {
    /// Refuses what is too long together.
    fn check(&self, values: &ArrayRef, counts: &Int64Array) -> Result<()> {
        let lengths = match self.unit {
            LengthUnit::Text => Some(cast(&length(values)?, &DataType::Int64)?),
            LengthUnit::Letter | LengthUnit::Item => None,
        };
        let lengths = lengths.as_ref().map(|lengths| lengths.as_primitive::<Int64Type>());
        let is_counted = |row: &usize| {
            counts.is_valid(*row) && (self.unit == LengthUnit::Item || values.is_valid(*row))
        };
        let rows = (0..counts.len()).filter(is_counted);
        let bytes = rows.fold(0_i64, |bytes, row| {
            let each = match (self.unit, lengths) {
                (LengthUnit::Text, Some(lengths)) => lengths.value(row),
                (LengthUnit::Item, _) => ITEM_BYTES,
                _ => 1,
            };
            bytes.saturating_add(counts.value(row).max(0).saturating_mul(each))
        });
        match bytes > BYTES_MAX {
            true => exec_err!(
                "{}: this is too long: {bytes} bytes at once, of {BYTES_MAX} at most",
                self.name()
            ),
            false => Ok(()),
        }
    }
}

impl ScalarUDFImpl for Lengthened {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.return_field_from_args(arguments)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let values = arguments.args[0].to_array(rows)?;
        let counts = cast(&arguments.args[1].to_array(rows)?, &DataType::Int64)?;
        let counts = counts.as_primitive::<Int64Type>();
        self.check(&values, counts)?;
        if self.unit == LengthUnit::Letter && matches!(arguments.args[1], ColumnarValue::Array(_)) {
            let counts: Int64Array = counts.unary(|count| count.max(0));
            arguments.args[1] = ColumnarValue::Array(Arc::new(counts));
        }
        self.inner.invoke_with_args(arguments)
    }
}
