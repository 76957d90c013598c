//! Regular expressions that the planner must leave alone.
//!
//! Upstream: no issue known: docs/upstream/regular-expressions-as-like.md. Gone in: open
//!
//! The planner makes LIKE of a pattern that is plain text, and takes a backslash of that text as
//! the escape of LIKE: `s ~ 'a\\c'` was `s LIKE '%a\c%'`, which finds `ac`. It leaves a pattern in
//! a group as it is.

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// What a backslash that is meant as such is written with.
const BACKSLASHES: [&str; 4] = [r"\\", r"\x", r"\u", r"\U"];

/// A test of a text whose pattern has backslashes, with the pattern in a group.
pub(crate) fn protect_pattern(mut part: Expr) -> Transformed<Expr> {
    let changed = match &mut part {
        Expr::BinaryExpr(BinaryExpr {
            op:
                Operator::RegexMatch
                | Operator::RegexIMatch
                | Operator::RegexNotMatch
                | Operator::RegexNotIMatch,
            right,
            ..
        }) => group_pattern(right),
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "regexp_like" => {
            args.get_mut(1).is_some_and(group_pattern)
        }
        _ => false,
    };
    if changed { Transformed::yes(part) } else { Transformed::no(part) }
}

fn group_pattern(pattern: &mut Expr) -> bool {
    let Expr::Literal(ScalarValue::Utf8(Some(text)), _) = pattern else { return false };
    let is_meant = BACKSLASHES.iter().any(|written| text.contains(written));
    if is_meant {
        *text = format!("({text})");
    }
    is_meant
}
