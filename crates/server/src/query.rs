//! SQL statements as JSON: one of `POST /v1/sql`, or many of a fetch-all.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tonnage::internal::json_text::{self, JsonKind};
use tonnage::{ColumnType, Error, Result, Value};
use tonnage_sql::{Parameters, Request};

use crate::json_error::json_error;

/// Statements that one fetch-all may have.
pub(crate) const STATEMENTS_MAX: usize = 10_000;

/// A statement with its settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SqlQuery {
    pub(crate) sql: String,
    /// The values of `?`, or of `$1`, `$2` and so on.
    #[serde(default)]
    parameters: Vec<IgnoredAny>,
    /// The same as they are written: a tree of JSON values would round their numbers.
    #[serde(skip)]
    texts: Vec<String>,
    /// The types of parameters, as definitions have them, for those that JSON has no form for.
    #[serde(default)]
    pub(crate) types: Vec<Option<String>>,
    #[serde(default)]
    pub(crate) timeout_ms: Option<u64>,
    /// Rows of the answer, at most.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
}

/// The statements of a list, as those who look at what runs see them: the first ones of many.
pub(crate) fn texts_of(queries: &[SqlQuery]) -> String {
    const SHOWN_MAX: usize = 20;
    let texts: Vec<_> = queries.iter().take(SHOWN_MAX).map(|query| query.sql.as_str()).collect();
    texts.join("; ")
}

fn invalid_query(error: serde_json::Error) -> Error {
    Error::invalid(format!("the statement is not as docs/http.md says: {}", json_error(&error)))
}

impl SqlQuery {
    /// Reads one statement.
    ///
    /// # Errors
    /// `Invalid` for what is no such object.
    pub(crate) fn parse(text: &str) -> Result<SqlQuery> {
        serde_json::from_str::<SqlQuery>(text).map_err(invalid_query)?.with_texts(text)
    }

    /// Reads a list of statements.
    ///
    /// # Errors
    /// As [`SqlQuery::parse`].
    pub(crate) fn parse_all(text: &str) -> Result<Vec<SqlQuery>> {
        let queries: Vec<SqlQuery> = serde_json::from_str(text).map_err(invalid_query)?;
        let texts = json_text::items(text)?;
        queries.into_iter().zip(texts).map(|(query, text)| query.with_texts(text)).collect()
    }

    fn with_texts(mut self, text: &str) -> Result<SqlQuery> {
        if self.timeout_ms == Some(0) {
            return Err(Error::invalid(
                "timeout_ms is 0: give 1 or more, or leave it out for the server's own timeout",
            ));
        }
        let members = json_text::members(text)?;
        if let Some((_, list)) = members.iter().find(|(name, _)| name == "parameters") {
            self.texts = json_text::items(list)?.into_iter().map(str::to_owned).collect();
        }
        Ok(self)
    }

    /// The statement as the session takes it.
    ///
    /// # Errors
    /// `Invalid` for a parameter that is not of its type, and for more types than parameters.
    pub(crate) fn request(&self) -> Result<Request> {
        if self.types.len() > self.parameters.len() {
            return Err(Error::invalid(format!(
                "{} types for {} parameters: give one for each, or null",
                self.types.len(),
                self.parameters.len()
            )));
        }
        let types = self.types.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        let values = self.texts.iter().zip(types).enumerate().map(|(place, (text, kind))| {
            let value = match kind {
                None => json_parameter(text),
                Some(kind) => typed_parameter(text, kind),
            };
            value.map_err(|error| error.at(format!("parameter {}", place + 1)))
        });
        let parameters = Parameters::numbered(values.collect::<Result<Vec<_>>>()?);
        let request = Request::new(self.sql.as_str()).parameters(parameters);
        Ok(match self.timeout_ms {
            Some(timeout) => request.timeout(Duration::from_millis(timeout)),
            None => request,
        })
    }
}

/// Types with members of their own. Each one that is read stays in memory, so none may come out of
/// a request.
const NESTED: [&str; 4] = ["ENUM", "ARRAY", "MAP", "RECORD"];

/// A value of a type that JSON has no form for: its text, or a number or a boolean.
fn typed_parameter(text: &str, kind: &str) -> Result<Value> {
    // A comment or a quote before the word could hide it.
    let word = kind.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    if word.is_empty() || NESTED.iter().any(|nested| nested.eq_ignore_ascii_case(word)) {
        return Err(Error::invalid(format!(
            "{kind} is not a type of a parameter: give its value as JSON, without a type"
        )));
    }
    let kind: ColumnType = kind.parse()?;
    match JsonKind::of(text) {
        JsonKind::Null => Ok(Value::Null),
        JsonKind::String => Value::parse(&json_text::string(text)?, kind),
        JsonKind::Boolean if kind == ColumnType::Boolean => Ok(Value::Boolean(text == "true")),
        JsonKind::Number if kind != ColumnType::String => Value::parse(text, kind),
        _ => Err(Error::invalid(format!("{text} is no {kind}: give its text"))),
    }
}

/// A value as JSON has it: objects and arrays are documents.
fn json_parameter(text: &str) -> Result<Value> {
    Ok(match JsonKind::of(text) {
        JsonKind::Null => Value::Null,
        JsonKind::Boolean => Value::Boolean(text == "true"),
        JsonKind::Number => number(text)?,
        JsonKind::String => Value::String(json_text::string(text)?),
        JsonKind::Object | JsonKind::Array => Value::Json(text.to_owned()),
    })
}

