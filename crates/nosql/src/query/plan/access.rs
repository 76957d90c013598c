//! Which way leads to the rows: the key, a part of it, an index, or all rows.
//!
//! The condition is evaluated for each row in any case. So a path only has to reach all rows that
//! fulfil it, and hard cases are left to the evaluation.

use tonnage::{Column, ColumnType, FieldRange, Row, Table, TableSchema, Value};

use super::columns_used::is_constant;
use super::key_value::{KeyValue, key_value};
use crate::query::evaluate::{Evaluator, Scope};
use crate::query::item::{Item, Sequence};
use crate::query::syntax::{Comparison, Expr, ExprKind, Matching};
use crate::wire::{Failure, Outcome};

/// The way to the rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccessPath {
    /// No row fulfils the condition.
    Nothing,
    /// The row of this key.
    Key(Row),
    /// The rows under the leading columns of the key, perhaps within a range of the next one.
    Prefix(Row, Option<FieldRange>),
    /// The rows that an index has for the values of its leading columns, and within a range.
    Index { name: String, prefix: Vec<Value>, range: Option<FieldRange> },
    /// All rows.
    Scan,
}

/// A comparison of a column with something that all rows share.
struct ColumnTerm {
    column: usize,
    comparison: Comparison,
    item: Option<Item>,
}

/// The way to the rows of a table that fulfil a condition.
///
/// # Errors
/// What a part of the condition fails with that is the same for all rows.
pub(crate) fn choose_access(
    table: &Table,
    condition: Option<&Expr>,
    evaluator: &Evaluator,
) -> Outcome<AccessPath> {
    let mut terms = Vec::new();
    if let Some(condition) = condition {
        match &condition.kind {
            ExprKind::And(parts) => {
                for part in parts {
                    terms.extend(term_of(part, table.schema(), evaluator)?);
                }
            }
            _ => terms.extend(term_of(condition, table.schema(), evaluator)?),
        }
    }
    // The key comes first: it leads to rows without a look-up in between.
    let schema = table.schema();
    let key: Vec<&Column> = schema.key_columns().collect();
    let places: Vec<usize> = schema.key.clone();
    let Some((prefix, range)) = prefix_of(&places, &key, &terms) else {
        return Ok(AccessPath::Nothing);
    };
    if prefix.len() >= schema.shard_key_len {
        let is_whole = prefix.len() == key.len();
        let row: Row = key.iter().map(|column| column.name.as_str()).zip(prefix).collect();
        return Ok(if is_whole { AccessPath::Key(row) } else { AccessPath::Prefix(row, range) });
    }
    // Places in documents are left out: an index orders their kinds otherwise.
    for index in table.indexes()?.iter().filter(|index| index.is_ready()) {
        let columns = index.columns().iter().map_while(|column| {
            let place = schema.column_index(&column.column)?;
            column.is_plain().then_some(place)
        });
        let places: Vec<usize> = columns.collect();
        let columns: Vec<&Column> = places.iter().map(|place| &schema.columns[*place]).collect();
        let Some((prefix, range)) = prefix_of(&places, &columns, &terms) else {
            return Ok(AccessPath::Nothing);
        };
        if !prefix.is_empty() || range.is_some() {
            let name = index.name().to_owned();
            return Ok(AccessPath::Index { name, prefix, range });
        }
    }
    Ok(AccessPath::Scan)
}

/// Refuses to compare a UUID with a text that is none.
fn check_uuid(column_type: ColumnType, item: &Item) -> Outcome<()> {
    let Item::String(text) = item else { return Ok(()) };
    match column_type == ColumnType::Uuid && Value::parse(text, column_type).is_err() {
        true => Err(Failure::argument(format!("Error: Invalid UUID string: {text}"))),
        false => Ok(()),
    }
}

fn term_of(
    part: &Expr,
    schema: &TableSchema,
    evaluator: &Evaluator,
) -> Outcome<Option<ColumnTerm>> {
    let ExprKind::Compared(left, comparison, Matching::Value, right) = &part.kind else {
        return Ok(None);
    };
    let (column, comparison, other) = match (&left.kind, &right.kind) {
        (ExprKind::Column(column), _) if is_constant(right) => (*column, *comparison, right),
        (_, ExprKind::Column(column)) if is_constant(left) => (*column, comparison.turned(), left),
        _ => return Ok(None),
    };
    let item = match evaluator.evaluate(other, &Scope::default())? {
        Sequence::One(item) => {
            check_uuid(schema.columns[column].column_type, &item)?;
            Some(item)
        }
        Sequence::Empty => None,
        Sequence::Many(_) => return Ok(None),
    };
    Ok(Some(ColumnTerm { column, comparison, item }))
}

/// The values of leading columns, and the range of the one after them; nothing where no value of a
/// column will do.
fn prefix_of(
    places: &[usize],
    columns: &[&Column],
    terms: &[ColumnTerm],
) -> Option<(Vec<Value>, Option<FieldRange>)> {
    let mut prefix = Vec::new();
    for (place, column) in places.iter().zip(columns) {
        let mut equal = None;
        let of_column = || terms.iter().filter(move |term| term.column == *place);
        for term in of_column().filter(|term| term.comparison == Comparison::Equal) {
            let item = term.item.as_ref()?;
            match key_value(item, column.column_type) {
                KeyValue::Value(value) if equal.as_ref().is_some_and(|other| *other != value) => {
                    return None;
                }
                KeyValue::Value(value) => equal = Some(value),
                KeyValue::Never => return None,
                KeyValue::Unknown => {}
            }
        }
        match equal {
            Some(value) => prefix.push(value),
            None => return Some((prefix, range_of(column, of_column()))),
        }
    }
    Some((prefix, None))
}

fn range_of<'t>(
    column: &Column,
    terms: impl Iterator<Item = &'t ColumnTerm>,
) -> Option<FieldRange> {
    let mut range = FieldRange::of(column.name.as_str());
    for term in terms {
        let value = term.item.as_ref().map(|item| key_value(item, column.column_type));
        let Some(KeyValue::Value(value)) = value else { continue };
        // Of two ends on one side the first is taken: the condition sees to the other.
        match term.comparison {
            Comparison::Greater if range.low.is_none() => range.low = Some((value, false)),
            Comparison::GreaterOrEqual if range.low.is_none() => range.low = Some((value, true)),
            Comparison::Less if range.high.is_none() => range.high = Some((value, false)),
            Comparison::LessOrEqual if range.high.is_none() => range.high = Some((value, true)),
            _ => {}
        }
    }
    (range.low.is_some() || range.high.is_some()).then_some(range)
}
