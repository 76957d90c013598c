//! The words of an SQL expression that may be names of fields.
//!
//! Some keywords are names as well: `date` is a type after AS and before a text, and a field
//! anywhere else. A keyword wrongly taken for a name costs a look at the files. A name wrongly
//! taken for a keyword would have its field read as text.

use tonnage_sql::{SqlToken, SqlTokenKind, SqlTokens};

/// Words that name no field outside of quotes.
const KEYWORDS: [&str; 18] = [
    "and", "as", "between", "case", "cast", "distinct", "false", "for", "from", "ilike", "in",
    "is", "like", "not", "null", "or", "true", "try_cast",
];
/// Words that name no field in the position of a type.
const TYPES: [&str; 3] = ["date", "interval", "timestamp"];
/// Words that name no field between CASE and its END.
const OF_CASES: [&str; 4] = ["else", "end", "then", "when"];

/// The words of an expression that may be names of fields.
pub(super) fn names_in(text: &str) -> Vec<String> {
    let tokens = SqlTokens::read(text);
    let is_said = |token: &&SqlToken| token.kind != SqlTokenKind::Comment;
    let said: Vec<_> = tokens.tokens().iter().filter(is_said).collect();
    let words: Vec<_> = said.iter().map(|token| text[token.range.clone()].trim()).collect();
    let name = |place: usize| match said[place].kind {
        SqlTokenKind::QuotedName => Some(words[place].trim_matches('"').replace("\"\"", "\"")),
        SqlTokenKind::Word => {
            let next = words.get(place + 1).copied().unwrap_or_default();
            let is_name =
                !next.starts_with('(') && !is_keyword(words[place], &words[..place], next);
            is_name.then(|| words[place].to_owned())
        }
        _ => None,
    };
    (0..said.len()).filter_map(name).collect()
}

/// Whether a word belongs to the language at its position.
fn is_keyword(word: &str, before: &[&str], next: &str) -> bool {
    let is_one_of = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let last = before.last().copied().unwrap_or_default();
    if is_one_of(&TYPES) {
        let is_value = next.starts_with(|char: char| char == '\'' || char.is_ascii_digit());
        return is_value || last == "::" || last.eq_ignore_ascii_case("as");
    }
    if is_one_of(&OF_CASES) {
        return is_in_case(before);
    }
    is_one_of(&KEYWORDS)
        || is_one_of(&["similar"]) && next.eq_ignore_ascii_case("to")
        || is_one_of(&["to"]) && last.eq_ignore_ascii_case("similar")
}

/// Whether a CASE is open after these words.
fn is_in_case(words: &[&str]) -> bool {
    let open = words.iter().fold(0_usize, |open, word| match *word {
        word if word.eq_ignore_ascii_case("case") => open + 1,
        word if word.eq_ignore_ascii_case("end") => open.saturating_sub(1),
        _ => open,
    });
    open > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_call_nothing() {
        let names = names_in("to_timestamp(Epoch) > \"a \"\"b\" AND kind = 'x' -- id");
        assert_eq!(names, ["Epoch", "a \"b", "kind"]);
    }

    /// Fields of such names were read as text, whatever they held.
    #[test]
    fn words_of_the_language_may_be_names() {
        for (text, names) in [
            ("date > timestamp", &["date", "timestamp"][..]),
            ("at > DATE '2022-01-03' + INTERVAL '1 day'", &["at"]),
            ("CAST(a AS Date) = b::timestamp", &["a", "b"]),
            ("to SIMILAR TO 'x%' AND similar", &["to", "similar"]),
            ("CASE WHEN a THEN b ELSE c END > end", &["a", "b", "c", "end"]),
            ("CASE CASE a WHEN 1 THEN 2 END WHEN 2 THEN b END", &["a", "b"]),
            ("when IS NOT NULL", &["when"]),
        ] {
            assert_eq!(names_in(text), names, "{text}");
        }
    }
}
