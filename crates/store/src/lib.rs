//! Tonnage: a bulk-first store of tables and key/value pairs.

pub mod catalog;
pub mod codec;
pub mod ddl;
pub mod row;
pub mod schema;
pub mod value;

pub use catalog::{Catalog, TableEntry};
pub use codec::{Aligned, FieldRange, KeyClassifier, KeyOwner, Rejected, TableCodec};
pub use ddl::Statement;
pub use row::Row;
pub use schema::{Column, ColumnDefinition, ColumnType, TableDefinition, TableSchema};
pub use value::Value;
