//! Objects of JSON without repeated names. The library keeps the last of two values, and the other
//! would be lost without a word.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

/// The members of an object; no object in it has a name twice either.
pub(crate) struct UniqueMembers(pub(crate) Map<String, Json>);

impl<'de> Deserialize<'de> for UniqueMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = UniqueMembers;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, given: A) -> Result<Self::Value, A::Error> {
                members_of(given).map(UniqueMembers)
            }
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}

fn members_of<'de, A: MapAccess<'de>>(mut given: A) -> Result<Map<String, Json>, A::Error> {
    let mut members = Map::new();
    while let Some(name) = given.next_key::<String>()? {
        if members.contains_key(&name) {
            return Err(A::Error::custom(format!("`{name}` appears twice")));
        }
        let value: UniqueValue = given.next_value()?;
        members.insert(name, value.0);
    }
    Ok(members)
}

/// A value of any kind, in which no object has a name twice.
struct UniqueValue(Json);

impl<'de> Deserialize<'de> for UniqueValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(UniqueValue)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(UniqueValue(item)) = given.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, given: A) -> Result<Json, A::Error> {
        members_of(given).map(Json::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_without_such_names_is_as_the_library_reads_it() {
        let text = r#"{"a": [1, -2, 1.5, 18446744073709551615, 12345678901234567890.5, 1e-274],
            "b": {"a": null, "c": [true, "x\n", {}]}, "c": "\u00e4"}"#;
        let UniqueMembers(members) = serde_json::from_str(text).unwrap();
        assert_eq!(Json::Object(members), serde_json::from_str::<Json>(text).unwrap());
    }

    #[test]
    fn a_name_that_stands_twice_is_told_at_any_depth() {
        for text in [
            r#"{"a": 1, "b": 2, "a": 1}"#,
            r#"{"b": {"a": 1, "a": 2}}"#,
            r#"{"b": [1, [{"a": 1, "a": 2}]]}"#,
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            let error = serde_json::from_str::<UniqueMembers>(text).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("`a` appears twice"), "{text}: {error}");
        }
        assert!(serde_json::from_str::<UniqueMembers>("[]").is_err());
    }
}
