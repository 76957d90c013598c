//! A constant on the left side of a comparison, `2 + 3 < a`, becomes `a > 2 + 3`.
//!
//! Upstream: no issue known: docs/upstream/swapped-bounds.md. Gone in: open
//!
//! Of several lower bounds of one column the optimizer keeps the narrowest. Of two with one value
//! it prefers `>`, but it reads the operator of `5 < a` as it is. So of `a >= 5 AND 5 < a` it
//! keeps the first alone, which is wrong for 5. It turns plain literals to the right before, but
//! not what becomes a literal in the same step.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{BinaryExpr, Expr};

use crate::plan::is_compared;

pub(crate) fn column_first(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_compared(op) && !is_read(&left) && is_read(&right) =>
        {
            match op.swap() {
                Some(op) => Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(right, op, left))),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            }
        }
        part => Transformed::no(part),
    }
}

/// Whether a value comes out of rows.
fn is_read(expr: &Expr) -> bool {
    let reads = |expr: &Expr| {
        matches!(expr, Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_))
    };
    expr.exists(|expr| Ok(reads(expr))).unwrap_or(true)
}
