//! Serializes values into rows with serde.

use arrow::datatypes::i256;
use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    SerializeTupleStruct, Serializer,
};
use tonnage_engine::Error;

use super::Row;
use super::serde_error::SerdeError;
use crate::value::Value;

type SerdeResult<T> = std::result::Result<T, SerdeError>;

impl Row {
    /// The row of a struct, or of a map with names: a column for each field. A field that holds
    /// nothing is NULL; skip it for the default of the column.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use serde::{Deserialize, Serialize};
    /// use tonnage::{Row, Store, WriteOptions};
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// struct Ship {
    ///     name: String,
    ///     speed: f64,
    ///     ports: Vec<String>,
    /// }
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE ships (name STRING, speed DOUBLE, ports ARRAY(STRING), PRIMARY KEY (name))")?;
    /// let ships = store.table("ships")?;
    /// let argo = Ship { name: "ARGO".into(), speed: 7.5, ports: vec!["Iolcus".into()] };
    /// ships.put(&Row::of(&argo)?, &WriteOptions::default())?;
    /// let stored = ships.get(&Row::new().with("name", "ARGO"))?.expect("it was put");
    /// assert_eq!(stored.row.read::<Ship>()?, argo);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for what has no named fields, or holds something that no column takes, naming the
    /// field.
    pub fn of<T: Serialize + ?Sized>(record: &T) -> tonnage_engine::Result<Row> {
        match record.serialize(ValueSerializer).map_err(Error::from)? {
            Value::Map(fields) => Ok(fields.into_iter().collect()),
            other => Err(Error::invalid(format!(
                "a row is made of a struct or a map with names, not of a {}",
                other.type_name()
            ))),
        }
    }
}

/// Makes a value of what it is given.
struct ValueSerializer;

/// The items of an array.
struct SequenceItems(Vec<Value>);

/// The members of a map, and the name of the one that comes next.
struct MapMembers {
    members: Vec<(String, Value)>,
    name: Option<String>,
}

fn unfit<T>(what: &str) -> SerdeResult<T> {
    Err(SerdeError::custom(format!("{what} does not fit into a row")))
}

impl Serializer for ValueSerializer {
    type Ok = Value;
    type Error = SerdeError;
    type SerializeSeq = SequenceItems;
    type SerializeTuple = SequenceItems;
    type SerializeTupleStruct = SequenceItems;
    type SerializeTupleVariant = Impossible<Value, SerdeError>;
    type SerializeMap = MapMembers;
    type SerializeStruct = MapMembers;
    type SerializeStructVariant = Impossible<Value, SerdeError>;

    fn serialize_bool(self, value: bool) -> SerdeResult<Value> {
        Ok(Value::Boolean(value))
    }

    fn serialize_i8(self, value: i8) -> SerdeResult<Value> {
        Ok(Value::Integer(value.into()))
    }

    fn serialize_i16(self, value: i16) -> SerdeResult<Value> {
        Ok(Value::Integer(value.into()))
    }

    fn serialize_i32(self, value: i32) -> SerdeResult<Value> {
        Ok(Value::Integer(value))
    }

    fn serialize_i64(self, value: i64) -> SerdeResult<Value> {
        Ok(Value::Long(value))
    }

    fn serialize_i128(self, value: i128) -> SerdeResult<Value> {
        Ok(Value::Number { unscaled: value, scale: 0 })
    }

    fn serialize_u8(self, value: u8) -> SerdeResult<Value> {
        Ok(Value::Integer(value.into()))
    }

    fn serialize_u16(self, value: u16) -> SerdeResult<Value> {
        Ok(Value::Integer(value.into()))
    }

    fn serialize_u32(self, value: u32) -> SerdeResult<Value> {
        Ok(Value::Long(value.into()))
    }

    fn serialize_u64(self, value: u64) -> SerdeResult<Value> {
        Ok(i64::try_from(value)
            .map_or_else(|_| Value::Number { unscaled: value.into(), scale: 0 }, Value::Long))
    }

