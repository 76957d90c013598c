//! Functions of sequences, arrays and maps.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::arguments::{Arguments, or_null};
use crate::query::evaluate::arithmetic::{add_items, divide_items};
use crate::query::item::{GroupForm, Item, Sequence, item_of_value, sort_order};
use crate::wire::Outcome;

type Given = Outcome<Sequence>;

pub(super) fn concat(of: &Arguments<'_>) -> Given {
    let items: Vec<Item> = of.given.iter().flat_map(Sequence::as_slice).cloned().collect();
    Ok(items.into())
}

pub(super) fn count(of: &Arguments<'_>) -> Given {
    let items = of.sequence(0);
    let is_null = items.iter().any(Item::is_null);
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    or_null((!is_null).then_some(Item::Long(count)))
}

/// `seq_sum` and `seq_avg`, of the numbers among the items.
pub(super) fn sum(of: &Arguments<'_>) -> Given {
    let numbers = &of.evaluator.numbers;
    let (mut sum, mut count) = (None, 0);
    for item in of.sequence(0).iter().filter(|item| item.is_number()) {
        sum = Some(match sum {
            None => widened(item),
            Some(sum) => add_items(numbers, &sum, item)?,
        });
        count += 1;
    }
    match sum {
        Some(sum) if of.name == "seq_avg" => divide_items(numbers, &sum, count).map(Sequence::from),
        sum => or_null(sum),
    }
}

/// Whole numbers are added up as long ones.
fn widened(item: &Item) -> Item {
    match item {
        Item::Integer(number) => Item::Long((*number).into()),
        Item::Float(number) => Item::Double((*number).into()),
        other => other.clone(),
    }
}

/// `seq_min` and `seq_max`, of what has an order: numbers before texts before booleans.
pub(super) fn extreme(of: &Arguments<'_>) -> Given {
    let wanted = if of.name == "seq_min" { Ordering::Less } else { Ordering::Greater };
    let mut best: Option<&Item> = None;
    for item in of.sequence(0) {
        let has_order = !matches!(item, Item::Null | Item::JsonNull | Item::Binary(_));
        if !has_order || !item.is_atomic() {
            continue;
        }
        if best.is_none_or(|best| sort_order(Some(item), Some(best)) == wanted) {
            best = Some(item);
        }
    }
    or_null(best.cloned())
}

pub(super) fn distinct(of: &Arguments<'_>) -> Given {
    let mut seen = HashSet::new();
    let items = of.sequence(0).iter().filter(|item| seen.insert(GroupForm::of(item)));
    Ok(items.cloned().collect::<Vec<_>>().into())
}

pub(super) fn sort(of: &Arguments<'_>) -> Given {
    let mut items = of.sequence(0).to_vec();
    items.sort_by(|one, other| sort_order(Some(one), Some(other)));
    Ok(items.into())
}

/// How many elements or members there are.
pub(super) fn size(of: &Arguments<'_>) -> Given {
    let count = match of.sequence(0) {
        [] | [Item::Null] => return Ok(Sequence::null()),
        [Item::Array(items)] => items.len(),
        [item] => match item.members() {
            Some(members) => members.len(),
            None => return Err(of.fault("Input to the size() function has wrong type: it is neither an array, nor a map, nor a record")),
        },
        _ => return Err(of.fault("Input to the size() function has more than one item")),
    };
    Ok(Item::Integer(i32::try_from(count).unwrap_or(i32::MAX)).into())
}

pub(super) fn parse_json(of: &Arguments<'_>) -> Given {
    let Some(text) = of.item(0).and_then(Item::text) else { return Ok(Sequence::null()) };
    match tonnage::internal::json_text::checked(text) {
        Ok(text) => Ok(item_of_value(&tonnage::Value::Json(text.to_owned())).into()),
        Err(error) => Err(of.fault(&format!("parse_json: {}", error.message()))),
    }
}
