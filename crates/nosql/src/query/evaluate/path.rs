//! Steps of paths.

use std::sync::Arc;

use super::evaluator::{Evaluator, fault};
use super::scope::{Scope, StepScope};
use crate::query::item::{Item, Members, Sequence};
use crate::query::syntax::{Expr, ExprKind, Side, Step, StepKind};
use crate::wire::Outcome;

impl Evaluator {
    /// Follows the steps of a path.
    pub(super) fn walk(
        &self,
        base: Sequence,
        steps: &[Step],
        scope: &Scope<'_>,
    ) -> Outcome<Sequence> {
        let mut here = base;
        for step in steps {
            if here == Sequence::Empty {
                return Ok(here);
            }
            let mut out = Vec::new();
            for item in here.as_slice() {
                match item {
                    // Everything below NULL is NULL.
                    Item::Null => out.push(Item::Null),
                    item => self.step(item, step, scope, &mut out)?,
                }
            }
            here = out.into();
        }
        Ok(here)
    }

    fn step(
        &self,
        item: &Item,
        step: &Step,
        scope: &Scope<'_>,
        out: &mut Vec<Item>,
    ) -> Outcome<()> {
        match &step.kind {
            StepKind::Field(name) => {
                field(item, name, out);
                Ok(())
            }
            // `$` is the item that the step is applied to.
            StepKind::ComputedField(name) => {
                let within = StepScope { context: Some(item), ..StepScope::default() };
                match self.evaluate(name, &Scope { step: within, ..*scope })? {
                    Sequence::One(Item::String(name)) => field(item, &name, out),
                    Sequence::Empty | Sequence::One(Item::Null) => {}
                    _ => return Err(fault(step.place, "the name of a field is not a single text")),
                }
                Ok(())
            }
            StepKind::Members(side, condition) => {
                self.members(item, *side, condition.as_deref(), scope, out)
            }
            StepKind::Filter(condition) => self.filter(item, condition.as_deref(), scope, out),
            StepKind::Slice(from, to) => {
                let within = StepScope { context: Some(item), ..StepScope::default() };
                let scope = Scope { step: within, ..*scope };
                let from = self.bound(from.as_deref(), 0, &scope)?;
                let to = self.bound(to.as_deref(), i64::MAX, &scope)?;
                // An end that is NULL gives nothing; ends outside of the array are cut.
                if let Some((from, to)) = from.zip(to) {
                    let elements = elements(item);
                    let from = usize::try_from(from).unwrap_or(0).min(elements.len());
                    let end = usize::try_from(to.saturating_add(1)).unwrap_or(0);
                    out.extend_from_slice(&elements[from..end.clamp(from, elements.len())]);
                }
                Ok(())
            }
        }
    }

    /// An end of a slice; nothing where it gives none.
    fn bound(&self, end: Option<&Expr>, open: i64, scope: &Scope<'_>) -> Outcome<Option<i64>> {
        let Some(end) = end else { return Ok(Some(open)) };
        match self.evaluate(end, scope)? {
            Sequence::Empty | Sequence::One(Item::Null) => Ok(None),
            Sequence::One(item) if item.is_number() => Ok(item.whole()),
            _ => Err(fault(end.place, "an end of a slice is not a number")),
        }
    }

    fn filter(
        &self,
        item: &Item,
        condition: Option<&Expr>,
        scope: &Scope<'_>,
        out: &mut Vec<Item>,
    ) -> Outcome<()> {
        let elements = elements(item);
        let Some(condition) = condition else {
            out.extend_from_slice(elements);
            return Ok(());
        };
        // The most frequent step needs no walk over the elements.
        if let ExprKind::Constant(Item::Integer(place)) = condition.kind {
            out.extend(usize::try_from(place).ok().and_then(|place| elements.get(place)).cloned());
            return Ok(());
        }
        for (position, element) in elements.iter().enumerate() {
            let step =
                StepScope { context: Some(item), element: Some(element), position, key: None };
            let is_taken = match self.evaluate(condition, &Scope { step, ..*scope })? {
                Sequence::One(Item::Boolean(truth)) => truth,
                Sequence::Empty | Sequence::One(Item::Null) => false,
                // A number is the position of the element that is taken.
                Sequence::One(place) if place.is_number() => {
                    place.whole() == i64::try_from(position).ok()
                }
                _ => {
                    return Err(fault(
                        condition.place,
                        "a filter is neither a condition nor a place",
                    ));
                }
            };
            if is_taken {
                out.push(element.clone());
            }
        }
        Ok(())
    }

    /// Keys or values of a map. Those of the maps in an array are taken, too.
    fn members(
        &self,
        item: &Item,
        side: Side,
        condition: Option<&Expr>,
        scope: &Scope<'_>,
        out: &mut Vec<Item>,
    ) -> Outcome<()> {
        if let Item::Array(elements) = item {
            return elements
                .iter()
                .try_for_each(|element| self.members(element, side, condition, scope, out));
        }
        // What has no members gives none.
        let Some(members) = item.members() else { return Ok(()) };
        for (name, value) in members {
            // Without a condition all are taken.
            let is_taken = match condition {
                None => true,
                Some(condition) => {
                    let step = StepScope {
                        context: Some(item),
                        element: Some(value),
                        position: 0,
                        key: Some(name),
                    };
                    self.truth(condition, &Scope { step, ..*scope })? == Some(true)
                }
            };
            if is_taken {
                out.push(match side {
                    Side::Keys => Item::String(Arc::clone(name)),
                    Side::Values => value.clone(),
                });
            }
        }
        Ok(())
    }
}

/// The elements of an array; an item that is none is its only element.
fn elements(item: &Item) -> &[Item] {
    match item {
        Item::Array(items) => items,
        other => std::slice::from_ref(other),
    }
}

/// The field of that name. The elements of an array are looked into, however deep.
fn field(item: &Item, name: &str, out: &mut Vec<Item>) {
    let find = |members: &Members, is_same: &dyn Fn(&str) -> bool| {
        members.iter().find(|(own, _)| is_same(own)).map(|(_, value)| value.clone())
    };
    match item {
        Item::Array(items) => items.iter().for_each(|item| field(item, name, out)),
        Item::Map(members) => out.extend(find(members, &|own| own == name)),
        // Fields of records are named as columns are.
        Item::Record(members) => {
            out.extend(find(members, &|own| own.eq_ignore_ascii_case(name)));
        }
        _ => {}
    }
}
