//! The parts of the types ARRAY, MAP and RECORD.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tonnage_engine::{Error, Result};

use super::interned::Interned;
use super::name::{check_name, quoted_name};
use super::{ColumnType, ElementType, RecordField, RecordFields};

/// How deep types may lie in each other.
const DEPTH_MAX: usize = 16;
/// The most fields of one RECORD.
const FIELDS_MAX: usize = 1_024;
/// The most fields and elements that one type may have in all.
const PARTS_MAX: usize = 4_096;

static ELEMENTS: Interned<ColumnType> = Interned::new();
static RECORDS: Interned<Vec<RecordField>> = Interned::new();

impl ElementType {
    /// # Errors
    /// `Invalid` when types are nested too deep.
    pub fn new(column_type: ColumnType) -> Result<Self> {
        check_size(depth(column_type) + 1, parts(column_type) + 1)?;
        ELEMENTS.get(column_type, 64).map(ElementType)
    }

    /// The type.
    pub fn column_type(&self) -> ColumnType {
        *self.0
    }
}

impl RecordFields {
    /// # Errors
    /// `Invalid` for no fields, too many, names that are none or come twice, or types too deep in
    /// each other.
    pub fn new(fields: Vec<RecordField>) -> Result<Self> {
        if fields.is_empty() || fields.len() > FIELDS_MAX {
            return Err(Error::invalid(format!(
                "a RECORD has 1 to {FIELDS_MAX} fields, not {}",
                fields.len()
            )));
        }
        for (place, field) in fields.iter().enumerate() {
            check_name(&field.name, "field")?;
            if fields[..place].iter().any(|other| other.name.eq_ignore_ascii_case(&field.name)) {
                return Err(Error::invalid(format!(
                    "the field '{}' occurs twice in the RECORD",
                    field.name
                )));
            }
        }
        let deepest = fields.iter().map(|field| depth(field.column_type)).max().unwrap_or(0);
        let inside: usize = fields.iter().map(|field| parts(field.column_type)).sum();
        check_size(deepest + 1, inside + fields.len())?;
        let bytes = fields.iter().map(|field| field.name.len() + 64).sum();
        RECORDS.get(fields, bytes).map(RecordFields)
    }

    /// The fields in order.
    pub fn fields(&self) -> &'static [RecordField] {
        self.0
    }

    /// The number of the field of that name, from 0.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|field| field.name.eq_ignore_ascii_case(name))
    }
}

fn check_size(depth: usize, parts: usize) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(Error::invalid(format!("types can be nested at most {DEPTH_MAX} deep")));
    }
    if parts > PARTS_MAX {
        return Err(Error::invalid(format!("a type can have at most {PARTS_MAX} fields in all")));
    }
    Ok(())
}

/// How deep types lie in this one.
fn depth(column_type: ColumnType) -> usize {
    match column_type {
        ColumnType::Array(element) | ColumnType::Map(element) => 1 + depth(element.column_type()),
        ColumnType::Record(fields) => {
            let depths = fields.fields().iter().map(|field| depth(field.column_type));
            1 + depths.max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// How many fields and elements a type has in all.
fn parts(column_type: ColumnType) -> usize {
    match column_type {
        ColumnType::Array(element) | ColumnType::Map(element) => 1 + parts(element.column_type()),
        ColumnType::Record(fields) => {
            fields.fields().iter().map(|field| 1 + parts(field.column_type)).sum()
        }
        _ => 0,
    }
}

macro_rules! same_if_equal {
    ($type:ty) => {
        // Definitions that are equal are the same.
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.0, other.0)
            }
        }

        impl Eq for $type {}

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                std::ptr::from_ref(self.0).hash(state);
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    };
}

same_if_equal!(ElementType);
same_if_equal!(RecordFields);

impl<'de> Deserialize<'de> for ElementType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let column_type = ColumnType::deserialize(deserializer)?;
        ElementType::new(column_type).map_err(|error| D::Error::custom(error.message()))
    }
}

impl<'de> Deserialize<'de> for RecordFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let fields = Vec::<RecordField>::deserialize(deserializer)?;
        RecordFields::new(fields).map_err(|error| D::Error::custom(error.message()))
    }
}

/// As DDL reads it back.
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `a INTEGER, b STRING`, as DDL reads it back.
impl fmt::Display for RecordFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, field) in self.0.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}", quoted_name(&field.name), field.column_type)?;
        }
        Ok(())
    }
}
