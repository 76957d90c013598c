//! Conditions on a JSON path as entries of an index.
//!
//! SQL reads a path through functions that convert: `json_get_int` takes `5`, `5.0` and `"5"` for
//! the same. An index keeps the types apart. So a condition becomes all the cells that might meet
//! it, perhaps more. The plan tests the rows against the condition itself.

use tonnage::{FieldRange, Value};

/// How many steps a number is off at most that one reader took from the same digits as another.
const STEPS: usize = 4;

/// Longer lists are not worth taking apart.
const VALUES_MAX: usize = 1_024;

/// Which function reads the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    /// `json_get_str`: texts only.
    Text,
    /// `json_as_text`, `->>`: texts, and everything else as it is written.
    AsText,
    /// `json_get_int`: numbers, and texts that spell them.
    Int,
    /// `json_get_float`: likewise.
    Float,
    /// `json_get_bool`: truth values, and texts that spell them.
    Boolean,
}

/// A condition on a JSON path.
#[derive(Clone, Debug)]
pub(crate) struct JsonPathCondition {
    /// The JSON column's position in the table.
    pub(crate) column: usize,
    /// The names that lead from the root of the document.
    pub(crate) path: Vec<String>,
    pub(crate) reading: JsonType,
    pub(crate) test: JsonPathTest,
}

/// The test of such a condition.
#[derive(Clone, Debug)]
pub(crate) enum JsonPathTest {
    /// One of these.
    In(Vec<Value>),
    /// Not below this.
    Low(Value),
    /// Not above this.
    High(Value),
}

/// Cells of one column of an index.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum IndexCells {
    Point(Value),
    Range(FieldRange),
}

/// The cells that may meet all these conditions on one path; nothing when the index is of no use
/// for them. `name` is what the index calls the path.
pub(super) fn cells_of(conditions: &[&JsonPathCondition], name: &str) -> Option<Vec<IndexCells>> {
    // A list is narrower than a range, and one condition is enough.
    let list = conditions.iter().find_map(|condition| match &condition.test {
        JsonPathTest::In(values) => Some((condition.reading, values)),
        _ => None,
    });
    if let Some((reading, values)) = list {
        if values.len() > VALUES_MAX {
            return None;
        }
        let cells = values
            .iter()
            .map(|value| cells_of_value(reading, value, name))
            .collect::<Option<Vec<_>>>()?
            .concat();
        return Some(merge_overlapping(cells));
    }
    let reading = conditions.first()?.reading;
    let same = || conditions.iter().filter(|condition| condition.reading == reading);
    let low = same().filter_map(|condition| {
        if let JsonPathTest::Low(value) = &condition.test { Some(value) } else { None }
    });
    let high = same().filter_map(|condition| {
        if let JsonPathTest::High(value) = &condition.test { Some(value) } else { None }
    });
    let (low, high) = (
        low.reduce(|one, two| narrower_bound(one, two, true)),
        high.reduce(|one, two| narrower_bound(one, two, false)),
    );
    match reading {
        JsonType::Text => Some(vec![inclusive_range(name, low.cloned(), high.cloned())]),
        JsonType::Int | JsonType::Float => {
            let end = |value: Option<&Value>| {
                value.map(finite_number).map_or(Some(None), |number| number.map(Some))
            };
            let (low, high) = (end(low)?, end(high)?);
            // An index leaves numbers out that no double holds, and they are infinite as doubles.
            let may_be_infinite = reading == JsonType::Float && (low.is_none() || high.is_none());
            (!may_be_infinite).then(|| cells_of_numbers(name, low, high))
        }
        // What is not text is written out: its order as text is not that of the index.
        JsonType::AsText | JsonType::Boolean => None,
    }
}

/// The cells that may be read as this value.
fn cells_of_value(reading: JsonType, value: &Value, name: &str) -> Option<Vec<IndexCells>> {
    match (reading, value) {
        (JsonType::Text, Value::String(_)) => Some(vec![IndexCells::Point(value.clone())]),
        (JsonType::AsText, Value::String(text)) => cells_of_text(text, name),
        (JsonType::Boolean, Value::Boolean(truth)) => Some(vec![
            IndexCells::Point(value.clone()),
            IndexCells::Point(Value::String(truth.to_string())),
        ]),
        (JsonType::Int | JsonType::Float, value) => {
            let number = finite_number(value)?;
            Some(cells_of_numbers(name, Some(number), Some(number)))
        }
        _ => None,
    }
}

