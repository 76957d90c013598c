//! Functions under the names that other databases have for them, written in those that the planner
//! knows.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Value, ValueWithSpan, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::parser::Parser;
use tonnage::{Error, Result};

use super::call::arguments;
use super::dialect::DIALECT;

/// Name, number of arguments, and what it stands for.
const MEANINGS: [(&str, usize, &str); 25] = [
    ("mod", 2, "$1 % $2"),
    ("if", 3, "CASE WHEN $1 THEN $2 ELSE $3 END"),
    ("iif", 3, "CASE WHEN $1 THEN $2 ELSE $3 END"),
    ("sign", 1, "CASE WHEN $1 > 0 THEN 1 WHEN $1 < 0 THEN -1 WHEN $1 = 0 THEN 0 END"),
    ("gen_random_uuid", 0, "uuid()"),
    ("strftime", 2, "to_char($1, $2)"),
    ("date_add", 2, "$1 + $2"),
    ("last_day", 1, "date_trunc('month', $1) + INTERVAL '1 month' - INTERVAL '1 day'"),
    // As elsewhere weeks begin on a Monday.
    ("time_bucket", 2, "date_bin($1, $2, TIMESTAMP '2000-01-03 00:00:00')"),
    ("time_bucket", 3, "date_bin($1, $2, $3)"),
    (
        "arg_max",
        2,
        "first_value($1 ORDER BY $2 DESC) FILTER (WHERE $1 IS NOT NULL AND $2 IS NOT NULL)",
    ),
    (
        "max_by",
        2,
        "first_value($1 ORDER BY $2 DESC) FILTER (WHERE $1 IS NOT NULL AND $2 IS NOT NULL)",
    ),
    ("arg_min", 2, "first_value($1 ORDER BY $2) FILTER (WHERE $1 IS NOT NULL AND $2 IS NOT NULL)"),
    ("min_by", 2, "first_value($1 ORDER BY $2) FILTER (WHERE $1 IS NOT NULL AND $2 IS NOT NULL)"),
    ("approx_count_distinct", 1, "approx_distinct($1)"),
    ("json_array_length", 1, "json_length($1)"),
    ("json_extract", 2, "json_get_json($1, $2)"),
    ("json_extract_string", 2, "json_as_text($1, $2)"),
    (
        "date_diff second",
        2,
        "CAST(date_part('epoch', date_trunc('second', $2)) - date_part('epoch', date_trunc('second', $1)) AS BIGINT)",
    ),
    (
        "date_diff minute",
        2,
        "CAST((date_part('epoch', date_trunc('minute', $2)) - date_part('epoch', date_trunc('minute', $1))) / 60 AS BIGINT)",
    ),
    (
        "date_diff hour",
        2,
        "CAST((date_part('epoch', date_trunc('hour', $2)) - date_part('epoch', date_trunc('hour', $1))) / 3600 AS BIGINT)",
    ),
    (
        "date_diff day",
        2,
        "CAST((date_part('epoch', date_trunc('day', $2)) - date_part('epoch', date_trunc('day', $1))) / 86400 AS BIGINT)",
    ),
    (
        "date_diff week",
        2,
        "CAST((date_part('epoch', date_trunc('week', $2)) - date_part('epoch', date_trunc('week', $1))) / 604800 AS BIGINT)",
    ),
    (
        "date_diff month",
        2,
        "CAST((date_part('year', $2) - date_part('year', $1)) * 12 + date_part('month', $2) - date_part('month', $1) AS BIGINT)",
    ),
    ("date_diff year", 2, "CAST(date_part('year', $2) - date_part('year', $1) AS BIGINT)"),
];

/// What a call of such a function stands for.
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
    let _ = meaning.visit(&mut Places(&given));
    Ok(Some(meaning))
}

fn parsed(text: &str) -> Result<Expr> {
    let expr = Parser::new(&DIALECT).try_with_sql(text).and_then(|mut parser| parser.parse_expr());
    expr.map_err(|error| Error::internal(format!("'{text}' is no expression: {error}")))
}

/// Puts arguments into the places for them.
struct Places<'a>(&'a [&'a Expr]);

impl VisitorMut for Places<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) = expr
            && let Some(place) =
                name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok())
            && let Some(argument) = place.checked_sub(1).and_then(|place| self.0.get(place))
        {
            *expr = (*argument).clone();
        }
        ControlFlow::Continue(())
    }
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
        assert_eq!(shown("mod(a + 1, b)"), "a + 1 % b");
        assert_eq!(shown("IF(a > $2, $1, 'x')"), "CASE WHEN a > $2 THEN $1 ELSE 'x' END");
        assert!(meaning(&parsed("upper(a)").unwrap()).unwrap().is_none());
        assert!(meaning(&parsed("date_diff('decade', a, b)").unwrap()).is_err());
    }
}
