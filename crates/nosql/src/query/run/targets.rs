//! The places in a row that an update changes.

use std::sync::Arc;

use crate::query::evaluate::{Evaluator, Scope, StepScope};
use crate::query::item::{Item, Members, Sequence};
use crate::query::syntax::{Expr, ExprKind, Step, StepKind};
use crate::wire::{Failure, Outcome};

/// What becomes of an item that a target leads to.
pub(super) enum Changed {
    /// It is as it was: the change does not fit it, or brings nothing.
    Untouched,
    Kept,
    Removed,
}

/// Changes an item, or says that it is removed.
pub(super) type ChangeItem<'c> = &'c mut dyn FnMut(&mut Item) -> Outcome<Changed>;

/// The column of a target, and the steps after it.
///
/// # Errors
/// That it begins with no column.
pub(super) fn target_parts(target: &Expr) -> Outcome<(usize, &[Step])> {
    match &target.kind {
        ExprKind::Column(column) => Ok((*column, &[])),
        ExprKind::Path(base, steps) => match base.kind {
            ExprKind::Column(column) => Ok((column, steps)),
            _ => Err(no_target(target)),
        },
        _ => Err(no_target(target)),
    }
}

#[cold]
fn no_target(target: &Expr) -> Failure {
    Failure::argument(format!("Error: {} that is no place in a row", target.place))
}

/// Calls a function with each item that steps lead to.
pub(super) fn for_each_target(
    evaluator: &Evaluator,
    item: &mut Item,
    steps: &[Step],
    scope: &Scope<'_>,
    change: ChangeItem<'_>,
) -> Outcome<Changed> {
    // The item to change is at the end of the last step.
    let Some((step, rest)) = steps.split_first() else { return change(item) };
    let within = item.clone();
    match (&step.kind, item) {
        // A field of an array is that of each of its elements.
        (StepKind::Field(_), Item::Array(elements)) => {
            for element in Arc::make_mut(elements) {
                for_each_target(evaluator, element, steps, scope, change)?;
            }
        }
        (StepKind::Field(name), Item::Map(members)) => {
            let is_chosen = |own: &str, _: &Item| Ok(own == name);
            members_where(evaluator, members, is_chosen, rest, scope, change)?;
        }
        (StepKind::Field(name), Item::Record(members)) => {
            let is_chosen = |own: &str, _: &Item| Ok(own.eq_ignore_ascii_case(name));
            fields_where(evaluator, members, is_chosen, rest, scope, change)?;
        }
        // A member is its key and its value: keys lead to what is removed.
        (StepKind::Members(_, condition), Item::Map(members)) => {
            let is_chosen = |own: &str, value: &Item| match condition {
                None => Ok(true),
                Some(condition) => {
                    let step = StepScope {
                        context: Some(&within),
                        element: Some(value),
                        position: 0,
                        key: Some(own),
                    };
                    Ok(evaluator.truth(condition, &Scope { step, ..*scope })? == Some(true))
                }
            };
            members_where(evaluator, members, is_chosen, rest, scope, change)?;
        }
        (StepKind::Filter(condition), Item::Array(elements)) => {
            let is_chosen = |position: usize, element: &Item| {
                filter_takes(evaluator, condition.as_deref(), &within, position, element, scope)
            };
            elements_where(evaluator, elements, is_chosen, rest, scope, change)?;
        }
        (StepKind::Slice(from, to), Item::Array(elements)) => {
            let (from, to) = slice_ends(evaluator, from, to, scope)?;
            let is_chosen = |position: usize, _: &Item| {
                let position = i64::try_from(position).unwrap_or(i64::MAX);
                Ok((from..=to).contains(&position))
            };
            elements_where(evaluator, elements, is_chosen, rest, scope, change)?;
        }
        // What is not an array counts as its only element.
        (StepKind::Filter(condition), single) if !single.is_null() => {
            let condition = condition.as_deref();
            let is_taken = filter_takes(evaluator, condition, &within, 0, &within, scope)?;
            if is_taken {
                return for_each_target(evaluator, single, rest, scope, change);
            }
        }
        (StepKind::Slice(from, to), single) if !single.is_null() => {
            let (from, to) = slice_ends(evaluator, from, to, scope)?;
            if (from..=to).contains(&0) {
                return for_each_target(evaluator, single, rest, scope, change);
            }
        }
        _ => {}
    }
    Ok(Changed::Kept)
}

