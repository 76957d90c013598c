//! Expressions written as text, with places for others: `$1 - $2`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Value, ValueWithSpan};
use datafusion::sql::sqlparser::parser::Parser;
use tonnage::{Error, Result};

use super::dialect::OwnDialect;
use super::walk::{Rewriter, walk_mut};

/// Puts arguments into the places `$1`, `$2` and so on.
pub(super) fn fill(meaning: &mut Expr, given: &[&Expr]) {
    let _ = walk_mut(meaning, &mut Places(given));
}

/// An expression as it is written.
pub(super) fn parsed(text: &str) -> Result<Expr> {
    let dialect = OwnDialect::default();
    let expr = Parser::new(&dialect).try_with_sql(text).and_then(|mut parser| parser.parse_expr());
    expr.map_err(|error| Error::internal(format!("'{text}' is no expression: {error}")))
}

/// Puts arguments into the places for them.
struct Places<'a>(&'a [&'a Expr]);

impl Rewriter for Places<'_> {
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) = expr
            && let Some(place) =
                name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok())
            && let Some(argument) = place.checked_sub(1).and_then(|place| self.0.get(place))
        {
            *expr = nested((*argument).clone());
        }
        ControlFlow::Continue(())
    }
}

/// An argument in parentheses, where operators around it would take it apart.
fn nested(argument: Expr) -> Expr {
    match argument {
        Expr::BinaryOp { .. } => Expr::Nested(Box::new(argument)),
        argument => argument,
    }
}
