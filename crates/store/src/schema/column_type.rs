//! The types of columns, and the Arrow types that carry them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};
use serde::{Deserialize, Serialize};

use super::EnumSymbols;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// A whole number of 32 bits.
    Integer,
    /// A whole number of 64 bits.
    Long,
    /// A floating-point number of 32 bits.
    Float,
    /// A floating-point number of 64 bits.
    Double,
    /// A decimal number.
    Number {
        /// How many digits it has in all, 1 to 76.
        precision: u8,
        /// The number of them after the point.
        scale: i8,
    },
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// Bytes.
    Binary,
    /// A timestamp, with this many digits of the fraction of a second (0 to 9).
    Timestamp(u8),
    /// A universally unique identifier.
    Uuid,
    /// JSON text.
    Json,
    /// A day of the calendar.
    Date,
    /// A time of day, with nine digits of the fraction of a second.
    Time,
    /// Just so many bytes.
    FixedBinary(u16),
    /// One of some symbols.
    Enum(EnumSymbols),
    /// Any number of values of one type, in order.
    Array(ElementType),
    /// Values of one type by name.
    Map(ElementType),
    /// One value for each of some fields.
    Record(RecordFields),
}

/// The type of the elements of an ARRAY, or of the values of a MAP.
#[derive(Clone, Copy)]
pub struct ElementType(pub(super) &'static ColumnType);

/// The fields of a RECORD in the order in which they were declared.
#[derive(Clone, Copy)]
pub struct RecordFields(pub(super) &'static Vec<RecordField>);

/// One field of a RECORD. It may always be NULL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordField {
    /// Its name; matched without regard to ASCII case.
    pub name: String,
    /// What it holds.
    pub column_type: ColumnType,
}

/// The unit of a timestamp with this many digits of the fraction of a second.
pub fn timestamp_unit(precision: u8) -> TimeUnit {
    match precision {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

/// The most digits that a NUMBER can have.
pub(crate) const NUMBER_DIGITS_MAX: u8 = 76;

/// The first precision whose numbers 128 bits do not hold.
const WIDE_DIGITS_MIN: u8 = 39;

/// Arrow's name for the key under which a field says what its bytes mean.
const EXTENSION: &str = "ARROW:extension:name";
const EXTENSION_JSON: &str = "arrow.json";
const EXTENSION_UUID: &str = "arrow.uuid";
const EXTENSION_BINARY: &str = "tonnage.binary";
const EXTENSION_ENUM: &str = "tonnage.enum";
/// The truth values of some writers, in whole numbers of 8 bits.
const EXTENSION_BOOL: &str = "arrow.bool8";
/// The values of a VARIANT of Parquet, whose parts are bytes that only its reader understands.
const EXTENSION_VARIANT: &str = "arrow.parquet.variant";
/// Arrow's name for the key that holds the rest of such a type.
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// Whether an Arrow field is marked as JSON text.
pub fn is_json(field: &Field) -> bool {
    extension_of(field) == Some(EXTENSION_JSON)
}

fn extension_of(field: &Field) -> Option<&str> {
    field.metadata().get(EXTENSION).map(String::as_str)
}

impl ColumnType {
    /// `NUMBER` without digits given.
    pub const NUMBER: ColumnType = ColumnType::Number { precision: 38, scale: 9 };

    /// The Arrow type of this column's arrays.
    pub fn data_type(&self) -> DataType {
        // `of_arrow` must lead back to the same type. Where Arrow's type alone does not, `to_arrow`
        // adds a name.
        match *self {
            ColumnType::Integer => DataType::Int32,
            ColumnType::Long => DataType::Int64,
            ColumnType::Float => DataType::Float32,
            ColumnType::Double => DataType::Float64,
            ColumnType::Number { precision, scale } if self.is_wide() => {
                DataType::Decimal256(precision, scale)
            }
            ColumnType::Number { precision, scale } => DataType::Decimal128(precision, scale),
            ColumnType::String | ColumnType::Json => DataType::Utf8,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Binary => DataType::Binary,
            ColumnType::Timestamp(precision) => {
                DataType::Timestamp(timestamp_unit(precision), None)
            }
            ColumnType::Uuid => DataType::FixedSizeBinary(16),
            ColumnType::Date => DataType::Date32,
            ColumnType::Time => DataType::Time64(TimeUnit::Nanosecond),
            ColumnType::FixedBinary(width) => DataType::FixedSizeBinary(i32::from(width)),
            ColumnType::Enum(_) => DataType::Utf8,
            ColumnType::Array(element) => {
                DataType::List(Arc::new(element.column_type().to_arrow("item", true)))
            }
            ColumnType::Map(element) => {
                // The names that arrow-rs gives by itself. Maps with other names are cast to these.
                let name = Field::new("keys", DataType::Utf8, false);
                let value = element.column_type().to_arrow("values", true);
                let entries = DataType::Struct(vec![name, value].into());
                DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
            }
            ColumnType::Record(fields) => {
                let fields = fields.fields().iter();
                let arrow = fields.map(|field| field.column_type.to_arrow(&field.name, true));
                DataType::Struct(arrow.collect())
            }
        }
    }

    /// The Arrow field of a column of this type. JSON and UUID carry Arrow's own extension names,
    /// so that JSON text differs from other text; an ENUM carries its symbols.
    pub fn to_arrow(&self, name: &str, nullable: bool) -> Field {
        let field = Field::new(name, self.data_type(), nullable);
        let extension = match self {
            ColumnType::Json => EXTENSION_JSON,
            ColumnType::Uuid => EXTENSION_UUID,
            ColumnType::FixedBinary(16) => EXTENSION_BINARY,
            ColumnType::Enum(_) => EXTENSION_ENUM,
            _ => return field,
        };
        let mut metadata = HashMap::from([(EXTENSION.to_owned(), extension.to_owned())]);
        if let ColumnType::Enum(symbols) = self {
            let symbols = serde_json::Value::from(symbols.symbols()).to_string();
            metadata.insert(EXTENSION_METADATA.to_owned(), symbols);
        }
        field.with_metadata(metadata)
    }

    /// The column type that holds every value of an Arrow field, if there is one.
    pub fn of_arrow(field: &Field) -> Option<ColumnType> {
        match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_json(field) => {
                Some(ColumnType::Json)
            }
            DataType::Utf8 if extension_of(field) == Some(EXTENSION_ENUM) => {
                let symbols = field.metadata().get(EXTENSION_METADATA)?;
                let symbols = serde_json::from_str(symbols);
                Some(symbols.map_or(ColumnType::String, ColumnType::Enum))
            }
            DataType::FixedSizeBinary(16) if extension_of(field) == Some(EXTENSION_BINARY) => {
                Some(ColumnType::FixedBinary(16))
            }
            DataType::Int8 if extension_of(field) == Some(EXTENSION_BOOL) => {
                Some(ColumnType::Boolean)
            }
            _ if extension_of(field) == Some(EXTENSION_VARIANT) => None,
            data_type => ColumnType::of_data_type(data_type),
        }
    }

    fn of_data_type(data_type: &DataType) -> Option<ColumnType> {
        // The least type that holds every value: UINT64 is too large for a LONG, so it is a NUMBER.
        Some(match data_type {
            DataType::Boolean => ColumnType::Boolean,
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::UInt8
            | DataType::UInt16 => ColumnType::Integer,
            DataType::Int64 | DataType::UInt32 => ColumnType::Long,
            DataType::UInt64 => ColumnType::Number { precision: 20, scale: 0 },
            DataType::Float16 | DataType::Float32 => ColumnType::Float,
            DataType::Float64 => ColumnType::Double,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale)
            | DataType::Decimal256(precision, scale)
                if *scale >= 0 =>
            {
                ColumnType::Number { precision: *precision, scale: *scale }
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::String,
            // `of_arrow` has seen the mark of a BINARY(16): without it 16 bytes are a UUID.
            DataType::FixedSizeBinary(16) => ColumnType::Uuid,
            DataType::FixedSizeBinary(width @ 1..=65_535) => ColumnType::FixedBinary(*width as u16),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => ColumnType::Binary,
            DataType::Date32 => ColumnType::Date,
            DataType::Time32(_) | DataType::Time64(_) => ColumnType::Time,
            DataType::Timestamp(TimeUnit::Second, _) => ColumnType::Timestamp(0),
            DataType::Timestamp(TimeUnit::Millisecond, _) | DataType::Date64 => {
                ColumnType::Timestamp(3)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => ColumnType::Timestamp(6),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => ColumnType::Timestamp(9),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item) => {
                ColumnType::Array(ElementType::new(ColumnType::of_arrow(item)?).ok()?)
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else { return None };
                let [name, value] = fields.as_ref() else { return None };
                if ColumnType::of_arrow(name)? != ColumnType::String {
                    return None;
                }
                ColumnType::Map(ElementType::new(ColumnType::of_arrow(value)?).ok()?)
            }
            DataType::Struct(fields) => {
                let field = |field: &Arc<Field>| {
                    let column_type = ColumnType::of_arrow(field)?;
                    Some(RecordField { name: field.name().clone(), column_type })
                };
                let fields = fields.iter().map(field).collect::<Option<Vec<_>>>()?;
                ColumnType::Record(RecordFields::new(fields).ok()?)
            }
            DataType::Dictionary(_, values) => return ColumnType::of_data_type(values),
            DataType::RunEndEncoded(_, values) => return ColumnType::of_arrow(values),
            _ => return None,
        })
    }

    /// Whether it came after the first release, which cannot read the catalog of a table with it.
    pub(crate) fn is_further(&self) -> bool {
        matches!(
            self,
            ColumnType::Date | ColumnType::Time | ColumnType::FixedBinary(_) | ColumnType::Enum(_)
        ) || self.is_nested()
    }

    /// The bytes of a value in the fixed-width part of a row; nothing for types of variable width.
    pub(crate) fn fixed_width(&self) -> Option<usize> {
        match self {
            ColumnType::Boolean => Some(1),
            ColumnType::Enum(_) => Some(2),
            ColumnType::Integer | ColumnType::Float | ColumnType::Date => Some(4),
            ColumnType::Long | ColumnType::Double | ColumnType::Timestamp(_) | ColumnType::Time => {
                Some(8)
            }
            ColumnType::Number { .. } if self.is_wide() => Some(32),
            ColumnType::Number { .. } | ColumnType::Uuid => Some(16),
            ColumnType::FixedBinary(width) => Some(usize::from(*width)),
            ColumnType::String | ColumnType::Binary | ColumnType::Json => None,
            ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => None,
        }
    }

    /// Whether it is a NUMBER of more digits than 128 bits hold: its values take 32 bytes each.
    pub fn is_wide(&self) -> bool {
        matches!(self, ColumnType::Number { precision: WIDE_DIGITS_MIN.., .. })
    }

    /// Whether it is such a NUMBER, or has one in it.
    pub(crate) fn holds_wide(&self) -> bool {
        match self {
            ColumnType::Array(element) | ColumnType::Map(element) => {
                element.column_type().holds_wide()
            }
            ColumnType::Record(fields) => {
                fields.fields().iter().any(|field| field.column_type.holds_wide())
            }
            plain => plain.is_wide(),
        }
    }

    /// Whether it is an ARRAY, a MAP or a RECORD.
    pub fn is_nested(&self) -> bool {
        matches!(self, ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_))
    }

    /// Whether a column of it can be part of a key or of an index.
    pub fn has_order(&self) -> bool {
        !self.is_nested() && *self != ColumnType::Json
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Integer => f.write_str("INTEGER"),
            ColumnType::Long => f.write_str("LONG"),
            ColumnType::Float => f.write_str("FLOAT"),
            ColumnType::Double => f.write_str("DOUBLE"),
            number if *number == ColumnType::NUMBER => f.write_str("NUMBER"),
            ColumnType::Number { precision, scale } => write!(f, "NUMBER({precision}, {scale})"),
            ColumnType::String => f.write_str("STRING"),
            ColumnType::Boolean => f.write_str("BOOLEAN"),
            ColumnType::Binary => f.write_str("BINARY"),
            ColumnType::Timestamp(precision) => write!(f, "TIMESTAMP({precision})"),
            ColumnType::Uuid => f.write_str("UUID"),
            ColumnType::Json => f.write_str("JSON"),
            ColumnType::Date => f.write_str("DATE"),
            ColumnType::Time => f.write_str("TIME"),
            ColumnType::FixedBinary(width) => write!(f, "BINARY({width})"),
            ColumnType::Enum(symbols) => write!(f, "ENUM({symbols})"),
            ColumnType::Array(element) => write!(f, "ARRAY({element})"),
            ColumnType::Map(element) => write!(f, "MAP({element})"),
            ColumnType::Record(fields) => write!(f, "RECORD({fields})"),
        }
    }
}
