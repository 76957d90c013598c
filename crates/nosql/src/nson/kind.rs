//! The bytes that tell kinds of values.

pub(super) const ARRAY: u8 = 0;
pub(super) const BINARY: u8 = 1;
pub(super) const BOOLEAN: u8 = 2;
pub(super) const DOUBLE: u8 = 3;
pub(super) const INTEGER: u8 = 4;
pub(super) const LONG: u8 = 5;
pub(super) const MAP: u8 = 6;
pub(super) const STRING: u8 = 7;
pub(super) const TIMESTAMP: u8 = 8;
pub(super) const NUMBER: u8 = 9;
pub(super) const JSON_NULL: u8 = 10;
pub(super) const NULL: u8 = 11;
pub(super) const EMPTY: u8 = 12;
