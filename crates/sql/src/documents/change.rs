//! Functions and operators that change documents: `jsonb_set`, `||`, `-`, `#-`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{DataFusionError, Result, exec_err};

use super::path_text::path_steps;
use super::scan::{Kind, checked, items, members};
use super::write::quote;
use crate::functions::{Arguments, Gives, Scalar, int, text_of};

const fn json(
    name: &'static str,
    form: &'static str,
    count: (usize, usize),
    work: fn(&Arguments) -> Result<ArrayRef>,
) -> Scalar {
    Scalar { name, form, count, gives: Gives::Json, work }
}

pub(super) const ALL: [Scalar; 4] = [
    json("jsonb_set", "jsonb_set(document, '{a,b}', '1')", (4, 4), set),
    json("_json_concat", "document || '{\"a\": 1}'", (2, 2), |arguments| {
        let (one, other) = (arguments.texts(0)?, arguments.texts(1)?);
        arguments.map_text(|row| match (text_of(&one, row), text_of(&other, row)) {
            (Some(one), Some(other)) => concat(checked(one)?, checked(other)?).map(Some),
            _ => Ok(None),
        })
    }),
    json("_json_without", "document - 'a'", (2, 2), remove_part),
    json("_json_without_path", "document #- '{a,b}'", (2, 2), |arguments| {
        let (documents, paths) = (arguments.texts(0)?, paths(arguments, 1)?);
        arguments.map_text(|row| match (text_of(&documents, row), &paths[row]) {
            (Some(document), Some(path)) => {
                let path = known(path)?;
                change_at_path(checked(document)?, path, &DocumentChange::Delete).map(Some)
            }
            _ => Ok(None),
        })
    }),
];

/// What is done at the end of a path.
enum DocumentChange<'a> {
    Set { value: &'a str, creates: bool },
    Delete,
}

fn set(arguments: &Arguments) -> Result<ArrayRef> {
    let (documents, paths, values) =
        (arguments.texts(0)?, paths(arguments, 1)?, arguments.texts(2)?);
    let creates = cast(&arguments.arrays[3], &DataType::Boolean)?;
    let creates = creates.as_boolean();
    arguments.map_text(|row| {
        let (Some(document), Some(path), Some(value), true) =
            (text_of(&documents, row), &paths[row], text_of(&values, row), creates.is_valid(row))
        else {
            return Ok(None);
        };
        let change = DocumentChange::Set { value: checked(value)?, creates: creates.value(row) };
        change_at_path(checked(document)?, known(path)?, &change).map(Some)
    })
}

/// The steps of a path, or the number of the first one that is NULL.
type Steps = Result<Vec<String>, usize>;

/// Paths as `'{a,b,0}'`, or as lists of text.
fn paths(arguments: &Arguments, index: usize) -> Result<Vec<Option<Steps>>> {
    let array = &arguments.arrays[index];
    if matches!(
        array.data_type(),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
    ) {
        let item = Field::new_list_field(DataType::Utf8, true);
        let lists = cast(array, &DataType::List(item.into()))?;
        let lists = lists.as_list::<i32>();
        // A row whose document is NULL has no use for its path: a NULL in it is not an error yet.
        let steps = |list: ArrayRef| -> Steps {
            let names = list.as_string::<i32>();
            match names.iter().position(|name| name.is_none()) {
                Some(place) => Err(place + 1),
                None => Ok(names.iter().flatten().map(str::to_owned).collect()),
            }
        };
        return Ok(lists.iter().map(|list| list.map(steps)).collect());
    }
    let texts = arguments.texts(index)?;
    let steps = |text: &str| -> Result<Steps> { parse_steps(text).map(Ok) };
    texts.iter().map(|text| text.map(steps).transpose()).collect()
}

fn parse_steps(path: &str) -> Result<Vec<String>> {
    path_steps(path).map_err(DataFusionError::Execution)
}

/// The steps of a path that has no NULL.
fn known(path: &Steps) -> Result<&[String]> {
    match path {
        Ok(steps) => Ok(steps.as_slice()),
        Err(step) => exec_err!(
            "step {step} of a path is NULL: it must be the name of a member or the place of an item"
        ),
    }
}

/// A document with a change at the end of a path. A path that leads nowhere changes nothing.
fn change_at_path(document: &str, path: &[String], change: &DocumentChange<'_>) -> Result<String> {
    let Some((step, rest)) = path.split_first() else { return Ok(document.to_owned()) };
    match Kind::of(document) {
        // Values that stay are copied as text: numbers keep digits that no double has.
        Kind::Object => {
            let mut parts = Vec::new();
            let mut is_found = false;
            for (name, value) in members(document)? {
                let value = if name == *step {
                    is_found = true;
                    change_value(value, rest, change)?
                } else {
                    Some(value.to_owned())
                };
                parts.extend(value.map(|value| format!("{}:{value}", quote(&name))));
            }
            if let DocumentChange::Set { value, creates: true } = change
                && rest.is_empty()
                && !is_found
            {
                parts.push(format!("{}:{value}", quote(step)));
            }
            Ok(format!("{{{}}}", parts.join(",")))
        }
        Kind::Array => {
            let Ok(index) = step.parse::<i64>() else {
                return exec_err!(
                    "'{step}' in a path leads into an array: it must be a whole number"
                );
            };
            let known = items(document)?;
            let place = if index < 0 { index + known.len() as i64 } else { index };
            let mut parts = Vec::new();
            for (at_item, item) in known.iter().enumerate() {
                let item = if at_item as i64 == place {
                    change_value(item, rest, change)?
                } else {
                    Some((*item).to_owned())
                };
                parts.extend(item);
            }
            if let DocumentChange::Set { value, creates: true } = change
                && rest.is_empty()
            {
                // As in PostgreSQL an index outside the array is the nearer end.
                if place < 0 {
                    parts.insert(0, (*value).to_owned());
                } else if place >= known.len() as i64 {
                    parts.push((*value).to_owned());
                }
            }
            Ok(format!("[{}]", parts.join(",")))
        }
        _ => Ok(document.to_owned()),
    }
}

