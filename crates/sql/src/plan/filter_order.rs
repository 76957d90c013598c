//! The order in which the conditions of a filter are tested.
//!
//! Conditions are tested one after another. Where few rows are left, the next condition is tested
//! on those alone. So cheap conditions come first: numbers and times, then texts, then patterns.
//! These cannot fail. All others keep their order after them.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    Between, BinaryExpr, Expr, ExprSchemable, Filter, Like, LogicalPlan, Operator,
};

/// How dear a condition is to test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TestCost {
    Numbers,
    Texts,
    Patterns,
    /// It may fail, or be anything.
    Other,
}

/// The same plan with cheap conditions before dear ones.
pub(crate) fn with_cheap_conditions_first(plan: LogicalPlan) -> Result<LogicalPlan> {
    let ordered = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Filter(filter) = &node else { return Ok(Transformed::no(node)) };
        let Some(predicate) = cheapest_first(&filter.predicate, filter.input.schema()) else {
            return Ok(Transformed::no(node));
        };
        let filter = Filter::try_new(predicate, filter.input.clone())?;
        Ok(Transformed::yes(LogicalPlan::Filter(filter)))
    })?;
    Ok(ordered.data)
}

fn cheapest_first(predicate: &Expr, schema: &DFSchema) -> Option<Expr> {
    let mut conditions = split_conjunction(predicate);
    let is_ordered = conditions.is_sorted_by_key(|condition| condition_cost(condition, schema));
    if is_ordered {
        return None;
    }
    conditions.sort_by_key(|condition| condition_cost(condition, schema));
    conjunction(conditions.into_iter().cloned())
}

fn condition_cost(condition: &Expr, schema: &DFSchema) -> TestCost {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.is_logic_operator() => {
            condition_cost(left, schema).max(condition_cost(right, schema))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
            value_cost(left, schema).max(value_cost(right, schema))
        }
        Expr::Not(inner) => condition_cost(inner, schema),
        Expr::IsNull(value) | Expr::IsNotNull(value) => value_cost(value, schema),
        Expr::Between(Between { expr, low, high, .. }) => {
            let [expr, low, high] = [expr, low, high].map(|value| value_cost(value, schema));
            expr.max(low).max(high)
        }
        Expr::InList(InList { expr, list, .. }) => {
            let values = list.iter().map(|value| value_cost(value, schema));
            values.fold(value_cost(expr, schema).max(TestCost::Texts), TestCost::max)
        }
        Expr::Like(Like { expr, pattern, escape_char: None, .. }) => {
            value_cost(expr, schema).max(value_cost(pattern, schema)).max(TestCost::Patterns)
        }
        Expr::Column(_) => value_cost(condition, schema),
        _ => TestCost::Other,
    }
}

fn is_comparison(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// What to compare a column or a literal costs.
fn value_cost(value: &Expr, schema: &DFSchema) -> TestCost {
    match value {
        Expr::Column(_) | Expr::Literal(..) => match value.get_type(schema) {
            Ok(data_type) if data_type.is_primitive() || data_type == DataType::Boolean => {
                TestCost::Numbers
            }
            Ok(DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8) => TestCost::Texts,
            _ => TestCost::Other,
        },
        _ => TestCost::Other,
    }
}
