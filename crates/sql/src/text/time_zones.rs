//! `timestamp AT TIME ZONE zone` as a call.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value,
};

use super::call::call;

/// What the function is called (`functions/time_zones.rs`).
const NAME: &str = "_at_time_zone";
/// Functions that give a timestamp, though their type has no zone.
const MOMENTS: [&str; 2] = ["now", "current_timestamp"];

/// The call for `timestamp AT TIME ZONE zone`.
pub(super) fn at_time_zone(timestamp: Expr, zone: Expr) -> Expr {
    // Without its zone it would be taken for what a clock shows.
    let timestamp = match is_moment(&timestamp) {
        true => call(NAME, [timestamp, Expr::value(Value::SingleQuotedString("UTC".to_owned()))]),
        false => timestamp,
    };
    call(NAME, [timestamp, zone])
}

/// Whether a value is `now()`, or is built from it by adding intervals and cutting digits.
fn is_moment(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_moment(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_moment(left) || is_moment(right)
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_ascii_lowercase();
            let last = match &function.args {
                FunctionArguments::List(list) => list.args.last(),
                _ => None,
            };
            let cuts = || {
                name == "date_trunc"
                    && matches!(last, Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(cut)))
                        if is_moment(cut))
            };
            MOMENTS.contains(&name.as_str()) || cuts()
        }
        _ => false,
    }
}
