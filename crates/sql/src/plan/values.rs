//! VALUES with doubles and decimals in one column.
//!
//! The planner casts the doubles to decimals with 15 digits after the point: `0.1::DOUBLE / 3` lost
//! a digit beside `1.5`. Here such a column has doubles, as a union has. Marks of `text/values.rs`
//! are removed.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, Values};

use super::numbers::{NumberKind, to_double};
use crate::text::MARK;

/// VALUES with doubles where there are some among decimals.
pub(super) fn with_doubles(values: Values) -> Result<Values> {
    let Values { schema, values: mut rows } = values;
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    let mut is_changed = false;
    for (place, field) in fields.iter_mut().enumerate() {
        // A cast around a double shows that the planner has cut it.
        let is_cut = |row: &Vec<Expr>| match &row[place] {
            Expr::Cast(cast) => kind_of(&cast.expr) == NumberKind::Float,
            _ => false,
        };
        if field.data_type().is_decimal() && rows.iter().any(is_cut) {
            for row in &mut rows {
                let cell = std::mem::take(&mut row[place]);
                row[place] = as_double(cell);
            }
            *field = Arc::new(field.as_ref().clone().with_data_type(DataType::Float64));
            is_changed = true;
        }
    }
    // Marks go from all columns: `as_double` was the last to need them.
    for cell in rows.iter_mut().flatten() {
        let marked = std::mem::take(cell);
        *cell = marked.transform_up(|part| Ok(remove_mark(part)))?.data;
    }
    let schema = match is_changed {
        true => Arc::new(DFSchema::try_from(Schema::new(fields))?),
        false => schema,
    };
    Ok(Values { schema, values: rows })
}

fn kind_of(value: &Expr) -> NumberKind {
    let kind = value.get_type(&DFSchema::empty());
    kind.map_or(NumberKind::Other, |kind| NumberKind::of(&kind))
}

/// A cell as a double, without the cast that the planner has put around it: a written one is
/// marked.
fn as_double(cell: Expr) -> Expr {
    let cell = match cell {
        Expr::Cast(Cast { expr, .. }) => *expr,
        cell => cell,
    };
    match kind_of(&cell) {
        NumberKind::Float => Expr::Cast(Cast::new(Box::new(cell), DataType::Float64)),
        _ => to_double(cell),
    }
}

fn remove_mark(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::ScalarFunction(mut call) if call.func.name() == MARK && call.args.len() == 1 => {
            Transformed::yes(call.args.remove(0))
        }
        part => Transformed::no(part),
    }
}
