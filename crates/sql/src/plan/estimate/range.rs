//! The part of the rows whose values are in a range.

use std::collections::HashMap;

use datafusion::common::Column;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::plan::above_scan::unaliased;

/// A range with one end, and one with two, of a column of which nothing is known.
const OPEN: f64 = 0.33;
const CLOSED: f64 = 0.15;

/// The ranges that conditions make of columns.
#[derive(Default)]
pub(super) struct ColumnRanges {
    of: HashMap<Column, ColumnRange>,
}

/// Which ends of a range are given.
#[derive(Default)]
struct ColumnRange {
    has_low: bool,
    has_high: bool,
}

impl ColumnRanges {
    /// Notes a condition, if it gives an end of a range.
    pub(super) fn note(&mut self, condition: &Expr) -> bool {
        let (column, is_low, is_high) = match condition {
            Expr::Between(between) if !between.negated => (unaliased(&between.expr), true, true),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let (column, op) = match (unaliased(left), unaliased(right)) {
                    (column, Expr::Literal(..)) => (column, Some(*op)),
                    (Expr::Literal(..), column) => (column, op.swap()),
                    _ => return false,
                };
                let is_low = matches!(op, Some(Operator::Gt | Operator::GtEq));
                (column, is_low, matches!(op, Some(Operator::Lt | Operator::LtEq)))
            }
            _ => return false,
        };
        let Expr::Column(column) = column else { return false };
        if is_low || is_high {
            let range = self.of.entry(column.clone()).or_default();
            range.has_low |= is_low;
            range.has_high |= is_high;
        }
        is_low || is_high
    }

    /// The part of rows that is in all of them.
    pub(super) fn part(&self) -> f64 {
        let part =
            |range: &ColumnRange| if range.has_low && range.has_high { CLOSED } else { OPEN };
        self.of.values().map(part).product()
    }
}
