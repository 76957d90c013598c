//! Names of column types in Flight SQL and JDBC.

use std::collections::HashMap;

use arrow::datatypes::{Field, Schema};
use arrow_flight::sql::metadata::{XdbcTypeInfo, XdbcTypeInfoData, XdbcTypeInfoDataBuilder};
use arrow_flight::sql::{Nullable, Searchable, XdbcDataType as Xdbc, XdbcDatetimeSubcode};
use tonnage::{Column, ColumnType, Error, Result, TableSchema};

use super::names::{CATALOG, SCHEMA};

/// All types that columns may have.
///
/// # Errors
/// `Internal` when Arrow cannot hold them.
pub(super) fn type_info() -> Result<XdbcTypeInfoData> {
    let mut types = XdbcTypeInfoDataBuilder::new();
    for (name, data_type, size) in [
        ("INTEGER", Xdbc::XdbcInteger, Some(10)),
        ("LONG", Xdbc::XdbcBigint, Some(19)),
        ("FLOAT", Xdbc::XdbcReal, Some(7)),
        ("DOUBLE", Xdbc::XdbcDouble, Some(15)),
        ("NUMBER", Xdbc::XdbcDecimal, Some(76)),
        ("STRING", Xdbc::XdbcVarchar, None),
        ("BOOLEAN", Xdbc::XdbcBit, Some(1)),
        ("BINARY", Xdbc::XdbcVarbinary, None),
        ("TIMESTAMP", Xdbc::XdbcTimestamp, Some(29)),
        ("UUID", Xdbc::XdbcBinary, Some(16)),
        ("JSON", Xdbc::XdbcVarchar, None),
        ("DATE", Xdbc::XdbcDate, Some(10)),
        ("TIME", Xdbc::XdbcTime, Some(18)),
        ("ENUM", Xdbc::XdbcVarchar, None),
    ] {
        types.append(xdbc_type(name, data_type, size));
    }
    types.build().map_err(|error| Error::internal(format!("types: {error}")))
}

fn xdbc_type(name: &str, data_type: Xdbc, size: Option<i32>) -> XdbcTypeInfo {
    let is_number = matches!(
        data_type,
        Xdbc::XdbcInteger
            | Xdbc::XdbcBigint
            | Xdbc::XdbcReal
            | Xdbc::XdbcDouble
            | Xdbc::XdbcDecimal
    );
    let is_quoted = !is_number && data_type != Xdbc::XdbcBit;
    let quote = is_quoted.then(|| "'".to_owned());
    XdbcTypeInfo {
        type_name: name.to_owned(),
        data_type,
        column_size: size,
        literal_prefix: quote.clone(),
        literal_suffix: quote,
        create_params: match name {
            "NUMBER" => Some(vec!["precision".to_owned(), "scale".to_owned()]),
            "TIMESTAMP" => Some(vec!["precision".to_owned()]),
            _ => None,
        },
        nullable: Nullable::NullabilityNullable,
        case_sensitive: data_type == Xdbc::XdbcVarchar,
        searchable: Searchable::Full,
        unsigned_attribute: is_number.then_some(false),
        fixed_prec_scale: false,
        auto_increment: Some(false),
        local_type_name: Some(name.to_owned()),
        minimum_scale: is_number.then_some(0),
        maximum_scale: is_number.then_some(if name == "NUMBER" { 76 } else { 0 }),
        // ODBC has one type for timestamps, days and times of day, and distinguishes them by the
        // subcode.
        sql_data_type: match data_type {
            Xdbc::XdbcTimestamp | Xdbc::XdbcDate | Xdbc::XdbcTime => Xdbc::XdbcDatetime,
            other => other,
        },
        datetime_subcode: match data_type {
            Xdbc::XdbcTimestamp => Some(XdbcDatetimeSubcode::XdbcSubcodeTimestamp),
            // 1 is DATE among timestamps, and YEAR among intervals.
            Xdbc::XdbcDate => Some(XdbcDatetimeSubcode::XdbcSubcodeYear),
            Xdbc::XdbcTime => Some(XdbcDatetimeSubcode::XdbcSubcodeTime),
            _ => None,
        },
        num_prec_radix: is_number.then_some(10),
        interval_precision: None,
    }
}

/// The columns of a table with what Flight SQL says of each beside its Arrow type.
pub(super) fn described_schema(table: &TableSchema) -> Schema {
    let fields = table.columns.iter().map(|column| described_field(table, column));
    Schema::new(fields.collect::<Vec<_>>())
}

fn described_field(table: &TableSchema, column: &Column) -> Field {
    let field = column.to_arrow();
    let mut metadata: HashMap<String, String> = field.metadata().clone();
    let mut set = |name: &str, value: String| {
        metadata.insert(format!("ARROW:FLIGHT:SQL:{name}"), value);
    };
    set("CATALOG_NAME", CATALOG.to_owned());
    set("SCHEMA_NAME", SCHEMA.to_owned());
    set("TABLE_NAME", table.path.clone());
    set("TYPE_NAME", type_name(column.column_type).to_owned());
    let (precision, scale) = digits(column.column_type);
    if let Some(precision) = precision {
        set("PRECISION", precision.to_string());
        set("SCALE", scale.to_string());
    }
    set("IS_AUTO_INCREMENT", u8::from(column.identity.is_some()).to_string());
    set("IS_CASE_SENSITIVE", "1".to_owned());
    set("IS_READ_ONLY", "0".to_owned());
    set("IS_SEARCHABLE", "1".to_owned());
    field.with_metadata(metadata)
}

/// The name of a type without its parentheses.
fn type_name(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Integer => "INTEGER",
        ColumnType::Long => "LONG",
        ColumnType::Float => "FLOAT",
        ColumnType::Double => "DOUBLE",
        ColumnType::Number { .. } => "NUMBER",
        ColumnType::String => "STRING",
        ColumnType::Boolean => "BOOLEAN",
        ColumnType::Binary | ColumnType::FixedBinary(_) => "BINARY",
        ColumnType::Timestamp(_) => "TIMESTAMP",
        ColumnType::Uuid => "UUID",
        ColumnType::Json => "JSON",
        ColumnType::Date => "DATE",
        ColumnType::Time => "TIME",
        ColumnType::Enum(_) => "ENUM",
        ColumnType::Array(_) => "ARRAY",
        ColumnType::Map(_) => "MAP",
        ColumnType::Record(_) => "RECORD",
    }
}

/// Precision and scale, where a type has them.
fn digits(column_type: ColumnType) -> (Option<u32>, i8) {
    match column_type {
        ColumnType::Integer => (Some(10), 0),
        ColumnType::Long => (Some(19), 0),
        ColumnType::Float => (Some(7), 0),
        ColumnType::Double => (Some(15), 0),
        ColumnType::Number { precision, scale } => (Some(precision.into()), scale),
        ColumnType::Timestamp(precision) => {
            (Some(20 + u32::from(precision)), precision.cast_signed())
        }
        ColumnType::Boolean => (Some(1), 0),
        ColumnType::Date => (Some(10), 0),
        ColumnType::Time => (Some(18), 9),
        ColumnType::Uuid => (Some(16), 0),
        ColumnType::FixedBinary(width) => (Some(width.into()), 0),
        _ => (None, 0),
    }
}
