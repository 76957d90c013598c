//! Which columns a statement needs.

use crate::query::evaluate::ROW_FUNCTIONS;
use crate::query::syntax::{Expr, ExprKind};

/// The columns that expressions name, and whether one needs all.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedColumns {
    pub(crate) columns: Vec<usize>,
    pub(crate) has_row: bool,
    /// Whether one asks when the row was written.
    pub(crate) has_write_time: bool,
}

impl UsedColumns {
    pub(crate) fn add(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Column(column) if !self.columns.contains(column) => {
                self.columns.push(*column);
            }
            ExprKind::Row => self.has_row = true,
            // They ask for no column.
            ExprKind::Call(name, _) if ROW_FUNCTIONS.contains(&name.as_str()) => {
                self.has_row |= name == "row_storage_size";
                self.has_write_time |= name == "modification_time";
            }
            _ => expr.for_each_inner(|inner| self.add(inner)),
        }
    }
}

/// Whether an expression gives the same for all rows.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_)
        | ExprKind::Row
        | ExprKind::Unnested(_)
        | ExprKind::Name(_)
        | ExprKind::Variable(_)
        | ExprKind::GroupKey(_)
        | ExprKind::Aggregated(_)
        | ExprKind::CountRows => false,
        ExprKind::Call(name, _) if name == "rand" => false,
        _ => {
            let mut is_constant_inside = true;
            expr.for_each_inner(|inner| is_constant_inside &= is_constant(inner));
            is_constant_inside
        }
    }
}
