//! Whether items are of a type.

use crate::query::item::{Item, Sequence};
use crate::query::syntax::{TypeDef, TypeKind};

/// Whether a sequence is of one of some types; nothing where it is NULL.
pub(super) fn is_of_type(given: &Sequence, types: &[TypeDef]) -> Option<bool> {
    let items = given.as_slice();
    if items.iter().any(Item::is_null) {
        return None;
    }
    Some(types.iter().any(|of| {
        let is_item = |item: &Item| match of.is_only {
            true => is_just(item, &of.kind),
            false => is_of_kind(item, &of.kind),
        };
        of.quantifier.allows(items.len()) && items.iter().all(is_item)
    }))
}

/// Whether an item is of a kind, or of one below it.
pub(super) fn is_of_kind(item: &Item, kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Any => true,
        TypeKind::AnyAtomic => item.is_atomic(),
        TypeKind::AnyJsonAtomic => {
            item.is_number() || matches!(item, Item::String(_) | Item::Boolean(_) | Item::JsonNull)
        }
        TypeKind::AnyRecord => matches!(item, Item::Record(_)),
        // A document holds documents alone, however deep.
        TypeKind::Json => match item {
            Item::Array(items) => items.iter().all(|item| is_of_kind(item, kind)),
            Item::Map(members) => members.iter().all(|(_, item)| is_of_kind(item, kind)),
            other => is_of_kind(other, &TypeKind::AnyJsonAtomic),
        },
        TypeKind::Integer => matches!(item, Item::Integer(_)),
        TypeKind::Long => matches!(item, Item::Integer(_) | Item::Long(_)),
        TypeKind::Float => matches!(item, Item::Float(_)),
        // A single is a double, but a whole number is none.
        TypeKind::Double => matches!(item, Item::Float(_) | Item::Double(_)),
        TypeKind::Number => item.is_number(),
        TypeKind::String => matches!(item, Item::String(_)),
        TypeKind::Boolean => matches!(item, Item::Boolean(_)),
        TypeKind::Binary(width) => match item {
            Item::Binary(bytes) => width.is_none_or(|width| width == bytes.len()),
            _ => false,
        },
        TypeKind::Timestamp(precision) => match item {
            Item::Timestamp(instant) => instant.precision <= precision.unwrap_or(9),
            _ => false,
        },
        TypeKind::Enum(symbols) => {
            item.text().is_some_and(|text| symbols.iter().any(|symbol| symbol == text))
        }
        TypeKind::Array(of) => match item {
            Item::Array(items) => items.iter().all(|item| is_of_kind(item, of)),
            _ => false,
        },
        TypeKind::Map(of) => match item {
            Item::Map(members) => members.iter().all(|(_, item)| is_of_kind(item, of)),
            _ => false,
        },
        TypeKind::Record(fields) => match item {
            Item::Record(members) => {
                fields.len() == members.len()
                    && fields.iter().zip(members.iter()).all(|((name, of), (own, item))| {
                        own.eq_ignore_ascii_case(name) && (item.is_null() || is_of_kind(item, of))
                    })
            }
            _ => false,
        },
    }
}

/// Whether an item is of just this kind, and of none below it.
fn is_just(item: &Item, kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Long => matches!(item, Item::Long(_)),
        TypeKind::Double => matches!(item, Item::Double(_)),
        TypeKind::Number => matches!(item, Item::Number(_)),
        TypeKind::Timestamp(precision) => match item {
            Item::Timestamp(instant) => instant.precision == precision.unwrap_or(9),
            _ => false,
        },
        TypeKind::Any | TypeKind::AnyAtomic | TypeKind::AnyJsonAtomic | TypeKind::Json => false,
        other => is_of_kind(item, other),
    }
}
