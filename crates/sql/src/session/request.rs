//! A request: text, parameters, timeout and cancellation.

use std::collections::HashMap;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, FieldRef};
use tonnage::{Cancel, Error, Result, Value};

/// The values of `$1`, `$2`, ... and of `:name`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    numbered: Vec<Value>,
    named: HashMap<String, Value>,
}

impl Parameters {
    /// Values for `$1`, `$2` and so on.
    pub fn numbered<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Self {
        Self { numbered: values.into_iter().map(Into::into).collect(), named: HashMap::new() }
    }

    /// One more value, for the next number.
    pub fn push(&mut self, value: impl Into<Value>) {
        self.numbered.push(value.into());
    }

    /// The value of `:name`.
    pub fn set(&mut self, name: impl AsRef<str>, value: impl Into<Value>) {
        self.named.insert(name.as_ref().to_ascii_lowercase(), value.into());
    }

    /// Values for `$1`, `$2` and so on: the cells of a row of a batch, from left to right.
    ///
    /// # Errors
    /// `Invalid` for a column of a type that there is not, with its name.
    pub fn of_row(batch: &RecordBatch, row: usize) -> Result<Self> {
        let schema = batch.schema_ref();
        let cell = |(array, field): (&ArrayRef, &FieldRef)| match array.data_type() {
            DataType::Null => Ok(Value::Null),
            _ => Value::from_array(array.as_ref(), field, row),
        };
        let cells = batch.columns().iter().zip(schema.fields()).map(cell);
        Ok(Self { numbered: cells.collect::<Result<_>>()?, named: HashMap::new() })
    }

    /// The numbered values of others after its own.
    pub(crate) fn append(&mut self, others: Parameters) {
        self.numbered.extend(others.numbered);
    }

    /// Whether there are values for `$1` to `$count`.
    pub(crate) fn holds(&self, count: usize) -> bool {
        self.numbered.len() >= count
    }

    /// The value of a placeholder as it is written, `$1` or `:name` or `$name`.
    pub(crate) fn get(&self, placeholder: &str) -> Result<&Value> {
        let name = placeholder.trim_start_matches(['$', ':']);
        let value = match name.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|index| self.numbered.get(index)),
            Err(_) => self.named.get(&name.to_ascii_lowercase()),
        };
        value.ok_or_else(|| {
            Error::invalid(format!("the parameter {placeholder} has no value: bind one"))
        })
    }
}

/// Statements with their parameters and limits. Plain text is a request as well.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub(crate) text: String,
    pub(crate) parameters: Parameters,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: Cancel,
}

impl Request {
    /// One or several statements, separated by semicolons.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same request with another text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// A value for the next of `$1`, `$2`, ...
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.parameters.push(value);
        self
    }

    /// A value for `:name`.
    pub fn named(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.set(name, value);
        self
    }

    /// All parameters at once.
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// The longest that each statement may take, instead of what the options say.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets another thread stop the statements.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }
}

impl From<&str> for Request {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Request {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Request {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

impl From<&Request> for Request {
    fn from(request: &Request) -> Self {
        request.clone()
    }
}
