//! UPDATE.

use std::sync::Arc;

use tonnage::{Condition, Row, WriteOptions};

use super::change_row::{key_of_row, value_of_item};
use super::collection_document::changed_document;
use super::columns::RowColumns;
use super::delete::{TRIES_MAX, all_columns, chosen_rows, still_chosen, written_by_others};
use super::insert::{expiry_of, found_ttl, returned};
use super::part::{Output, QueryCall};
use super::stored_row::FoundRow;
use super::targets::{Changed, for_each_target, merge, target_parts};
use crate::query::evaluate::{Evaluator, Scope};
use crate::query::item::{Item, Sequence};
use crate::query::plan::{AccessPath, Names, choose_access, plan_list};
use crate::query::syntax::{Change, Expr, ExprKind, Place, TtlValue, Update, VariableDeclaration};
use crate::wire::{Failure, Outcome};

/// Changes the rows of a shard key that fulfil a condition.
///
/// # Errors
/// Names that mean nothing, values that a column cannot hold, and what the store says.
pub(crate) fn run_update(
    call: &QueryCall<'_>,
    update: &Update,
    variables: &[VariableDeclaration],
) -> Outcome<Output> {
    let schema = call.table.schema();
    let names =
        Names { schema, table: &update.table, variables, unnested: Vec::new(), joined: Vec::new() };
    let mut filter = update.filter.clone();
    names.find(&mut filter)?;
    let output = update.returning.as_ref().map(|list| plan_list(list, &names)).transpose()?;
    let mut changes = update.changes.clone();
    changes.iter_mut().try_for_each(|change| find_names(change, &names))?;
    let ttl = update.ttl.clone().map(|ttl| found_ttl(ttl, &names, false)).transpose()?;
    let path = choose_access(call.table, Some(&filter), &call.evaluator)?;
    // Rows of several shard keys are not changed by one statement.
    let is_single = match path {
        AccessPath::Key(_) | AccessPath::Nothing => true,
        AccessPath::Prefix(..) => false,
        AccessPath::Index { .. } | AccessPath::Scan => {
            let message = "Error: A complete shard key must be specified in the WHERE clause.";
            return Err(Failure::argument(message));
        }
    };
    if output.is_some() && !is_single {
        return Err(Failure::argument(
            "Error: RETURNING clause is not supported unless the complete primary key is \
             specified in the WHERE clause.",
        ));
    }
    // All are chosen before the first is changed, or one could be chosen twice.
    let (mut changed, mut count) = (Vec::new(), 0_usize);
    for row in chosen_rows(call, Some(&filter))? {
        let updated = update_row(call, ttl.as_ref(), &changes, &filter, row)?;
        count += usize::from(updated.as_ref().is_some_and(|(_, is_changed)| *is_changed));
        changed.extend(updated.map(|(row, _)| row));
    }
    match output {
        Some(output) => returned(call, &output, &changed),
        None => {
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            Ok(Output::single("NumRowsUpdated", Item::Integer(count)))
        }
    }
}

/// Finds the names of a change. Columns of the key stay as they are.
fn find_names(change: &mut Change, names: &Names<'_>) -> Outcome<()> {
    let is_of_row = matches!(change, Change::Put(..) | Change::Merge(..));
    let target = match change {
        Change::Set(target, value) | Change::Put(target, value) | Change::Merge(target, value) => {
            names.find(target)?;
            // `$` is what the target has.
            find_value(names, value)?;
            target
        }
        Change::Add(target, at, value) => {
            names.find(target)?;
            at.iter_mut().try_for_each(|at| find_value(names, at))?;
            find_value(names, value)?;
            target
        }
        Change::Remove(target) => {
            names.find(target)?;
            target
        }
    };
    // The row of a JSON collection is its document: that is what is put into and merged with.
    let document = names.schema.collection_column().filter(|_| target.kind == ExprKind::Row);
    if let Some(document) = document.filter(|_| is_of_row) {
        target.kind = ExprKind::Column(document);
    }
    // The key says which row it is.
    let (column, _) = target_parts(target)?;
    match names.schema.is_key(column) {
        true => Err(Failure::argument(format!(
            "Error: {} Cannot update a primary key column",
            target.place
        ))),
        false => Ok(()),
    }
}

fn find_value(names: &Names<'_>, value: &mut Expr) -> Outcome<()> {
    names.find_in_step(value)
}

