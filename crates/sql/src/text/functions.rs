//! Rewrites calls of functions under the names that other databases have for them.

use datafusion::sql::sqlparser::ast::{Expr, Value, ValueWithSpan};
use tonnage::{Error, Result};

use super::call::arguments;
use super::function_aliases::MEANINGS;
use super::pattern::{fill, parsed};
use super::{aggregates, file_name, joins, row_values};

/// Users are those of a server, and sessions do not tell statements of them.
const NO_USERS: &str =
    "statements do not know who is logged in: GET /v1/me and the audit log of a server do";

/// Functions that there are not, with what to write instead.
const MISSING: [(&str, &str); 12] = [
    ("columns", "name the columns, or write * EXCLUDE (a, b)"),
    ("current_user", NO_USERS),
    ("session_user", NO_USERS),
    ("hash", "write md5(x) or sha256(x)"),
    (
        "regexp_matches",
        "write regexp_like(s, pattern) for true or false, regexp_match(s, pattern) for the groups of the first match",
    ),
    ("jsonb_each", "it belongs into FROM: write FROM t, jsonb_each(t.doc) AS e (key, value)"),
    ("json_each", "it belongs into FROM: write FROM t, json_each(t.doc) AS e (key, value)"),
    (
        "jsonb_each_text",
        "it belongs into FROM: write FROM t, jsonb_each_text(t.doc) AS e (key, value)",
    ),
    (
        "json_each_text",
        "it belongs into FROM: write FROM t, json_each_text(t.doc) AS e (key, value)",
    ),
    ("row_to_json", "write json_build_object('a', a, 'b', b) with the columns of the row"),
    ("jsonb_pretty", "documents are shown as they are stored: take them apart with json_each"),
    ("make_interval", "write INTERVAL '1 day', or n * INTERVAL '1 day'"),
];

/// Refuses a call of a function that there is not.
pub(super) fn refuse(expr: &Expr) -> Result<()> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let name = function.name.to_string().to_ascii_lowercase();
    match MISSING.iter().find(|(missing, _)| *missing == name) {
        Some((_, remedy)) => Err(Error::unsupported(format!("{name}: {remedy}"))),
        None => Ok(()),
    }
}

/// Whether an expression is written in others, so that a column of it would be named after those.
pub(super) fn is_written_in_others(expr: &Expr) -> bool {
    let Expr::Function(function) = expr else { return row_values::is_comparison(expr) };
    let name = function.name.to_string().to_ascii_lowercase();
    MEANINGS.iter().any(|(known, ..)| *known == name)
        || name == "date_diff"
        || name == "datediff"
        || name == "any_value"
        || aggregates::is_known(&name)
}

/// The functions that statements may call beside those of the planner: their names, kinds, and what
/// they mean.
pub(crate) fn own_functions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    // A meaning by unit, as "date_diff day", is one of a function.
    let meanings = MEANINGS.iter().filter(|(name, ..)| !name.contains(' '));
    let written = meanings.map(|(name, _, meaning)| {
        let is_aggregate =
            ["first_value(", "approx_distinct("].iter().any(|of| meaning.starts_with(of));
        (*name, if is_aggregate { "aggregate" } else { "scalar" }, *meaning)
    });
    let tables = file_name::functions().chain(joins::OF_DOCUMENTS);
    written
        .chain(["date_diff", "datediff", "unnest"].map(|name| (name, "scalar", "")))
        .chain(aggregates::own_aggregates())
        .chain(tables.map(|name| (name, "table", "")))
}

/// What a call of such a function means.
pub(super) fn meaning(expr: &Expr) -> Result<Option<Expr>> {
    let Some((mut name, mut given)) = arguments(expr) else { return Ok(None) };
    if matches!(name.as_str(), "date_diff" | "datediff") && given.len() == 3 {
        let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(unit), .. }) =
            given.remove(0)
        else {
            return Err(Error::unsupported(
                "date_diff takes its unit as text in quotes, such as 'day'",
            ));
        };
        name = format!("date_diff {}", unit.to_ascii_lowercase().trim_end_matches('s'));
        if !MEANINGS.iter().any(|(known, ..)| *known == name) {
            return Err(Error::unsupported(format!(
                "date_diff by '{unit}': it counts seconds, minutes, hours, days, weeks, months and years"
            )));
        }
    }
    let found = MEANINGS.iter().find(|(known, count, _)| *known == name && *count == given.len());
    let Some((.., meaning)) = found else { return Ok(None) };
    let mut meaning = parsed(meaning)?;
    fill(&mut meaning, &given)?;
    Ok(Some(meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_an_expression() {
        for (name, _, meaning) in MEANINGS {
            assert!(parsed(meaning).is_ok(), "{name}");
        }
    }

    #[test]
    fn arguments_stand_in_their_places() {
        let shown = |text: &str| meaning(&parsed(text).unwrap()).unwrap().unwrap().to_string();
        assert_eq!(shown("mod(a + 1, b)"), "(a + 1) % b");
        assert_eq!(shown("IF(a > $2, $1, 'x')"), "CASE WHEN (a > $2) THEN $1 ELSE 'x' END");
        assert!(meaning(&parsed("upper(a)").unwrap()).unwrap().is_none());
        assert!(meaning(&parsed("date_diff('decade', a, b)").unwrap()).is_err());
    }
}
