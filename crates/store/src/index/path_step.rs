//! The steps of a path that leads from a column of a table to what an index holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::schema::quoted_name;

/// One step of a path into a JSON document, an array, a map or a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathStep {
    /// To the member, or the field, of that name.
    Name(String),
    /// To each of several parts: a row then has several entries.
    Each(PathParts),
}

/// The parts of an array or a map, each of which gets entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "each")]
pub enum PathParts {
    /// The elements of an array, `[]`. What is not an array counts as its only element.
    Elements,
    /// The keys of a map or of an object, `.keys()`.
    Keys,
    /// The values of a map or of an object, `.values()`.
    Values,
}

impl PathStep {
    /// To the elements of an array.
    pub const ELEMENTS: Self = PathStep::Each(PathParts::Elements);
    /// To the keys of a map.
    pub const KEYS: Self = PathStep::Each(PathParts::Keys);
    /// To the values of a map.
    pub const VALUES: Self = PathStep::Each(PathParts::Values);

    /// Whether it leads to several parts.
    pub(crate) fn is_each(&self) -> bool {
        matches!(self, PathStep::Each(_))
    }

    /// The name of a member; none where it leads to several parts.
    pub fn name(&self) -> Option<&str> {
        match self {
            PathStep::Name(name) => Some(name),
            PathStep::Each(_) => None,
        }
    }

    /// Whether both walk over the same parts: keys and values of a map come in pairs.
    pub(super) fn walks_with(&self, other: &Self) -> bool {
        let is_of_map = |step: &Self| matches!(*step, Self::KEYS | Self::VALUES);
        self == other || is_of_map(self) && is_of_map(other)
    }
}

/// `.name`, `[]`, `.keys()` or `.values()`.
impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Name(name) => write!(f, ".{}", quoted_name(name)),
            PathStep::Each(PathParts::Elements) => f.write_str("[]"),
            PathStep::Each(PathParts::Keys) => f.write_str(".keys()"),
            PathStep::Each(PathParts::Values) => f.write_str(".values()"),
        }
    }
}

impl From<String> for PathStep {
    fn from(name: String) -> Self {
        PathStep::Name(name)
    }
}

impl From<&str> for PathStep {
    fn from(name: &str) -> Self {
        PathStep::Name(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stored_as_they_were_before_there_were_other_steps() {
        let path: Vec<PathStep> = serde_json::from_str(r#"["a", "keys"]"#).unwrap();
        assert_eq!(path, [PathStep::from("a"), PathStep::from("keys")]);
        let path = [PathStep::from("a"), PathStep::ELEMENTS, PathStep::KEYS, PathStep::VALUES];
        let stored = serde_json::to_string(&path).unwrap();
        assert_eq!(stored, r#"["a",{"each":"elements"},{"each":"keys"},{"each":"values"}]"#);
        assert_eq!(serde_json::from_str::<Vec<PathStep>>(&stored).unwrap(), path);
    }
}
