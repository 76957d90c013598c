//! Schemas of tables: columns, keys, and the tables above.

mod build;
mod column;
mod column_type;
mod ddl_text;
mod default_function;
mod difference;
mod enum_type;
mod identity;
mod interned;
mod layout;
mod name;
mod nested_type;
mod table;

pub use build::{Change, ColumnDefinition, TableDefinition};
pub use column::Column;
pub(crate) use column_type::NUMBER_DIGITS_MAX;
pub use column_type::{
    ColumnType, ElementType, RecordField, RecordFields, is_json, timestamp_unit,
};
pub use default_function::DefaultFunction;
pub use enum_type::EnumSymbols;
pub(crate) use identity::NUMBER_GIVEN;
pub use identity::{Generated, Identity};
pub use layout::{Layout, LayoutColumn};
pub(crate) use name::{check_name, quoted_name};
pub use table::{Ancestor, MakeDefaults, TableSchema};

/// The most columns that one table can have, inherited key columns included.
pub const COLUMNS_MAX: usize = 4_096;
/// The longest name of a table or column, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The most generations: a top-level table and its descendants.
pub(crate) const DEPTH_MAX: usize = 16;
/// The most columns of a primary key, inherited ones included.
pub(crate) const KEY_COLUMNS_MAX: usize = 64;

#[cfg(test)]
mod tests;
