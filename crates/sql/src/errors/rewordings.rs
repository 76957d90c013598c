//! Messages of DataFusion and Arrow in words that say what to do.

use super::debug_texts::without_debug;

/// What a message says, its types named as in SQL, and what Tonnage says. `*` means any text, which
/// `$1`, `$2` put into the words.
const WORDS: [(&str, &str); 27] = [
    (
        "Parser error: Error parsing timestamp from '*': *",
        "'$1' is not a timestamp: write it as '2022-01-03' or '2022-01-03 06:00:00'",
    ),
    ("Cast error: Cannot cast string '*' to value of NUMBER(*) type", "'$1' is not a number"),
    ("Cast error: Cannot cast string '*' to value of DOUBLE type", "'$1' is not a number"),
    ("Cast error: Cannot cast string '*' to value of FLOAT type", "'$1' is not a number"),
    ("Cast error: Cannot cast string '*' to value of LONG type", "'$1' is not a LONG"),
    ("Cast error: Cannot cast string '*' to value of INTEGER type", "'$1' is not an INTEGER"),
    ("Cast error: Cannot cast string '*' to value of BOOLEAN type", "'$1' is not a BOOLEAN"),
    (
        "Cast error: Cannot cast string '*' to value of DATE type",
        "'$1' is not a date: write it as '2022-01-03'",
    ),
    (
        "Cast error: Cannot cast string '*' to value of TIME type",
        "'$1' is not a time: write it as '09:30' or '09:30:15'",
    ),
    (
        "Cannot create filter with non-boolean predicate '*' returning *",
        "a condition is $2 and no BOOLEAN: compare it with a value, as in x = true",
    ),
    ("Divide by zero error", "division by zero: write nullif(x, 0) for the divisor"),
    (
        "Arithmetic overflow: Overflow happened on: *",
        "overflow: $1 is out of range; cast a side to NUMBER(38, 0) or DOUBLE",
    ),
    (
        "Parser error: Invalid input syntax for type interval: \"*\"",
        "'$1' is not an interval: write it as '1 day 2 hours' or '90 minutes'",
    ),
    (
        "Parser error: Invalid input syntax for type interval: \"*\". Repeated type '*'",
        "'$1' is not an interval: $2 occurs in it twice",
    ),
    (
        "LIMIT must be >= 0, '*' was provided",
        "LIMIT $1: give 0 or more, or leave LIMIT out for all rows",
    ),
    ("OFFSET must be >=0, '*' was provided", "OFFSET $1: give 0 or more"),
    (
        "Substring without for/from is not valid *",
        "substring takes a text and where to begin, as in substring(s, 2) or substring(s FROM 2 FOR 3)",
    ),
    (
        "Unsupported Value '*'",
        "literals of this kind are not supported: write text as 'text' and bytes as X'0aff'",
    ),
    (
        "Query * not implemented yet",
        "in WITH and FROM stand queries, and no changes: run the change by itself: $1",
    ),
    ("Cast error: Can't cast value * to type *", "$1 is out of range for $2"),
    ("Overflow happened on FACTORIAL(*)", "overflow: factorial($1) is out of range for LONG"),
    (
        "*: While expanding wildcard, * must appear in the GROUP BY clause or must be part of an aggregate function, currently only *",
        "$1: $2 must appear in GROUP BY, or in an aggregate function such as any_value",
    ),
    (
        "* must appear in the GROUP BY clause or must be part of an aggregate function, currently only *",
        "$1 must appear in GROUP BY, or in an aggregate function such as any_value",
    ),
    (
        "Unsupported SQL type *",
        "there is no type $1; the types are INTEGER, LONG, FLOAT, DOUBLE, NUMBER(p, s), STRING, BOOLEAN, BINARY, UUID, DATE, TIME, TIMESTAMP(p), INTERVAL and JSON",
    ),
    // Said of every column, whether it comes from a star or not.
    ("*: While expanding wildcard, *", "$1: $2"),
    (
        "Nested identifiers are not yet supported for OuterReferenceColumn *",
        "a member of a document of the query outside: write $1->>'member'",
    ),
    (
        "Cannot access field at argument *: type * is not Struct, Map, or NULL",
        "$2 has no members: make the column JSON, or write CAST(... AS JSON)->'member'",
    ),
];

/// The message in Tonnage's words, or as it is.
pub(crate) fn reworded(message: String) -> String {
    let told = WORDS.iter().find_map(|(said, words)| filled(words, &taken(&message, said)?));
    match told {
        Some(told) => with_double(told),
        None => without_debug(message),
    }
}

/// The texts in a message that mean the stars of a pattern.
fn taken<'a>(message: &'a str, pattern: &str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split('*');
    let mut rest = message.strip_prefix(parts.next()?)?;
    let mut texts = Vec::new();
    for part in parts {
        let (text, behind) = match part {
            "" => (rest, ""),
            part => rest.split_once(part)?,
        };
        texts.push(text);
        rest = behind;
    }
    rest.is_empty().then_some(texts)
}

/// The words with the texts in them.
fn filled(words: &str, texts: &[&str]) -> Option<String> {
    let mut pieces = words.split('$');
    let mut told = pieces.next()?.to_owned();
    for piece in pieces {
        let number: usize = piece.get(..1)?.parse().ok()?;
        told.push_str(texts.get(number.checked_sub(1)?)?);
        told.push_str(&piece[1..]);
    }
    Some(told)
}

/// The message with the remedy for `1e2` and `1.5`, which are numbers, but no whole ones.
fn with_double(told: String) -> String {
    let text =
        [" is not a LONG", " is not an INTEGER"].iter().find_map(|end| told.strip_suffix(*end));
    let text = text.map_or("", |text| text.trim_matches('\'').trim());
    // Digits alone are too large: a double would not help.
    let has_digits = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_double = text.contains(['.', 'e', 'E'])
        && has_digits
        && text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_double { format!("{told}: cast it to DOUBLE first") } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_library_say_what_to_do() {
        for (message, told) in [
            (
                "Cast error: Cannot cast string '1e2' to value of LONG type",
                "'1e2' is not a LONG: cast it to DOUBLE first",
            ),
            ("Cast error: Cannot cast string 'e' to value of LONG type", "'e' is not a LONG"),
            (
                "Cast error: Cannot cast string '99999999999' to value of INTEGER type",
                "'99999999999' is not an INTEGER",
            ),
            (
                "Cast error: Cannot cast string '$2' to value of NUMBER(38, 10) type",
                "'$2' is not a number",
            ),
            (
                "Column in SELECT must be in GROUP BY or an aggregate function: While expanding wildcard, column \"t.a\" must appear in the GROUP BY clause",
                "Column in SELECT must be in GROUP BY or an aggregate function: column \"t.a\" must appear in the GROUP BY clause",
            ),
            ("Cast error: something else", "Cast error: something else"),
        ] {
            assert_eq!(reworded(message.to_owned()), told);
        }
    }

    #[test]
    fn all_words_can_be_filled() {
        for (said, words) in WORDS {
            let texts = taken(said, said).unwrap();
            assert!(filled(words, &texts).is_some(), "{said}");
        }
    }
}
