//! Many statements in one call.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde_json::{Value as Json, json};
use tonnage::{Result, Value};

use crate::definition::outcome_of;
use crate::frame::{self, AnswerFrame};
use crate::row_batch::type_of;
use crate::sql::Changes;
use crate::store::RemoteStore;

/// Statements that one call has.
const STATEMENTS_MAX: usize = 10_000;

/// What a statement of a fetch-all answers.
#[derive(Debug)]
pub enum Fetched {
    /// All rows, for a statement that reads.
    Rows(SchemaRef, Vec<RecordBatch>),
    /// How many rows a statement changed.
    Changed(Changes),
    /// What a definition did.
    Done(tonnage::DdlOutcome),
}

impl RemoteStore {
    /// Carries out many statements, side by side. Each has its answer or its error.
    ///
    /// # Errors
    /// What the server says of all of them, and `Unavailable` when it cannot be reached.
    pub fn fetch_all(&self, statements: &[(String, Vec<Value>)]) -> Result<Vec<Result<Fetched>>> {
        let mut answers = Vec::with_capacity(statements.len());
        for some in statements.chunks(STATEMENTS_MAX) {
            let asked = some.iter().map(|(text, values)| {
                let told = values.iter().map(parameter_json).collect::<Result<Vec<_>>>()?;
                let (values, types): (Vec<_>, Vec<_>) = told.into_iter().unzip();
                let mut statement = json!({"sql": text, "parameters": values});
                if types.iter().any(Option::is_some) {
                    statement["types"] = json!(types);
                }
                if let Some(timeout) = self.timeout() {
                    // Less than a millisecond is no timeout to a server.
                    statement["timeout_ms"] = json!((timeout.as_millis() as u64).max(1));
                }
                Ok(statement)
            });
            let asked = Json::Array(asked.collect::<Result<_>>()?);
            let told = self.act("tonnage.FetchAll", asked.to_string().into_bytes())?;
            if told.len() != some.len() {
                return Err(self.unreadable_answer());
            }
            answers.extend(told.iter().map(|answer| self.fetched(answer)));
        }
        Ok(answers)
    }

    fn fetched(&self, answer: &[u8]) -> Result<Fetched> {
        let frame = frame::read(answer).ok_or_else(|| self.unreadable_answer())?;
        if let Some(error) = frame.error() {
            return Err(error);
        }
        let AnswerFrame { header, rows } = frame;
        if let Some((schema, batches)) = rows {
            return Ok(Fetched::Rows(schema, batches));
        }
        let ok = header.get("ok").ok_or_else(|| self.unreadable_answer())?;
        match ok.get("changed") {
            Some(_) => serde_json::from_value(ok.clone()).ok().map(Fetched::Changed),
            None => outcome_of(ok.to_string().as_bytes()).map(Fetched::Done),
        }
        .ok_or_else(|| self.unreadable_answer())
    }
}

/// A value as JSON, with its type where JSON alone does not tell it: the server reads the same
/// value.
///
/// # Errors
/// `Invalid` for a number with more digits than any NUMBER has.
fn parameter_json(value: &Value) -> Result<(Json, Option<String>)> {
    Ok(match value {
        Value::Null => (Json::Null, None),
        Value::Boolean(truth) => (json!(truth), None),
        Value::Long(number) => (json!(number), None),
        Value::String(text) => (json!(text), None),
        other => {
            let kind = type_of(other)?.map(|kind| kind.to_string());
            (json!(other.to_string()), kind)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_has_no_form_for_goes_with_its_type() {
        let moment = Value::Timestamp { value: 1_641_189_600_500, precision: 3 };
        let number = Value::Number { unscaled: -1_250, scale: 2 };
        for (value, text, kind) in [
            (moment, "2022-01-03T06:00:00.500", "TIMESTAMP(3)"),
            (number, "-12.5", "NUMBER(38, 2)"),
            (Value::Binary(vec![0, 255]), "AP8=", "BINARY"),
            (Value::Double(2.0), "2", "DOUBLE"),
            (Value::Double(f64::NAN), "NaN", "DOUBLE"),
            (Value::Json("[1.0]".to_owned()), "[1.0]", "JSON"),
        ] {
            let (json, told) = parameter_json(&value).unwrap();
            assert_eq!((json, told.as_deref()), (json!(text), Some(kind)));
            let back = Value::parse(text, kind.parse().unwrap()).unwrap();
            assert_eq!(format!("{back:?}"), format!("{value:?}"));
        }
        assert_eq!(parameter_json(&Value::Long(7)).unwrap(), (json!(7), None));
    }
}
