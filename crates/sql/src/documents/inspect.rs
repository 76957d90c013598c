//! Functions and operators that inspect documents: their kind, and what they contain.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::Result;

use super::member::has_member;
use super::scan::{Kind, checked, items, members, string};
use crate::functions::{Arguments, Gives, Scalar, text_of};

const fn predicate(
    name: &'static str,
    form: &'static str,
    work: fn(&Arguments) -> Result<ArrayRef>,
) -> Scalar {
    Scalar { name, form, count: (2, 2), gives: Gives::Type(|| DataType::Boolean), work }
}

pub(super) const ALL: [Scalar; 6] = [
    Scalar {
        name: "json_typeof",
        form: "json_typeof(document)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| kind_names(arguments, postgres_kind),
    },
    Scalar {
        name: "json_type",
        form: "json_type(document)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| kind_names(arguments, duckdb_kind),
    },
    predicate("_json_contains", "document @> '{\"a\": 1}'", |arguments| {
        let (whole, part) = (arguments.texts(0)?, arguments.texts(1)?);
        map_boolean(arguments, |row| match (text_of(&whole, row), text_of(&part, row)) {
            (Some(whole), Some(part)) => contains(checked(whole)?, checked(part)?, true).map(Some),
            _ => Ok(None),
        })
    }),
    predicate("_json_has", "document ? 'a'", |arguments| {
        let (documents, wanted) = (arguments.texts(0)?, arguments.texts(1)?);
        map_boolean(arguments, |row| match (text_of(&documents, row), text_of(&wanted, row)) {
            (Some(document), Some(wanted)) => has_name(document, wanted).map(Some),
            _ => Ok(None),
        })
    }),
    predicate("_json_has_any", "document ?| ARRAY['a', 'b']", |arguments| {
        has_names(arguments, false)
    }),
    predicate("_json_has_all", "document ?& ARRAY['a', 'b']", |arguments| {
        has_names(arguments, true)
    }),
];

fn kind_names(arguments: &Arguments, name: fn(&str) -> &'static str) -> Result<ArrayRef> {
    let texts = arguments.texts(0)?;
    arguments.map_text(|row| match text_of(&texts, row) {
        Some(text) => Ok(Some(name(checked(text)?).to_owned())),
        None => Ok(None),
    })
}

fn postgres_kind(text: &str) -> &'static str {
    match Kind::of(text) {
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Null => "null",
    }
}

fn duckdb_kind(text: &str) -> &'static str {
    match Kind::of(text) {
        Kind::Object => "OBJECT",
        Kind::Array => "ARRAY",
        Kind::String => "VARCHAR",
        Kind::Number if text.parse::<u64>().is_ok() => "UBIGINT",
        Kind::Number if text.parse::<i64>().is_ok() => "BIGINT",
        Kind::Number => "DOUBLE",
        Kind::Boolean => "BOOLEAN",
        Kind::Null => "NULL",
    }
}

fn map_boolean(
    arguments: &Arguments,
    of_row: impl FnMut(usize) -> Result<Option<bool>>,
) -> Result<ArrayRef> {
    Ok(Arc::new((0..arguments.rows).map(of_row).collect::<Result<BooleanArray>>()?))
}

/// Whether a document contains another, as PostgreSQL's `@>` says.
fn contains(whole: &str, part: &str, is_top: bool) -> Result<bool> {
    match (Kind::of(whole), Kind::of(part)) {
        (Kind::Object, Kind::Object) => {
            let known = members(whole)?;
            for (name, part) in members(part)? {
                let Some((_, whole)) = known.iter().find(|(known, _)| *known == name) else {
                    return Ok(false);
                };
                if !contains(whole, part, false)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Kind::Array, Kind::Array) => {
            // As in PostgreSQL order and repeats say nothing: each item need only be somewhere.
            let known = items(whole)?;
            for part in items(part)? {
                if !contains_item(&known, part)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        // An array contains a plain value that is one of its items.
        (Kind::Array, Kind::String | Kind::Number | Kind::Boolean | Kind::Null) if is_top => {
            contains_item(&items(whole)?, part)
        }
        (one, other) => Ok(one == other && is_same(one, whole, part)?),
    }
}

fn contains_item(known: &[&str], part: &str) -> Result<bool> {
    for item in known {
        if contains(item, part, false)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two plain values of one kind are equal.
fn is_same(kind: Kind, one: &str, other: &str) -> Result<bool> {
    Ok(match kind {
        Kind::String => string(one)? == string(other)?,
        Kind::Number => one == other || is_same_number(one, other),
        _ => one == other,
    })
}

/// Numbers by their digits where they are whole, and as doubles otherwise.
fn is_same_number(one: &str, other: &str) -> bool {
    match (one.parse::<i128>(), other.parse::<i128>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.parse::<f64>().ok() == other.parse::<f64>().ok(),
    }
}

fn has_name(document: &str, wanted: &str) -> Result<bool> {
    match Kind::of(document) {
        Kind::Object => has_member(document, wanted),
        _ => Ok(names(checked(document)?)?.iter().any(|name| name == wanted)),
    }
}

fn has_names(arguments: &Arguments, is_all: bool) -> Result<ArrayRef> {
    let documents = arguments.texts(0)?;
    let item = Field::new_list_field(DataType::Utf8, true);
    let lists = cast(&arguments.arrays[1], &DataType::List(item.into()))?;
    let lists = lists.as_list::<i32>();
    map_boolean(arguments, |row| {
        let Some(document) = text_of(&documents, row).filter(|_| lists.is_valid(row)) else {
            return Ok(None);
        };
        let names = names(checked(document)?)?;
        let wanted = lists.value(row);
        let mut wanted = wanted.as_string::<i32>().iter().flatten();
        let is_known = |name: &str| names.iter().any(|known| known == name);
        Ok(Some(if is_all { wanted.all(is_known) } else { wanted.any(is_known) }))
    })
}

/// The names of an object, the texts of an array, and a text itself.
fn names(document: &str) -> Result<Vec<String>> {
    match Kind::of(document) {
        Kind::Object => Ok(members(document)?.into_iter().map(|(name, _)| name).collect()),
        Kind::Array => {
            let texts = items(document)?.into_iter().filter(|item| Kind::of(item) == Kind::String);
            texts.map(string).collect()
        }
        Kind::String => Ok(vec![string(document)?]),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_is_that_of_postgresql() {
        for (whole, part, expected) in [
            (r#"{"a":1,"b":{"c":[1,2]}}"#, r#"{"b":{"c":[2]}}"#, true),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, true),
            (r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#, false),
            (r#"["foo","bar"]"#, r#""bar""#, true),
            (r#""bar""#, r#"["bar"]"#, false),
            ("[1,[2,3]]", "[2]", false),
            ("[1,2]", "[1,1,2]", true),
            (r#"{"a":"\u0041"}"#, r#"{"a":"A"}"#, true),
            ("{}", "{}", true),
            (r#"{"a":null}"#, r#"{"a":false}"#, false),
        ] {
            assert_eq!(contains(whole, part, true).unwrap(), expected, "{whole} @> {part}");
        }
    }
}
