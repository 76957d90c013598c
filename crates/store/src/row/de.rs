//! Deserializes rows with serde.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};
use serde::{de, forward_to_deserialize_any};
use tonnage_engine::Error;

use super::Row;
use super::serde_error::SerdeError;
use crate::value::Value;

type DeserializeResult<T> = std::result::Result<T, SerdeError>;

impl Row {
    /// The row as a struct, or as a map: each column is the field of its name. A NULL is nothing.
    /// Decimals are read as numbers or as text; timestamps, days, times and UUIDs as text.
    ///
    /// # Errors
    /// `Invalid` for a row that does not fit, naming the column.
    pub fn read<T: DeserializeOwned>(&self) -> tonnage_engine::Result<T> {
        let fields = self.iter().map(|(name, value)| (name, ValueDeserializer { name, value }));
        T::deserialize(MapDeserializer::new(fields)).map_err(Error::from)
    }
}

/// A value, and the name of what holds it.
#[derive(Clone, Copy)]
struct ValueDeserializer<'a> {
    name: &'a str,
    value: &'a Value,
}

impl<'de> IntoDeserializer<'de, SerdeError> for ValueDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'a> ValueDeserializer<'a> {
    fn named<T>(self, read: DeserializeResult<T>) -> DeserializeResult<T> {
        read.map_err(|error| error.at(&format!("'{}'", self.name.escape_debug())))
    }

    fn items(self, items: &'a [Value]) -> impl Iterator<Item = ValueDeserializer<'a>> {
        items.iter().map(move |value| ValueDeserializer { name: self.name, value })
    }

    /// The double next to a decimal.
    fn as_double(self) -> Option<f64> {
        match self.value {
            Value::Number { .. } | Value::WideNumber(_) => self.value.to_string().parse().ok(),
            _ => None,
        }
    }

    fn visit_json<'de, V: Visitor<'de>>(
        self,
        text: &str,
        visitor: V,
    ) -> DeserializeResult<V::Value> {
        let json: serde_json::Value = serde_json::from_str(text).map_err(de::Error::custom)?;
        json.deserialize_any(visitor).map_err(de::Error::custom)
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        let read = match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i32(*value),
            Value::Long(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f32(*value),
            Value::Double(value) => visitor.visit_f64(*value),
            Value::Number { unscaled, scale: 0 } => match i64::try_from(*unscaled) {
                Ok(whole) => visitor.visit_i64(whole),
                Err(_) => visitor.visit_i128(*unscaled),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Binary(bytes) => visitor.visit_bytes(bytes),
            Value::Json(text) => self.visit_json(text, visitor),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(self.items(items))),
            Value::Map(members) | Value::Record(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| (name.as_str(), ValueDeserializer { name, value }));
                visitor.visit_map(MapDeserializer::new(members))
            }
            // As text it keeps every digit.
            shown => visitor.visit_string(shown.to_string()),
        };
        self.named(read)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.as_double() {
            Some(double) => self.named(visitor.visit_f64(double)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.value {
            Value::Number { unscaled, scale: 0 } => self.named(visitor.visit_i128(*unscaled)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        self.deserialize_string(visitor)
    }

    /// Whatever is not text is shown as such.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.value {
            Value::Null | Value::Binary(_) => self.deserialize_any(visitor),
            value => self.named(visitor.visit_string(value.to_string())),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.value {
            Value::Uuid(bytes) => self.named(visitor.visit_bytes(bytes)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        self.deserialize_bytes(visitor)
    }

    /// Bytes are a sequence of numbers for those who ask for one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> DeserializeResult<V::Value> {
        match self.value {
            Value::Binary(bytes) => {
                self.named(visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> DeserializeResult<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> DeserializeResult<V::Value> {
        let read = match self.value {
            Value::String(symbol) => {
                visitor.visit_enum(EnumDeserializer { name: symbol, value: None })
            }
            Value::Map(members) | Value::Record(members) => match members.as_slice() {
                [(name, value)] => visitor.visit_enum(EnumDeserializer {
                    name,
                    value: Some(ValueDeserializer { name, value }),
                }),
                _ => Err(de::Error::invalid_type(Unexpected::Map, &"an object with one member")),
            },
            _ => Err(de::Error::custom(format!("a {} is not a symbol", self.value.type_name()))),
        };
        self.named(read)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 u128 char unit unit_struct tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// A symbol of an enum, and what it holds.
struct EnumDeserializer<'a> {
    name: &'a str,
    value: Option<ValueDeserializer<'a>>,
}

impl<'de, 'a> EnumAccess<'de> for EnumDeserializer<'a> {
    type Error = SerdeError;
    type Variant = VariantContent<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> DeserializeResult<(S::Value, Self::Variant)> {
        let name: de::value::StrDeserializer<'_, SerdeError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, VariantContent(self.value)))
    }
}

/// What the symbol of an enum holds.
struct VariantContent<'a>(Option<ValueDeserializer<'a>>);

impl<'de> VariantAccess<'de> for VariantContent<'_> {
    type Error = SerdeError;

    fn unit_variant(self) -> DeserializeResult<()> {
        match self.0 {
            None => Ok(()),
            Some(_) => Err(de::Error::invalid_type(Unexpected::NewtypeVariant, &"a symbol alone")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> DeserializeResult<S::Value> {
        match self.0 {
            Some(held) => seed.deserialize(held),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a symbol with a value")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> DeserializeResult<V::Value> {
        match self.0 {
            Some(held) => held.deserialize_seq(visitor),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a symbol with values")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> DeserializeResult<V::Value> {
        match self.0 {
            Some(held) => held.deserialize_any(visitor),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a symbol with fields")),
        }
    }
}
