//! The lines of `values.tsv`.

use std::fmt;
use std::fs;

use tonnage::{ColumnType, Value};

/// A value for a column, and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) column_type: String,
    pub(super) kind: String,
    pub(super) value: String,
    pub(super) outcome: String,
}

pub(super) fn cells() -> Vec<Cell> {
    let text = fs::read_to_string("tests/values.tsv").unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cells = lines.map(|line| {
        let fields: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [column_type, kind, value, outcome] =
            fields.try_into().unwrap_or_else(|_| panic!("four fields: {line}"));
        Cell { column_type, kind, value, outcome }
    });
    cells.collect()
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.column_type, self.kind, self.value)
    }
}

impl Cell {
    /// The value as the docs show it: text is quoted.
    pub(super) fn shown(&self) -> String {
        let value = match self.kind.as_str() {
            "text" => format!("'{}'", self.value),
            "binary" => format!("bytes {}", self.value),
            "double" => format!("double {}", self.value),
            _ => self.value.clone(),
        };
        match self.kind.as_str() {
            _ if self.outcome == "rejected" => format!("`{value}`"),
            _ if self.outcome == self.value => format!("`{value}`"),
            _ => format!("`{value}` as `{}`", self.outcome),
        }
    }

    /// The type that the value has by itself.
    pub(super) fn own_type(&self) -> ColumnType {
        let digits = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
        match self.kind.as_str() {
            "whole" => ColumnType::Long,
            "number" => ColumnType::Number { precision: 38, scale: digits(&self.value) as i8 },
            "double" => ColumnType::Double,
            "boolean" => ColumnType::Boolean,
            // The coarsest unit that has all digits: the finest does not reach far.
            "timestamp" => ColumnType::Timestamp(digits(&self.value).next_multiple_of(3) as u8),
            "date" => ColumnType::Date,
            "time" => ColumnType::Time,
            "binary" => ColumnType::Binary,
            "uuid" => ColumnType::Uuid,
            "json" => ColumnType::Json,
            "text" | "null" => ColumnType::String,
            other => panic!("there is no kind {other}"),
        }
    }

    /// The value by itself.
    pub(super) fn own_value(&self) -> Value {
        match self.kind.as_str() {
            "null" => Value::Null,
            "binary" => Value::parse(&format!("\\x{}", self.value), ColumnType::Binary).unwrap(),
            _ => Value::parse(&self.value, self.own_type()).unwrap(),
        }
    }

    /// A value as the table of outcomes writes it.
    pub(super) fn outcome_of(value: &Value) -> String {
        match value {
            Value::Binary(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Value::Timestamp { .. } => value.to_string().replace('T', " ").replace('Z', ""),
            _ => value.to_string(),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind.as_str(), "whole" | "number" | "double")
    }
}
