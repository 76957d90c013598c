//! Takes JSON apart as text: members and items as they are written.
//!
//! A tree of JSON values holds numbers as doubles, so `123456789012345678901234567890` comes back
//! as another number. Text that is taken apart here keeps its digits.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::de::IgnoredAny;
use tonnage_engine::{Error, Result};

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `{..}`
    Object,
    /// `[..]`
    Array,
    /// `".."`
    String,
    /// Anything else.
    Number,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
}

impl JsonKind {
    /// What a text that is JSON holds, by its first letter.
    pub fn of(text: &str) -> Self {
        match text.trim_start().as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Boolean,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }
}

/// The text without the spaces around it.
///
/// # Errors
/// `Invalid` for text that is not JSON, with the position.
pub fn checked(text: &str) -> Result<&str> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(text.trim()),
        Err(error) => {
            let shown: String = text.chars().take(60).collect();
            Err(Error::invalid(format!("'{shown}' is not JSON: {error}")))
        }
    }
}

/// Members among which a look at each of them finds a name sooner than a map. Of more, looks would
/// cost the square: 16 MiB of them took hours.
const FEW: usize = 32;

/// The members of an object, in their order; of a name that comes twice the last one.
///
/// # Errors
/// `Invalid` for text that is not an object.
pub fn members(text: &str) -> Result<Vec<(String, &str)>> {
    let all = all_members(text)?;
    let mut members: Vec<(String, &str)> = Vec::with_capacity(all.len());
    // Both branches must agree: of one name the position of the first, the value of the last.
    if all.len() <= FEW {
        for (name, value) in all {
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some(member) => member.1 = value,
                None => members.push((name, value)),
            }
        }
        return Ok(members);
    }
    let mut places = HashMap::with_capacity(all.len());
    for (name, value) in all {
        match places.entry(name) {
            Entry::Occupied(place) => {
                let place: usize = *place.get();
                members[place].1 = value;
            }
            Entry::Vacant(place) => {
                // The map needs names of its own: it cannot borrow from a list that grows.
                members.push((place.key().clone(), value));
                place.insert(members.len() - 1);
            }
        }
    }
    Ok(members)
}

/// All members of an object, in their order.
///
/// # Errors
/// `Invalid` for text that is not an object.
pub fn all_members(text: &str) -> Result<Vec<(String, &str)>> {
    let mut members = Vec::new();
    for part in parts(text)? {
        let end = string_end(part).ok_or_else(|| invalid_json(text))?;
        let Ok(name) = serde_json::from_str::<String>(&part[..end]) else {
            return Err(invalid_json(text));
        };
        let value =
            part[end..].trim_start().strip_prefix(':').ok_or_else(|| invalid_json(text))?.trim();
        members.push((name, value));
    }
    Ok(members)
}

/// The members of an object whose names are text, in their order; none of what is not an object.
pub fn named_members(text: &str) -> Vec<(String, &str)> {
    let parts = parts(text).unwrap_or_default();
    parts
        .into_iter()
        .filter_map(|part| {
            let end = string_end(part)?;
            let name = serde_json::from_str(&part[..end]).ok()?;
            Some((name, part[end..].trim_start().strip_prefix(':')?.trim()))
        })
        .collect()
}

/// The value of the first member of that name of an object. A name that is not text, such as
/// `"\ud800"`, is another one.
pub fn first_member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    parts(text).ok()?.into_iter().find_map(|part| {
        let end = string_end(part)?;
        let is_named = serde_json::from_str::<String>(&part[..end]).is_ok_and(|own| own == name);
        if !is_named {
            return None;
        }
        part[end..].trim_start().strip_prefix(':').map(str::trim)
    })
}

/// The items of an array.
///
/// # Errors
/// `Invalid` for text that is not an array.
pub fn items(text: &str) -> Result<Vec<&str>> {
    parts(text)
}

/// The text between quotes.
///
/// # Errors
/// `Invalid` for text that is not a string of JSON.
pub fn string(text: &str) -> Result<String> {
    serde_json::from_str(text.trim()).map_err(|_| invalid_json(text))
}

#[cold]
fn invalid_json(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::invalid(format!("'{shown}' is not JSON"))
}

/// The text between the brackets, cut at its commas.
fn parts(text: &str) -> Result<Vec<&str>> {
    let text = text.trim();
    let inner = text.get(1..text.len().saturating_sub(1)).ok_or_else(|| invalid_json(text))?;
    let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    // Bytes suffice: no byte of a longer UTF-8 character equals a bracket, a comma or a quote.
    let bytes = inner.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += string_end(&inner[at..]).ok_or_else(|| invalid_json(text))?;
                continue;
            }
            // Kinds of brackets are not distinguished: in valid JSON each closes its own, and other
            // text only must not panic.
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(|| invalid_json(text))?,
            b',' if depth == 0 => {
                parts.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = inner[start..].trim();
    if !(last.is_empty() && parts.is_empty()) {
        parts.push(last);
    }
    Ok(parts)
}

/// Where a string that a text begins with ends.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn parts_stay_as_they_are_written() {
        let text = r#" {"a": 12345678901234567890.5, "b\n": [1, {"c": "x,]\""}], "a": 1e400} "#;
        assert_eq!(
            members(text).unwrap(),
            [("a".to_owned(), "1e400"), ("b\n".to_owned(), r#"[1, {"c": "x,]\""}]"#)]
        );
        assert_eq!(items("[ ]").unwrap(), Vec::<&str>::new());
        assert_eq!(items("[1,[2,3],\"a,b\"]").unwrap(), ["1", "[2,3]", "\"a,b\""]);
    }

    #[test]
    fn of_a_name_that_comes_twice_among_many_the_last_one_counts() {
        let names = (0..2 * FEW).map(|name| format!("\"m{name}\": {name}, "));
        let text = format!("{{{}\"m7\": true}}", names.collect::<String>());
        let members = members(&text).unwrap();
        assert_eq!(members.len(), 2 * FEW);
        assert_eq!(members[7], ("m7".to_owned(), "true"));
        assert_eq!(members[2 * FEW - 1], (format!("m{}", 2 * FEW - 1), "63"));
    }

    proptest! {
        #[test]
        fn texts_of_any_kind_end_in_an_error_at_worst(text in ".*") {
            let _ = (members(&text), items(&text), JsonKind::of(&text));
        }

        #[test]
        fn items_are_those_of_the_parser(texts in proptest::collection::vec(".*", 0..5)) {
            let array = Json::from(texts.clone()).to_string();
            let read: Vec<String> = items(&array).unwrap().into_iter().map(|item| string(item).unwrap()).collect();
            prop_assert_eq!(read, texts);
        }
    }
}
