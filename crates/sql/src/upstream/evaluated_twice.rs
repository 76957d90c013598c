//! BETWEEN and COALESCE of a value that differs each time, as `random()`.
//!
//! Upstream: apache/datafusion#25457. Gone in: open
//! Upstream: apache/datafusion#25477. Gone in: open
//!
//! The planner writes the value twice, so it would be two numbers. Such calls are refused.

use datafusion::common::{DFSchema, Result, not_impl_err};
use datafusion::logical_expr::{Between, Expr, ExprSchemable};

/// # Errors
/// For an expression whose value would be computed twice.
pub(crate) fn refuse_evaluated_twice(part: &Expr, schema: &DFSchema) -> Result<()> {
    match part {
        // What is tested and what is given would be two values.
        Expr::ScalarFunction(call)
            if call.func.name() == "coalesce" && is_evaluated_twice(&call.args, schema) =>
        {
            not_impl_err!(
                "coalesce of a value that differs each time, as random(): compute it in a subquery of FROM"
            )
        }
        Expr::Between(Between { expr, .. }) if expr.is_volatile() => not_impl_err!(
            "BETWEEN of a value that differs each time, as random(): compute it in a subquery of FROM"
        ),
        _ => Ok(()),
    }
}

/// Whether a value that differs each time is tested before it is given.
fn is_evaluated_twice(values: &[Expr], schema: &DFSchema) -> bool {
    let tested = values.split_last().map_or(&[][..], |(_, tested)| tested);
    tested.iter().any(|value| value.is_volatile() && value.nullable(schema).unwrap_or(true))
}
