//! Rows of VALUES, whose computed values are marked.
//!
//! The planner brings the values of a column to one type by casts, and makes decimals of doubles
//! among them (DataFusion 55). `plan/values.rs` takes these casts back. To distinguish them from
//! the casts that are written, it needs a mark around those.
//!
//! It also refuses a text beside a day, a truth value or bytes. So such a text is marked as well:
//! until `plan/values.rs` reads it, it has no type.

use datafusion::sql::sqlparser::ast::{Expr, Value, Values};

use super::call::{arguments, call};
use super::casts::signed;

/// The function that marks a value, and gives it back as it is.
pub(crate) const MARK: &str = "_value";

/// The function that marks a text beside values of another type.
pub(crate) const TEXT_MARK: &str = "_spelled";

/// Marks texts beside values that say their type.
pub(super) fn mark_texts(values: &mut Values) {
    let width = values.rows.iter().map(|row| row.content.len()).min().unwrap_or_default();
    for place in 0..width {
        if values.rows.iter().any(|row| says_type(&row.content[place])) {
            let cells = values.rows.iter_mut().map(|row| &mut row.content[place]);
            cells.filter(|cell| is_text(cell)).for_each(|cell| put_into(TEXT_MARK, cell));
        }
    }
}

/// Marks the values that are neither literals nor names.
pub(crate) fn mark(values: &mut Values) {
    if values.rows.len() < 2 {
        return;
    }
    for cell in values.rows.iter_mut().flat_map(|row| &mut row.content) {
        if !matches!(signed(cell), Expr::Value(_) | Expr::Identifier(_)) && !is_marked_text(cell) {
            put_into(MARK, cell);
        }
    }
}

fn put_into(mark: &str, cell: &mut Expr) {
    let value = std::mem::replace(cell, Expr::Identifier(mark.into()));
    *cell = call(mark, [value]);
}

fn is_text(cell: &Expr) -> bool {
    matches!(cell, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

fn is_marked_text(cell: &Expr) -> bool {
    arguments(cell).is_some_and(|(name, _)| name == TEXT_MARK)
}

/// Whether a cell is written with its type, and no number.
fn says_type(cell: &Expr) -> bool {
    match cell {
        Expr::TypedString(_) | Expr::Cast { .. } => true,
        Expr::Value(value) => {
            matches!(value.value, Value::Boolean(_) | Value::HexStringLiteral(_))
        }
        _ => false,
    }
}
