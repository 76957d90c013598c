//! Comparisons of what two expressions give.

use std::cmp::Ordering;

use super::evaluator::fault;
use crate::query::item::{Item, Sequence, compare_items, equal_items};
use crate::query::syntax::{Comparison, Matching, Place};
use crate::wire::Outcome;

/// Compares two sequences: as single values, or each item of one with each of the other. Nothing is
/// neither true nor false.
pub(crate) fn compare_sequences(
    place: Place,
    left: &Sequence,
    comparison: Comparison,
    matching: Matching,
    right: &Sequence,
) -> Outcome<Option<bool>> {
    if matching == Matching::Any {
        return Ok(any(left.as_slice(), comparison, right.as_slice()));
    }
    let single = |side: &str| {
        let message = format!("the {side} operand of a comparison has more than one item");
        Err(fault(place, &message))
    };
    Ok(match (left, right) {
        (Sequence::Many(_), _) => return single("left"),
        (_, Sequence::Many(_)) => return single("right"),
        (Sequence::One(left), Sequence::One(right)) => compare(left, comparison, right),
        (Sequence::Empty, Sequence::Empty) => Some(of_order(comparison, Ordering::Equal)),
        (Sequence::One(Item::Null), _) | (_, Sequence::One(Item::Null)) => None,
        // Nothing is unequal to all there is.
        _ => Some(comparison == Comparison::NotEqual),
    })
}

/// Whether a value equals one of some items.
pub(super) fn equals_any(place: Place, one: &Sequence, items: &[Item]) -> Outcome<Option<bool>> {
    let mut answer = Some(false);
    for item in items {
        let other = Sequence::One(item.clone());
        match compare_sequences(place, one, Comparison::Equal, Matching::Value, &other)? {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => answer = None,
        }
    }
    Ok(answer)
}

fn any(left: &[Item], comparison: Comparison, right: &[Item]) -> Option<bool> {
    let mut answer = Some(false);
    for left in left {
        for right in right {
            match compare(left, comparison, right) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => answer = None,
            }
        }
    }
    answer
}

fn compare(left: &Item, comparison: Comparison, right: &Item) -> Option<bool> {
    if left.is_null() || right.is_null() {
        return None;
    }
    // The null of documents is unequal to all values, which are unequal to it.
    if matches!(left, Item::JsonNull) != matches!(right, Item::JsonNull) {
        return Some(comparison == Comparison::NotEqual);
    }
    Some(match comparison {
        Comparison::Equal => equal_items(left, right) == Some(true),
        Comparison::NotEqual => equal_items(left, right) == Some(false),
        _ => compare_items(left, right).is_some_and(|order| of_order(comparison, order)),
    })
}

fn of_order(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}
