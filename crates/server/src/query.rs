//! Statements as JSON: one of `POST /v1/sql`, or many of a fetch-all.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value as Json;
use tonnage::Value;
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
    #[serde(default)]
    pub(crate) timeout_ms: Option<u64>,
    /// Rows of the answer, at most.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
}

impl Query {
    /// The statement as the session takes it.
    pub(crate) fn request(&self) -> Request {
        let parameters = Parameters::numbered(self.parameters.iter().map(parameter));
        let request = Request::new(self.sql.as_str()).parameters(parameters);
        match self.timeout_ms {
            Some(timeout) => request.timeout(Duration::from_millis(timeout.max(1))),
            None => request,
        }
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
    fn a_member_that_there_is_not_is_named() {
        let error = serde_json::from_str::<Query>(r#"{"sql": "SELECT 1", "parms": []}"#);
        assert!(error.unwrap_err().to_string().contains("parms"));
    }
}
