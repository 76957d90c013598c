//! Rows of VALUES, whose computed values are marked.
//!
//! The planner brings the values of a column to one type by casts, and makes decimals of doubles
//! among them (DataFusion 55). `plan/values.rs` takes these casts back. To tell them from the casts
//! that are written, it needs a mark around those.

use datafusion::sql::sqlparser::ast::{Expr, Values};

use super::call;
use super::casts::signed;

/// The function that marks a value, and gives it back as it is.
pub(crate) const MARK: &str = "_value";

/// Marks the values that are neither literals nor names.
pub(crate) fn mark(values: &mut Values) {
    if values.rows.len() < 2 {
        return;
    }
    for cell in values.rows.iter_mut().flat_map(|row| &mut row.content) {
        if !matches!(signed(cell), Expr::Value(_) | Expr::Identifier(_)) {
            let value = std::mem::replace(cell, Expr::Identifier(MARK.into()));
            *cell = call(MARK, [value]);
        }
    }
}
