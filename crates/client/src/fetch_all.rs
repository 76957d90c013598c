//! Many statements in one call.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde_json::{Value as Json, json};
use tonnage::{Error, Result, Value};

use crate::client::Client;
use crate::definition::outcome_of;
use crate::failure::of_label;
use crate::frame::{self, Frame};
use crate::sql::Changes;

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
    Done(tonnage::Outcome),
}

impl Client {
    /// Carries out many statements, side by side. Each has its answer or its error.
    ///
    /// Parameters go as JSON: numbers, texts, booleans and NULL. Carry out statements with others
    /// one by one.
    ///
    /// # Errors
    /// What the server says of all of them, and `Unavailable` when it cannot be reached.
    pub fn fetch_all(&self, statements: &[(String, Vec<Value>)]) -> Result<Vec<Result<Fetched>>> {
        let mut answers = Vec::with_capacity(statements.len());
        for some in statements.chunks(STATEMENTS_MAX) {
            let asked = some.iter().map(|(text, values)| {
                let values = values.iter().map(plain).collect::<Result<Vec<_>>>()?;
                let mut statement = json!({"sql": text, "parameters": values});
                if let Some(timeout) = self.timeout() {
                    statement["timeout_ms"] = json!(timeout.as_millis() as u64);
                }
                Ok(statement)
            });
            let asked = Json::Array(asked.collect::<Result<_>>()?);
            let told = self.act("tonnage.FetchAll", asked.to_string().into_bytes())?;
            if told.len() != some.len() {
                return Err(self.strange());
            }
            answers.extend(told.iter().map(|answer| self.fetched(answer)));
        }
        Ok(answers)
    }

    fn fetched(&self, answer: &[u8]) -> Result<Fetched> {
        let Frame { header, rows } = frame::read(answer).ok_or_else(|| self.strange())?;
        if let Some(error) = header.get("error") {
            let text = |name: &str| error.get(name).and_then(Json::as_str).unwrap_or_default();
            let kind = of_label(text("kind")).unwrap_or(tonnage::ErrorKind::Internal);
            return Err(Error::new(kind, text("message")));
        }
        if let Some((schema, batches)) = rows {
            return Ok(Fetched::Rows(schema, batches));
        }
        let ok = header.get("ok").ok_or_else(|| self.strange())?;
        match ok.get("changed") {
            Some(_) => serde_json::from_value(ok.clone()).ok().map(Fetched::Changed),
            None => outcome_of(ok.to_string().as_bytes()).map(Fetched::Done),
        }
        .ok_or_else(|| self.strange())
    }
}

/// A value as JSON that the server reads as the same value.
///
/// # Errors
/// `Unsupported` for a type that JSON does not have.
fn plain(value: &Value) -> Result<Json> {
    match value {
        Value::Null => Ok(Json::Null),
        Value::Boolean(truth) => Ok(json!(truth)),
        Value::Integer(number) => Ok(json!(number)),
        Value::Long(number) => Ok(json!(number)),
        // A whole one would come back as LONG.
        Value::Double(number) if number.is_finite() && number.fract() != 0.0 => Ok(json!(number)),
        Value::String(text) => Ok(json!(text)),
        other => Err(Error::unsupported(format!(
            "a parameter of type {} does not go with a fetch-all: carry the statement out by itself",
            other.type_name()
        ))),
    }
}
