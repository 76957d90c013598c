//! Shows the line that an error names, with a mark under the token.

use tonnage::Error;
use tonnage_sql::SqlTokens;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The widest part of a line that is shown.
const SHOWN_MAX: usize = 100;
/// The part of it before the position, when a line is longer.
const BEFORE_MAX: usize = 60;
const CUT: &str = "...";

/// The message of an error, followed by the line that it names, with a mark under the position.
/// Messages that name no place stay as they are.
pub(crate) fn with_excerpt(text: &str, error: &Error) -> String {
    with_excerpt_from(text, 0, error.message())
}

/// The same for a text that begins this many lines below the beginning of its file.
pub(super) fn with_excerpt_from(text: &str, lines_before: u64, message: &str) -> String {
    let Some((line, column, what)) = error_location(message) else { return message.to_owned() };
    let told = format!("line {}, column {column}: {what}", line as u64 + lines_before);
    match source_excerpt(text, line, column) {
        Some(shown) => format!("{told}\n{shown}"),
        None => told,
    }
}

/// `line 2, column 8: what is wrong`, taken apart.
fn error_location(message: &str) -> Option<(usize, usize, &str)> {
    let (line, rest) = message.strip_prefix("line ")?.split_once(", column ")?;
    let (column, what) = rest.split_once(": ")?;
    Some((line.parse().ok()?, column.parse().ok()?, what))
}

/// The line, and a mark under the token that begins at the column.
fn source_excerpt(text: &str, line: usize, column: usize) -> Option<String> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.clone().nth(line.checked_sub(1)?)?;
    let full = text[start..].lines().next().unwrap_or_default();
    let column = column.checked_sub(1)?;
    let place = full.char_indices().nth(column).map_or(full.len(), |(at, _)| at);
    let length = token_length(text, start + place).min(full.len() - place);

    let (before, token, after) =
        (&full[..place], &full[place..place + length], &full[place + length..]);
    let before =
        if full.width() > SHOWN_MAX { last_columns(before, BEFORE_MAX) } else { plain(before) };
    let room = SHOWN_MAX.saturating_sub(before.width());
    let token = first_columns(token, room);
    let after = first_columns(after, room.saturating_sub(token.width()));
    let mark = "^".repeat(token.width().max(1));
    Some(format!("  {before}{token}{after}\n  {}{mark}", " ".repeat(before.width())))
}

/// The bytes of the token at a position; one for what is none.
fn token_length(text: &str, at: usize) -> usize {
    let one = text[at..].chars().next().map_or(0, char::len_utf8);
    // What follows the line does not matter, and may be much.
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let tokens = SqlTokens::read(&text[..end]);
    tokens
        .tokens()
        .iter()
        .find(|token| token.range.start == at)
        .map_or(one, |token| token.range.len())
}

/// As a terminal shows it: a tab moves to who knows where.
fn plain(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

fn first_columns(text: &str, most: usize) -> String {
    if text.width() <= most {
        return plain(text);
    }
    let kept = fitting(text.chars(), most.saturating_sub(CUT.len()));
    format!("{}{CUT}", plain(&kept.iter().collect::<String>()))
}

fn last_columns(text: &str, most: usize) -> String {
    if text.width() <= most {
        return plain(text);
    }
    let kept = fitting(text.chars().rev(), most - CUT.len());
    format!("{CUT}{}", plain(&kept.iter().rev().collect::<String>()))
}

/// The first characters that fit.
fn fitting(chars: impl Iterator<Item = char>, most: usize) -> Vec<char> {
    let mut width = 0;
    chars
        .take_while(|char| {
            width += char.width().unwrap_or(1);
            width <= most
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_whole_token() {
        let told = with_excerpt_from(
            "SELECT nam FROM phones",
            0,
            "line 1, column 8: there is no column nam",
        );
        assert_eq!(
            told,
            "line 1, column 8: there is no column nam\n  SELECT nam FROM phones\n         ^^^"
        );
    }

    #[test]
    fn lines_of_a_file_are_counted_from_its_beginning() {
        let told =
            with_excerpt_from("SELECT 1\n  FROM 'a b' ;", 10, "line 2, column 8: no text here");
        assert_eq!(told, "line 12, column 8: no text here\n    FROM 'a b' ;\n         ^^^^^");
    }

    #[test]
    fn the_end_of_a_statement_has_a_mark_too() {
        let told =
            with_excerpt_from("SELECT 1 +", 0, "line 1, column 11: an expression is missing");
        assert!(told.ends_with("\n  SELECT 1 +\n            ^"), "{told}");
    }

    #[test]
    fn wide_letters_and_tabs_do_not_move_the_mark() {
        let told =
            with_excerpt_from("SELECT '日本',\tx", 0, "line 1, column 14: there is no column x");
        assert!(told.ends_with("\n  SELECT '日本', x\n                 ^"), "{told}");
    }

    #[test]
    fn of_long_lines_the_part_around_the_place_is_shown() {
        let text = format!("SELECT {}, nam{}", "a, ".repeat(200), ", b".repeat(200));
        let told = with_excerpt_from(
            &text,
            0,
            &format!("line 1, column {}: there is no column nam", text.find("nam").unwrap() + 1),
        );
        let lines: Vec<&str> = told.lines().collect();
        assert!(
            lines[1].starts_with("  ...")
                && lines[1].ends_with("...")
                && lines[1].width() <= SHOWN_MAX + 2,
            "{told}"
        );
        assert_eq!(lines[1].find("nam"), lines[2].find("^^^"), "{told}");
    }

    #[test]
    fn messages_without_a_place_stay() {
        for message in
            ["Divide by zero", "line x, column 2: a", "line 7, column 1: beyond the text"]
        {
            assert!(with_excerpt_from("SELECT 1", 0, message).starts_with(message));
            assert_eq!(with_excerpt_from("SELECT 1", 0, message).lines().count(), 1);
        }
    }
}
