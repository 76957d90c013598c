//! Formats of `to_char` as PostgreSQL writes them, `YYYY-MM-DD`, in those of the library,
//! `%Y-%m-%d`. A format with a `%` stays as it is.

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value, ValueWithSpan,
};
use tonnage::{Error, Result};

use super::call::arguments;

/// Parts of a format, longer ones before those that they begin with.
const PARTS: [(&str, &str); 32] = [
    ("FMMonth", "%B"),
    ("FMDay", "%A"),
    ("FMMM", "%-m"),
    ("FMDD", "%-d"),
    ("FMHH24", "%-H"),
    ("FMHH12", "%-I"),
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("yyyy", "%Y"),
    ("DDD", "%j"),
    ("HH24", "%H"),
    ("hh24", "%H"),
    ("HH12", "%I"),
    ("hh12", "%I"),
    ("Mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("mm", "%m"),
    ("DD", "%d"),
    ("dd", "%d"),
    ("Dy", "%a"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("mi", "%M"),
    ("SS", "%S"),
    ("ss", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("IW", "%V"),
    ("ID", "%u"),
    ("AM", "%p"),
    ("PM", "%p"),
];

/// Writes the format of a call of `to_char` as the library takes it.
pub(super) fn respell(expr: &mut Expr) -> Result<()> {
    let is_call =
        arguments(expr).is_some_and(|(name, given)| name == "to_char" && given.len() == 2);
    let Expr::Function(function) = expr else { return Ok(()) };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(ValueWithSpan {
        value: Value::SingleQuotedString(format),
        ..
    })))) = list.args.last_mut().filter(|_| is_call)
        && !format.contains('%')
    {
        *format = translated(format)?;
    }
    Ok(())
}

fn translated(format: &str) -> Result<String> {
    let (mut written, mut rest) = (String::new(), format);
    while let Some(letter) = rest.chars().next() {
        if let Some((part, meaning)) = PARTS.iter().find(|(part, _)| rest.starts_with(part)) {
            written.push_str(meaning);
            rest = &rest[part.len()..];
        } else if let Some(behind) = rest.strip_prefix('"') {
            let (quoted, behind) = behind.split_once('"').unwrap_or((behind, ""));
            written.push_str(quoted);
            rest = behind;
        } else if letter.is_alphabetic() && !is_mark(format, rest) {
            return Err(Error::unsupported(format!(
                "to_char: '{rest}' in '{format}' is not part of a format: write FMMonth, FMDay or words in double quotes, or a format such as %Y-%m-%d %H:%M:%S"
            )));
        } else {
            written.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    Ok(written)
}

/// Whether a `T` is between a day and a time, or a `Z` at the end.
fn is_mark(format: &str, rest: &str) -> bool {
    let is_behind_day = format[..format.len() - rest.len()].ends_with("DD");
    rest == "Z" || (is_behind_day && rest.starts_with("THH24"))
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parsed;
    use super::*;

    #[test]
    fn formats_of_postgresql_are_written_in_those_of_the_library() {
        for (format, expected) in [
            ("YYYY-MM-DD", "%Y-%m-%d"),
            ("YYYY-MM-DDTHH24:MI:SS.MSZ", "%Y-%m-%dT%H:%M:%S.%3fZ"),
            ("Dy, DD Mon YYYY HH12:MI PM", "%a, %d %b %Y %I:%M %p"),
            ("\"Week\" IW, IYYY", "Week %V, %G"),
            ("FMDD. FMMonth", "%-d. %B"),
            ("%d.%m.", "%d.%m."),
            ("", ""),
        ] {
            let mut call = parsed(&format!("to_char(at, '{format}')")).unwrap();
            respell(&mut call).unwrap();
            assert_eq!(call.to_string(), format!("to_char(at, '{expected}')"));
        }
    }

    #[test]
    fn an_unknown_format_is_refused() {
        for format in ["Month", "yyyx", "999", "TZ", "year"] {
            let refused = translated(format);
            assert_eq!(refused.is_err(), format != "999", "{format}");
        }
    }
}