/// Changes a row as it was found, and says whether anything was changed. One that others changed
/// meanwhile is looked at again.
fn update_row(
    call: &QueryCall<'_>,
    ttl: Option<&TtlValue>,
    changes: &[Change],
    filter: &Expr,
    mut found: FoundRow,
) -> Outcome<Option<(FoundRow, bool)>> {
    let schema = call.table.schema();
    let key = key_of_row(&found.row, schema);
    let kept = WriteOptions { keep_ttl: true, ..call.call.write_options() };
    for _ in 0..TRIES_MAX {
        let (row, is_changed) = changed_row(call, changes, &found)?;
        if !is_changed && ttl.is_none() {
            return Ok(Some((found, false)));
        }
        // A row lives on as long as before, unless the statement says otherwise.
        let options = match ttl {
            Some(ttl) => {
                let mut columns = RowColumns::new(call.table, &all_columns());
                columns.load(&found);
                let expires_at_ms = Some(expiry_of(call, ttl, &columns.scope(&[]))?);
                WriteOptions { expires_at_ms, ..call.call.write_options() }
            }
            None => kept,
        };
        let unchanged = Condition::IfVersion(found.version);
        let done = call.table.put_returning(&row, unchanged, &options)?;
        if let Some(version) = done.result.version() {
            let expires_at_ms = options.expires_at_ms.unwrap_or(found.expires_at_ms);
            return Ok(Some((FoundRow { row, version, expires_at_ms }, true)));
        }
        // Another writer came between: what it left counts.
        match still_chosen(call, Some(filter), &key)? {
            Some(again) => found = again,
            None => return Ok(None),
        }
    }
    Err(written_by_others())
}

/// The row with all changes, each applied to the result of those before it, and whether one of them
/// found what it changes.
fn changed_row(call: &QueryCall<'_>, changes: &[Change], found: &FoundRow) -> Outcome<(Row, bool)> {
    let schema = call.table.schema();
    let mut columns = RowColumns::new(call.table, &all_columns());
    columns.load(found);
    let (mut row, mut is_changed) = (found.row.clone(), false);
    for change in changes {
        let target = match change {
            Change::Set(target, _)
            | Change::Put(target, _)
            | Change::Merge(target, _)
            | Change::Add(target, ..)
            | Change::Remove(target) => target,
        };
        // Each change sees what the ones before it left.
        let (column, steps) = target_parts(target)?;
        let mut item = columns.items[column].clone();
        let scope = columns.scope(&[]);
        let mut apply = |item: &mut Item| {
            let changed = changed_item(&call.evaluator, change, item, &scope)?;
            is_changed |= !matches!(changed, Changed::Untouched);
            Ok(changed)
        };
        if let Changed::Removed =
            for_each_target(&call.evaluator, &mut item, steps, &scope, &mut apply)?
        {
            item = Item::Null;
        }
        let place = value_place(change);
        let value = match schema.collection_column() == Some(column) {
            true => changed_document(schema, place, &item)?,
            false => value_of_item(place, &item, &schema.columns[column])?,
        };
        // As the column holds it: the next change must not see more than will be stored.
        columns.items[column] = crate::query::item::item_of_value(&value);
        row.set(&schema.columns[column].name, value);
    }
    Ok((row, is_changed))
}

fn value_place(change: &Change) -> Place {
    match change {
        Change::Set(target, _)
        | Change::Put(target, _)
        | Change::Merge(target, _)
        | Change::Add(target, ..)
        | Change::Remove(target) => target.place,
    }
}

/// Makes a change of an item that its target leads to.
fn changed_item(
    evaluator: &Evaluator,
    change: &Change,
    item: &mut Item,
    scope: &Scope<'_>,
) -> Outcome<Changed> {
    let before = item.clone();
    let mut step = scope.step;
    step.context = Some(&before);
    let scope = Scope { step, ..*scope };
    match change {
        Change::Remove(_) => return Ok(Changed::Removed),
        Change::Set(_, value) => match evaluator.evaluate(value, &scope)? {
            // Nothing changes nothing.
            Sequence::Empty => return Ok(Changed::Untouched),
            given => *item = given.into_field(),
        },
        Change::Merge(_, patch) => {
            if let Sequence::One(patch) = evaluator.evaluate(patch, &scope)? {
                merge(item, &patch);
            }
        }
        // What is not a map has no members to be put into.
        Change::Put(_, value) => {
            let Item::Map(members) = item else { return Ok(Changed::Untouched) };
            let given = evaluator.evaluate(value, &scope)?;
            if !given.as_slice().iter().any(|given| given.members().is_some()) {
                return Ok(Changed::Untouched);
            }
            for given in given.as_slice() {
                let members = Arc::make_mut(members);
                for (name, value) in given.members().into_iter().flatten() {
                    match members.iter_mut().find(|(own, _)| own == name) {
                        Some((_, own)) => *own = value.clone(),
                        None => members.push((name.clone(), value.clone())),
                    }
                }
            }
        }
        Change::Add(_, at, value) => {
            let Item::Array(elements) = item else { return Ok(Changed::Untouched) };
            let given = evaluator.evaluate(value, &scope)?.into_vec();
            if given.is_empty() {
                return Ok(Changed::Untouched);
            }
            let at = match at {
                Some(at) => {
                    evaluator.evaluate(at, &scope)?.as_slice().first().and_then(Item::whole)
                }
                None => None,
            };
            let elements = Arc::make_mut(elements);
            let place = at.and_then(|at| usize::try_from(at.max(0)).ok()).unwrap_or(usize::MAX);
            let place = place.min(elements.len());
            elements.splice(place..place, given);
        }
    }
    Ok(Changed::Kept)
}
