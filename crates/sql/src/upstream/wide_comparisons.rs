//! Comparisons of decimals that have more than 38 digits together.
//!
//! Upstream: no issue known: docs/upstream/wide-comparisons.md. Gone in: open
//!
//! The planner compares NUMBER(38, 0) with `0.5` in a type of 38 digits, one of them after the
//! point: a number of 38 digits does not fit there, and is an error (DataFusion 55). So:
//!
//! 1. A literal that is finer than the column becomes the number of the column below it, and the
//!    comparison says the same: `n >= 0.5` is `n > 0`. Keys and indexes find such a bound.
//! 2. Elsewhere one side becomes a decimal of 256 bits. The others follow it (`numbers.rs`).

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL128_MAX_SCALE, DataType, Decimal128Type, DecimalType,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Cast, Expr, ExprSchemable, Join, Operator};

use crate::plan::is_compared;

/// An expression whose parts are done.
pub(crate) fn compare_widely(mut part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let changed = match &mut part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) => {
            is_narrow(&[&**left, &**right], schema)
                && (below_literal(left, op, right, schema) || widen(left, schema))
        }
        Expr::InList(InList { expr, list, .. }) => {
            let parts: Vec<&Expr> = std::iter::once(expr.as_ref()).chain(&*list).collect();
            is_narrow(&parts, schema) && widen(expr, schema)
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            is_narrow(&[&**expr, &**low, &**high], schema) && widen(expr, schema)
        }
        _ => false,
    };
    if changed { Transformed::yes(part) } else { Transformed::no(part) }
}

/// A join by pairs of columns, which no expression compares yet.
pub(crate) fn join_widely(join: &mut Join) {
    for (one, other) in &mut join.on {
        let (left, right) = (join.left.schema(), join.right.schema());
        let digits = [digits_of(one, left), digits_of(other, right)];
        if has_no_room(digits.into_iter()) {
            widen(one, left);
            widen(other, right);
        }
    }
}

/// Whether 38 digits are too few for values that are compared.
fn is_narrow(parts: &[&Expr], schema: &DFSchema) -> bool {
    has_no_room(parts.iter().map(|part| digits_of(part, schema)))
}

/// The digits before and after the point of each; nothing for what is not a decimal of 128 bits.
fn has_no_room(digits: impl Iterator<Item = Option<(i16, i16)>>) -> bool {
    let (mut before, mut behind) = (0, 0);
    for digits in digits {
        let Some((of_one_before, of_one_behind)) = digits else { return false };
        before = before.max(of_one_before);
        behind = behind.max(of_one_behind);
    }
    before + behind > i16::from(DECIMAL128_MAX_PRECISION)
}

fn digits_of(part: &Expr, schema: &DFSchema) -> Option<(i16, i16)> {
    match part.get_type(schema).ok()? {
        DataType::Decimal128(precision, scale) => {
            Some((i16::from(precision) - i16::from(scale), i16::from(scale)))
        }
        DataType::Int64 => Some((19, 0)),
        DataType::Int32 => Some((10, 0)),
        _ => None,
    }
}

fn widen(part: &mut Expr, schema: &DFSchema) -> bool {
    let wide = match part.get_type(schema) {
        Ok(DataType::Decimal128(precision, scale)) => DataType::Decimal256(precision, scale),
        Ok(DataType::Int64) => DataType::Decimal256(19, 0),
        Ok(DataType::Int32) => DataType::Decimal256(10, 0),
        _ => return false,
    };
    *part = Expr::Cast(Cast::new(Box::new(std::mem::take(part)), wide));
    true
}

/// The number of the column below a finer literal, with the operator that says the
/// same of it. False where there is none, as for `=`.
fn below_literal(left: &Expr, op: &mut Operator, right: &mut Expr, schema: &DFSchema) -> bool {
    let Expr::Literal(ScalarValue::Decimal128(Some(digits), _, scale), _) = right else {
        return false;
    };
    let Ok(DataType::Decimal128(precision, own)) = left.get_type(schema) else { return false };
    let finer = scale.saturating_sub(own);
    if matches!(left, Expr::Literal(..)) || !(1..=DECIMAL128_MAX_SCALE).contains(&finer) {
        return false;
    }
    let power = 10_i128.pow(finer.unsigned_abs().into());
    let (below, rest) = (digits.div_euclid(power), digits.rem_euclid(power));
    let same = match *op {
        same if rest == 0 => same,
        Operator::Gt | Operator::GtEq => Operator::Gt,
        Operator::Lt | Operator::LtEq => Operator::LtEq,
        _ => return false,
    };
    if Decimal128Type::validate_decimal_precision(below, precision, own).is_err() {
        return false;
    }
    *op = same;
    *right = Expr::Literal(ScalarValue::Decimal128(Some(below), precision, own), None);
    true
}
