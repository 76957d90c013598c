//! Groups of rows, and what is said of each.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::budget::MemoryBudget;
use crate::query::evaluate::{Evaluator, Scope, add_items, divide_items};
use crate::query::item::{GroupForm, Item, NumberContext, Sequence, sort_order};
use crate::query::plan::{Aggregate, AggregateKind};
use crate::query::syntax::Expr;
use crate::wire::{Failure, Outcome};

/// What a group takes beside its values.
const GROUP_BYTES: usize = 160;

/// Groups in the order in which they were found.
pub(super) struct Groups<'p> {
    keys: &'p [Expr],
    aggregates: &'p [Aggregate],
    places: HashMap<GroupForm, usize>,
    groups: Vec<Group>,
}

pub(super) struct Group {
    pub(super) keys: Vec<Item>,
    totals: Vec<Total>,
}

/// What is known by now of an aggregate.
#[derive(Default)]
struct Total {
    count: i64,
    item: Option<Item>,
    items: Vec<Item>,
    seen: HashSet<GroupForm>,
}

impl<'p> Groups<'p> {
    pub(super) fn new(keys: &'p [Expr], aggregates: &'p [Aggregate]) -> Self {
        let mut groups = Self { keys, aggregates, places: HashMap::new(), groups: Vec::new() };
        // Without keys there is one group, even of no rows.
        if keys.is_empty() {
            groups.places.insert(GroupForm::default(), 0);
            let group = groups.group(Vec::new());
            groups.groups.push(group);
        }
        groups
    }

    fn group(&self, keys: Vec<Item>) -> Group {
        Group { keys, totals: self.aggregates.iter().map(|_| Total::default()).collect() }
    }

    /// Adds a row to its group. A row without a key is in none.
    pub(super) fn add(
        &mut self,
        evaluator: &Evaluator,
        scope: &Scope<'_>,
        budget: &mut MemoryBudget,
    ) -> Outcome<()> {
        let (mut form, mut keys) = (GroupForm::default(), Vec::with_capacity(self.keys.len()));
        for key in self.keys {
            match evaluator.evaluate(key, scope)? {
                Sequence::Empty => return Ok(()),
                Sequence::One(item) => {
                    form.push(&item);
                    keys.push(item);
                }
                Sequence::Many(_) => {
                    return Err(Failure::argument(format!(
                        "Error: {} Grouping expression returns more than one item",
                        key.place
                    )));
                }
            }
        }
        let next = self.groups.len();
        // Memory grows with groups, not with rows.
        let bytes = form.len() + keys.iter().map(Item::bytes).sum::<usize>();
        let place = match self.places.entry(form) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(new) => {
                budget.take(bytes + GROUP_BYTES * (1 + self.aggregates.len()))?;
                new.insert(next);
                let group = self.group(keys);
                self.groups.push(group);
                next
            }
        };
        let totals = &mut self.groups[place].totals;
        // The row itself is forgotten: groups hold what is said of them alone.
        for (aggregate, total) in self.aggregates.iter().zip(totals) {
            match &aggregate.of {
                None => total.count += 1,
                Some(of) => {
                    for item in evaluator.evaluate(of, scope)?.as_slice() {
                        total.add(aggregate.kind, item, &evaluator.numbers, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn into_groups(self) -> Vec<Group> {
        self.groups
    }
}

impl Group {
    /// What the aggregates say of the group.
    pub(super) fn aggregated(
        &self,
        aggregates: &[Aggregate],
        numbers: &NumberContext,
    ) -> Outcome<Vec<Sequence>> {
        aggregates
            .iter()
            .zip(&self.totals)
            .map(|(of, total)| total.said(of.kind, numbers))
            .collect()
    }
}

impl Total {
    fn add(
        &mut self,
        kind: AggregateKind,
        item: &Item,
        numbers: &NumberContext,
        budget: &mut MemoryBudget,
    ) -> Outcome<()> {
        // NULL counts for nothing in any of them.
        if item.is_null() {
            return Ok(());
        }
        match kind {
            AggregateKind::Count => self.count += 1,
            AggregateKind::CountDistinct | AggregateKind::CollectDistinct => {
                let form = GroupForm::of(item);
                let bytes = form.len() + GROUP_BYTES;
                if self.seen.insert(form) {
                    budget.take(bytes + item.bytes())?;
                    self.count += 1;
                    if kind == AggregateKind::CollectDistinct {
                        self.items.push(item.clone());
                    }
                }
            }
            AggregateKind::Collect => {
                budget.take(item.bytes())?;
                self.items.push(item.clone());
            }
            AggregateKind::Sum | AggregateKind::Average => {
                if !item.is_number() {
                    return Ok(());
                }
                self.count += 1;
                // Whole numbers are added up as long ones, singles as doubles.
                let item = match item {
                    Item::Integer(number) => Item::Long((*number).into()),
                    Item::Float(number) => Item::Double((*number).into()),
                    other => other.clone(),
                };
                self.item = Some(match &self.item {
                    None => item,
                    Some(sum) => add_items(numbers, sum, &item)?,
                });
            }
            AggregateKind::Minimum | AggregateKind::Maximum => {
                let has_order =
                    item.is_atomic() && !matches!(item, Item::JsonNull | Item::Binary(_));
                let is_better = self.item.as_ref().is_none_or(|best| {
                    let order = sort_order(Some(item), Some(best));
                    if kind == AggregateKind::Minimum { order.is_lt() } else { order.is_gt() }
                });
                if has_order && is_better {
                    self.item = Some(item.clone());
                }
            }
        }
        Ok(())
    }

    fn said(&self, kind: AggregateKind, numbers: &NumberContext) -> Outcome<Sequence> {
        let or_null = |item: &Option<Item>| item.clone().unwrap_or(Item::Null);
        Ok(match kind {
            AggregateKind::Count | AggregateKind::CountDistinct => Item::Long(self.count),
            AggregateKind::Average => match &self.item {
                Some(sum) => divide_items(numbers, sum, self.count)?,
                None => Item::Null,
            },
            AggregateKind::Sum | AggregateKind::Minimum | AggregateKind::Maximum => {
                or_null(&self.item)
            }
            AggregateKind::Collect | AggregateKind::CollectDistinct => self.items.clone().into(),
        }
        .into())
    }
}
