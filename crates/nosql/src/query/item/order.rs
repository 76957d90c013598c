//! How items compare, and how they are sorted.

use std::cmp::Ordering;

use bigdecimal::{BigDecimal, FromPrimitive};

use super::instant::Instant;
use super::kinds::Item;
use super::text::{double_text, float_text};

/// How two items compare; nothing where their kinds have no order among each other. Neither is
/// NULL or the null of documents.
pub(crate) fn compare_items(one: &Item, other: &Item) -> Option<Ordering> {
    match (one, other) {
        (Item::Integer(one), Item::Integer(other)) => Some(one.cmp(other)),
        (Item::String(one), Item::String(other)) => Some(one.cmp(other)),
        (Item::Boolean(one), Item::Boolean(other)) => Some(one.cmp(other)),
        (Item::Timestamp(one), Item::Timestamp(other)) => {
            Some(one.nanoseconds.cmp(&other.nanoseconds))
        }
        // Text beside a timestamp is one, if it can be.
        (Item::Timestamp(one), Item::String(other)) => {
            let other = Instant::parse(other, 9).ok()?;
            Some(one.nanoseconds.cmp(&other.nanoseconds))
        }
        (Item::String(_), Item::Timestamp(_)) => compare_items(other, one).map(Ordering::reverse),
        (Item::Binary(one), Item::Binary(other)) => Some(one.cmp(other)),
        // The first elements that differ decide, then the lengths.
        (Item::Array(one), Item::Array(other)) => {
            for (one, other) in one.iter().zip(other.iter()) {
                match compare_items(one, other)? {
                    Ordering::Equal => {}
                    unequal => return Some(unequal),
                }
            }
            Some(one.len().cmp(&other.len()))
        }
        (Item::JsonNull, Item::JsonNull) => Some(Ordering::Equal),
        _ if one.is_number() && other.is_number() => Some(compare_numbers(one, other)),
        _ => None,
    }
}

/// Whether two items are equal; nothing where their kinds cannot be.
pub(crate) fn equal_items(one: &Item, other: &Item) -> Option<bool> {
    match (one, other) {
        (Item::Array(one), Item::Array(other)) => Some(
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|(one, other)| is_equal(one, other)),
        ),
        (Item::Map(one), Item::Map(other)) => {
            let is_in_other = |(name, item): &(std::sync::Arc<str>, Item)| {
                let found = other.iter().find(|(other, _)| other == name);
                found.is_some_and(|(_, found)| is_equal(item, found))
            };
            Some(one.len() == other.len() && one.iter().all(is_in_other))
        }
        // The fields of a record have an order.
        (Item::Record(one), Item::Record(other)) => Some(
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|(one, other)| {
                    one.0.eq_ignore_ascii_case(&other.0) && is_equal(&one.1, &other.1)
                }),
        ),
        _ => compare_items(one, other).map(Ordering::is_eq),
    }
}

fn is_equal(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Null, Item::Null) => true,
        _ => equal_items(one, other) == Some(true),
    }
}

/// NaN is greater than all others, and equal to itself.
fn compare_numbers(one: &Item, other: &Item) -> Ordering {
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return one.cmp(&other);
    }
    if (matches!(one, Item::Number(_)) || matches!(other, Item::Number(_)))
        && let (Some(one), Some(other)) = (exact(one), exact(other))
    {
        return one.cmp(&other);
    }
    let (one, other) = (one.double().unwrap_or_default(), other.double().unwrap_or_default());
    match (one.is_nan(), other.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
    }
}

fn whole(item: &Item) -> Option<i64> {
    match item {
        Item::Integer(number) => Some((*number).into()),
        Item::Long(number) => Some(*number),
        _ => None,
    }
}

/// A number as the decimal that it shows as; nothing for infinities and NaN.
fn exact(item: &Item) -> Option<BigDecimal> {
    match item {
        Item::Integer(number) => Some(BigDecimal::from(*number)),
        Item::Long(number) => Some(BigDecimal::from(*number)),
        Item::Float(number) => {
            BigDecimal::from_f32(*number).and_then(|_| float_text(*number).parse().ok())
        }
        Item::Double(number) => {
            BigDecimal::from_f64(*number).and_then(|_| double_text(*number).parse().ok())
        }
        Item::Number(number) => Some((**number).clone()),
        _ => None,
    }
}

/// Where two items, or none, lie in a sorted result: numbers, texts, booleans, no item, the null
/// of documents, NULL.
pub(crate) fn sort_order(one: Option<&Item>, other: Option<&Item>) -> Ordering {
    let ranks = rank(one).cmp(&rank(other));
    ranks.then_with(|| match (one, other) {
        (Some(one), Some(other)) => compare_items(one, other).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    })
}

/// The place of a kind among the others.
pub(crate) fn rank(item: Option<&Item>) -> u8 {
    match item {
        Some(item) if item.is_number() => 0,
        Some(Item::Timestamp(_)) => 1,
        Some(Item::String(_)) => 2,
        Some(Item::Boolean(_)) => 3,
        Some(Item::Binary(_)) => 4,
        Some(Item::Array(_) | Item::Map(_) | Item::Record(_)) => 5,
        None => 6,
        Some(Item::JsonNull) => 7,
        _ => 8,
    }
}
