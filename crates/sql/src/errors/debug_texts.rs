//! Messages of the planner that show its own structures.
//!
//! Of what it does not carry out it shows how it holds it: `Convert { expr: Identifier(Ident {
//! value: "a", span: Span(Location(1,16)..Location(1,17)) }), ...`. The first place in that is
//! where it stands, and its first word what it is.

/// What only structures of the planner have.
const MARKS: [&str; 4] = ["Span(Location(", "quote_style: ", "ValueWithSpan {", "span: "];

/// The message without such structures.
pub(super) fn without_debug(message: String) -> String {
    if !MARKS.iter().any(|mark| message.contains(mark)) {
        return message;
    }
    let told = match structure(&message) {
        Some(name) => format!("this is not supported here: {}", in_words(name)),
        None => "this is not supported here".to_owned(),
    };
    match place(&message) {
        Some((line, column)) => format!("line {line}, column {column}: {told}"),
        None => told,
    }
}

/// The position of the first part that has one.
fn place(message: &str) -> Option<(u64, u64)> {
    let places = message.split("Span(Location(").skip(1).filter_map(|rest| {
        let (line, column) = rest.split_once(')')?.0.split_once(',')?;
        Some((line.trim().parse().ok()?, column.trim().parse().ok()?))
    });
    // What the planner made itself stands nowhere.
    places.into_iter().find(|(line, _)| *line > 0)
}

/// The name of the first structure.
fn structure(message: &str) -> Option<&str> {
    let opens = message.match_indices(['{', '(']);
    opens.into_iter().find_map(|(at, _)| {
        let before = message[..at].trim_end();
        let name = before.rsplit([' ', '(', '{', '\'', '"']).next()?;
        let is_name =
            name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric);
        is_name.then_some(name)
    })
}

/// `IsNormalized` as `is normalized`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_of_the_planner_become_words_and_a_place() {
        let message = "Unsupported ast node in sqltorel: IsNormalized { expr: Value(ValueWithSpan { value: SingleQuotedString(\"a\"), span: Span(Location(0,0)..Location(0,0)) }), form: Some(Ident { value: \"b\", quote_style: None, span: Span(Location(2,16)..Location(2,17)) }) }";
        assert_eq!(
            without_debug(message.to_owned()),
            "line 2, column 16: this is not supported here: is normalized"
        );
    }

    #[test]
    fn other_messages_stay() {
        for message in ["there is no column a", "Map { a: 1 } is not a number", ""] {
            assert_eq!(without_debug(message.to_owned()), message);
        }
    }
}
