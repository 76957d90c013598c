//! The selectivity of a condition: the share of rows that it keeps.

use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::{split_binary, split_conjunction};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, LogicalPlan, Operator};

use super::range::ColumnRanges;
use super::source::column_source;
use crate::plan::above_scan::unaliased;

/// One value of a column of which nothing is known.
const EQUAL: f64 = 0.1;
/// Two columns, one before the other.
const BEFORE: f64 = 0.33;
/// Texts that are like a pattern, and those that begin with what it begins with.
const LIKE: f64 = 0.1;
const PREFIX: f64 = 0.05;
const NULL: f64 = 0.05;
const OTHER: f64 = 0.33;

/// The part of a plan's rows for which all of some conditions are true.
pub(in crate::plan) fn selectivity_of_all<'a>(
    conditions: impl IntoIterator<Item = &'a Expr>,
    input: &LogicalPlan,
) -> f64 {
    let mut ranges = ColumnRanges::default();
    let others: Vec<&Expr> =
        conditions.into_iter().filter(|condition| !ranges.add(unaliased(condition))).collect();
    let others = others.into_iter().map(|condition| condition_selectivity(condition, input));
    ranges.selectivity(input) * others.product::<f64>()
}

/// The part of a plan's rows for which a condition is true.
pub(in crate::plan) fn selectivity(condition: &Expr, input: &LogicalPlan) -> f64 {
    selectivity_of_all(split_conjunction(condition), input)
}

fn condition_selectivity(condition: &Expr, input: &LogicalPlan) -> f64 {
    let part = match unaliased(condition) {
        // Conditions count as independent: correlations of columns are unknown.
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => {
            let one_of = split_binary(unaliased(condition), Operator::Or);
            1.0 - one_of.into_iter().map(|one| 1.0 - selectivity(one, input)).product::<f64>()
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            binary_selectivity(left, *op, right, input)
        }
        Expr::Not(inner) => 1.0 - selectivity(inner, input),
        Expr::Between(between) if between.negated => {
            let between = Between { negated: false, ..between.clone() };
            1.0 - selectivity(&Expr::Between(between), input)
        }
        Expr::InList(InList { expr, list, negated }) => {
            // At most 0.9: ten guesses of 0.1 would keep all rows, and NOT IN none.
            negate_if((list.len() as f64 * equality_selectivity(expr, input)).min(0.9), *negated)
        }
        Expr::Like(Like { negated, pattern, .. }) => {
            negate_if(if has_prefix(pattern) { PREFIX } else { LIKE }, *negated)
        }
        Expr::IsNull(value) => null_selectivity(value, input),
        Expr::IsNotNull(value) => 1.0 - null_selectivity(value, input),
        Expr::Literal(value, _) => f64::from(u8::from(value.to_string() == "true")),
        Expr::Column(_) => 0.5,
        _ => OTHER,
    };
    part.clamp(0.0, 1.0)
}

fn negate_if(part: f64, is_negated: bool) -> f64 {
    if is_negated { 1.0 - part } else { part }
}

fn binary_selectivity(left: &Expr, op: Operator, right: &Expr, input: &LogicalPlan) -> f64 {
    match op {
        Operator::And => selectivity_of_all([left, right], input),
        Operator::Eq => equality_selectivity(left, input).min(equality_selectivity(right, input)),
        Operator::NotEq => {
            1.0 - equality_selectivity(left, input).min(equality_selectivity(right, input))
        }
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => BEFORE,
        _ => OTHER,
    }
}

/// The part of the rows that have one value.
fn equality_selectivity(expr: &Expr, input: &LogicalPlan) -> f64 {
    let column = match unaliased(expr) {
        Expr::Column(column) => column,
        // The other side decides.
        Expr::Literal(..) => return 1.0,
        _ => return EQUAL,
    };
    let values = column_source(input, column).and_then(|source| source.values());
    values.map_or(EQUAL, |values| 1.0 / values.max(1.0))
}

/// The part of the rows that have no value.
fn null_selectivity(expr: &Expr, input: &LogicalPlan) -> f64 {
    let Expr::Column(column) = unaliased(expr) else { return NULL };
    column_source(input, column).and_then(|source| source.nulls()).unwrap_or(NULL)
}

fn has_prefix(pattern: &Expr) -> bool {
    let Expr::Literal(value, _) = pattern else { return false };
    let text = value.try_as_str().flatten();
    text.is_some_and(|text| !text.starts_with(['%', '_']))
}
