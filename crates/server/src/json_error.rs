//! Errors about JSON in words of JSON: the parser's own name types of this program.

/// What the parser says, with `an object` in the place of `struct SqlQuery`, and `a list` in that of
/// `a sequence`.
pub(crate) fn json_error(error: &serde_json::Error) -> String {
    let told = error.to_string();
    // Errors of syntax and of missing members expect no type.
    let (found, expected) = told.split_once(", expected ").unwrap_or((&told, ""));
    let found = match found.strip_prefix("invalid type: ") {
        Some("map") => "it is an object".to_owned(),
        Some("sequence") => "it is a list".to_owned(),
        Some(value) => format!("it is {value}"),
        None => found.to_owned(),
    };
    if expected.is_empty() {
        return found;
    }
    // A type of the program has one word behind its kind, and the place follows.
    let mut words = expected.splitn(3, ' ');
    let expected = match (words.next(), words.next(), words.next()) {
        (Some("struct"), Some(_), behind) => format!("an object {}", behind.unwrap_or_default()),
        (Some("enum"), Some(_), behind) => {
            format!("a word or an object {}", behind.unwrap_or_default())
        }
        (Some("a"), Some("sequence"), behind) => format!("a list {}", behind.unwrap_or_default()),
        (Some("a"), Some("map"), behind) => format!("an object {}", behind.unwrap_or_default()),
        _ => expected.to_owned(),
    };
    format!("{found}, expected {}", expected.trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Query {
        #[allow(dead_code)]
        sql: String,
    }

    fn told<'a, T: Deserialize<'a> + std::fmt::Debug>(text: &'a str) -> String {
        json_error(&serde_json::from_str::<T>(text).unwrap_err())
    }

    #[test]
    fn no_type_of_the_program_is_named() {
        assert_eq!(
            told::<Query>("\"SELECT 1\""),
            "it is string \"SELECT 1\", expected an object at line 1 column 10"
        );
        assert_eq!(told::<Vec<Query>>("{}"), "it is an object, expected a list at line 1 column 0");
        assert_eq!(
            told::<HashMap<String, u8>>("7"),
            "it is integer `7`, expected an object at line 1 column 1"
        );
        assert_eq!(told::<Query>("{}"), "missing field `sql` at line 1 column 2");
        assert_eq!(
            told::<Query>("{\"sql\": 7}"),
            "it is integer `7`, expected a string at line 1 column 9"
        );
        assert_eq!(told::<Query>("x"), "expected value at line 1 column 1");
    }
}
