//! The order in which rows come out of an access path.

use tonnage::{ColumnType, Direction, TableSchema};

use super::column_order::ColumnOrder;
use super::{AccessPath, ReadSpec};

/// The direction of a read that gives its rows in this order, if there is one.
pub(crate) fn direction_for(spec: &ReadSpec, wanted: &[ColumnOrder]) -> Option<Direction> {
    let key = &spec.table.schema().key;
    let mut free = free_columns(spec)?.into_iter().peekable();
    let mut descending = None;
    for wish in wanted {
        if free.peek().is_none() {
            // Rows are distinguished by the columns so far.
            break;
        }
        // A column of one value orders nothing: it may be anywhere, ascending or descending.
        if is_constant(spec, wish.column) {
            continue;
        }
        if !is_ordered_as_sql(spec.table.schema(), wish.column) {
            return None;
        }
        if !key.contains(&wish.column) || free.next() != Some(wish.column) {
            return None;
        }
        if *descending.get_or_insert(wish.descending) != wish.descending {
            return None;
        }
    }
    let direction = match descending {
        None => Direction::Unordered,
        Some(true) => Direction::Reverse,
        Some(false) => Direction::Forward,
    };
    match spec.latest {
        // `latest` counts rows from its own end: from the other they would be other rows.
        Some(latest) if direction != Direction::Unordered && latest.direction != direction => None,
        Some(latest) => Some(latest.direction),
        None => Some(direction),
    }
}

/// Whether the order of a column in keys is that of SQL. Symbols are ordered by their positions, in
/// SQL as text; what the store notes of rows is in no key.
pub(crate) fn is_ordered_as_sql(schema: &TableSchema, column: usize) -> bool {
    let column = schema.columns.get(column);
    column.is_some_and(|column| !matches!(column.column_type, ColumnType::Enum(_)))
}

/// The key columns that have more than one value, in key order: rows come ordered by them. `None`
/// where there is no order at all.
pub(crate) fn free_columns(spec: &ReadSpec) -> Option<Vec<usize>> {
    let key = &spec.table.schema().key;
    match &spec.path {
        AccessPath::Nothing => Some(Vec::new()),
        AccessPath::Index(path) => path.order().map(|order| vec![order.column]),
        AccessPath::All | AccessPath::Range { .. } => spec.table.total_order.then(|| key.clone()),
        AccessPath::Keys { .. } => {
            Some(key.iter().copied().filter(|column| !is_constant(spec, *column)).collect())
        }
    }
}

/// Whether a path leaves a column one value only.
pub(crate) fn is_constant(spec: &ReadSpec, column: usize) -> bool {
    let AccessPath::Keys { constant, .. } = &spec.path else { return false };
    let position = spec.table.schema().key_position(column);
    position.and_then(|position| constant.get(position)).copied().unwrap_or(false)
}