/// The first and the last place of a slice.
fn slice_ends(
    evaluator: &Evaluator,
    from: &Option<Box<Expr>>,
    to: &Option<Box<Expr>>,
    scope: &Scope<'_>,
) -> Outcome<(i64, i64)> {
    let end = |end: &Option<Box<Expr>>, open: i64| -> Outcome<i64> {
        let Some(end) = end else { return Ok(open) };
        let given = evaluator.evaluate(end, scope)?;
        Ok(given.as_slice().first().and_then(Item::whole).unwrap_or(open))
    };
    Ok((end(from, 0)?, end(to, i64::MAX)?))
}

fn filter_takes(
    evaluator: &Evaluator,
    condition: Option<&Expr>,
    context: &Item,
    position: usize,
    element: &Item,
    scope: &Scope<'_>,
) -> Outcome<bool> {
    let Some(condition) = condition else { return Ok(true) };
    let step = StepScope { context: Some(context), element: Some(element), position, key: None };
    Ok(match evaluator.evaluate(condition, &Scope { step, ..*scope })? {
        Sequence::One(Item::Boolean(truth)) => truth,
        Sequence::One(place) => place.is_number() && place.whole() == i64::try_from(position).ok(),
        _ => false,
    })
}

fn elements_where(
    evaluator: &Evaluator,
    elements: &mut Arc<Vec<Item>>,
    is_chosen: impl Fn(usize, &Item) -> Outcome<bool>,
    rest: &[Step],
    scope: &Scope<'_>,
    change: ChangeItem<'_>,
) -> Outcome<()> {
    let mut kept = Vec::with_capacity(elements.len());
    for (position, element) in elements.iter().enumerate() {
        let mut element = element.clone();
        let is_kept = match is_chosen(position, &element)? {
            true => for_each_target(evaluator, &mut element, rest, scope, change)?,
            false => Changed::Untouched,
        };
        if !matches!(is_kept, Changed::Removed) {
            kept.push(element);
        }
    }
    *elements = Arc::new(kept);
    Ok(())
}

fn members_where(
    evaluator: &Evaluator,
    members: &mut Arc<Members>,
    is_chosen: impl Fn(&str, &Item) -> Outcome<bool>,
    rest: &[Step],
    scope: &Scope<'_>,
    change: ChangeItem<'_>,
) -> Outcome<()> {
    let mut kept = Vec::with_capacity(members.len());
    for (name, member) in members.iter() {
        let mut member = member.clone();
        let is_kept = match is_chosen(name, &member)? {
            true => for_each_target(evaluator, &mut member, rest, scope, change)?,
            false => Changed::Untouched,
        };
        if !matches!(is_kept, Changed::Removed) {
            kept.push((name.clone(), member));
        }
    }
    *members = Arc::new(kept);
    Ok(())
}

/// The fields of a record stay: a removed one is NULL.
fn fields_where(
    evaluator: &Evaluator,
    members: &mut Arc<Members>,
    is_chosen: impl Fn(&str, &Item) -> Outcome<bool>,
    rest: &[Step],
    scope: &Scope<'_>,
    change: ChangeItem<'_>,
) -> Outcome<()> {
    for (name, member) in Arc::make_mut(members) {
        if is_chosen(name, member)?
            && let Changed::Removed = for_each_target(evaluator, member, rest, scope, change)?
        {
            *member = Item::Null;
        }
    }
    Ok(())
}

/// A patch merged into a document: members that are null go, others come or are merged.
pub(super) fn merge(target: &mut Item, patch: &Item) {
    let Item::Map(changes) = patch else {
        *target = patch.clone();
        return;
    };
    let mut members = target.members().cloned().unwrap_or_default();
    for (name, change) in changes.iter() {
        let place = members.iter().position(|(own, _)| own == name);
        match (place, change) {
            (Some(place), Item::JsonNull | Item::Null) => {
                members.remove(place);
            }
            (None, Item::JsonNull | Item::Null) => {}
            (Some(place), change) => merge(&mut members[place].1, change),
            (None, change) => {
                let mut member = Item::JsonNull;
                merge(&mut member, change);
                members.push((name.clone(), member));
            }
        }
    }
    *target = Item::Map(Arc::new(members));
}