    fn serialize_u128(self, value: u128) -> SerdeResult<Value> {
        Ok(Value::number(i256::from_parts(value, 0), 0))
    }

    fn serialize_f32(self, value: f32) -> SerdeResult<Value> {
        Ok(Value::Float(value))
    }

    fn serialize_f64(self, value: f64) -> SerdeResult<Value> {
        Ok(Value::Double(value))
    }

    fn serialize_char(self, value: char) -> SerdeResult<Value> {
        Ok(Value::String(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> SerdeResult<Value> {
        Ok(Value::String(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> SerdeResult<Value> {
        Ok(Value::Binary(value.to_vec()))
    }

    fn serialize_none(self) -> SerdeResult<Value> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> SerdeResult<Value> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> SerdeResult<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> SerdeResult<Value> {
        Ok(Value::Null)
    }

    /// A symbol of an ENUM.
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> SerdeResult<Value> {
        Ok(Value::String(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> SerdeResult<Value> {
        value.serialize(self)
    }

    /// An object with the one member, as JSON has it.
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> SerdeResult<Value> {
        Ok(Value::Map(vec![(variant.to_owned(), value.serialize(self)?)]))
    }

    fn serialize_seq(self, len: Option<usize>) -> SerdeResult<SequenceItems> {
        Ok(SequenceItems(Vec::with_capacity(len.unwrap_or(0).min(4_096))))
    }

    fn serialize_tuple(self, len: usize) -> SerdeResult<SequenceItems> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> SerdeResult<SequenceItems> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> SerdeResult<Self::SerializeTupleVariant> {
        unfit(&format!("the variant {variant} with several values"))
    }

    fn serialize_map(self, _len: Option<usize>) -> SerdeResult<MapMembers> {
        Ok(MapMembers { members: Vec::new(), name: None })
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> SerdeResult<MapMembers> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> SerdeResult<Self::SerializeStructVariant> {
        unfit(&format!("the variant {variant} with fields"))
    }
}

impl SequenceItems {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> SerdeResult<()> {
        let place = self.0.len();
        let item = item.serialize(ValueSerializer);
        self.0.push(item.map_err(|error| error.at(&format!("element {place}")))?);
        Ok(())
    }
}

impl SerializeSeq for SequenceItems {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> SerdeResult<()> {
        self.push(item)
    }

    fn end(self) -> SerdeResult<Value> {
        Ok(Value::Array(self.0))
    }
}

impl SerializeTuple for SequenceItems {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> SerdeResult<()> {
        self.push(item)
    }

    fn end(self) -> SerdeResult<Value> {
        Ok(Value::Array(self.0))
    }
}

impl SerializeTupleStruct for SequenceItems {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> SerdeResult<()> {
        self.push(item)
    }

    fn end(self) -> SerdeResult<Value> {
        Ok(Value::Array(self.0))
    }
}

impl MapMembers {
    fn push<T: Serialize + ?Sized>(&mut self, name: String, member: &T) -> SerdeResult<()> {
        let member = member.serialize(ValueSerializer);
        let member = member.map_err(|error| error.at(&format!("'{}'", name.escape_debug())))?;
        self.members.push((name, member));
        Ok(())
    }
}

impl SerializeMap for MapMembers {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> SerdeResult<()> {
        self.name = match key.serialize(ValueSerializer)? {
            Value::String(name) => Some(name),
            number @ (Value::Integer(_) | Value::Long(_)) => Some(number.to_string()),
            other => return unfit(&format!("a map by {}", other.type_name())),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> SerdeResult<()> {
        match self.name.take() {
            Some(name) => self.push(name, value),
            None => unfit("a map whose values come before their keys"),
        }
    }

    fn end(self) -> SerdeResult<Value> {
        Ok(Value::Map(self.members))
    }
}

impl SerializeStruct for MapMembers {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> SerdeResult<()> {
        self.push(name.to_owned(), value)
    }

    fn end(self) -> SerdeResult<Value> {
        Ok(Value::Map(self.members))
    }
}
