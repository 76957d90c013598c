//! Comparisons of rows, `(a, b) < (1, 2)`, written out column by column.
//!
//! The planner compares rows as it sorts them, where NULL is a value like others: to it
//! `(2, NULL) <> (2, 0)` is true, and `(NULL, 1) < (2, 0)` as well.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};
use tonnage::{Error, Result};

use super::call::arguments;

/// Of more rows than these the expression would be too long.
pub(super) const LISTED_MAX: usize = 1_000;

/// Writes out a comparison of rows.
pub(super) fn write_out(expr: &mut Expr) -> Result<()> {
    let written = match expr {
        Expr::BinaryOp { left, op, right } => compare_rows(left, op, right)?,
        Expr::Between { expr: row, negated, low, high } => {
            let from = compare_rows(row, &BinaryOperator::GtEq, low)?;
            let to = compare_rows(row, &BinaryOperator::LtEq, high)?;
            from.zip(to).map(|(from, to)| turned(both(nested(from), nested(to)), *negated))
        }
        Expr::InList { expr: row, list, negated } if list.len() <= LISTED_MAX => {
            let equal = list.iter().map(|listed| compare_rows(row, &BinaryOperator::Eq, listed));
            let equal = equal.collect::<Result<Option<Vec<Expr>>>>()?;
            equal.and_then(any).map(|any| turned(any, *negated))
        }
        _ => None,
    };
    if let Some(written) = written {
        *expr = nested(written);
    }
    Ok(())
}

/// Whether an expression compares rows.
pub(super) fn is_comparison(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryOp { left: row, .. }
        | Expr::Between { expr: row, .. }
        | Expr::InList { expr: row, .. } => parts(row).is_some(),
        _ => false,
    }
}

/// The values of a row.
pub(super) fn parts(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::Tuple(parts) => Some(parts.iter().collect()),
        Expr::Nested(inner) => parts(inner),
        _ => arguments(expr).filter(|(name, _)| name == "row").map(|(_, parts)| parts),
    }
}

fn compare_rows(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Option<Expr>> {
    // Values before the last must differ to decide: only the last position may be equal and still
    // hold.
    let strict = match op {
        BinaryOperator::Lt | BinaryOperator::LtEq => BinaryOperator::Lt,
        BinaryOperator::Gt | BinaryOperator::GtEq => BinaryOperator::Gt,
        BinaryOperator::Eq | BinaryOperator::NotEq => op.clone(),
        _ => return Ok(None),
    };
    let (Some(left), Some(right)) = (parts(left), parts(right)) else { return Ok(None) };
    if left.len() != right.len() {
        return Err(Error::invalid(format!(
            "a row of {} values is compared with one of {}",
            left.len(),
            right.len()
        )));
    }
    let pair = |place: usize, op: &BinaryOperator| {
        binary(left[place].clone(), op.clone(), right[place].clone())
    };
    let places = 0..left.len();
    Ok(match op {
        BinaryOperator::Eq => places.map(|place| pair(place, op)).reduce(both),
        BinaryOperator::NotEq => places.map(|place| pair(place, op)).reduce(either),
        // The first values that differ decide.
        _ => places.rev().fold(None, |behind: Option<Expr>, place| {
            Some(match behind {
                None => pair(place, op),
                Some(behind) => either(
                    pair(place, &strict),
                    both(pair(place, &BinaryOperator::Eq), nested(behind)),
                ),
            })
        }),
    })
}

/// Whether one of them holds, not deeper than need be.
pub(super) fn any(mut conditions: Vec<Expr>) -> Option<Expr> {
    while conditions.len() > 1 {
        let mut ones = conditions.into_iter();
        conditions = std::iter::from_fn(|| {
            let one = ones.next()?;
            Some(match ones.next() {
                Some(other) => either(one, other),
                None => one,
            })
        })
        .collect();
    }
    conditions.pop()
}

pub(super) fn both(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::And, right)
}

pub(super) fn either(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::Or, right)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

pub(super) fn turned(condition: Expr, negated: bool) -> Expr {
    match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(condition)) },
        false => condition,
    }
}

pub(super) fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parsed;
    use super::*;

    #[test]
    fn rows_are_compared_column_by_column() {
        for (text, expected) in [
            ("(a, b) = (1, 2)", "(a = 1 AND b = 2)"),
            ("(a, b) <> (1, 2)", "(a <> 1 OR b <> 2)"),
            ("(a, b, c) >= ROW(1, 2, 3)", "(a > 1 OR a = 1 AND (b > 2 OR b = 2 AND (c >= 3)))"),
            (
                "(a, b) BETWEEN (1, 2) AND (3, 4)",
                "((a > 1 OR a = 1 AND (b >= 2)) AND (a < 3 OR a = 3 AND (b <= 4)))",
            ),
            ("(a, b) NOT IN ((1, 2), (3, 4))", "(NOT (a = 1 AND b = 2 OR a = 3 AND b = 4))"),
            ("a = (1)", "a = (1)"),
        ] {
            let mut expr = parsed(text).unwrap();
            write_out(&mut expr).unwrap();
            assert_eq!(expr.to_string(), expected);
        }
        assert!(write_out(&mut parsed("(a, b) = (1, 2, 3)").unwrap()).is_err());
    }
}