/// The value at a step, with what comes below it changed; nothing when it is deleted.
fn change_value(
    value: &str,
    rest: &[String],
    change: &DocumentChange<'_>,
) -> Result<Option<String>> {
    match change {
        DocumentChange::Set { value, .. } if rest.is_empty() => Ok(Some((*value).to_owned())),
        DocumentChange::Delete if rest.is_empty() => Ok(None),
        change => change_at_path(value, rest, change).map(Some),
    }
}

/// Two documents in one: members of objects, of which the later ones hold, and items of arrays.
fn concat(one: &str, other: &str) -> Result<String> {
    match (Kind::of(one), Kind::of(other)) {
        (Kind::Object, Kind::Object) => {
            let mut all = members(one)?;
            for (name, value) in members(other)? {
                match all.iter_mut().find(|(known, _)| *known == name) {
                    Some(member) => member.1 = value,
                    None => all.push((name, value)),
                }
            }
            let all: Vec<String> =
                all.iter().map(|(name, value)| format!("{}:{value}", quote(name))).collect();
            Ok(format!("{{{}}}", all.join(",")))
        }
        (Kind::Object, kind) | (kind, Kind::Object) if kind != Kind::Array => {
            exec_err!("|| joins two objects, or arrays and values: not {one} and {other}")
        }
        (one_kind, other_kind) => {
            let parts = |kind, text| if kind == Kind::Array { items(text) } else { Ok(vec![text]) };
            let all = [parts(one_kind, one)?, parts(other_kind, other)?].concat();
            Ok(format!("[{}]", all.join(",")))
        }
    }
}

/// A document without a member, or an array without an item.
fn remove_part(arguments: &Arguments) -> Result<ArrayRef> {
    let documents = arguments.texts(0)?;
    // The type of the argument decides, as in PostgreSQL: `- 1` takes an item, `- '1'` a member.
    if arguments.arrays[1].data_type().is_integer() {
        return arguments.map_text(|row| {
            match (text_of(&documents, row), int(&arguments.arrays[1], row)?) {
                (Some(document), Some(index)) => {
                    let document = checked(document)?;
                    if Kind::of(document) != Kind::Array {
                        return exec_err!("- with a whole number takes an item away from an array, not from {document}");
                    }
                    change_at_path(document, &[index.to_string()], &DocumentChange::Delete).map(Some)
                }
                _ => Ok(None),
            }
        });
    }
    let names = arguments.texts(1)?;
    arguments.map_text(|row| {
        let (Some(document), Some(name)) = (text_of(&documents, row), text_of(&names, row)) else {
            return Ok(None);
        };
        let document = checked(document)?;
        match Kind::of(document) {
            Kind::Object => {
                change_at_path(document, &[name.to_owned()], &DocumentChange::Delete).map(Some)
            }
            // All texts of that name are removed, not only the first, as in PostgreSQL.
            Kind::Array => {
                let mut kept = Vec::new();
                for item in items(document)? {
                    if Kind::of(item) != Kind::String || super::scan::string(item)? != name {
                        kept.push(item);
                    }
                }
                Ok(Some(format!("[{}]", kept.join(","))))
            }
            _ => exec_err!("- takes members away from objects and arrays, not from {document}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(document: &str, path: &str, value: &str, creates: bool) -> String {
        let change = DocumentChange::Set { value, creates };
        change_at_path(document, &parse_steps(path).unwrap(), &change).unwrap()
    }

    #[test]
    fn values_are_set_where_the_path_leads() {
        let document = r#"{"a":{"b":12345678901234567890.5},"l":[1,2]}"#;
        assert_eq!(
            set(document, "{a,c}", "true", true),
            r#"{"a":{"b":12345678901234567890.5,"c":true},"l":[1,2]}"#
        );
        assert_eq!(set(document, "{a,c}", "true", false), document);
        assert_eq!(set(document, "{x,y}", "1", true), document);
        assert_eq!(set("[1,2]", "{-1}", "9", true), "[1,9]");
        assert_eq!(set("[1,2]", "{5}", "9", true), "[1,2,9]");
        assert_eq!(set("{}", r#"{"a,b"}"#, "1", true), r#"{"a,b":1}"#);
        assert_eq!(set(r#"{"2024":[1]}"#, "{2024,0}", "2", true), r#"{"2024":[2]}"#);
    }

    #[test]
    fn documents_are_joined_as_in_postgresql() {
        assert_eq!(concat(r#"{"a":1,"b":2}"#, r#"{"a":3}"#).unwrap(), r#"{"a":3,"b":2}"#);
        assert_eq!(concat("[1]", "2").unwrap(), "[1,2]");
        assert_eq!(concat("1", "2").unwrap(), "[1,2]");
        assert_eq!(concat("[1]", r#"{"a":1}"#).unwrap(), r#"[1,{"a":1}]"#);
        assert!(concat("{}", "1").is_err());
    }
}
