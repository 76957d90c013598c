//! Overflow of whole numbers and decimals as an error, and divisions by zero as one that says
//! where.
//!
//! The operators of plans wrap around, and what they say of a division by zero names no
//! expression. So additions, subtractions and multiplications of whole numbers, and of decimals
//! that may get too many digits, and divisions of both become calls of functions that check. This
//! happens after type coercion.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;

use super::checked_arithmetic::{checked, checked_opposite};
use super::named_expressions::map_named;
use super::{doubles, intervals};

/// Runs after types are brought together.
#[derive(Debug)]
pub(crate) struct OverflowRule;

impl AnalyzerRule for OverflowRule {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|node| {
            if matches!(node, LogicalPlan::Limit(_)) {
                return Ok(Transformed::no(node));
            }
            let schema = match &node {
                LogicalPlan::TableScan(scan) => scan.projected_schema.as_ref().clone(),
                node => merge_schema(&node.inputs()),
            };
            let node = map_named(node, |expr| {
                expr.transform_up(|part| {
                    check_arithmetic(part, &schema)
                        .transform_data(|part| Ok(doubles::canonicalise_result(part, &schema)))?
                        .transform_data(|part| Ok(intervals::rewrite_duration_cast(part, &schema)))
                })
            })?;
            let node =
                if node.transformed { node.map_data(LogicalPlan::recompute_schema)? } else { node };
            node.transform_data(doubles::canonicalise_sums)
        });
        rewritten.map(|rewritten| rewritten.data)
    }
}

fn check_arithmetic(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    // A narrower type of a decimal result holds all its results: the planner has widened it.
    let may_overflow = |expr: &Expr| match expr.get_type(schema) {
        Ok(DataType::Decimal128(precision, _)) => precision == DECIMAL128_MAX_PRECISION,
        Ok(DataType::Decimal256(precision, _)) => precision == DECIMAL256_MAX_PRECISION,
        Ok(data_type) => data_type.is_integer(),
        Err(_) => false,
    };
    let is_exact = |expr: &Expr| {
        expr.get_type(schema).is_ok_and(|kind| kind.is_integer() || kind.is_decimal())
    };
    match &part {
        // By a number that is written, and is not zero, the operator of plans divides as well.
        Expr::BinaryExpr(BinaryExpr { op: Operator::Divide | Operator::Modulo, right, .. })
            if !is_written_and_not_zero(right) && is_exact(&part) =>
        {
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part else {
                unreachable!("just seen")
            };
            Transformed::yes(checked(*left, op, *right))
        }
        Expr::BinaryExpr(BinaryExpr {
            op: Operator::Plus | Operator::Minus | Operator::Multiply,
            ..
        }) if may_overflow(&part) => {
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part else {
                unreachable!("just seen")
            };
            Transformed::yes(checked(*left, op, *right))
        }
        Expr::Negative(inner) if !matches!(inner.as_ref(), Expr::Literal(..)) => match inner
            .get_type(schema)
        {
            Ok(data_type) if data_type.is_integer() => match ScalarValue::new_zero(&data_type) {
                Ok(zero) => Transformed::yes(checked_opposite(
                    Expr::Literal(zero, None),
                    inner.as_ref().clone(),
                )),
                Err(_) => Transformed::no(part),
            },
            _ => Transformed::no(part),
        },
        _ => Transformed::no(part),
    }
}

fn is_written_and_not_zero(divisor: &Expr) -> bool {
    match divisor {
        Expr::Literal(value, _) => {
            ScalarValue::new_zero(&value.data_type()).is_ok_and(|zero| *value != zero)
        }
        Expr::Cast(Cast { expr, .. }) => is_written_and_not_zero(expr),
        _ => false,
    }
}
