//! `json_set`: a document with one of its values replaced.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use tonnage::{ColumnType, Value};

use super::scan::{Kind, all_members, items};
use super::write::{quote, write};
use crate::errors::into_datafusion;

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
    let [(document, _), path @ .., (value, field)] = cells else {
        return exec_err!("json_set takes at least three arguments");
    };
    if document.is_null(row) {
        return Ok(None);
    }
    let text_field = Field::new("document", document.data_type().clone(), true);
    let text = cell((document, &Arc::new(text_field)), row)?.to_string();
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        return exec_err!("json_set: the document is not JSON: {error}");
    }
    let path = path.iter().map(|part| cell(*part, row)).collect::<Result<Vec<_>>>()?;
    if let Some(Value::String(computed)) = path.iter().find(|step| is_path(step)) {
        return exec_err!(
            "json_set: the path '{computed}' is computed, and would be one name: write it as a literal, or give its steps one by one, as in json_set(doc, 'a', 'b', value)"
        );
    }
    let mut new = String::new();
    write(&mut new, value.as_ref(), field, row)?;
    set(text.trim(), &path, &new).map(Some)
}

/// Whether a step is a whole path. Those that are literals have been taken apart.
fn is_path(step: &Value) -> bool {
    matches!(step, Value::String(text) if text == "$" || text.starts_with("$.") || text.starts_with("$["))
}

fn cell((array, field): (&ArrayRef, &FieldRef), row: usize) -> Result<Value> {
    if *array.data_type() == DataType::Null {
        return Ok(Value::Null);
    }
    Value::from_array(array.as_ref(), field, row).map_err(into_datafusion)
}

/// A document with a value where the path leads. What is missing on the way is created: an object's
/// new member, or the item right after an array.
fn set(document: &str, path: &[Value], new: &str) -> Result<String> {
    let Some((step, rest)) = path.split_first() else { return Ok(new.to_owned()) };
    match (Kind::of(document), step) {
        (Kind::Object, Value::String(name)) => set_member(all_members(document)?, name, rest, new),
        (Kind::Null, Value::String(name)) => set_member(Vec::new(), name, rest, new),
        (Kind::Array, Value::Integer(_) | Value::Long(_)) => {
            set_item(&items(document)?, step, rest, new)
        }
        (Kind::Null, Value::Integer(_) | Value::Long(_)) => set_item(&[], step, rest, new),
        _ => exec_err!(
            "json_set: what is there has no '{step}': keys lead into objects, indices into arrays"
        ),
    }
}

/// Members that a reader does not see stay too: of a name that occurs twice the first counts.
fn set_member(
    members: Vec<(String, &str)>,
    name: &str,
    rest: &[Value],
    new: &str,
) -> Result<String> {
    let mut parts = Vec::with_capacity(members.len() + 1);
    let mut is_set = false;
    for (known, value) in members {
        let is_wanted = known == name && !is_set;
        is_set |= is_wanted;
        let value = if is_wanted { set(value, rest, new)? } else { value.to_owned() };
        parts.push(format!("{}:{value}", quote(&known)));
    }
    if !is_set {
        parts.push(format!("{}:{}", quote(name), set("null", rest, new)?));
    }
    Ok(format!("{{{}}}", parts.join(",")))
}

fn set_item(items: &[&str], step: &Value, rest: &[Value], new: &str) -> Result<String> {
    let place = match step.convert_to(ColumnType::Long) {
        Ok(Value::Long(place)) => usize::try_from(place).ok().filter(|place| *place <= items.len()),
        _ => None,
    };
    let Some(place) = place else {
        return exec_err!("json_set: there is no place {step} in an array of {}", items.len());
    };
    let mut parts: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
    let set = set(items.get(place).unwrap_or(&"null"), rest, new)?;
    match parts.get_mut(place) {
        Some(part) => *part = set,
        None => parts.push(set),
    }
    Ok(format!("[{}]", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_at(document: &str, path: &[Value]) -> String {
        set(document, path, "true").unwrap()
    }

    #[test]
    fn what_is_not_set_stays_as_it_is_written() {
        // All numbers of the document became doubles once.
        let document = r#"{"a": 123456789012345678901234567890, "b": [1.10, 1e400], "a": 2}"#;
        assert_eq!(
            set_at(document, &["c".into()]),
            r#"{"a":123456789012345678901234567890,"b":[1.10, 1e400],"a":2,"c":true}"#
        );
        assert_eq!(
            set_at(document, &["b".into(), 2.into()]),
            r#"{"a":123456789012345678901234567890,"b":[1.10,1e400,true],"a":2}"#
        );
        assert_eq!(set_at(document, &["a".into()]), r#"{"a":true,"b":[1.10, 1e400],"a":2}"#);
    }

    #[test]
    fn missing_members_on_the_path_are_created() {
        assert_eq!(set_at("null", &["a".into(), 0.into()]), r#"{"a":[true]}"#);
        assert_eq!(set_at(r#"{"a":null}"#, &["a".into(), "b".into()]), r#"{"a":{"b":true}}"#);
        assert!(set("[1]", &[2.into()], "true").is_err());
        assert!(set("[1]", &["a".into()], "true").is_err());
        assert!(set("5", &["a".into()], "true").is_err());
    }
}
