//! Deletes the rows under a part of a key.

use std::cmp::Ordering;

use tonnage::{DeleteOptions, FieldRange, ResumeToken, Row, TableSchema, Value};

use super::access::TableRight;
use super::call::{Call, map_of};
use super::failure::{Failure, Outcome};
use super::field;
use super::given_row::partial_key;
use super::values::column_value;
use crate::nson::{NsonFields, NsonWriter};
use crate::query::run::table_position;

/// Deletes rows, up to a limit, and says where to continue.
pub(super) fn multi_delete(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let table = call.table(call.table_name()?, &[TableRight::Delete])?;
    let schema = table.schema();
    let key = partial_key(map_of(call.payload, field::KEY)?, schema)?;
    if key.len() < schema.shard_key_len {
        let missing = "A required field is missing from the Primary Key";
        return Err(Failure::argument(missing));
    }
    let range = call.payload.get(field::RANGE).and_then(|range| range.fields());
    let continuation = call.payload.get(field::CONTINUATION).and_then(|given| given.bytes());
    // A row counts as a kilobyte at least, and no row is looked at for its size.
    let limit = call.payload.get(field::WRITE_KB_MAX).and_then(|given| given.whole());
    let limit = limit.and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0);
    let write = call.write_options();
    let options = DeleteOptions {
        range: range.map(|range| field_range(range, &key, schema)).transpose()?,
        limit,
        // That of a query of the same table holds a position, too.
        start_after: continuation.map(|bytes| {
            ResumeToken::from_bytes(table_position(bytes).unwrap_or_else(|| bytes.to_vec()))
        }),
        durability: write.durability,
        timeout: write.timeout,
        ..DeleteOptions::default()
    };
    let deleted = table.delete_some(&key, &options)?;
    // The protocol has 32 bits for it.
    let number = i32::try_from(deleted.rows).unwrap_or(i32::MAX);
    out.field(field::NUMBER_DELETED).integer(number);
    if let Some(rest) = deleted.rest {
        out.field(field::CONTINUATION).binary(rest.as_bytes());
    }
    Ok(())
}

fn field_range(range: NsonFields<'_>, key: &Row, schema: &TableSchema) -> Outcome<FieldRange> {
    let name = range.get(field::RANGE_PATH).and_then(|name| name.text()).unwrap_or_default();
    let column = schema.key_columns().find(|column| column.is_named(name));
    let column = column
        .ok_or_else(|| Failure::argument(format!("Field does not exist in primary key: {name}")))?;
    let is_next = schema.key_columns().nth(key.len()).is_some_and(|next| next.id == column.id);
    if !is_next {
        return Err(Failure::argument(format!(
            "the range is on {name}: give it on the first column that the key leaves open"
        )));
    }
    let end = |of: &str| -> Outcome<Option<(Value, bool)>> {
        let Some(end) = range.get(of).and_then(|end| end.fields()) else { return Ok(None) };
        let Some(value) = end.get(field::VALUE) else { return Ok(None) };
        let value = column_value(value, column.column_type).map_err(Failure::argument)?;
        let is_inclusive = end.get(field::INCLUSIVE).and_then(|given| given.truth());
        Ok(Some((value, is_inclusive.unwrap_or(false))))
    };
    let (low, high) = (end(field::START)?, end(field::END)?);
    if let (Some((low, _)), Some((high, _))) = (&low, &high)
        && order(low, high) == Some(Ordering::Greater)
    {
        let told = "FieldRange: start value must be less than the end value";
        return Err(Failure::argument(told));
    }
    Ok(FieldRange { column: column.name.clone(), low, high })
}

/// The order of two values of one column, where that is easily decided: the store decides all.
fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => Some(one.cmp(other)),
        (Value::Long(one), Value::Long(other)) => Some(one.cmp(other)),
        (Value::Float(one), Value::Float(other)) => one.partial_cmp(other),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Timestamp { value: one, .. }, Value::Timestamp { value: other, .. }) => {
            Some(one.cmp(other))
        }
        _ => None,
    }
}
