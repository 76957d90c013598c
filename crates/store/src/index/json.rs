//! JSON paths as cells of an index.
//!
//! `01` comes before the value at the path. The order of these bytes is the order across types:
//!
//! | bytes | what |
//! |---|---|
//! | `01`, then 0 or 1 | false or true |
//! | `02`, then 8 | a number, as a DOUBLE in a key: numbers are told apart as far as doubles can |
//! | `03`, then the text as a STRING in a key | text |
//! | `04` | an object or an array, whatever it holds |
//!
//! A path that the document lacks, and JSON's null, are NULL. If a name comes twice in an object,
//! the first counts, as in SQL.

use std::borrow::Cow;
use std::fmt;

use arrow::array::{Array, ArrayRef, AsArray};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use tonnage_engine::{Error, KeyPart, Result, Slices};

use super::cell_marker::{NULL, PRESENT};
use super::path_step::PathStep;
use crate::codec::{FieldRange, RangeEnds, key_f64, push_escaped};
use crate::schema::ColumnType;
use crate::value::Value;
use crate::value::json_text::{self, JsonKind};

const BOOLEAN: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const NESTED: u8 = 4;

/// What a place in a document holds.
#[derive(Debug, PartialEq)]
pub(super) enum JsonScalar<'a> {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Cow<'a, str>),
    Nested,
}

/// The cells of one place in the documents of a column.
pub(super) fn encode(array: &ArrayRef, path: &[PathStep]) -> Slices {
    let documents = array.as_string::<i32>();
    let mut cells = Slices::with_capacity(array.len(), array.len() * 16);
    for row in 0..documents.len() {
        let pushed: std::result::Result<(), ()> = cells.push_with(|cell| {
            match documents.is_valid(row) {
                true => push_path_cell(documents.value(row), path, cell),
                false => cell.push(NULL),
            }
            Ok(())
        });
        debug_assert!(pushed.is_ok(), "nothing fails here");
    }
    cells
}

/// Appends the cell of one place in a document. Documents are checked when they are stored; one
/// that cannot be read has nothing anywhere.
pub(super) fn push_path_cell(document: &str, path: &[PathStep], cell: &mut Vec<u8>) {
    let mut reader = serde_json::Deserializer::from_str(document);
    let read = JsonPathSeed(path).deserialize(&mut reader).ok();
    let scalar = read.or_else(|| scalar_of_members(document, path)).unwrap_or(JsonScalar::Null);
    push_scalar(&scalar, cell);
}

/// What the place holds in a document that the reader above gives up, for it has a name that is no
/// text, such as `"\ud800"`. It is JSON all the same, and SQL finds what precedes that name.
/// Numbers beyond all doubles are left out.
#[cold]
fn scalar_of_members<'d>(document: &'d str, path: &[PathStep]) -> Option<JsonScalar<'d>> {
    let mut text = document.trim();
    for step in path {
        if JsonKind::of(text) != JsonKind::Object {
            return None;
        }
        text = json_text::first_member(text, step.name()?)?;
    }
    scalar_of_text(text)
}

/// What a text that is JSON holds; nothing for a number beyond all doubles.
pub(super) fn scalar_of_text(text: &str) -> Option<JsonScalar<'_>> {
    Some(match JsonKind::of(text) {
        JsonKind::Null => JsonScalar::Null,
        JsonKind::Boolean => JsonScalar::Boolean(text == "true"),
        JsonKind::Number => {
            JsonScalar::Number(text.parse().ok().filter(|number: &f64| number.is_finite())?)
        }
        JsonKind::String => JsonScalar::Text(Cow::Owned(json_text::string(text).ok()?)),
        JsonKind::Object | JsonKind::Array => JsonScalar::Nested,
    })
}

/// Appends the cell that is asked for with a value.
///
/// # Errors
/// `Invalid` for a value that no place can hold.
pub(super) fn push_value(value: &Value, cell: &mut Vec<u8>) -> Result<()> {
    push_scalar(&query_scalar(value)?, cell);
    Ok(())
}