/// The cells that are written like this: the text, and whatever else has these letters in a
/// document.
fn cells_of_text(text: &str, name: &str) -> Option<Vec<IndexCells>> {
    let mut cells = vec![IndexCells::Point(Value::String(text.to_owned()))];
    match text.as_bytes().first() {
        // The index does not distinguish objects, nor arrays.
        Some(b'{' | b'[') => return None,
        Some(b'-' | b'0'..=b'9') => {
            if let Ok(number) = text.parse::<f64>() {
                // An index leaves out what no double holds.
                if !number.is_finite() {
                    return None;
                }
                cells.push(range_around(name, Some(number), Some(number)));
            }
        }
        _ => {
            if let Ok(truth) = text.parse() {
                cells.push(IndexCells::Point(Value::Boolean(truth)));
            }
        }
    }
    Some(cells)
}

/// The cells of numbers between two, and of all texts that might spell such.
fn cells_of_numbers(name: &str, low: Option<f64>, high: Option<f64>) -> Vec<IndexCells> {
    let text = |low: &str, high: &str| {
        inclusive_range(name, Some(Value::from(low)), Some(Value::from(high)))
    };
    let mut cells = vec![range_around(name, low, high), text("+", ":")];
    if low.is_none() || high.is_none() {
        // Infinity and what is not a number have names.
        cells.extend([text("I", "J"), text("N", "O"), text("i", "j"), text("n", "o")]);
    }
    cells
}

fn range_around(name: &str, low: Option<f64>, high: Option<f64>) -> IndexCells {
    let below = |number| (0..STEPS).fold(number, |number: f64, _| number.next_down());
    let above = |number| (0..STEPS).fold(number, |number: f64, _| number.next_up());
    // With one end missing the range still stays among numbers.
    inclusive_range(
        name,
        low.map(|low| Value::Double(below(low))),
        high.map(|high| Value::Double(above(high))),
    )
}

fn inclusive_range(name: &str, low: Option<Value>, high: Option<Value>) -> IndexCells {
    let end = |end: Option<Value>| end.map(|value| (value, true));
    IndexCells::Range(FieldRange { column: name.to_owned(), low: end(low), high: end(high) })
}

/// A number that can be compared.
fn finite_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Integer(number) => f64::from(*number),
        Value::Long(number) => *number as f64,
        Value::Double(number) => *number,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The greater of two values, or the lesser.
fn narrower_bound<'a>(one: &'a Value, two: &'a Value, greater: bool) -> &'a Value {
    let two_is_greater = match (one, two) {
        (Value::String(one), Value::String(two)) => two > one,
        _ => finite_number(two) > finite_number(one),
    };
    if two_is_greater == greater { two } else { one }
}

/// Cells of different values that fall together would give rows twice.
fn merge_overlapping(cells: Vec<IndexCells>) -> Vec<IndexCells> {
    let (mut kept, mut spans) = (Vec::<IndexCells>::new(), Vec::<(f64, f64, String)>::new());
    for cell in cells {
        match cell {
            // Only ranges of doubles overlap in part, for `range_around` widens each. All others
            // are equal or apart.
            IndexCells::Range(FieldRange {
                column,
                low: Some((Value::Double(low), _)),
                high: Some((Value::Double(high), _)),
            }) => {
                spans.push((low, high, column));
            }
            cell if !kept.contains(&cell) => kept.push(cell),
            _ => {}
        }
    }
    spans.sort_by(|one, two| one.0.total_cmp(&two.0));
    // In the order of their low ends a span can only meet the one kept last.
    spans.dedup_by(|next, before| {
        let falls_together = next.0 <= before.1;
        if falls_together {
            before.1 = before.1.max(next.1);
        }
        falls_together
    });
    let spans = spans.into_iter().map(|(low, high, name)| {
        inclusive_range(&name, Some(Value::Double(low)), Some(Value::Double(high)))
    });
    kept.extend(spans);
    kept
}
