//! Casts of text, and `length`, where the library gives an unexpected answer.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, not_impl_err};
use datafusion::functions_nested::expr_fn::array_length;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, TryCast};

use crate::functions::{
    HEXADECIMAL, decimal_text, interval_text, is_leap, is_number, text_bytes, time_text,
};

/// Numbers in text are seconds of an interval and no time, and may have exponents. `length` of a
/// list counts its items. What would give another answer is refused.
pub(super) fn rewrite_cast(mut part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_tried = matches!(part, Expr::TryCast(_));
    match &mut part {
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field }) => {
            if !expr.get_type(schema).is_ok_and(|kind| kind.is_string()) {
                return Ok(Transformed::no(part));
            }
            let kind = field.data_type();
            // The library would make a list of one item, the text.
            if kind.is_list() {
                return not_impl_err!(
                    "a cast of text to a list: write string_to_array(text, ',') for parts of a text"
                );
            }
            if is_plain(expr, kind) {
                return Ok(Transformed::no(part));
            }
            **expr = match kind {
                DataType::Time32(_) | DataType::Time64(_) => {
                    time_text(expr.as_ref().clone(), is_tried)
                }
                kind if kind.is_decimal() => decimal_text(expr.as_ref().clone()),
                DataType::Interval(_) => interval_text(expr.as_ref().clone()),
                DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                    text_bytes(expr.as_ref().clone(), is_tried)
                }
                _ => return Ok(Transformed::no(part)),
            };
            Ok(Transformed::yes(part))
        }
        // The library would count the letters of the list as text.
        Expr::ScalarFunction(call) if call.func.name() == "character_length" => {
            match call.args.first().map(|list| list.get_type(schema)) {
                Some(Ok(kind)) if kind.is_list() && call.args.len() == 1 => {
                    Ok(Transformed::yes(array_length(call.args.remove(0))))
                }
                _ => Ok(Transformed::no(part)),
            }
        }
        _ => Ok(Transformed::no(part)),
    }
}

/// Whether text is written down, and not in digits that mean something else to the library.
fn is_plain(expr: &Expr, kind: &DataType) -> bool {
    let Expr::Literal(scalar, _) = expr else { return false };
    let is_odd = |text: &str| match kind {
        kind if kind.is_decimal() => text.contains(['e', 'E']),
        kind if kind.is_binary() => text.starts_with(HEXADECIMAL),
        DataType::Time32(_) | DataType::Time64(_) => is_number(text) || is_leap(text),
        _ => is_number(text) || text.contains('.'),
    };
    scalar.try_as_str().flatten().is_some_and(|text| !is_odd(text))
}
