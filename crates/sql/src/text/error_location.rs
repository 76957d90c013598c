//! Adds line and column to an error that names something in the statement.

use datafusion::sql::sqlparser::tokenizer::{Location, Token};
use tonnage::Error;

use super::Piece;

/// The error with its place in front, where neither the planner nor the store could tell it.
pub(crate) fn with_location(error: Error, piece: &Piece) -> Error {
    let error = with_alias(error, piece);
    if error.message().starts_with("line ") {
        return error;
    }
    match subject_of(error.message()).and_then(|name| find(piece, name)) {
        Some(place) => error.at(format_args!("line {}, column {}", place.line, place.column)),
        None => error,
    }
}

/// The error with what to do, where a name is missing that the statement gives to a result.
fn with_alias(error: Error, piece: &Piece) -> Error {
    let Some((_, rest)) = error.message().split_once("there is no column ") else { return error };
    let name = rest.split_once(';').map_or(rest, |(name, _)| name);
    let is_given = piece.tokens.windows(2).any(|pair| match (&pair[0].token, &pair[1].token) {
        (Token::Word(before), Token::Word(given)) => {
            before.value.eq_ignore_ascii_case("AS") && given.value.eq_ignore_ascii_case(name)
        }
        _ => false,
    });
    if !is_given {
        return error;
    }
    let message = format!(
        "{}; {name} is a name that SELECT gives, which WHERE, ON and GROUP BY do not know: write the expression itself, or SELECT * FROM (SELECT ...) AS s WHERE {name} ...",
        error.message()
    );
    error.restated().with_message(message)
}

/// The name or the text that a message is about.
fn subject_of(message: &str) -> Option<&str> {
    const LEADS: [(&str, &str); 4] = [
        ("there is no column ", ";"),
        ("there is no table ", ";"),
        (" has no index ", ";"),
        ("Cannot cast string '", "' to "),
    ];
    LEADS.iter().find_map(|(lead, end)| {
        let (_, rest) = message.split_once(lead)?;
        Some(rest.split_once(end).map_or(rest, |(name, _)| name))
    })
}

/// The last token that says it: what a statement orders by stands behind what it selects.
fn find(piece: &Piece, name: &str) -> Option<Location> {
    let parts: Vec<&str> = name.split('.').map(|part| part.trim_matches('"')).collect();
    let says = |token: &Token, part: &str| match token {
        Token::Word(word) => word.value.eq_ignore_ascii_case(part),
        Token::SingleQuotedString(text) => text == name,
        _ => false,
    };
    let begins = |at: usize| {
        let tokens = piece.tokens[at..]
            .iter()
            .map(|token| &token.token)
            .filter(|token| **token != Token::Period);
        parts.len() == tokens.zip(&parts).take_while(|(token, part)| says(token, part)).count()
    };
    let whole = (0..piece.tokens.len())
        .rev()
        .find(|at| begins(*at) || says(&piece.tokens[*at].token, name));
    // A name is told with the table before it, whether or not it was written so.
    let last = || {
        (0..piece.tokens.len())
            .rev()
            .find(|at| parts.last().is_some_and(|part| says(&piece.tokens[*at].token, part)))
    };
    whole.or_else(last).map(|at| piece.tokens[at].span.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::single;

    fn place(statement: &str, message: &str) -> String {
        let error = with_location(Error::invalid(message), &single(statement).unwrap());
        error.message().strip_suffix(message).unwrap().to_owned()
    }

    #[test]
    fn a_name_is_found_among_the_tokens() {
        let statement = "SELECT a\nFROM t ORDER BY t.Nam";
        assert_eq!(
            place(statement, "there is no column nam; did you mean name?"),
            "line 2, column 19: "
        );
        assert_eq!(place(statement, "there is no column t.nam"), "line 2, column 17: ");
        assert_eq!(
            place(statement, "there is no column u.a; the columns are b"),
            "line 1, column 8: "
        );
        assert_eq!(
            place("DROP INDEX i ON t", "table t has no index i; it has none"),
            "line 1, column 12: "
        );
        assert_eq!(
            place("SELECT 'a', 'b c'", "Cast error: Cannot cast string 'b c' to value"),
            "line 1, column 13: "
        );
    }

    #[test]
    fn what_has_a_place_or_names_nothing_stays() {
        assert_eq!(place("SELECT a", "line 7, column 1: there is no column a"), "");
        assert_eq!(place("SELECT a", "something else"), "");
        assert_eq!(place("SELECT a", "there is no column b"), "");
    }
}
