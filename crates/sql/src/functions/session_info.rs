//! Functions that tools call first: the version, and the names of database and schema.

use std::sync::Arc;

use arrow::array::StringArray;
use arrow::datatypes::DataType;

use super::scalar::{Gives, Scalar};
use crate::text::{CATALOG, SCHEMA};

/// The program and its version.
const VERSION: &str = concat!("Tonnage ", env!("CARGO_PKG_VERSION"));

macro_rules! constant {
    ($name:literal, $value:expr) => {
        Scalar {
            name: $name,
            form: concat!($name, "()"),
            count: (0, 0),
            gives: Gives::Type(|| DataType::Utf8),
            work: |arguments| {
                let values = std::iter::repeat_n($value, arguments.rows);
                Ok(Arc::new(StringArray::from_iter_values(values)))
            },
        }
    };
}

pub(super) const ALL: [Scalar; 4] = [
    constant!("version", VERSION),
    constant!("current_database", CATALOG),
    constant!("current_catalog", CATALOG),
    constant!("current_schema", SCHEMA),
];
