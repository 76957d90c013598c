//! Rows in the order of a column, through an index on it, so that no more are read than are wanted.
//!
//! Conditions give values to the leading columns of the index. The column of the order follows
//! them. NULL comes last, or first in a descending order, as in SQL. It has entries of its own,
//! whose range comes after the other, or before it.

use std::sync::Arc;

use tonnage::{ColumnType, FieldRange, Index, IndexRange, Result, Value};

use super::column_order::ColumnOrder;
use super::condition::{ColumnCondition, ColumnDomain};
use super::domains::{column_domains, comparison_error, domain_range};
use super::index_path::IndexPath;
use super::{SqlTable, value_of};

/// The path through an index that meets all conditions, in this order. `with_null` is false for
/// `min` and `max`, which pass NULL by.
pub(crate) fn index_in_order(
    table: &SqlTable,
    conditions: &[ColumnCondition],
    order: ColumnOrder,
    with_null: bool,
) -> Result<Option<IndexPath>> {
    let schema = table.schema();
    // Without a count of changes it is unknown whether rows moved meanwhile (`first_rows.rs`).
    if !matches!(table.table.change_count(), Ok(Some(_))) {
        return Ok(None);
    }
    let Some(column) = schema.columns.get(order.column) else { return Ok(None) };
    // Symbols are ordered by their positions there, and what is not a number by its sign.
    let is_as_sql =
        !matches!(column.column_type, ColumnType::Enum(_) | ColumnType::Float | ColumnType::Double);
    if !is_as_sql || !conditions.iter().all(|condition| condition.is_decided_by_keys(schema)) {
        return Ok(None);
    }
    let domains = column_domains(schema, conditions).map_err(comparison_error)?;
    // Of one value there is no order, and a list has no range.
    let has_values = |domain: &ColumnDomain| domain.values.is_some() || domain.is_null;
    if domains[order.column].as_ref().is_some_and(has_values) {
        return Ok(None);
    }
    for index in table.indexes.iter().filter(|index| index.is_ready()) {
        let Some(prefix) = prefix_values(table, index, &domains, order.column)? else { continue };
        let named = |condition: &ColumnCondition| {
            let name = &schema.columns[condition.column].name;
            index.columns()[..=prefix.len()].iter().any(|indexed| indexed.column == *name)
        };
        let is_written = |place: usize| table.written.contains(&place);
        if !conditions.iter().all(named) || is_written(order.column) {
            continue;
        }
        let values = prefix.len();
        let name = index.columns()[values].to_string();
        let domain = domains[order.column].as_ref();
        let range = domain_range(schema, order.column, domain)?;
        let present = FieldRange { column: name.clone(), ..range.unwrap_or(FieldRange::of(&name)) };
        let has_null =
            with_null && domain.is_none() && table.arrow.field(order.column).is_nullable();
        let ranges = ranges_with_null(prefix, present, has_null, order.descending);
        return Ok(Some(IndexPath {
            index: index.clone(),
            values,
            entries: index.estimate_entries(&ranges)?,
            ranges: Arc::new(ranges),
            is_checked_above: false,
            is_index_only: false,
            order: Some(order),
        }));
    }
    Ok(None)
}

/// The values of an index's columns before the one of the order, if each has one.
fn prefix_values(
    table: &SqlTable,
    index: &Index,
    domains: &[Option<ColumnDomain>],
    ordered: usize,
) -> Result<Option<Vec<Value>>> {
    let mut values = Vec::new();
    for indexed in index.columns() {
        let column = table.schema().column_index(&indexed.column);
        let Some(column) = column.filter(|_| indexed.is_plain()) else { return Ok(None) };
        if column == ordered {
            return Ok(Some(values));
        }
        match domains[column].as_ref().and_then(|domain| domain.values.as_ref()) {
            Some(given) if given.len() == 1 => values.push(value_of(given.as_ref())?),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// The entries with values after the prefix, and those with NULL before or after these.
fn ranges_with_null(
    prefix: Vec<Value>,
    present: FieldRange,
    has_null: bool,
    is_null_first: bool,
) -> Vec<IndexRange> {
    let null = prefix.iter().cloned().chain([Value::Null]).collect();
    let present = IndexRange { prefix, range: Some(present) };
    let null = IndexRange { prefix: null, range: None };
    match (has_null, is_null_first) {
        (false, _) => vec![present],
        (true, true) => vec![null, present],
        (true, false) => vec![present, null],
    }
}
