//! `(a, b) IN (...)` with a list that is too long to be written out row by row.
//!
//! The planner holds each row against all listed ones at once, and takes NULL for a value. No
//! listed row has a NULL, so that a row with one is in no list to it: what is false there may be
//! unknown. It is unknown where the values that the row has are those of a listed row.

use datafusion::sql::sqlparser::ast::{Expr, UnaryOperator, Value};
use tonnage::{Error, Result};

use super::row_values::{LISTED_MAX, any, both, either, nested, parts, turned};

/// Each column doubles the lists that are looked at.
const COLUMNS_MAX: usize = 4;

/// Makes the membership of a row in such a list as true as one that is written out.
///
/// # Errors
/// `Unsupported` for lists of more than plain values.
pub(super) fn complete_membership(expr: &mut Expr) -> Result<()> {
    if let Expr::InList { expr: row, list, negated } = expr
        && list.len() > LISTED_MAX
        && let Some(found) = row_in_list(row, list)?
    {
        *expr = nested(turned(found, *negated));
    }
    Ok(())
}

fn row_in_list(row: &Expr, list: &[Expr]) -> Result<Option<Expr>> {
    let Some(columns) = parts(row) else { return Ok(None) };
    let rows = list.iter().map(parts).collect::<Option<Vec<_>>>();
    let Some(rows) = rows.filter(|rows| rows.iter().all(|row| row.len() == columns.len())) else {
        return Ok(None);
    };
    if columns.len() > COLUMNS_MAX || !rows.iter().flatten().all(|value| is_plain(value)) {
        return Err(Error::unsupported(format!(
            "a list of {} rows has at most {COLUMNS_MAX} columns and plain values without NULL: write \
             JOIN (VALUES ...) instead, or EXISTS",
            rows.len()
        )));
    }
    let unknown = (0..(1_usize << columns.len()) - 1).map(|given| unknown(&columns, &rows, given));
    let unknown = any(unknown.collect()).map(nested);
    let found = among(&columns, &rows, usize::MAX);
    let null = Expr::value(Value::Null);
    Ok(unknown.map(|unknown| either(found, nested(both(unknown, null)))))
}

/// Whether a row has NULL but for the columns of these bits, and these are those of a listed row.
fn unknown(columns: &[&Expr], rows: &[Vec<&Expr>], given: usize) -> Expr {
    let others = columns.iter().enumerate().filter(|(at, _)| given >> at & 1 == 0);
    let null = others.map(|(_, column)| Expr::IsNull(Box::new((*column).clone())));
    let null = null.reduce(both);
    let found = (given != 0).then(|| among(columns, rows, given));
    let condition = [null, found].into_iter().flatten().reduce(both);
    nested(condition.unwrap_or_else(|| Expr::value(Value::Boolean(true))))
}

/// Whether the columns of these bits are those of a listed row.
fn among(columns: &[&Expr], rows: &[Vec<&Expr>], given: usize) -> Expr {
    let picked = |row: &[&Expr]| {
        let values = row.iter().enumerate().filter(|(at, _)| given >> at & 1 == 1);
        let mut values: Vec<Expr> = values.map(|(_, value)| (*value).clone()).collect();
        if values.len() == 1 { values.remove(0) } else { Expr::Tuple(values) }
    };
    let list = rows.iter().map(|row| picked(row)).collect();
    Expr::InList { expr: Box::new(picked(columns)), list, negated: false }
}

/// A value that is written down, and no NULL.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Null | Value::Placeholder(_)),
        Expr::TypedString(_) => true,
        Expr::Nested(inner)
        | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
        | Expr::Cast { expr: inner, .. } => is_plain(inner),
        _ => false,
    }
}
