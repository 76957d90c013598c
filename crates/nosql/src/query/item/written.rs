//! Items as documents of the protocol.

use super::kinds::Item;
use crate::nson::NsonWriter;
use crate::wire::decimal_digits_text;

/// Writes an item.
pub(crate) fn write_item(item: &Item, out: &mut NsonWriter) {
    match item {
        Item::Null => out.null(),
        Item::JsonNull => out.json_null(),
        Item::Boolean(truth) => out.boolean(*truth),
        Item::Integer(number) => out.integer(*number),
        Item::Long(number) => out.long(*number),
        // The protocol has doubles alone.
        Item::Float(number) => out.double((*number).into()),
        Item::Double(number) => out.double(*number),
        Item::Number(number) => out.number(&decimal_digits_text(number)),
        Item::String(text) => out.string(text),
        Item::Binary(bytes) => out.binary(bytes),
        Item::Timestamp(instant) => out.timestamp(&instant.text()),
        // The depth of items was bounded when they were built.
        Item::Array(items) => {
            out.begin_array();
            items.iter().for_each(|item| write_item(item, out));
            out.end();
        }
        Item::Map(members) | Item::Record(members) => {
            out.begin_map();
            for (name, member) in members.iter() {
                write_item(member, out.field(name));
            }
            out.end();
        }
    }
}
