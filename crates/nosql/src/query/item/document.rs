//! Items of documents: those of the protocol, and JSON text.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::instant::Instant;
use super::kinds::Item;
use super::number::decimal;
use crate::nson::NsonView;

/// The item of a document. Its depth was bounded when it was read.
///
/// # Errors
/// What in it is not a value.
pub(crate) fn item_of_view(view: NsonView<'_>) -> Result<Item, String> {
    Ok(match view {
        NsonView::Array(items) => items.map(item_of_view).collect::<Result<Vec<_>, _>>()?.into(),
        NsonView::Map(fields) => {
            let members = fields.map(|(name, value)| Ok((Arc::from(name), item_of_view(value)?)));
            Item::Map(Arc::new(members.collect::<Result<_, String>>()?))
        }
        NsonView::Binary(bytes) => Item::Binary(bytes.into()),
        NsonView::Boolean(truth) => Item::Boolean(truth),
        NsonView::Double(number) => Item::Double(number),
        NsonView::Integer(number) => Item::Integer(number),
        NsonView::Long(number) => Item::Long(number),
        NsonView::String(text) => Item::from(text),
        NsonView::Timestamp(text) => Item::Timestamp(Instant::parse(text, 9)?),
        NsonView::Number(text) => {
            let number = decimal(text).ok_or_else(|| format!("{text} is not a number"))?;
            Item::Number(Arc::new(number))
        }
        NsonView::JsonNull => Item::JsonNull,
        NsonView::Null | NsonView::Empty => Item::Null,
    })
}

/// The item of JSON text. Text that is none, which no column holds, is a string.
pub(super) fn item_of_json(text: &str) -> Item {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = ItemSeed.deserialize(&mut reader).and_then(|item| reader.end().map(|()| item));
    read.unwrap_or_else(|_| Item::from(text))
}

struct ItemSeed;

impl<'de> DeserializeSeed<'de> for ItemSeed {
    type Value = Item;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Item, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Item, E> {
        Ok(Item::Boolean(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Item, E> {
        Ok(i32::try_from(number).map_or(Item::Long(number), Item::Integer))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Item, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Ok(Item::Number(Arc::new(number.into()))),
        }
    }

    fn visit_f64<E>(self, number: f64) -> Result<Item, E> {
        Ok(Item::Double(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Item, E> {
        Ok(Item::from(text))
    }

    fn visit_unit<E>(self) -> Result<Item, E> {
        Ok(Item::JsonNull)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(ItemSeed)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Item, A::Error> {
        let mut map = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            map.push((Arc::from(name), members.next_value_seed(ItemSeed)?));
        }
        Ok(Item::Map(Arc::new(map)))
    }
}
