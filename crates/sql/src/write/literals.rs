//! Doubles among the computed values of VALUES.

use datafusion::sql::sqlparser::ast;
use tonnage::{ColumnType, Result, TableSchema};

use crate::text::{as_double, signed};

/// Makes doubles of values for columns of doubles: brought to one type with decimals and among
/// each other, values might lose digits.
pub(super) fn settle_doubles(
    values: &mut ast::Values,
    columns: &[String],
    schema: &TableSchema,
) -> Result<()> {
    for (place, name) in columns.iter().enumerate() {
        let column_type = schema.columns[schema.require_column(name)?].column_type;
        if !matches!(column_type, ColumnType::Double | ColumnType::Float) {
            continue;
        }
        for cell in values.rows.iter_mut().filter_map(|row| row.content.get_mut(place)) {
            let is_written = matches!(
                signed(cell),
                ast::Expr::Value(_) | ast::Expr::TypedString(_) | ast::Expr::Cast { .. }
            );
            if !is_written {
                *cell = as_double(std::mem::replace(cell, ast::Expr::value(ast::Value::Null)));
            }
        }
    }
    Ok(())
}
