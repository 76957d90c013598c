//! IS DISTINCT FROM as an operator like others.
//!
//! The planner has no hook for it, as it does for `=`: text beside a UUID was an error.

use datafusion::logical_expr::Operator;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};

const DISTINCT: (&str, Operator) = ("IS DISTINCT FROM", Operator::IsDistinctFrom);
const NOT_DISTINCT: (&str, Operator) = ("IS NOT DISTINCT FROM", Operator::IsNotDistinctFrom);

/// IS DISTINCT FROM, or with NOT, between two values.
pub(super) fn distinct(left: Box<Expr>, is_not: bool, right: Expr) -> Expr {
    let (name, _) = if is_not { NOT_DISTINCT } else { DISTINCT };
    Expr::BinaryOp { left, op: BinaryOperator::Custom(name.to_owned()), right: Box::new(right) }
}

/// What such an operator is to the planner.
pub(crate) fn distinct_operator(op: &BinaryOperator) -> Option<Operator> {
    let BinaryOperator::Custom(name) = op else { return None };
    [DISTINCT, NOT_DISTINCT].into_iter().find(|(known, _)| name == known).map(|(_, op)| op)
}