/// The ends of a range. It stays among values of one type: those of its ends.
///
/// # Errors
/// `Invalid` for ends that no place can hold, or of two types.
pub(super) fn range_ends(range: &FieldRange) -> Result<RangeEnds> {
    let end = |end: &Option<(Value, bool)>| -> Result<Option<(Vec<u8>, bool)>> {
        let Some((value, inclusive)) = end else { return Ok(None) };
        let mut cell = Vec::new();
        push_value(value, &mut cell)?;
        match cell.split_first() {
            Some((&PRESENT, part)) => Ok(Some((part.to_vec(), *inclusive))),
            _ => Err(Error::invalid("an end is NULL; leave it out instead")),
        }
    };
    let (low, high) = (end(&range.low)?, end(&range.high)?);
    let kind = |end: &Option<(Vec<u8>, bool)>| end.as_ref().map(|(part, _)| part[0]);
    if let (Some(low), Some(high)) = (kind(&low), kind(&high))
        && low != high
    {
        return Err(Error::invalid("the ends are of two types: ask for numbers, text or booleans"));
    }
    let least = kind(&high).map(|kind| (vec![kind], true));
    let first_past = kind(&low).map(|kind| (vec![kind + 1], false));
    Ok(RangeEnds::of_bytes(low.or(least), high.or(first_past)))
}

/// Where the cell ends whose value begins at `start`.
pub(super) fn cell_end(entry: &[u8], start: usize) -> Option<usize> {
    match *entry.get(start)? {
        BOOLEAN => KeyPart::Fixed(1).end(entry, start + 1),
        NUMBER => KeyPart::Fixed(8).end(entry, start + 1),
        TEXT => KeyPart::Terminated.end(entry, start + 1),
        NESTED => Some(start + 1),
        _ => None,
    }
}

pub(super) fn push_scalar(scalar: &JsonScalar<'_>, cell: &mut Vec<u8>) {
    match scalar {
        JsonScalar::Null => cell.push(NULL),
        JsonScalar::Boolean(value) => cell.extend_from_slice(&[PRESENT, BOOLEAN, u8::from(*value)]),
        JsonScalar::Number(value) => {
            cell.extend_from_slice(&[PRESENT, NUMBER]);
            cell.extend_from_slice(&key_f64(*value));
        }
        JsonScalar::Text(text) => {
            cell.extend_from_slice(&[PRESENT, TEXT]);
            push_escaped(text.as_bytes(), cell);
        }
        JsonScalar::Nested => cell.extend_from_slice(&[PRESENT, NESTED]),
    }
}

fn query_scalar(value: &Value) -> Result<JsonScalar<'_>> {
    Ok(match value {
        Value::Null => JsonScalar::Null,
        Value::Boolean(value) => JsonScalar::Boolean(*value),
        Value::String(text) => JsonScalar::Text(Cow::Borrowed(text)),
        Value::Integer(_)
        | Value::Long(_)
        | Value::Float(_)
        | Value::Double(_)
        | Value::Number { .. }
        | Value::WideNumber(_) => match value.convert_to(ColumnType::Double)? {
            Value::Double(value) => JsonScalar::Number(value),
            _ => return Err(Error::internal("a number is not a double")),
        },
        other => {
            return Err(Error::invalid(format!(
                "a value of type {} is asked for: places in JSON hold text, numbers and booleans",
                other.type_name()
            )));
        }
    })
}

/// Reads the value at the end of a path, and passes over everything else without keeping it.
struct JsonPathSeed<'p>(&'p [PathStep]);

impl<'de> DeserializeSeed<'de> for JsonPathSeed<'_> {
    type Value = JsonScalar<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<JsonScalar<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl JsonPathSeed<'_> {
    fn at_path_end<'de>(&self, scalar: JsonScalar<'de>) -> JsonScalar<'de> {
        if self.0.is_empty() { scalar } else { JsonScalar::Null }
    }
}

