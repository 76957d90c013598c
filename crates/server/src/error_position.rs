//! The position in a statement that an error names.

use serde_json::Value as Json;

/// The place that a message begins with, as members of a problem.
pub(crate) fn position_members(message: &str) -> impl Iterator<Item = (String, Json)> {
    let members = position_of(message).map(|(line, column)| [("line", line), ("column", column)]);
    let members = members.into_iter().flatten();
    members.map(|(name, number)| (name.to_owned(), number.into()))
}

/// The line and the column that a message begins with, both counted from 1.
fn position_of(message: &str) -> Option<(u64, u64)> {
    let (line, rest) = message.strip_prefix("line ")?.split_once(", column ")?;
    let (column, _) = rest.split_once(": ")?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::position_of;

    #[test]
    fn only_a_place_at_the_front_counts() {
        assert_eq!(position_of("line 2, column 17: there is no column t.nam"), Some((2, 17)));
        for other in [
            "there is no table t",
            "line 3, column 'x': too long",
            "see line 1, column 2: it",
            "line 3",
        ] {
            assert_eq!(position_of(other), None, "{other}");
        }
    }
}
