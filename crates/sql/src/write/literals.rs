//! Reads literals in VALUES as their columns need them.

use datafusion::sql::sqlparser::ast;
use tonnage::{ColumnType, Result, TableSchema};

use crate::text::{as_double, double, signed};

/// Makes doubles of what goes into columns of such: brought to one type with decimals and among
/// each other, values might lose digits. Tells whether what is left may be decimals.
pub(super) fn settle_doubles(
    values: &mut ast::Values,
    columns: &[String],
    schema: &TableSchema,
) -> Result<bool> {
    let types =
        columns.iter().map(|name| Ok(schema.columns[schema.require_column(name)?].column_type));
    let types = types.collect::<Result<Vec<_>>>()?;
    let cells = || values.rows.iter().flat_map(|row| row.content.iter().zip(&types));
    // Nothing is lost then: without decimals around, the planner reads a literal as the double that
    // it is.
    if !types.iter().any(|column_type| matches!(column_type, ColumnType::Number { .. }))
        && cells().all(|(cell, _)| is_plain(cell))
    {
        return Ok(false);
    }
    for row in &mut values.rows {
        for (cell, column_type) in row.content.iter_mut().zip(&types) {
            if matches!(column_type, ColumnType::Double | ColumnType::Float) {
                settle_double(cell);
            }
        }
    }
    // By column, not by row: VALUES have one type a column, so a cell concerns all of its column.
    for (place, column_type) in types.iter().enumerate() {
        if matches!(column_type, ColumnType::Number { .. }) {
            settle_decimals(values, place, column_type.is_wide());
        }
    }
    Ok(true)
}

/// Makes text, which the column reads, of the literals that go into a column of decimals, if all in
/// that place are numbers: one with an exponent would make doubles of all of them, and no decimal
/// might hold the longest number of a wide column and the smallest.
fn settle_decimals(values: &mut ast::Values, place: usize, is_wide: bool) {
    let cells = || values.rows.iter().filter_map(|row| row.content.get(place));
    let is_null = |cell: &ast::Expr| {
        matches!(cell, ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Null, .. }))
    };
    let is_approximate = |cell: &ast::Expr| matches!(signed(cell), ast::Expr::Cast { .. });
    if !(is_wide || cells().any(is_approximate))
        || !cells().all(|cell| is_null(cell) || digits_of(cell).is_some())
    {
        return;
    }
    for cell in values.rows.iter_mut().filter_map(|row| row.content.get_mut(place)) {
        if let Some(digits) = digits_of(cell) {
            *cell = ast::Expr::value(ast::Value::SingleQuotedString(digits));
        }
    }
}

/// What is written of a number, also of one that was made a double.
fn digits_of(cell: &ast::Expr) -> Option<String> {
    let literal = |expr: &ast::Expr| match expr {
        ast::Expr::Value(ast::ValueWithSpan { value, .. }) => Some(value.clone()),
        _ => None,
    };
    let digits = match signed(cell) {
        ast::Expr::Cast { expr, data_type: ast::DataType::DoublePrecision, .. } => {
            match literal(expr)? {
                ast::Value::SingleQuotedString(digits) => digits,
                _ => return None,
            }
        }
        number => match literal(number)? {
            ast::Value::Number(digits, _) => digits,
            _ => return None,
        },
    };
    let is_negative = matches!(cell, ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, .. });
    Some(format!("{}{}", if is_negative { "-" } else { "" }, digits.replace('_', "")))
}

/// Whether a cell is one literal.
fn is_plain(cell: &ast::Expr) -> bool {
    matches!(signed(cell), ast::Expr::Value(_) | ast::Expr::TypedString(_))
}

fn settle_double(cell: &mut ast::Expr) {
    let number = |expr: &ast::Expr| {
        matches!(expr, ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(..), .. }))
    };
    let written = match signed(cell) {
        found if number(found) => double(cell.to_string()),
        ast::Expr::Value(_) | ast::Expr::TypedString(_) | ast::Expr::Cast { .. } => return,
        _ => as_double(std::mem::replace(cell, ast::Expr::value(ast::Value::Null))),
    };
    *cell = written;
}
