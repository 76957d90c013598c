//! One value as the bytes of a cell outside the key: plain ones as [`cell`] has them, arrays, maps
//! and records as here.
//!
//! ```text
//! ARRAY   count (4)  for each element: presence (1)  cell
//! MAP     count (4)  for each entry: length of its key (4)  key  presence (1)  cell
//! RECORD  for each field: presence (1)  cell
//! ```
//!
//! Presence is 00 for NULL, which has no cell, or 01. A cell of fixed width is as in a value; every
//! other one follows its length (4). Numbers are little-endian.

use super::cell;
use crate::schema::ColumnType;
use crate::value::NestedRef;
use crate::value::{Value, ValueRef};

pub(super) const NULL: u8 = 0;
pub(super) const PRESENT: u8 = 1;
pub(super) const LEN: usize = 4;

/// Hands the bytes of a value outside the key to `write`. False, and `write` not called, when it is
/// not of the column's type.
#[inline]
pub(super) fn with_value_bytes(
    value: ValueRef<'_>,
    column_type: ColumnType,
    write: impl FnOnce(&[u8]),
) -> bool {
    let ValueRef::Nested(nested) = value else {
        return cell::with_plain_bytes(value, column_type, write);
    };
    let mut bytes = Vec::new();
    let is_own = nested.as_value().is_some_and(|value| push_nested(value, column_type, &mut bytes));
    if is_own {
        write(&bytes);
    }
    is_own
}

/// Reads the bytes of a value outside the key.
#[inline]
pub(super) fn read_value(bytes: &[u8], column_type: ColumnType) -> Option<ValueRef<'_>> {
    match column_type.is_nested() {
        true => NestedRef::of_stored(bytes, column_type, read_nested).map(ValueRef::Nested),
        false => cell::read_plain(bytes, column_type),
    }
}

/// Appends the bytes of a nested value. False when it is not of the type.
fn push_nested(value: &Value, column_type: ColumnType, out: &mut Vec<u8>) -> bool {
    match (value, column_type) {
        (Value::Array(items), ColumnType::Array(element)) => {
            push_len(items.len(), out);
            items.iter().all(|item| push_part(item, element.column_type(), out))
        }
        (Value::Map(members), ColumnType::Map(element)) => {
            push_len(members.len(), out);
            members.iter().all(|(name, member)| {
                push_bytes(name.as_bytes(), out);
                push_part(member, element.column_type(), out)
            })
        }
        (Value::Record(members), ColumnType::Record(fields)) => {
            let fields = fields.fields();
            members.len() == fields.len()
                && members.iter().zip(fields).all(|((name, member), field)| {
                    *name == field.name && push_part(member, field.column_type, out)
                })
        }
        _ => false,
    }
}

pub(super) fn push_len(len: usize, out: &mut Vec<u8>) {
    // Longer values than the limit of a value are refused before they get here.
    out.extend_from_slice(&(len as u32).to_le_bytes());
}

pub(super) fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_len(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Appends the presence and the cell of a part.
fn push_part(value: &Value, column_type: ColumnType, out: &mut Vec<u8>) -> bool {
    if value.is_null() {
        out.push(NULL);
        return true;
    }
    // A JSON value may hold any text until someone has looked.
    if matches!(value, Value::Json(text) if crate::value::check_json(text).is_err()) {
        return false;
    }
    out.push(PRESENT);
    let is_fixed = column_type.fixed_width().is_some();
    with_value_bytes(ValueRef::from(value), column_type, |bytes| match is_fixed {
        true => out.extend_from_slice(bytes),
        false => push_bytes(bytes, out),
    })
}

/// What is left to read.
pub(super) struct CellReader<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> CellReader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn len(&mut self) -> Option<usize> {
        let bytes = self.take(LEN)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    /// The cell of a part; `Some(None)` for NULL.
    pub(super) fn part(&mut self, column_type: ColumnType) -> Option<Option<&'a [u8]>> {
        match *self.take(1)?.first()? {
            NULL => Some(None),
            PRESENT => match column_type.fixed_width() {
                Some(width) => self.take(width).map(Some),
                None => self.bytes().map(Some),
            },
            _ => None,
        }
    }

    pub(super) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

/// Reads the bytes of a nested value.
fn read_nested(bytes: &[u8], column_type: ColumnType) -> Option<Value> {
    let mut reader = CellReader { rest: bytes };
    let value = match column_type {
        ColumnType::Array(element) => {
            let count = reader.len()?;
            // The count is not trusted: it never reserves more than the bytes could hold.
            let mut items = Vec::with_capacity(count.min(bytes.len()));
            for _ in 0..count {
                items.push(read_part(&mut reader, element.column_type())?);
            }
            Value::Array(items)
        }
        ColumnType::Map(element) => {
            let count = reader.len()?;
            let mut members = Vec::with_capacity(count.min(bytes.len() / LEN));
            for _ in 0..count {
                let name = std::str::from_utf8(reader.bytes()?).ok()?.to_owned();
                members.push((name, read_part(&mut reader, element.column_type())?));
            }
            Value::Map(members)
        }
        ColumnType::Record(fields) => {
            let fields = fields.fields();
            let mut members = Vec::with_capacity(fields.len());
            for field in fields {
                members.push((field.name.clone(), read_part(&mut reader, field.column_type)?));
            }
            Value::Record(members)
        }
        _ => return None,
    };
    // Bytes that are left over are damage too: no value of the type has them.
    reader.end().map(|()| value)
}

fn read_part(reader: &mut CellReader<'_>, column_type: ColumnType) -> Option<Value> {
    match reader.part(column_type)? {
        None => Some(Value::Null),
        Some(bytes) => read_value(bytes, column_type).map(ValueRef::to_value),
    }
}
