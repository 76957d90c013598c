//! Casts.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::evaluator::{Evaluator, fault};
use crate::query::item::{
    Instant, Item, Members, Sequence, decimal, double_text, float_text, item_text,
};
use crate::query::syntax::{Place, Quantifier, TypeDef, TypeKind};
use crate::wire::{Failure, Outcome};

impl Evaluator {
    pub(super) fn cast(&self, place: Place, given: Sequence, to: &TypeDef) -> Outcome<Sequence> {
        let count = given.as_slice().len();
        if !to.quantifier.allows(count) {
            let wanted = match to.quantifier {
                Quantifier::Some => "at least one item",
                Quantifier::Optional => "at most one item",
                _ => "exactly one item",
            };
            let found = if count == 0 { "an empty result" } else { "more than one item" };
            let (name, sign) = (to.kind.name(), to.quantifier.sign());
            return Err(Failure::argument(format!(
                "Error: The input to a cast expression returned {found}, but the target type \
                 requires {wanted}. Target type:\n{name}{sign}"
            )));
        }
        let items = given.into_vec().into_iter();
        let cast: Outcome<Vec<Item>> =
            items.map(|item| cast_item(place, &item, &to.kind)).collect();
        Ok(cast?.into())
    }
}

/// An item as one of another kind.
///
/// # Errors
/// Why it cannot be one.
pub(crate) fn cast_item(place: Place, item: &Item, to: &TypeKind) -> Outcome<Item> {
    if item.is_null() {
        return Ok(Item::Null);
    }
    converted(item, to).map_err(|why| {
        let why = if why.is_empty() { why } else { format!("\n{why}") };
        let (shown, from, to) = (item_text(item), item.kind_name(), to.name());
        let message = format!("Cannot cast value \n{shown}\nof type \n{from}\nto type \n{to}{why}");
        fault(place, &message)
    })
}

