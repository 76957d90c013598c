//! Expressions written as text, with placeholders for others: `$1 - $2`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Value, ValueWithSpan};
use datafusion::sql::sqlparser::parser::Parser;
use tonnage::{Error, Result};

use super::dialect::OwnDialect;
use super::walk::{Looker, Rewriter, walk, walk_mut};

/// Functions that give another value at each call.
pub(crate) const VOLATILE: [&str; 4] = ["random", "rand", "uuid", "gen_random_uuid"];

/// Replaces the placeholders `$1`, `$2` and so on.
///
/// # Errors
/// `Unsupported` for an argument that differs each time and is used several times.
pub(super) fn fill(meaning: &mut Expr, given: &[&Expr]) -> Result<()> {
    let mut places = ArgumentFiller { given, filled: vec![0; given.len()] };
    walk_mut(meaning, &mut places)?;
    let twice =
        given.iter().zip(places.filled).find(|(given, count)| *count > 1 && is_volatile(given));
    match twice {
        Some((given, _)) => Err(Error::unsupported(format!(
            "{given} differs each time, and would be computed twice here: compute it in a subquery of FROM"
        ))),
        None => Ok(()),
    }
}

/// Whether a value is another one each time it is computed.
fn is_volatile(expr: &Expr) -> bool {
    struct VolatileCalls(bool);
    impl Looker for VolatileCalls {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
            if let Expr::Function(function) = expr {
                let name = function.name.to_string();
                self.0 |= VOLATILE.iter().any(|known| known.eq_ignore_ascii_case(&name));
            }
            ControlFlow::Continue(())
        }
    }
    let mut calls = VolatileCalls(false);
    let _ = walk(expr, &mut calls);
    calls.0
}

/// An expression as it is written.
pub(super) fn parsed(text: &str) -> Result<Expr> {
    let dialect = OwnDialect::default();
    let expr = Parser::new(&dialect).try_with_sql(text).and_then(|mut parser| parser.parse_expr());
    expr.map_err(|error| Error::internal(format!("'{text}' is not an expression: {error}")))
}

/// Replaces placeholders by arguments.
struct ArgumentFiller<'a> {
    given: &'a [&'a Expr],
    /// How often each was put in.
    filled: Vec<usize>,
}

impl Rewriter for ArgumentFiller<'_> {
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) = expr
            && let Some(place) =
                name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok())
            && let Some(place) = place.checked_sub(1)
            && let Some(argument) = self.given.get(place)
        {
            self.filled[place] += 1;
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
