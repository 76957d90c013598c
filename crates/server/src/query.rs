//! Statements as JSON: one of `POST /v1/sql`, or many of a fetch-all.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value as Json;
use tonnage::{ColumnType, Error, Result, Value};
use tonnage_sql::{Parameters, Request};

/// Statements that one fetch-all may have.
pub(crate) const STATEMENTS_MAX: usize = 10_000;

/// A statement with what goes along with it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    pub(crate) sql: String,
    /// The values of `?`, or of `$1`, `$2` and so on.
    #[serde(default)]
    pub(crate) parameters: Vec<Json>,
    /// The types of parameters, as definitions have them, for those that JSON has no form for.
    #[serde(default)]
    pub(crate) types: Vec<Option<String>>,
    #[serde(default)]
    pub(crate) timeout_ms: Option<u64>,
    /// Rows of the answer, at most.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
}

impl Query {
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
        let values = self.parameters.iter().zip(types).enumerate().map(|(place, (json, kind))| {
            let value = match kind {
                None => Ok(parameter(json)),
                Some(kind) => typed(json, kind),
            };
            value.map_err(|error| error.at(format!("parameter {}", place + 1)))
        });
        let parameters = Parameters::numbered(values.collect::<Result<Vec<_>>>()?);
        let request = Request::new(self.sql.as_str()).parameters(parameters);
        Ok(match self.timeout_ms {
            Some(timeout) => request.timeout(Duration::from_millis(timeout.max(1))),
            None => request,
        })
    }
}

/// Types with members of their own. Each one that is read stays in memory, so none may come out of a
/// request.
const NESTED: [&str; 4] = ["ENUM", "ARRAY", "MAP", "RECORD"];

/// A value of a type that JSON has no form for: its text, or a number or a boolean.
fn typed(json: &Json, kind: &str) -> Result<Value> {
    // A comment or a quote before the word could hide it.
    let word = kind.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    if word.is_empty() || NESTED.iter().any(|nested| nested.eq_ignore_ascii_case(word)) {
        return Err(Error::invalid(format!(
            "{kind} is no type of a parameter: give its value as JSON, without a type"
        )));
    }
    let kind: ColumnType = kind.parse()?;
    match json {
        Json::Null => Ok(Value::Null),
        Json::String(text) => Value::parse(text, kind),
        Json::Bool(truth) if kind == ColumnType::Boolean => Ok(Value::Boolean(*truth)),
        Json::Number(number) if kind != ColumnType::String => {
            Value::parse_json_number(number, kind)
        }
        other => Err(Error::invalid(format!("{other} is no {kind}: give its text"))),
    }
}

/// A value as JSON has it: whole numbers are LONG, others DOUBLE; objects and arrays are JSON.
fn parameter(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Long(whole),
            (None, double) => Value::Double(double.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text.clone()),
        other => Value::Json(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_what_json_says() {
        let values = [
            (serde_json::json!(5), Value::Long(5)),
            (serde_json::json!(1.5), Value::Double(1.5)),
            (serde_json::json!("x"), Value::String("x".into())),
            (serde_json::json!(null), Value::Null),
            (serde_json::json!([1]), Value::Json("[1]".into())),
        ];
        for (json, wanted) in values {
            assert_eq!(parameter(&json), wanted);
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
            let value = typed(&json, kind).unwrap();
            let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
            assert_eq!(value, Value::parse(&text, kind.parse().unwrap()).unwrap());
        }
        assert_eq!(typed(&Json::Null, "DATE").unwrap(), Value::Null);
        for (kind, json, said) in [
            ("DATE", serde_json::json!("yesterday"), "a day like"),
            ("DAY", serde_json::json!("2022-01-03"), "unknown type"),
            ("ENUM('a')", serde_json::json!("a"), "no type of a parameter"),
            ("enum ('a')", serde_json::json!("a"), "no type of a parameter"),
            ("/* */ ENUM('a')", serde_json::json!("a"), "no type of a parameter"),
            ("\"ENUM\"('a')", serde_json::json!("a"), "no type of a parameter"),
            ("DATE", serde_json::json!(true), "no DATE"),
        ] {
            let error = typed(&json, kind).unwrap_err();
            assert!(error.message().contains(said), "{kind}: {error}");
        }
    }

    #[test]
    fn the_place_of_a_parameter_that_is_not_of_its_type_is_told() {
        let query = Query {
            sql: "SELECT ?, ?".to_owned(),
            parameters: vec![serde_json::json!(1), serde_json::json!("x")],
            types: vec![None, Some("DATE".to_owned())],
            ..Query::default()
        };
        let error = query.request().err().unwrap();
        assert!(error.message().starts_with("parameter 2"), "{error}");
        let more = Query { types: vec![None; 3], ..query };
        assert!(more.request().err().unwrap().message().contains("3 types for 2 parameters"));
    }

    #[test]
    fn a_member_that_there_is_not_is_named() {
        let error = serde_json::from_str::<Query>(r#"{"sql": "SELECT 1", "parms": []}"#);
        assert!(error.unwrap_err().to_string().contains("parms"));
    }
}
