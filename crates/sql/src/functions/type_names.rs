//! `pg_typeof` and `typeof`: the type of a value, in PostgreSQL's words and in DuckDB's.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field};
use datafusion::common::Result;
use tonnage::ColumnType;

use super::scalar::{Arguments, Gives, Scalar};

pub(super) const ALL: [Scalar; 2] = [
    Scalar {
        name: "pg_typeof",
        form: "pg_typeof(x)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| type_name_array(arguments, postgres_name),
    },
    Scalar {
        name: "typeof",
        form: "typeof(x)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| type_name_array(arguments, duckdb_name),
    },
];

fn type_name_array(arguments: &Arguments, name: fn(&Field) -> String) -> Result<ArrayRef> {
    let name = name(&arguments.fields[0]);
    Ok(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, arguments.rows))))
}

fn postgres_name(field: &Field) -> String {
    // The words that PostgreSQL prints, since clients compare them. `duckdb_name` below needs the
    // same types.
    let plain = match field.data_type() {
        DataType::Null => "unknown",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::Timestamp(_, Some(_)) => "timestamp with time zone",
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            return format!("{}[]", postgres_name(item));
        }
        DataType::Struct(_) | DataType::Map(..) => "record",
        // The field knows more than its Arrow type: JSON is text there, but for a mark in the
        // metadata.
        _ => match ColumnType::of_arrow(field) {
            Some(ColumnType::Integer) => "integer",
            Some(ColumnType::Long) => "bigint",
            Some(ColumnType::Float) => "real",
            Some(ColumnType::Double) => "double precision",
            Some(ColumnType::Number { .. }) => "numeric",
            Some(ColumnType::String | ColumnType::Enum(_)) => "text",
            Some(ColumnType::Boolean) => "boolean",
            Some(ColumnType::Binary | ColumnType::FixedBinary(_)) => "bytea",
            Some(ColumnType::Timestamp(_)) => "timestamp without time zone",
            Some(ColumnType::Date) => "date",
            Some(ColumnType::Time) => "time without time zone",
            Some(ColumnType::Uuid) => "uuid",
            Some(ColumnType::Json) => "json",
            _ => return field.data_type().to_string(),
        },
    };
    plain.to_owned()
}

fn duckdb_name(field: &Field) -> String {
    // The words that DuckDB prints; `postgres_name` above needs the same types.
    let plain = match field.data_type() {
        // With quotes, as DuckDB prints it.
        DataType::Null => "\"NULL\"",
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE",
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            return format!("{}[]", duckdb_name(item));
        }
        DataType::Struct(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|member| format!("{} {}", member.name(), duckdb_name(member)))
                .collect();
            return format!("STRUCT({})", members.join(", "));
        }
        DataType::Map(entries, _) => {
            // Each entry is a record of the key and the value.
            let DataType::Struct(entry) = entries.data_type() else { return "MAP".to_owned() };
            let types: Vec<String> = entry.iter().map(|member| duckdb_name(member)).collect();
            return format!("MAP({})", types.join(", "));
        }
        _ => match ColumnType::of_arrow(field) {
            Some(ColumnType::Integer) => "INTEGER",
            Some(ColumnType::Long) => "BIGINT",
            Some(ColumnType::Float) => "FLOAT",
            Some(ColumnType::Double) => "DOUBLE",
            Some(ColumnType::Number { precision, scale }) => {
                return format!("DECIMAL({precision},{scale})");
            }
            Some(ColumnType::String) => "VARCHAR",
            Some(ColumnType::Enum(_)) => "ENUM",
            Some(ColumnType::Boolean) => "BOOLEAN",
            Some(ColumnType::Binary | ColumnType::FixedBinary(_)) => "BLOB",
            Some(ColumnType::Timestamp(_)) => "TIMESTAMP",
            Some(ColumnType::Date) => "DATE",
            Some(ColumnType::Time) => "TIME",
            Some(ColumnType::Uuid) => "UUID",
            Some(ColumnType::Json) => "JSON",
            _ => return field.data_type().to_string(),
        },
    };
    plain.to_owned()
}
