//! DELETE.

use tonnage::{Condition, Direction};

use super::budget::MemoryBudget;
use super::change_row::key_of_row;
use super::columns::RowColumns;
use super::insert::returned;
use super::part::{Output, QueryCall};
use super::rows::FoundRows;
use super::stored_row::FoundRow;
use crate::query::item::Item;
use crate::query::plan::{Names, UsedColumns, choose_access, plan_list};
use crate::query::syntax::{Delete, Expr, VariableDeclaration};
use crate::wire::{Failure, FailureCode, Outcome};

/// Deletes the rows that fulfil a condition.
///
/// # Errors
/// Names that mean nothing, and what the store says.
pub(crate) fn run_delete(
    call: &QueryCall<'_>,
    delete: &Delete,
    variables: &[VariableDeclaration],
) -> Outcome<Output> {
    let schema = call.table.schema();
    let names = Names { schema, table: &delete.table, variables, unnested: Vec::new() };
    let mut filter = delete.filter.clone();
    filter.iter_mut().try_for_each(|filter| names.find(filter))?;
    let output = delete.returning.as_ref().map(|list| plan_list(list, &names)).transpose()?;
    let rows = chosen_rows(call, filter.as_ref())?;
    let mut deleted = Vec::new();
    for row in rows {
        deleted.extend(delete_row(call, filter.as_ref(), row)?);
    }
    match output {
        Some(output) => returned(call, &output, &deleted),
        None => {
            let count = i64::try_from(deleted.len()).unwrap_or(i64::MAX);
            Ok(Output::single("numRowsDeleted", Item::Long(count)))
        }
    }
}

/// Deletes a row as it was found. One that has changed is looked at again.
fn delete_row(
    call: &QueryCall<'_>,
    filter: Option<&Expr>,
    mut found: FoundRow,
) -> Outcome<Option<FoundRow>> {
    let key = key_of_row(&found.row, call.table.schema());
    for _ in 0..TRIES_MAX {
        let unchanged = Condition::IfVersion(found.version);
        if call.table.delete_if(&key, unchanged, &call.call.write_options())?.is_stored() {
            return Ok(Some(found));
        }
        match still_chosen(call, filter, &key)? {
            Some(again) => found = again,
            None => return Ok(None),
        }
    }
    Err(written_by_others())
}

/// How often a change is tried again whose row is written all the time.
pub(super) const TRIES_MAX: usize = 100;

#[cold]
pub(super) fn written_by_others() -> Failure {
    let message = "the row is written by others all the time: try again";
    Failure::new(FailureCode::ServiceUnavailable, message)
}

/// A row as it is now, if it still fulfils the condition.
pub(super) fn still_chosen(
    call: &QueryCall<'_>,
    filter: Option<&Expr>,
    key: &tonnage::Row,
) -> Outcome<Option<FoundRow>> {
    let Some(found) = call.table.get_with(key, &call.call.get_options())? else { return Ok(None) };
    let found =
        FoundRow { row: found.row, version: found.version, expires_at_ms: found.expires_at_ms };
    let mut columns = RowColumns::new(call.table, &all_columns());
    columns.load(&found);
    let is_chosen = match filter {
        Some(filter) => call.evaluator.truth(filter, &columns.scope(&[]))? == Some(true),
        None => true,
    };
    Ok(is_chosen.then_some(found))
}

pub(super) fn all_columns() -> UsedColumns {
    UsedColumns { has_row: true, has_write_time: true, ..UsedColumns::default() }
}

/// The rows that fulfil a condition now.
pub(super) fn chosen_rows(call: &QueryCall<'_>, filter: Option<&Expr>) -> Outcome<Vec<FoundRow>> {
    let path = choose_access(call.table, filter, &call.evaluator)?;
    let mut columns = RowColumns::new(call.table, &all_columns());
    let mut found = FoundRows::open(call.call, call.table, &path, None, None, Direction::Forward)?;
    let (mut rows, mut budget) = (Vec::new(), MemoryBudget::default());
    while let Some(row) = found.next_row()? {
        columns.load(&row);
        let is_chosen = match filter {
            Some(filter) => call.evaluator.truth(filter, &columns.scope(&[]))? == Some(true),
            None => true,
        };
        if is_chosen {
            budget.take(columns.bytes())?;
            rows.push(row);
        }
    }
    Ok(rows)
}
