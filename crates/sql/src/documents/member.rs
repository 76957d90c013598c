//! Whether an object has a member of some name: one pass over the text that builds no values.

use std::fmt;

use datafusion::common::{Result, exec_err};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Whether the object in a text has a member of this name.
pub(super) fn has_member(text: &str, name: &str) -> Result<bool> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(MemberVisitor(name));
    match found.and_then(|found| reader.end().map(|()| found)) {
        Ok(found) => Ok(found),
        Err(error) => exec_err!("'{text}' is not JSON: {error}"),
    }
}

/// Looks through the members for one.
struct MemberVisitor<'a>(&'a str);

impl<'de> Visitor<'de> for MemberVisitor<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<bool, A::Error> {
        let mut found = false;
        while let Some(is_same) = members.next_key_seed(MemberName(self.0))? {
            found |= is_same;
            members.next_value::<IgnoredAny>()?;
        }
        Ok(found)
    }
}

/// Compares a name with the one that is looked for.
struct MemberName<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for MemberName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> std::result::Result<bool, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_at_the_top_alone() {
        let document = r#" {"a": {"b": 1}, "\u0063": [{"d": 2}], "": null} "#;
        let found = |name| has_member(document, name).unwrap();
        assert!(found("a") && found("c") && found(""));
        assert!(!found("b") && !found("d") && !found("A"));
        assert!(has_member(r#"{"a": 1"#, "a").is_err());
        assert!(has_member(r#"{"a": 1} 2"#, "a").is_err());
    }
}
