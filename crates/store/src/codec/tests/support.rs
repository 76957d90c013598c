//! Random tables, values and batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::i256;
use proptest::prelude::*;
use tonnage_engine::{Rows, Slices};

use crate::codec::{Limits, TableCodec};
use crate::ddl::{Statement, parse};
use crate::row::Row;
use crate::schema::{ColumnDefinition, TableDefinition, TableSchema};
use crate::schema::{ColumnType, ElementType, EnumSymbols, RecordField, RecordFields};
use crate::value::Value;
use crate::value::array_of;

pub(super) fn definition(sql: &str) -> TableDefinition {
    match parse(sql).unwrap().remove(0) {
        Statement::CreateTable { definition, .. } => definition,
        other => panic!("{other:?}"),
    }
}

pub(super) fn schema(sql: &str) -> Arc<TableSchema> {
    Arc::new(TableSchema::define(&definition(sql), None, 0).unwrap())
}

pub(super) fn codec(sql: &str) -> TableCodec {
    TableCodec::new(schema(sql), Limits::default())
}

pub(super) fn any_type() -> impl Strategy<Value = ColumnType> {
    let names = || proptest::sample::select(vec!["a", "B", "with blank", "it's"]);
    let field = move |column_type| {
        names().prop_map(move |name| RecordField { name: name.into(), column_type })
    };
    any_plain_type().prop_recursive(3, 8, 3, move |inner| {
        let fields = proptest::collection::vec(inner.clone().prop_flat_map(field), 1..4);
        let record = fields.prop_filter_map("names come once", |fields| {
            RecordFields::new(fields).ok().map(ColumnType::Record)
        });
        prop_oneof![
            inner.clone().prop_map(|inner| ColumnType::Array(ElementType::new(inner).unwrap())),
            inner.prop_map(|inner| ColumnType::Map(ElementType::new(inner).unwrap())),
            record,
        ]
    })
}

fn any_plain_type() -> impl Strategy<Value = ColumnType> {
    prop_oneof![
        Just(ColumnType::Integer),
        Just(ColumnType::Long),
        Just(ColumnType::Float),
        Just(ColumnType::Double),
        Just(ColumnType::NUMBER),
        Just(ColumnType::Number { precision: 9, scale: 2 }),
        (39_u8..=76, 0_i8..=39)
            .prop_map(|(precision, scale)| ColumnType::Number { precision, scale }),
        Just(ColumnType::String),
        Just(ColumnType::Boolean),
        Just(ColumnType::Binary),
        (0_u8..=9).prop_map(ColumnType::Timestamp),
        Just(ColumnType::Uuid),
        Just(ColumnType::Json),
        Just(ColumnType::Date),
        Just(ColumnType::Time),
        (1_u16..20).prop_map(ColumnType::FixedBinary),
        Just(colours()),
    ]
}

/// An ENUM whose order is not that of its symbols as text.
pub(super) fn colours() -> ColumnType {
    ColumnType::Enum(EnumSymbols::new(["red", "green", "it's blue", "amber"]).unwrap())
}

pub(super) fn any_key_type() -> impl Strategy<Value = ColumnType> {
    any_type().prop_map(
        |column_type| {
            if column_type.has_order() { column_type } else { ColumnType::String }
        },
    )
}

/// A value of a type as a key can hold it: floats that equal 0 are 0.0, and there is one NaN.
pub(super) fn any_value(column_type: ColumnType) -> BoxedStrategy<Value> {
    match column_type {
        ColumnType::Integer => prop_oneof![any::<i32>(), -3..3].prop_map(Value::Integer).boxed(),
        ColumnType::Long => prop_oneof![any::<i64>(), -3_i64..3].prop_map(Value::Long).boxed(),
        ColumnType::Float => any::<f32>()
            .prop_map(|value| Value::Float(if value.is_nan() { f32::NAN } else { value + 0.0 }))
            .boxed(),
        ColumnType::Double => any::<f64>()
            .prop_map(|value| Value::Double(if value.is_nan() { f64::NAN } else { value + 0.0 }))
            .boxed(),
        ColumnType::Number { precision, scale } if column_type.is_wide() => {
            any_wide(precision).prop_map(move |unscaled| Value::number(unscaled, scale)).boxed()
        }
        ColumnType::Number { precision, scale } => {
            let high = 10_i128.pow(precision.into());
            (-high + 1..high).prop_map(move |unscaled| Value::Number { unscaled, scale }).boxed()
        }
        ColumnType::String => "[a-c\\x00é]{0,6}".prop_map(Value::String).boxed(),
        ColumnType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        ColumnType::Binary => {
            proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(255), any::<u8>()], 0..6)
                .prop_map(Value::Binary)
                .boxed()
        }
        ColumnType::Timestamp(precision) => {
            any::<i64>().prop_map(move |value| Value::Timestamp { value, precision }).boxed()
        }
        ColumnType::Uuid => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        ColumnType::Json => prop_oneof![Just("{\"a\": [1, null]}"), Just("3"), Just("\"\"")]
            .prop_map(|text| Value::Json(text.into()))
            .boxed(),
        ColumnType::Date => prop_oneof![any::<i32>(), -3..3].prop_map(Value::Date).boxed(),
        ColumnType::Time => (0..86_400_000_000_000_i64).prop_map(Value::Time).boxed(),
        ColumnType::FixedBinary(width) => {
            proptest::collection::vec(any::<u8>(), usize::from(width))
                .prop_map(Value::Binary)
                .boxed()
        }
        ColumnType::Array(element) => {
            proptest::collection::vec(any_cell(element.column_type()), 0..4)
                .prop_map(Value::Array)
                .boxed()
        }
        ColumnType::Map(element) => {
            proptest::collection::vec(("[a-cé]{0,2}", any_cell(element.column_type())), 0..4)
                .prop_map(Value::Map)
                .boxed()
        }
        ColumnType::Record(fields) => {
            let cells = fields.fields().iter().map(|field| any_cell(field.column_type));
            let names = fields.fields().iter().map(|field| field.name.clone());
            let names: Vec<String> = names.collect();
            let cells: Vec<_> = cells.collect();
            cells
                .prop_map(move |cells| Value::Record(names.iter().cloned().zip(cells).collect()))
                .boxed()
        }
        ColumnType::Enum(symbols) => {
            proptest::sample::select(symbols.symbols()).prop_map(Value::String).boxed()
        }
    }
}

