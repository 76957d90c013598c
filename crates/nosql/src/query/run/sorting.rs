//! Rows of an answer in order.

use std::cmp::Ordering;
use std::sync::Arc;

use super::budget::MemoryBudget;
use crate::query::evaluate::{Evaluator, Scope};
use crate::query::item::{Item, Sequence, sort_order};
use crate::query::syntax::SortKey;
use crate::wire::{Failure, Outcome};

/// Rows that wait to be sorted, of which only the first ones are wanted perhaps.
pub(super) struct SortedRows<'p> {
    order: &'p [SortKey],
    first: Option<usize>,
    rows: Vec<SortedRow>,
}

struct SortedRow {
    keys: Vec<Option<Item>>,
    row: Arc<[Item]>,
    bytes: usize,
}

impl<'p> SortedRows<'p> {
    pub(super) fn new(order: &'p [SortKey], first: Option<usize>) -> Self {
        Self { order, first, rows: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        row: Arc<[Item]>,
        evaluator: &Evaluator,
        scope: &Scope<'_>,
        budget: &mut MemoryBudget,
    ) -> Outcome<()> {
        let keys: Outcome<Vec<Option<Item>>> =
            self.order.iter().map(|key| sort_item(key, evaluator, scope)).collect();
        let keys = keys?;
        let items = row.iter().chain(keys.iter().flatten());
        let bytes = items.map(Item::bytes).sum::<usize>() + size_of::<SortedRow>();
        budget.take(bytes)?;
        self.rows.push(SortedRow { keys, row, bytes });
        // Each time that twice as many wait as are wanted, half of them go.
        if let Some(first) = self.first
            && self.rows.len() > first.saturating_mul(2).max(1_024)
        {
            self.sort();
            let given_up: usize = self.rows.drain(first..).map(|row| row.bytes).sum();
            budget.give_back(given_up);
        }
        Ok(())
    }

    pub(super) fn into_rows(mut self) -> Vec<Arc<[Item]>> {
        self.sort();
        self.rows.into_iter().map(|row| row.row).collect()
    }

    fn sort(&mut self) {
        let order = self.order;
        // Without keys the rows stay as they came.
        if !order.is_empty() {
            self.rows.sort_by(|one, other| compare(order, one, other));
        }
    }
}

fn sort_item(key: &SortKey, evaluator: &Evaluator, scope: &Scope<'_>) -> Outcome<Option<Item>> {
    match evaluator.evaluate(&key.expr, scope)? {
        Sequence::Empty => Ok(None),
        Sequence::One(item) if item.is_atomic() => Ok(Some(item)),
        _ => Err(Failure::argument(
            "Error: at (1, 0) Sort expression does not return a single atomic value",
        )),
    }
}

fn compare(order: &[SortKey], one: &SortedRow, other: &SortedRow) -> Ordering {
    let keys = order.iter().zip(one.keys.iter().zip(&other.keys));
    keys.map(|(key, (one, other))| compare_keys(key, one.as_ref(), other.as_ref()))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Missing values come after all others, ascending, unless the statement says otherwise.
fn compare_keys(key: &SortKey, one: Option<&Item>, other: Option<&Item>) -> Ordering {
    let is_nothing = |item: Option<&Item>| matches!(item, None | Some(Item::Null | Item::JsonNull));
    let order = sort_order(one, other);
    let order = if key.is_descending { order.reverse() } else { order };
    let nulls_first = key.nulls_first.unwrap_or(key.is_descending);
    match (is_nothing(one), is_nothing(other)) {
        (true, false) => {
            if nulls_first {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if nulls_first {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        _ => order,
    }
}
