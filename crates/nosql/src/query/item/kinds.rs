//! The kinds of items. Copies of one share what it holds.

use std::sync::Arc;

use bigdecimal::BigDecimal;

use super::instant::Instant;

/// The members of a map or the fields of a record, in order.
pub(crate) type Members = Vec<(Arc<str>, Item)>;

/// A value of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// No value: the null of columns.
    Null,
    /// The null of documents.
    JsonNull,
    Boolean(bool),
    Integer(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Number(Arc<BigDecimal>),
    String(Arc<str>),
    Binary(Arc<[u8]>),
    Timestamp(Instant),
    Array(Arc<Vec<Item>>),
    Map(Arc<Members>),
    Record(Arc<Members>),
}

impl Item {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Item::Null)
    }

    /// Whether it is a number of any kind.
    pub(crate) fn is_number(&self) -> bool {
        use Item::{Double, Float, Integer, Long, Number};
        matches!(self, Integer(_) | Long(_) | Float(_) | Double(_) | Number(_))
    }

    pub(crate) fn is_atomic(&self) -> bool {
        !matches!(self, Item::Array(_) | Item::Map(_) | Item::Record(_))
    }

    /// The members of a map, or the fields of a record.
    pub(crate) fn members(&self) -> Option<&Members> {
        match self {
            Item::Map(members) | Item::Record(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Item::String(text) = self { Some(text) } else { None }
    }

    /// A whole number; a fraction is cut off.
    pub(crate) fn whole(&self) -> Option<i64> {
        use bigdecimal::ToPrimitive;
        match self {
            Item::Integer(number) => Some((*number).into()),
            Item::Long(number) => Some(*number),
            Item::Float(number) => Some(*number as i64),
            Item::Double(number) => Some(*number as i64),
            Item::Number(number) => number.to_i64(),
            _ => None,
        }
    }

    /// A number as the nearest double.
    pub(crate) fn double(&self) -> Option<f64> {
        use bigdecimal::ToPrimitive;
        match self {
            Item::Integer(number) => Some((*number).into()),
            Item::Long(number) => Some(*number as f64),
            Item::Float(number) => Some((*number).into()),
            Item::Double(number) => Some(*number),
            Item::Number(number) => number.to_f64(),
            _ => None,
        }
    }

    /// The name of its kind in errors.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            Item::Null => "Null",
            Item::JsonNull => "AnyJsonAtomic",
            Item::Boolean(_) => "Boolean",
            Item::Integer(_) => "Integer",
            Item::Long(_) => "Long",
            Item::Float(_) => "Float",
            Item::Double(_) => "Double",
            Item::Number(_) => "Number",
            Item::String(_) => "String",
            Item::Binary(_) => "Binary",
            Item::Timestamp(_) => "Timestamp",
            Item::Array(_) => "Array",
            Item::Map(_) => "Map",
            Item::Record(_) => "Record",
        }
    }

    /// About how many bytes it takes, for limits of memory.
    pub(crate) fn bytes(&self) -> usize {
        let inner = match self {
            Item::String(text) => text.len(),
            Item::Binary(bytes) => bytes.len(),
            Item::Number(_) => 48,
            Item::Array(items) => items.iter().map(Item::bytes).sum(),
            Item::Map(members) | Item::Record(members) => {
                members.iter().map(|(name, item)| 16 + name.len() + item.bytes()).sum()
            }
            _ => 0,
        };
        size_of::<Item>() + inner
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        Item::String(text.into())
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Item::String(text.into())
    }
}

impl From<bool> for Item {
    fn from(truth: bool) -> Self {
        Item::Boolean(truth)
    }
}

impl From<Vec<Item>> for Item {
    fn from(items: Vec<Item>) -> Self {
        Item::Array(Arc::new(items))
    }
}
