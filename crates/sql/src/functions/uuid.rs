//! Casts between text and UUID.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryBuilder, StringArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::Expr;
use tonnage::{ColumnType, Value};

use super::scalar::{Arguments, Gives, Scalar, ScalarWork, text_of};

/// A UUID as Arrow holds it.
pub(crate) const UUID: DataType = DataType::FixedSizeBinary(16);

const TEXT: Scalar = cast("_uuid_text", "CAST(uuid AS STRING)", || DataType::Utf8, uuid_texts);

pub(super) const ALL: [Scalar; 3] = [
    TEXT,
    cast("_uuid", "CAST(text AS UUID)", || UUID, |arguments| parse_uuids(arguments, false)),
    cast("_try_uuid", "TRY_CAST(text AS UUID)", || UUID, |arguments| parse_uuids(arguments, true)),
];

const fn cast(
    name: &'static str,
    form: &'static str,
    gives: fn() -> DataType,
    work: ScalarWork,
) -> Scalar {
    Scalar { name, form, count: (1, 1), gives: Gives::Type(gives), work }
}

/// A UUID as it is spelled.
pub(crate) fn uuid_text(uuid: Expr) -> Expr {
    TEXT.call(vec![uuid])
}

/// A text as the UUID that it spells; 16 bytes are one.
fn parse_uuids(arguments: &Arguments, is_tried: bool) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    if *array.data_type() == UUID {
        return Ok(array.clone());
    }
    let Ok(texts) = arguments.texts(0) else {
        return exec_err!("a UUID is made of text, not of {}", array.data_type());
    };
    let mut uuids = FixedSizeBinaryBuilder::with_capacity(arguments.rows, 16);
    for row in 0..arguments.rows {
        match text_of(&texts, row).map(|text| Value::parse(text, ColumnType::Uuid)) {
            Some(Ok(Value::Uuid(bytes))) => uuids.append_value(bytes)?,
            Some(Err(error)) if !is_tried => return exec_err!("{error}"),
            _ => uuids.append_null(),
        }
    }
    Ok(Arc::new(uuids.finish()))
}

fn uuid_texts(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    let Some(uuids) = array.as_fixed_size_binary_opt().filter(|uuids| uuids.value_length() == 16)
    else {
        return exec_err!("{} takes a UUID, not {}", arguments.name, array.data_type());
    };
    let text = |bytes: &[u8]| bytes.try_into().ok().map(|bytes| Value::Uuid(bytes).to_string());
    Ok(Arc::new(uuids.iter().map(|uuid| uuid.and_then(text)).collect::<StringArray>()))
}
