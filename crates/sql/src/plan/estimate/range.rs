//! The share of rows whose values are in a range.

use std::collections::HashMap;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};

use super::source::column_source;
use crate::plan::above_scan::unaliased;

/// A range with one end, and one with two, of a column of which nothing is known.
const OPEN: f64 = 0.33;
const CLOSED: f64 = 0.15;

/// The ranges that conditions make of columns.
#[derive(Default)]
pub(super) struct ColumnRanges {
    of: HashMap<Column, ColumnRange>,
}

/// The ends that are given of a range.
#[derive(Default)]
struct ColumnRange {
    low: Option<ScalarValue>,
    high: Option<ScalarValue>,
}

impl ColumnRanges {
    /// Notes a condition, if it gives an end of a range.
    pub(super) fn add(&mut self, condition: &Expr) -> bool {
        let (column, low, high) = match condition {
            Expr::Between(between) if !between.negated => {
                (&*between.expr, literal(&between.low), literal(&between.high))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let (column, op, value) = match (literal(left), literal(right)) {
                    (None, Some(value)) => (left, Some(*op), value),
                    (Some(value), None) => (right, op.swap(), value),
                    _ => return false,
                };
                match op {
                    Some(Operator::Gt | Operator::GtEq) => (&**column, Some(value), None),
                    Some(Operator::Lt | Operator::LtEq) => (&**column, None, Some(value)),
                    _ => return false,
                }
            }
            _ => return false,
        };
        // What is no end of a column is left to `condition_selectivity`.
        let Expr::Column(column) = unaliased(column) else { return false };
        if low.is_none() && high.is_none() {
            return false;
        }
        // Ends are noted by column: `a > 1 AND a < 9` is one range, not two parts multiplied.
        let range = self.of.entry(column.clone()).or_default();
        range.low = low.or(range.low.take());
        range.high = high.or(range.high.take());
        true
    }

    /// The part of a plan's rows that is in all of them.
    pub(super) fn selectivity(&self, input: &LogicalPlan) -> f64 {
        self.of.iter().map(|(column, range)| range.selectivity(input, column)).product()
    }
}

impl ColumnRange {
    fn selectivity(&self, input: &LogicalPlan, column: &Column) -> f64 {
        let guess = if self.low.is_some() && self.high.is_some() { CLOSED } else { OPEN };
        self.known_selectivity(input, column).unwrap_or(guess)
    }

    /// The same by where the column begins and ends, as if its values were spread evenly.
    fn known_selectivity(&self, input: &LogicalPlan, column: &Column) -> Option<f64> {
        let source = column_source(input, column)?;
        let found = source.statistics()?;
        let (least, greatest) = (number(&found.least)?, number(&found.greatest)?);
        let end = |given: &Option<ScalarValue>, open: f64| match given {
            None => Some(open),
            given => number(given),
        };
        let (low, high) = (end(&self.low, least)?, end(&self.high, greatest)?);
        let one_value = 1.0 / source.values()?.max(1.0);
        let width = greatest - least;
        if width <= 0.0 {
            return Some(if low <= least && least <= high { 1.0 } else { one_value });
        }
        let part = (high.min(greatest) - low.max(least)) / width;
        part.is_finite().then(|| part.clamp(one_value, 1.0))
    }
}

fn literal(expr: &Expr) -> Option<ScalarValue> {
    match unaliased(expr) {
        Expr::Literal(value, _) => Some(value.clone()),
        _ => None,
    }
}

/// A value as a number that keeps its order and its distances.
fn number(value: &Option<ScalarValue>) -> Option<f64> {
    let value = value.as_ref()?;
    let whole = match value.data_type() {
        DataType::Date32 => DataType::Int32,
        other if other.is_temporal() => DataType::Int64,
        _ => DataType::Float64,
    };
    let whole = value.cast_to(&whole).ok()?;
    match whole.cast_to(&DataType::Float64).ok()? {
        ScalarValue::Float64(number) => number.filter(|number| number.is_finite()),
        _ => None,
    }
}