/// The item of another kind; the reason why there is none, if that is wanted.
fn converted(item: &Item, to: &TypeKind) -> Result<Item, String> {
    let no_number = |text: &str| format!("For input string: \"{text}\"");
    let none = || Err(String::new());
    match to {
        TypeKind::Any => Ok(item.clone()),
        TypeKind::AnyAtomic if item.is_atomic() => Ok(item.clone()),
        TypeKind::AnyRecord if matches!(item, Item::Record(_)) => Ok(item.clone()),
        TypeKind::AnyJsonAtomic if super::of_type::is_of_kind(item, to) => Ok(item.clone()),
        TypeKind::Json => Ok(document(item)),
        TypeKind::String if item.is_atomic() => Ok(Item::from(item_text(item))),
        // Numbers lose what does not fit; text has to fit.
        TypeKind::Integer => match item {
            Item::String(text) => {
                text.trim().parse().map(Item::Integer).map_err(|_| no_number(text))
            }
            Item::Long(number) => Ok(Item::Integer(*number as i32)),
            Item::Float(number) => Ok(Item::Integer(*number as i32)),
            Item::Double(number) => Ok(Item::Integer(*number as i32)),
            _ => item.whole().map(|whole| Item::Integer(whole as i32)).ok_or_else(String::new),
        },
        TypeKind::Long => match item {
            Item::String(text) => text.trim().parse().map(Item::Long).map_err(|_| no_number(text)),
            Item::Timestamp(instant) => i64::try_from(instant.nanoseconds.div_euclid(1_000_000))
                .map(Item::Long)
                .map_err(|_| String::new()),
            _ => item.whole().map(Item::Long).ok_or_else(String::new),
        },
        TypeKind::Float => match item {
            Item::String(text) => text.trim().parse().map(Item::Float).map_err(|_| no_number(text)),
            _ => item.double().map(|number| Item::Float(number as f32)).ok_or_else(String::new),
        },
        TypeKind::Double => match item {
            Item::String(text) => {
                text.trim().parse().map(Item::Double).map_err(|_| no_number(text))
            }
            Item::Float(number) => {
                Ok(Item::Double(float_text(*number).parse().unwrap_or((*number).into())))
            }
            _ => item.double().map(Item::Double).ok_or_else(String::new),
        },
        TypeKind::Number => {
            // A double is the decimal number that it shows as, not its last binary digit.
            let text = match item {
                Item::Number(_) => return Ok(item.clone()),
                Item::String(text) => text.to_string(),
                Item::Double(number) => double_text(*number),
                Item::Float(number) => float_text(*number),
                Item::Integer(number) => number.to_string(),
                Item::Long(number) => number.to_string(),
                _ => return none(),
            };
            let number = decimal(&text).ok_or_else(|| no_number(&text))?;
            Ok(Item::Number(Arc::new(number)))
        }
        TypeKind::Boolean => match item {
            Item::Boolean(_) => Ok(item.clone()),
            Item::String(text) => Ok(text.eq_ignore_ascii_case("true").into()),
            _ => none(),
        },
        TypeKind::Binary(width) => {
            let bytes: Arc<[u8]> = match item {
                Item::Binary(bytes) => bytes.clone(),
                Item::String(text) => {
                    BASE64_STANDARD.decode(&**text).map_err(|error| error.to_string())?.into()
                }
                _ => return none(),
            };
            match width.is_none_or(|width| width == bytes.len()) {
                true => Ok(Item::Binary(bytes)),
                false => Err(format!("it has {} bytes", bytes.len())),
            }
        }
        TypeKind::Timestamp(precision) => {
            let precision = precision.unwrap_or(9);
            let instant = match item {
                Item::Timestamp(instant) => instant.rounded(precision),
                Item::String(text) => Instant::parse(text, precision)?,
                Item::Integer(_) | Item::Long(_) => {
                    let ms = item.whole().unwrap_or_default();
                    Instant { nanoseconds: i128::from(ms) * 1_000_000, precision }
                        .rounded(precision)
                }
                _ => return none(),
            };
            Ok(Item::Timestamp(instant))
        }
        TypeKind::Enum(symbols) => match item {
            Item::String(text) if symbols.iter().any(|symbol| **symbol == **text) => {
                Ok(item.clone())
            }
            _ => none(),
        },
        TypeKind::Array(of) => match item {
            Item::Array(items) => {
                let items = items.iter().map(|item| converted(item, of));
                items.collect::<Result<Vec<_>, _>>().map(Item::from)
            }
            _ => none(),
        },
        TypeKind::Map(of) => match item.members() {
            Some(members) => {
                let members =
                    members.iter().map(|(name, item)| Ok((name.clone(), converted(item, of)?)));
                Ok(Item::Map(Arc::new(members.collect::<Result<Members, String>>()?)))
            }
            None => none(),
        },
        TypeKind::Record(fields) => record(item, fields),
        _ => none(),
    }
}

/// Fields by name; those that are not there are NULL.
fn record(item: &Item, fields: &[(String, TypeKind)]) -> Result<Item, String> {
    let members = item.members().ok_or_else(String::new)?;
    let unknown = members
        .iter()
        .find(|(name, _)| !fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name)));
    if let Some((name, _)) = unknown {
        return Err(format!("the type has no field {name}"));
    }
    let cast = fields.iter().map(|(field, kind)| {
        let found = members.iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
        let value = match found {
            Some((_, Item::Null)) | None => Item::Null,
            Some((_, value)) => converted(value, kind)?,
        };
        Ok((Arc::from(field.as_str()), value))
    });
    Ok(Item::Record(Arc::new(cast.collect::<Result<Members, String>>()?)))
}

/// An item as a document has it.
fn document(item: &Item) -> Item {
    match item {
        Item::Record(members) => {
            let members = members.iter().map(|(name, item)| (name.clone(), document(item)));
            Item::Map(Arc::new(members.collect()))
        }
        Item::Timestamp(_) => Item::from(item_text(item)),
        Item::Float(number) => Item::Double(f64::from(*number)),
        other => other.clone(),
    }
}
