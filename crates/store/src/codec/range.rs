//! Field ranges: a partial key and a range of its first open column make bounds of keys.

use std::cmp::Ordering;

use tonnage_engine::range::append_successor;
use tonnage_engine::{Error, Result};

use super::TableCodec;
use super::cell::push_key_value;
use crate::{ColumnType, Value};

/// A range of one key column; an end without a value is open.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRange {
    /// The column.
    pub column: String,
    /// The low end, and whether it belongs to the range.
    pub low: Option<(Value, bool)>,
    /// The high end, and whether it belongs to the range.
    pub high: Option<(Value, bool)>,
}

impl FieldRange {
    /// All values of a column, to be narrowed.
    pub fn of(column: impl Into<String>) -> Self {
        Self { column: column.into(), low: None, high: None }
    }

    /// From this value on, itself included.
    pub fn from(mut self, low: impl Into<Value>) -> Self {
        self.low = Some((low.into(), true));
        self
    }

    /// From this value on, itself left out.
    pub fn after(mut self, low: impl Into<Value>) -> Self {
        self.low = Some((low.into(), false));
        self
    }

    /// Up to this value, itself included.
    pub fn to(mut self, high: impl Into<Value>) -> Self {
        self.high = Some((high.into(), true));
        self
    }

    /// Up to this value, itself left out.
    pub fn before(mut self, high: impl Into<Value>) -> Self {
        self.high = Some((high.into(), false));
        self
    }
}

impl TableCodec {
    /// The bounds of the keys that begin with `prefix`, a partial key that gives `columns` columns, and whose next column lies in
    /// the range; rows of tables below matching rows lie within them too. `start` and `end` are cleared first; an empty
    /// end means the end of the space. A range that holds nothing gives equal bounds.
    ///
    /// # Errors
    /// `Invalid` when the range is not on the first column that the key leaves open, or its values do not fit the column.
    pub fn range_bounds(
        &self,
        prefix: &[u8],
        columns: usize,
        range: &FieldRange,
        start: &mut Vec<u8>,
        end: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_range_column(columns, &range.column)?;
        self.prefix_bounds(prefix, start, end);
        let column_type = self.key[columns].column_type;
        if let Some((low, inclusive)) = &range.low {
            let (low, position) = self.range_end(low, column_type, &range.column)?;
            push_key_value((&low).into(), column_type, start);
            let from_here_on = position == Ordering::Greater || (position == Ordering::Equal && *inclusive);
            if !from_here_on && !step_past(start) {
                // Nothing comes after the greatest of all keys.
                end.clear();
                end.extend_from_slice(start);
                return Ok(());
            }
        }
        if let Some((high, inclusive)) = &range.high {
            let (high, position) = self.range_end(high, column_type, &range.column)?;
            end.clear();
            end.extend_from_slice(prefix);
            push_key_value((&high).into(), column_type, end);
            let up_to_here = position == Ordering::Less || (position == Ordering::Equal && *inclusive);
            if up_to_here && !step_past(end) {
                end.clear();
            }
        }
        if !end.is_empty() && end < start {
            end.clear();
            end.extend_from_slice(start);
        }
        Ok(())
    }

    fn check_range_column(&self, columns: usize, name: &str) -> Result<()> {
        let position = self.key_position(name).map_err(|error| error.at("field range"))?;
        match position.cmp(&columns) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(Error::invalid(format!(
                "the field range is on column '{name}', but the key gives that column itself: extra fields beyond the range column of table {} (primary key {})",
                self.schema.path,
                self.key_names(0)
            ))),
            Ordering::Greater => Err(Error::invalid(format!(
                "the field range is on column '{name}', but the key leaves '{}' before it open: missing fields before the range column of table {} (primary key {})",
                self.schema.columns[self.key[columns].column].name,
                self.schema.path,
                self.key_names(0)
            ))),
        }
    }

    /// An end of a range as a value of the column, and where that lies as seen from the end asked for: the column may not be able to
    /// hold it exactly.
    fn range_end(&self, value: &Value, column_type: ColumnType, name: &str) -> Result<(Value, Ordering)> {
        let place = || format!("field range on column '{name}' of table {}", self.schema.path);
        let held = value.convert_to(column_type).map_err(|error| error.at(place()))?;
        if held.is_null() {
            return Err(Error::invalid(format!("{}: an end is NULL; leave it out instead", place())));
        }
        let position = compare(&held, value, column_type);
        Ok((held, position))
    }
}

/// Makes `bound` the least that is greater than everything that begins with it. False when there is no such thing.
fn step_past(bound: &mut Vec<u8>) -> bool {
    let mut successor = Vec::with_capacity(bound.len());
    append_successor(bound, &mut successor);
    std::mem::swap(bound, &mut successor);
    !bound.is_empty() || {
        std::mem::swap(bound, &mut successor);
        false
    }
}

/// How what a column holds compares with the value that it was made from.
fn compare(held: &Value, value: &Value, column_type: ColumnType) -> Ordering {
    let finest = match column_type {
        ColumnType::Timestamp(_) => ColumnType::Timestamp(9),
        ColumnType::Number { .. } => ColumnType::Double,
        _ => return Ordering::Equal,
    };
    match (held.convert(finest), value.convert(finest)) {
        (Ok(Value::Double(held)), Ok(Value::Double(value))) => held.partial_cmp(&value).unwrap_or(Ordering::Equal),
        (Ok(Value::Timestamp { value: held, .. }), Ok(Value::Timestamp { value, .. })) => held.cmp(&value),
        // Too far from 1970 to be counted in nanoseconds; a fraction of a unit hardly matters there.
        _ => Ordering::Equal,
    }
}