impl<'de> Visitor<'de> for JsonPathSeed<'_> {
    type Value = JsonScalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(JsonScalar::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Boolean(value)))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Number(value as f64)))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Number(value as f64)))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Number(value)))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<JsonScalar<'de>, E> {
        Ok(self.at_path_end(JsonScalar::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut items: A,
    ) -> std::result::Result<JsonScalar<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.at_path_end(JsonScalar::Nested))
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut fields: A,
    ) -> std::result::Result<JsonScalar<'de>, A::Error> {
        let Some((first, rest)) = self.0.split_first() else {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(JsonScalar::Nested);
        };
        let mut found = None;
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            match found.is_none() && first.name() == Some(&*name) {
                true => found = Some(fields.next_value_seed(JsonPathSeed(rest))?),
                false => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found.unwrap_or(JsonScalar::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(document: &str, path: &str) -> Vec<u8> {
        let path: Vec<PathStep> = path.split('.').map(PathStep::from).collect();
        let mut cell = Vec::new();
        push_path_cell(document, &path, &mut cell);
        cell
    }

    fn asked_for(value: impl Into<Value>) -> Vec<u8> {
        let mut cell = Vec::new();
        push_value(&value.into(), &mut cell).unwrap();
        cell
    }

    #[test]
    fn a_place_is_found_wherever_it_stands() {
        let document = r#"{"x": [1, {"a": 9}], "a": {"c": 1, "b": "A\u0000"}, "n": -2.5, "t": true, "z": null}"#;
        assert_eq!(cell(document, "a.b"), asked_for("A\0"));
        assert_eq!(cell(document, "n"), asked_for(-2.5));
        assert_eq!(cell(document, "a.c"), asked_for(1));
        assert_eq!(cell(document, "t"), asked_for(true));
        for missing in ["z", "q", "a.q", "n.q", "a.b.c", "x.a"] {
            assert_eq!(cell(document, missing), [NULL], "{missing}");
        }
        assert_eq!(
            (cell(document, "a"), cell(document, "x")),
            (vec![PRESENT, NESTED], vec![PRESENT, NESTED])
        );
    }

    #[test]
    fn the_first_of_two_equal_names_counts() {
        assert_eq!(cell(r#"{"a": {"b": 1}, "a": {"b": 2}}"#, "a.b"), asked_for(1));
        assert_eq!(cell(r#"{"a": {"c": 1}, "a": {"b": 2}}"#, "a.b"), [NULL]);
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_place() {
        for document in [
            r#"{"a": {"b": 1}, "\ud800": 2}"#,
            r#"{"a": {"b": 1, "\udc00": 2}}"#,
            r#" {"\ud800": {"b": 2}, "\u0061" : {"b" :1 }} "#,
            r#"{"a": {"b": 1, "c": {"\ud800": 1e400}}, "a": {"b": 2}, "\ud800": 2}"#,
        ] {
            assert_eq!(cell(document, "a.b"), asked_for(1), "{document}");
            assert_eq!(cell(document, "a.b.c"), [NULL], "{document}");
            assert_eq!(cell(document, "q"), [NULL], "{document}");
        }
        let document = r#"{"a": 1e400, "n": 1e4, "t": "x", "s": "\ud800", "\ud800": 2}"#;
        assert_eq!(cell(document, "a"), [NULL]);
        assert_eq!(cell(document, "n"), asked_for(1e4));
        assert_eq!(cell(document, "t"), asked_for("x"));
        assert_eq!(cell(document, "s"), [NULL]);
    }

    #[test]
    fn the_order_across_types_is_null_booleans_numbers_text_nested() {
        let documents = [
            "{}",
            r#"{"a":false}"#,
            r#"{"a":true}"#,
            r#"{"a":-1e300}"#,
            r#"{"a":3}"#,
            r#"{"a":""}"#,
            r#"{"a":"b"}"#,
        ];
        let mut cells: Vec<_> = documents.map(|document| cell(document, "a")).into();
        cells.push(cell(r#"{"a":[]}"#, "a"));
        assert!(cells.is_sorted_by(|left, right| left < right), "{cells:?}");
        for cell in &cells[1..] {
            assert_eq!(cell_end(cell, 1), Some(cell.len()));
        }
    }

    #[test]
    fn a_range_stays_among_values_of_its_type() {
        let bounds = |range: FieldRange| {
            let (mut start, mut end) = (vec![PRESENT], vec![PRESENT + 1]);
            range_ends(&range).unwrap().narrow(&[PRESENT], &mut start, &mut end);
            move |document: &str| {
                (start.as_slice()..end.as_slice()).contains(&cell(document, "a").as_slice())
            }
        };
        let above = bounds(FieldRange::of("a").after(3));
        assert!(
            above(r#"{"a":3.5}"#) && !above(r#"{"a":3}"#) && !above(r#"{"a":"x"}"#) && !above("{}")
        );
        let below = bounds(FieldRange::of("a").to("m"));
        assert!(
            below(r#"{"a":"m"}"#)
                && below(r#"{"a":""}"#)
                && !below(r#"{"a":3}"#)
                && !below(r#"{"a":"n"}"#)
        );
        assert!(range_ends(&FieldRange::of("a").from(1).to("x")).is_err());
    }
}
