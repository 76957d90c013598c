//! Field ranges: turns a partial key and a range of its first open column into bounds of keys.

use std::cmp::Ordering;

use tonnage_engine::{Error, Result, append_successor};

use super::TableCodec;
use super::cell::push_key_value;
use crate::schema::ColumnType;
use crate::value::Value;
use crate::value::moment;

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
    /// The bounds of the keys that begin with `prefix`, a partial key that gives `columns` columns,
    /// and whose next column is in the range; they include rows of tables below matching rows.
    /// `start` and `end` are cleared first; an empty end means the end of the space. A range that
    /// holds nothing gives equal bounds.
    ///
    /// # Errors
    /// `Invalid` when the range is not on the first column that the key leaves open, or its values
    /// do not fit the column.
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
        let place =
            || format!("field range on column '{}' of table {}", range.column, self.schema.path);
        let ends = RangeEnds::new(range, column_type).map_err(|error| error.at(place()))?;
        ends.narrow(prefix, start, end);
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
}

/// The ends of a range as the keys of a column have them.
pub(crate) struct RangeEnds {
    low: Option<RangeEnd>,
    high: Option<RangeEnd>,
}

/// One end.
struct RangeEnd {
    /// The value that the column can hold which is nearest to the one asked for, as part of a key.
    bytes: Vec<u8>,
    /// Whether that value is in the range.
    is_inside: bool,
}

impl RangeEnds {
    /// Ends that are parts of keys already, each with whether it is in the range.
    pub(crate) fn of_bytes(low: Option<(Vec<u8>, bool)>, high: Option<(Vec<u8>, bool)>) -> Self {
        let end = |(bytes, is_inside)| RangeEnd { bytes, is_inside };
        Self { low: low.map(end), high: high.map(end) }
    }

    /// # Errors
    /// `Invalid` for values that do not fit the column.
    pub(crate) fn new(range: &FieldRange, column_type: ColumnType) -> Result<Self> {
        let end = |end: &Option<(Value, bool)>, inside: Ordering| -> Result<Option<RangeEnd>> {
            let Some((value, inclusive)) = end else { return Ok(None) };
            let held = value.convert_to(column_type)?;
            if held.is_null() {
                return Err(Error::invalid("an end is NULL; leave it out instead"));
            }
            let position = compare(&held, value, column_type);
            let mut bytes = Vec::new();
            push_key_value((&held).into(), column_type, &mut bytes);
            Ok(Some(RangeEnd {
                bytes,
                is_inside: position == inside || (position == Ordering::Equal && *inclusive),
            }))
        };
        Ok(Self {
            low: end(&range.low, Ordering::Greater)?,
            high: end(&range.high, Ordering::Less)?,
        })
    }

    /// Narrows bounds of all keys that begin with `prefix` to those that continue with a value in
    /// the range. A range that holds nothing gives equal bounds.
    pub(crate) fn narrow(&self, prefix: &[u8], start: &mut Vec<u8>, end: &mut Vec<u8>) {
        if let Some(low) = &self.low {
            start.clear();
            start.extend_from_slice(prefix);
            start.extend_from_slice(&low.bytes);
            if !low.is_inside && !step_past(start) {
                // Nothing comes after the greatest of all keys.
                end.clear();
                end.extend_from_slice(start);
                return;
            }
        }
        if let Some(high) = &self.high {
            end.clear();
            end.extend_from_slice(prefix);
            end.extend_from_slice(&high.bytes);
            if high.is_inside && !step_past(end) {
                end.clear();
            }
        }
        if !end.is_empty() && end < start {
            end.clear();
            end.extend_from_slice(start);
        }
    }
}

/// Makes `bound` the least that is greater than everything that begins with it. False when there is
/// no such thing.
fn step_past(bound: &mut Vec<u8>) -> bool {
    let mut successor = Vec::with_capacity(bound.len());
    append_successor(bound, &mut successor);
    std::mem::swap(bound, &mut successor);
    !bound.is_empty() || {
        std::mem::swap(bound, &mut successor);
        false
    }
}

/// How the value in a column compares with the value that it was converted from.
fn compare(held: &Value, value: &Value, column_type: ColumnType) -> Ordering {
    if let (Value::Double(held), Value::Integer(_) | Value::Long(_)) = (held, value) {
        // A double is a whole number there, and nothing but one of more digits tells them apart.
        let whole = value.to_string().parse::<i128>().unwrap_or_default();
        return (*held as i128).cmp(&whole);
    }
    if let (Some(held), Some(value)) = (moment(held), moment(value)) {
        return held.cmp(&value);
    }
    let is_decimal = matches!(value, Value::Number { .. } | Value::WideNumber(_));
    if matches!(column_type, ColumnType::Number { .. })
        || is_decimal && matches!(column_type, ColumnType::Float | ColumnType::Double)
    {
        // Doubles would merge two numbers that differ after their sixteenth digit.
        return held.compare_exactly(value).unwrap_or(Ordering::Equal);
    }
    if column_type != ColumnType::Float || value.is_kept_as(held) {
        return Ordering::Equal;
    }
    match (held.convert(ColumnType::Double), value.convert(ColumnType::Double)) {
        (Ok(Value::Double(held)), Ok(Value::Double(value))) => {
            held.partial_cmp(&value).unwrap_or(Ordering::Equal)
        }
        _ => Ordering::Equal,
    }
}
