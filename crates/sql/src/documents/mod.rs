//! Functions on JSON documents. The library has others, which read from documents.
//!
//! Documents are split as text (`scan.rs`). What a function does not touch stays as it is written:
//! numbers keep their digits and texts their escapes.

mod build;
mod change;
mod inspect;
mod member;
mod order;
pub(crate) mod path_text;
mod rows;
mod scan;
mod set;
mod write;

use datafusion::logical_expr::ScalarUDF;

pub(crate) use order::order_of;
pub(crate) use rows::{ENTRIES, ITEMS, TEXT_ENTRIES, TEXT_ITEMS};
pub(crate) use set::json_set;

use crate::functions::Scalar;

/// The functions as sessions have them.
pub(crate) fn scalars() -> Vec<ScalarUDF> {
    let all = [inspect::ALL.as_slice(), &build::ALL, &change::ALL, &order::ALL, &rows::ALL];
    all.into_iter().flatten().map(Scalar::function).collect()
}

/// One of the functions, by its name.
pub(crate) fn function(name: &str) -> Option<ScalarUDF> {
    let all = [inspect::ALL.as_slice(), &build::ALL, &change::ALL, &order::ALL, &rows::ALL];
    all.into_iter().flatten().find(|scalar| scalar.name == name).map(Scalar::function)
}
