//! The order of keys, for stores that keep none of shard keys.

use std::cmp::Ordering;

use tonnage::{Row, Store, Value};

/// Rows in key order that came in key order under each shard key. Nothing is moved where the store
/// keeps its shard keys in order; a cluster does not.
pub(crate) fn in_key_order(store: &Store, table: &str, mut rows: Vec<Row>) -> Vec<Row> {
    if store.capability().total_order {
        return rows;
    }
    let table = store.table(table).unwrap();
    let schema = table.schema();
    let shard_key: Vec<_> =
        schema.key_columns().take(schema.shard_key_len).map(|column| &*column.name).collect();
    rows.sort_by(|one, other| {
        let columns = shard_key.iter().map(|name| compare(value(one, name), value(other, name)));
        columns.fold(Ordering::Equal, Ordering::then)
    });
    rows
}

fn value<'a>(row: &'a Row, column: &str) -> &'a Value {
    row.get(column).expect("a row has its shard key")
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Boolean(one), Value::Boolean(other)) => one.cmp(other),
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Long(one), Value::Long(other)) => one.cmp(other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Uuid(one), Value::Uuid(other)) => one.cmp(other),
        (Value::Date(one), Value::Date(other)) => one.cmp(other),
        (Value::Timestamp { value: one, .. }, Value::Timestamp { value: other, .. }) => {
            one.cmp(other)
        }
        _ => panic!("no test has keys like {one:?} and {other:?}"),
    }
}