/// The digits that a double is sure to keep.
const DIGITS_KEPT: usize = 15;

/// The characters of a number that an error shows.
const SHOWN_MAX: usize = 60;

/// A whole number is LONG, and NUMBER where that is too short, as in the text of a statement.
/// Others are DOUBLE, and NUMBER where that would round them.
///
/// # Errors
/// `Invalid` for more digits than a NUMBER has, and for a number beyond DOUBLE.
fn number(text: &str) -> Result<Value> {
    if let Ok(whole) = text.parse() {
        return Ok(Value::Long(whole));
    }
    let digits = text.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit);
    let is_long = !text.contains('.') || digits.count() > DIGITS_KEPT;
    if is_long && let Some(number) = Value::decimal(text) {
        return Ok(number);
    }
    // Programs write doubles with an exponent, and with digits that are theirs.
    if is_long && !text.contains(['e', 'E']) {
        let shown: String = text.chars().take(SHOWN_MAX).collect();
        return Err(Error::invalid(format!(
            "the number that begins with {shown} has more digits than any NUMBER: round it, or \
             give it an exponent for a DOUBLE"
        )));
    }
    Value::parse(text, ColumnType::Double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_what_json_says() {
        let values = [
            ("5", Value::Long(5)),
            ("1.5", Value::Double(1.5)),
            ("1e3", Value::Double(1000.0)),
            ("-0.100000000000000", Value::Double(-0.1)),
            (r#""x""#, Value::String("x".into())),
            ("null", Value::Null),
            ("[1, 1.10]", Value::Json("[1, 1.10]".into())),
        ];
        for (text, wanted) in values {
            assert_eq!(json_parameter(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn long_numbers_keep_their_digits() {
        // They were doubles, and found the rows of their neighbours.
        for text in [
            "9223372036854775808",
            "-123456789012345678901234567890",
            "0.1234567890123456789",
            "12345678901234567890123456789012345678.5",
        ] {
            assert_eq!(json_parameter(text).unwrap(), Value::decimal(text).unwrap(), "{text}");
        }
    }

    /// They lost digits, or became infinity.
    #[test]
    fn numbers_that_fit_no_type_are_refused() {
        let (digits, fraction) = ("7".repeat(80), format!("0.{}", "7".repeat(80)));
        for (text, said) in [
            ("1e400", "out of range for DOUBLE"),
            ("-1.5e400", "out of range for DOUBLE"),
            (digits.as_str(), "more digits than any NUMBER"),
            (fraction.as_str(), "more digits than any NUMBER"),
        ] {
            let error = json_parameter(text).unwrap_err();
            assert!(error.message().contains(said), "{text}: {error}");
        }
        for text in ["1.2345678901234567e300", "1e-300", "0.00000000000000000000000000001"] {
            let wanted = Value::Double(text.parse().unwrap());
            assert_eq!(json_parameter(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn typed_parameters_are_of_their_types() {
        let cases = [
            ("TIMESTAMP(3)", serde_json::json!("2022-01-03T06:00:00.5")),
            ("DATE", serde_json::json!("2022-01-03")),
            ("TIME", serde_json::json!("06:00:00")),
            ("NUMBER(10, 2)", serde_json::json!("12345678.25")),
            ("DOUBLE", serde_json::json!(2)),
            ("BINARY", serde_json::json!("AP8=")),
            ("UUID", serde_json::json!("00000000-0000-0000-0000-000000000001")),
        ];
        for (kind, json) in cases {
            let value = typed_parameter(&json.to_string(), kind).unwrap();
            let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
            assert_eq!(value, Value::parse(&text, kind.parse().unwrap()).unwrap());
        }
        assert_eq!(typed_parameter("null", "DATE").unwrap(), Value::Null);
        for (kind, json, said) in [
            ("DATE", serde_json::json!("yesterday"), "a day like"),
            ("DAY", serde_json::json!("2022-01-03"), "unknown type"),
            ("ENUM('a')", serde_json::json!("a"), "not a type of a parameter"),
            ("enum ('a')", serde_json::json!("a"), "not a type of a parameter"),
            ("/* */ ENUM('a')", serde_json::json!("a"), "not a type of a parameter"),
            ("\"ENUM\"('a')", serde_json::json!("a"), "not a type of a parameter"),
            ("DATE", serde_json::json!(true), "no DATE"),
        ] {
            let error = typed_parameter(&json.to_string(), kind).unwrap_err();
            assert!(error.message().contains(said), "{kind}: {error}");
        }
    }

    #[test]
    fn the_place_of_a_parameter_that_is_not_of_its_type_is_told() {
        let query = |types| {
            let text =
                format!(r#"{{"sql": "SELECT ?, ?", "parameters": [1, "x"], "types": {types}}}"#);
            SqlQuery::parse(&text).unwrap().request().err().unwrap()
        };
        let error = query(r#"[null, "DATE"]"#);
        assert!(error.message().starts_with("parameter 2"), "{error}");
        assert!(query("[null, null, null]").message().contains("3 types for 2 parameters"));
    }

    #[test]
    fn a_member_that_there_is_not_is_named() {
        let error = SqlQuery::parse(r#"{"sql": "SELECT 1", "parms": []}"#);
        assert!(error.unwrap_err().to_string().contains("parms"));
    }
}
