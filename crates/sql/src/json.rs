//! `json_set`: a JSON document with one of its values replaced. Everything that reads from
//! documents comes from a library.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use serde_json::Value as Json;
use tonnage::{ColumnType, Value};

use crate::error::into_datafusion;

/// `json_set(document, key | index, ..., value)`.
pub(crate) fn json_set() -> ScalarUDF {
    ScalarUDF::new_from_impl(JsonSet { signature: Signature::variadic_any(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct JsonSet {
    signature: Signature,
}

impl ScalarUDFImpl for JsonSet {
    fn name(&self) -> &str {
        "json_set"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        if arguments.arg_fields.len() < 3 {
            return plan_err!(
                "json_set takes a document, the keys and indices that lead to a value, and the value"
            );
        }
        Ok(Arc::new(ColumnType::Json.to_arrow(self.name(), true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let arrays = arguments
            .args
            .iter()
            .map(|argument| argument.to_array(rows))
            .collect::<Result<Vec<_>>>()?;
        let cells: Vec<(&ArrayRef, &FieldRef)> = arrays.iter().zip(&arguments.arg_fields).collect();
        let set = (0..rows).map(|row| set_in_row(&cells, row)).collect::<Result<StringArray>>()?;
        Ok(ColumnarValue::Array(Arc::new(set)))
    }
}

fn set_in_row(cells: &[(&ArrayRef, &FieldRef)], row: usize) -> Result<Option<String>> {
    let [(document, _), path @ .., value] = cells else {
        return exec_err!("json_set takes at least three arguments");
    };
    if document.is_null(row) {
        return Ok(None);
    }
    let field = Field::new("document", document.data_type().clone(), true);
    let text = cell((document, &Arc::new(field)), row)?.to_string();
    let mut document: Json = match serde_json::from_str(&text) {
        Ok(document) => document,
        Err(error) => return exec_err!("json_set: the document is not JSON: {error}"),
    };
    let mut place = &mut document;
    for part in path {
        place = step(place, &cell(*part, row)?)?;
    }
    *place = cell(*value, row)?.to_json();
    Ok(Some(document.to_string()))
}

fn cell((array, field): (&ArrayRef, &FieldRef), row: usize) -> Result<Value> {
    if *array.data_type() == DataType::Null {
        return Ok(Value::Null);
    }
    Value::from_array(array.as_ref(), field, row).map_err(into_datafusion)
}

/// The value below another by key or index, made where there is none: an object's new key, or the
/// place right behind an array.
fn step<'a>(place: &'a mut Json, part: &Value) -> Result<&'a mut Json> {
    if place.is_null() {
        *place = if matches!(part, Value::String(_)) {
            Json::Object(serde_json::Map::new())
        } else {
            Json::Array(Vec::new())
        };
    }
    match (place, part) {
        (Json::Object(object), Value::String(key)) => {
            Ok(object.entry(key.as_str()).or_insert(Json::Null))
        }
        (Json::Array(array), Value::Integer(_) | Value::Long(_)) => {
            let index = match part.convert_to(ColumnType::Long) {
                Ok(Value::Long(index)) => {
                    usize::try_from(index).ok().filter(|index| *index <= array.len())
                }
                _ => None,
            };
            let Some(index) = index else {
                return exec_err!(
                    "json_set: there is no place {part} in an array of {}",
                    array.len()
                );
            };
            if index == array.len() {
                array.push(Json::Null);
            }
            Ok(&mut array[index])
        }
        (_, part) => exec_err!(
            "json_set: what stands there has no '{part}': keys lead into objects, indices into arrays"
        ),
    }
}