/// A number of up to so many digits: few or many, and the furthest ones.
pub(super) fn any_wide(precision: u8) -> impl Strategy<Value = i256> {
    let highest = i256::from_string(&"9".repeat(precision.into())).unwrap();
    let digits = proptest::collection::vec(0..10_u8, 1..=usize::from(precision));
    let some = (any::<bool>(), digits).prop_map(|(is_negative, digits)| {
        let digits: String = digits.iter().map(u8::to_string).collect();
        let magnitude = i256::from_string(&digits).unwrap();
        if is_negative { magnitude.wrapping_neg() } else { magnitude }
    });
    let far = [highest, highest.wrapping_neg(), i256::ZERO, i256::ONE, i256::MINUS_ONE];
    let border = [i128::MAX, i128::MIN].map(i256::from_i128);
    let beyond = [border[0].wrapping_add(i256::ONE), border[1].wrapping_sub(i256::ONE)];
    prop_oneof![4 => some, 1 => proptest::sample::select([&far[..], &border, &beyond].concat())]
}

/// The same, or NULL.
fn any_cell(column_type: ColumnType) -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(Value::Null), 3 => any_value(column_type)].boxed()
}

/// A table of one to three key columns and up to six others.
pub(super) fn any_table() -> impl Strategy<Value = Arc<TableSchema>> {
    let keys = proptest::collection::vec(any_key_type(), 1..=3);
    let others = proptest::collection::vec((any_type(), any::<bool>()), 0..=9);
    (keys, others, any::<bool>()).prop_map(|(keys, others, keys_last)| {
        let key: Vec<String> = (0..keys.len()).map(|index| format!("k{index}")).collect();
        let key_columns = key
            .iter()
            .zip(&keys)
            .map(|(name, column_type)| ColumnDefinition::new(name, *column_type));
        let other_columns =
            others.iter().enumerate().map(|(index, (column_type, nullable))| ColumnDefinition {
                nullable: *nullable,
                ..ColumnDefinition::new(format!("v{index}"), *column_type)
            });
        let columns = if keys_last {
            other_columns.chain(key_columns).collect()
        } else {
            key_columns.chain(other_columns).collect()
        };
        let definition = TableDefinition {
            path: "t".into(),
            columns,
            key: key.into_iter().rev().collect(),
            shard_key_len: Some(1),
            ttl_ms: None,
        };
        Arc::new(TableSchema::define(&definition, None, 0).unwrap())
    })
}

/// Rows of a table, one list of values each, in the table's order.
pub(super) fn any_rows(
    schema: &TableSchema,
    rows_max: usize,
) -> impl Strategy<Value = Vec<Vec<Value>>> + use<> {
    let row: Vec<BoxedStrategy<Value>> = schema
        .columns
        .iter()
        .map(|column| {
            let value = any_value(column.column_type);
            if column.nullable {
                prop_oneof![1 => Just(Value::Null), 3 => value].boxed()
            } else {
                value
            }
        })
        .collect();
    proptest::collection::vec(row, 0..=rows_max)
}

pub(super) fn any_table_with_rows(
    rows_max: usize,
) -> impl Strategy<Value = (Arc<TableSchema>, Vec<Vec<Value>>)> {
    any_table().prop_flat_map(move |schema| {
        let rows = any_rows(&schema, rows_max);
        (Just(schema), rows)
    })
}

pub(super) fn batch_of(schema: &TableSchema, rows: &[Vec<Value>]) -> RecordBatch {
    let column = |index: usize| -> ArrayRef {
        let cells: Vec<Value> = rows.iter().map(|row| row[index].clone()).collect();
        array_of(&cells, schema.columns[index].column_type)
    };
    RecordBatch::try_new(schema.arrow_schema(), (0..schema.columns.len()).map(column).collect())
        .unwrap()
}

pub(super) fn row_of(schema: &TableSchema, values: &[Value]) -> Row {
    schema
        .columns
        .iter()
        .zip(values)
        .map(|(column, value)| (column.name.clone(), value.clone()))
        .collect()
}

/// What a store gives back of keys and values put in.
pub(super) fn stored(keys: &Slices, values: &Slices) -> Rows {
    let mut rows = Rows::new();
    for (key, value) in keys.iter().zip(values.iter()) {
        rows.push(key, value, 1, 0, 0);
    }
    rows
}

pub(super) fn encode(codec: &TableCodec, batch: &RecordBatch) -> Rows {
    let (mut keys, mut values) = (Slices::new(), Slices::new());
    codec.encode(batch, &mut keys, &mut values).unwrap();
    stored(&keys, &values)
}
