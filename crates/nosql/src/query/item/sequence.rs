//! What an expression gives: no item, one, or several.

use super::kinds::Item;

/// Items in order. One alone needs no memory of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sequence {
    Empty,
    One(Item),
    /// Two at least.
    Many(Vec<Item>),
}

impl Sequence {
    pub(crate) fn null() -> Self {
        Sequence::One(Item::Null)
    }

    pub(crate) fn as_slice(&self) -> &[Item] {
        match self {
            Sequence::Empty => &[],
            Sequence::One(item) => std::slice::from_ref(item),
            Sequence::Many(items) => items,
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Item> {
        match self {
            Sequence::Empty => Vec::new(),
            Sequence::One(item) => vec![item],
            Sequence::Many(items) => items,
        }
    }

    /// The item of a row: nothing is NULL, and several are an array, which holds no NULL.
    pub(crate) fn into_field(self) -> Item {
        match self {
            Sequence::Empty => Item::Null,
            Sequence::One(item) => item,
            Sequence::Many(mut items) => {
                items.retain(|item| !item.is_null());
                items.into()
            }
        }
    }
}

impl From<Item> for Sequence {
    fn from(item: Item) -> Self {
        Sequence::One(item)
    }
}

impl From<bool> for Sequence {
    fn from(truth: bool) -> Self {
        Sequence::One(Item::Boolean(truth))
    }
}

impl From<Vec<Item>> for Sequence {
    fn from(mut items: Vec<Item>) -> Self {
        match items.len() {
            0 => Sequence::Empty,
            1 => items.pop().map_or(Sequence::Empty, Sequence::One),
            _ => Sequence::Many(items),
        }
    }
}
