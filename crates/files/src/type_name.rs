//! Names types in messages: as SQL calls them, never as Arrow does.

use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::{TYPE_BINARY, TYPE_JSON, TYPE_KEY};

/// What the values of a field are called.
/// ```
/// use arrow::datatypes::{DataType, Field, TimeUnit};
/// use tonnage_files::type_name;
/// let field = Field::new("at", DataType::Timestamp(TimeUnit::Microsecond, None), true);
/// assert_eq!(type_name(&field), "TIMESTAMP(6)");
/// ```
pub fn type_name(field: &Field) -> String {
    match field.data_type() {
        _ if is_json_field(field) => "JSON".to_owned(),
        _ if is_variant_field(field) => "VARIANT".to_owned(),
        DataType::FixedSizeBinary(16) if !is_binary_field(field) => "UUID".to_owned(),
        data_type => name_of(data_type),
    }
}

/// Whether a column of 16 bytes holds bytes and not UUIDs.
pub(crate) fn is_binary_field(field: &Field) -> bool {
    field.metadata().get(TYPE_KEY).is_some_and(|name| name == TYPE_BINARY)
}

/// The name under which Arrow knows the values of a VARIANT.
pub(crate) const TYPE_VARIANT: &str = "arrow.parquet.variant";

/// Whether a column is a VARIANT of Parquet, or has one in it.
pub fn is_variant_field(field: &Field) -> bool {
    field.metadata().get(TYPE_KEY).is_some_and(|name| name == TYPE_VARIANT)
}

/// Whether a text column holds JSON.
pub(crate) fn is_json_field(field: &Field) -> bool {
    field.data_type() == &DataType::Utf8
        && field.metadata().get(TYPE_KEY).is_some_and(|name| name == TYPE_JSON)
}

fn name_of(data_type: &DataType) -> String {
    // There is no arm for the rest: a type that Arrow adds must get a name before this compiles.
    let plain = match data_type {
        DataType::Null => "nothing but NULL",
        DataType::Boolean => "BOOLEAN",
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
            "INTEGER"
        }
        DataType::Int64 | DataType::UInt32 => "LONG",
        DataType::UInt64 => "NUMBER(20, 0)",
        DataType::Float16 | DataType::Float32 => "FLOAT",
        DataType::Float64 => "DOUBLE",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "STRING",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BINARY",
        DataType::Date32 => "DATE",
        DataType::Date64 => "TIMESTAMP(3)",
        DataType::Time32(_) | DataType::Time64(_) => "TIME",
        DataType::Duration(_) | DataType::Interval(_) => "INTERVAL",
        DataType::Union(..) => "values of several types",
        DataType::Timestamp(unit, _) => return format!("TIMESTAMP({})", digits(*unit)),
        DataType::FixedSizeBinary(width) => return format!("BINARY({width})"),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => return format!("NUMBER({precision}, {scale})"),
        // Parts are named by their fields: those tell JSON from text, and UUIDs from bytes.
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => return format!("ARRAY({})", type_name(item)),
        DataType::Map(entries, _) => return format!("MAP({})", value_of(entries)),
        DataType::Struct(fields) => {
            let fields =
                fields.iter().map(|field| format!("{} {}", field.name(), type_name(field)));
            return format!("RECORD({})", fields.collect::<Vec<_>>().join(", "));
        }
        DataType::Dictionary(_, values) => return name_of(values),
        DataType::RunEndEncoded(_, values) => return type_name(values),
    };
    plain.to_owned()
}

/// What the values of a map are called.
fn value_of(entries: &Field) -> String {
    match entries.data_type() {
        DataType::Struct(fields) => fields.last().map(|field| type_name(field)).unwrap_or_default(),
        other => name_of(other),
    }
}

/// The digits of the fraction of a second.
fn digits(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::IntervalUnit;

    use super::*;

    #[test]
    fn types_have_the_names_of_sql() {
        let map = Field::new_map(
            "m",
            "entries",
            Field::new("keys", DataType::Utf8, false),
            Field::new("values", DataType::Float64, true),
            false,
            true,
        );
        let record = DataType::Struct(
            vec![Field::new("at", DataType::Date32, true), map.clone().with_name("of")].into(),
        );
        let dictionary =
            DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::LargeUtf8));
        for (data_type, name) in [
            (DataType::Utf8View, "STRING"),
            (DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())), "TIMESTAMP(9)"),
            (DataType::Decimal256(50, 2), "NUMBER(50, 2)"),
            (DataType::new_large_list(DataType::Int16, true), "ARRAY(INTEGER)"),
            (map.data_type().clone(), "MAP(DOUBLE)"),
            (record, "RECORD(at DATE, of MAP(DOUBLE))"),
            (dictionary, "STRING"),
            (DataType::FixedSizeBinary(16), "UUID"),
            (DataType::FixedSizeBinary(3), "BINARY(3)"),
            (DataType::Interval(IntervalUnit::MonthDayNano), "INTERVAL"),
            (DataType::Null, "nothing but NULL"),
        ] {
            assert_eq!(type_name(&Field::new("v", data_type, true)), name);
        }
    }
}
