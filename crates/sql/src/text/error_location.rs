//! Adds line and column to an error that names something in the statement.

use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::Error;

use super::Piece;

/// The error with its position in front, where neither the planner nor the store knew it.
pub(crate) fn with_location(error: Error, piece: &Piece) -> Error {
    let error = with_member(with_text(with_alias(error, piece), piece), piece);
    if error.message().starts_with("line ") {
        return with_by(error, piece);
    }
    let member = member_of(error.message());
    let place = match text_of(error.message()) {
        Some(text) => find_text(piece, text),
        None => member
            .as_deref()
            .or_else(|| subject_of(error.message()))
            .and_then(|name| find(piece, name)),
    };
    match place {
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

/// The error with the quotes that text has, where a name in double quotes, or one beside a
/// comparison, is like no column.
fn with_text(error: Error, piece: &Piece) -> Error {
    let Some((_, rest)) = error.message().split_once("there is no column ") else { return error };
    // That says it already.
    if ["; did you mean ", " is a name that SELECT gives"].iter().any(|said| rest.contains(said)) {
        return error;
    }
    let name = rest.split_once(';').map_or(rest, |(name, _)| name);
    let is_compared = |at: usize| {
        let is_operator = |at: Option<usize>| {
            at.and_then(|at| piece.tokens.get(at)).is_some_and(|token| is_comparison(&token.token))
        };
        is_operator(at.checked_sub(1)) || is_operator(Some(at + 1))
    };
    let is_point = |at: Option<usize>| {
        at.and_then(|at| piece.tokens.get(at)).is_some_and(|token| token.token == Token::Period)
    };
    let written = piece.tokens.iter().enumerate().find_map(|(at, token)| match &token.token {
        // What has a point beside it is the name of a table or of its column.
        Token::Word(word)
            if (word.quote_style == Some('"') || word.quote_style.is_none() && is_compared(at))
                && word.value.eq_ignore_ascii_case(name)
                && !is_point(at.checked_sub(1))
                && !is_point(Some(at + 1)) =>
        {
            Some(&word.value)
        }
        _ => None,
    });
    let Some(text) = written else { return error };
    let message =
        format!("{}; write text in single quotes: '{}'", error.message(), text.replace('\'', "''"));
    error.restated().with_message(message)
}

fn is_comparison(token: &Token) -> bool {
    match token {
        Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => true,
        Token::Word(word) => ["LIKE", "ILIKE"].iter().any(|w| word.value.eq_ignore_ascii_case(w)),
        _ => false,
    }
}

/// The error with the name of the member that is read from a document of the query outside.
fn with_member(error: Error, piece: &Piece) -> Error {
    const BEFORE: &str = "of the query outside: write ";
    const MEMBER: &str = "->>'member'";
    let message = error.message();
    let column = message.split_once(BEFORE).and_then(|(_, rest)| rest.strip_suffix(MEMBER));
    let Some(column) = column else { return error };
    // The planner names the column alone.
    let Some(first) = find_token(piece, column) else { return error };
    let name = |at: usize| match piece.tokens.get(at).map(|token| &token.token) {
        Some(Token::Word(word)) => Some(word.value.as_str()),
        _ => None,
    };
    let follows =
        |at: usize| piece.tokens.get(at + 1).is_some_and(|token| token.token == Token::Period);
    let own = column.rsplit('.').next().unwrap_or(column).trim_matches('"');
    // The table may precede the column.
    let mut at = first;
    while follows(at) && name(at).is_some_and(|name| !name.eq_ignore_ascii_case(own)) {
        at += 2;
    }
    match name(at + 2).filter(|_| follows(at)) {
        Some(member) => {
            let message = message.replace(MEMBER, &format!("->>'{}'", member.replace('\'', "''")));
            error.restated().with_message(message)
        }
        None => error,
    }
}

/// The error with what is missing, where the parser met ORDER, PARTITION or GROUP alone.
fn with_by(error: Error, piece: &Piece) -> Error {
    let Some((_, found)) = error.message().rsplit_once("found") else { return error };
    let found = found.trim_matches([':', ' ', '\'']);
    // The parser takes ORDER without BY for no part of the clause, and names it as what it found.
    let word = ["ORDER", "PARTITION", "GROUP"].into_iter().find(|w| found.eq_ignore_ascii_case(w));
    let Some(word) = word else { return error };
    let is_word = |at: usize, wanted: &str| {
        matches!(piece.tokens.get(at).map(|token| &token.token),
            Some(Token::Word(word)) if word.value.eq_ignore_ascii_case(wanted))
    };
    // The position says which of several it is; with BY after it something else is wrong.
    let is_here = |token: &TokenWithSpan| {
        let Location { line, column } = token.span.start;
        error.message().starts_with(&format!("line {line}, column {column}: "))
    };
    let is_alone = piece
        .tokens
        .iter()
        .position(is_here)
        .is_some_and(|at| is_word(at, word) && !is_word(at + 1, "BY"));
    if !is_alone {
        return error;
    }
    let message = format!("{}; {word} is followed by BY", error.message());
    error.restated().with_message(message)
}

/// The text that a message says to be no value of a type.
fn text_of(message: &str) -> Option<&str> {
    message.strip_prefix('\'')?.split_once("' is not ").map(|(text, _)| text)
}

/// The column and the first name after it, of a message about a column without members.
fn member_of(message: &str) -> Option<String> {
    let (column, rest) = message.split_once(" is ")?;
    let (_, remedy) = rest.split_once(" and has no members: ")?;
    let (_, steps) = remedy.split_once("->'")?;
    Some(format!("{column}.{}", steps.split('\'').next()?))
}

/// The last text in single quotes that says it.
fn find_text(piece: &Piece, text: &str) -> Option<Location> {
    let says = |token: &&TokenWithSpan| {
        matches!(&token.token,
            Token::SingleQuotedString(own) if own == text)
    };
    piece.tokens.iter().rev().find(says).map(|token| token.span.start)
}

/// The name or the text that a message is about.
fn subject_of(message: &str) -> Option<&str> {
    const LEADS: [(&str, &str); 8] = [
        ("there is no column ", ";"),
        ("there is no table function ", ";"),
        ("there is no table ", ";"),
        ("there is no function ", ";"),
        ("there is no type ", ";"),
        (" has no index ", ";"),
        ("Cannot cast string '", "' to "),
        ("a document of the query outside: write ", "->>"),
    ];
    if let Some((name, _)) =
        message.strip_prefix("column ").and_then(|rest| rest.split_once(" is ambiguous"))
    {
        return Some(name);
    }
    // A function that is there, but not for these arguments, is told with their types.
    if let Some((name, _)) =
        message.strip_prefix("there is no function ").and_then(|rest| rest.split_once('('))
    {
        return Some(name);
    }
    LEADS.iter().find_map(|(lead, end)| {
        let (_, rest) = message.split_once(lead)?;
        Some(rest.split_once(end).map_or(rest, |(name, _)| name))
    })
}

/// Where a name is.
fn find(piece: &Piece, name: &str) -> Option<Location> {
    find_token(piece, name).map(|at| piece.tokens[at].span.start)
}

/// The last token that says it: what a statement orders by follows what it selects.
fn find_token(piece: &Piece, name: &str) -> Option<usize> {
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
    // A name is reported with the table before it, whether or not it was written so.
    let last = || {
        (0..piece.tokens.len())
            .rev()
            .find(|at| parts.last().is_some_and(|part| says(&piece.tokens[*at].token, part)))
    };
    whole.or_else(last)
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

    fn remedied(statement: &str, message: &str) -> String {
        let error = with_location(Error::invalid(message), &single(statement).unwrap());
        error.message().to_owned()
    }

    #[test]
    fn the_remedy_is_in_words_of_the_statement() {
        assert_eq!(
            remedied("SELECT a FROM t WHERE a = \"C001\"", "there is no column c001"),
            "line 1, column 27: there is no column c001; write text in single quotes: 'C001'"
        );
        // A word without quotes beside a comparison, and one elsewhere.
        assert_eq!(
            remedied("SELECT a FROM t WHERE status = new", "there is no column new"),
            "line 1, column 32: there is no column new; write text in single quotes: 'new'"
        );
        assert_eq!(
            remedied("SELECT new FROM t", "there is no column new"),
            "line 1, column 8: there is no column new"
        );
        assert_eq!(
            remedied("SELECT a FROM t WHERE t.\"C001\" = a", "there is no column t.c001"),
            "line 1, column 23: there is no column t.c001"
        );
        assert_eq!(
            remedied(
                "SELECT 1 WHERE y = x.doc.Ship",
                "a member of a document of the query outside: write x.doc->>'member'"
            ),
            "line 1, column 20: a member of a document of the query outside: write x.doc->>'Ship'"
        );
        assert_eq!(
            remedied(
                "SELECT notes.ship FROM t ORDER BY notes",
                "notes is STRING and has no members: make the column JSON, or write CAST(notes AS JSON)->'ship'"
            ),
            "line 1, column 8: notes is STRING and has no members: make the column JSON, or write CAST(notes AS JSON)->'ship'"
        );
    }

    #[test]
    fn words_that_need_by_are_located() {
        let told = "line 1, column 17: Expected: ROWS, RANGE, GROUPS, found: order";
        assert_eq!(
            remedied("SELECT f() OVER (order a)", "line 1, column 18: Expected: ), found: order"),
            "line 1, column 18: Expected: ), found: order; ORDER is followed by BY"
        );
        // BY is there, or the word is another one.
        assert_eq!(remedied("SELECT f() OVER order BY a", told), told);
        assert_eq!(remedied("SELECT f() OVER a", told), told);
    }

    #[test]
    fn what_has_a_place_or_names_nothing_stays() {
        assert_eq!(place("SELECT a", "line 7, column 1: there is no column a"), "");
        assert_eq!(place("SELECT a", "something else"), "");
        assert_eq!(place("SELECT a", "there is no column b"), "");
    }
}
