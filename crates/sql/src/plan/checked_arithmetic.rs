//! Arithmetic that fails where its result does not fit, and where it divides by zero. The error shows
//! the expression: `t.a / (t.b - 1)`.

use std::fmt::{self, Display, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Datum};
use arrow::compute::kernels::numeric::{add, div, mul, rem, sub};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, Field, FieldRef};
use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use datafusion::logical_expr_common::type_coercion::binary::BinaryTypeCoercer;
use datafusion::physical_expr_common::datum::apply;
use tonnage::Error;

use crate::errors::{in_sql, into_datafusion};

/// An operation that is checked.
pub(super) fn checked(left: Expr, op: Operator, right: Expr) -> Expr {
    let shown = format!("{} {op} {}", side(&left), side(&right));
    call(left, op, right, shown)
}

/// Zero less a value: the least number has no opposite, which a subtraction finds out.
pub(super) fn checked_opposite(zero: Expr, value: Expr) -> Expr {
    let shown = format!("-{}", side(&value));
    call(zero, Operator::Minus, value, shown)
}

fn call(left: Expr, op: Operator, right: Expr, shown: String) -> Expr {
    let func = ScalarUDF::new_from_impl(CheckedArithmetic {
        op,
        divisor: side(&right),
        shown,
        signature: Signature::any(2, Volatility::Immutable),
    });
    Expr::ScalarFunction(ScalarFunction { func: func.into(), args: vec![left, right] })
}

/// An operator that looks whether its result fits.
#[derive(Debug)]
struct CheckedArithmetic {
    op: Operator,
    /// The right side as errors show it.
    divisor: String,
    /// Both sides as errors show them.
    shown: String,
    signature: Signature,
}

/// The same work on the same arguments is done once, however it was written.
impl PartialEq for CheckedArithmetic {
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op
    }
}

impl Eq for CheckedArithmetic {}

impl Hash for CheckedArithmetic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.op.hash(state);
    }
}

impl CheckedArithmetic {
    /// What went wrong, where, and what to do.
    fn told(&self, error: ArrowError, left: &DataType, right: &DataType) -> DataFusionError {
        let Self { divisor, shown, .. } = self;
        let message = match error {
            // Nobody writes nullif(0, 0).
            ArrowError::DivideByZero if divisor == "0" => {
                format!("division by zero in {shown}: the result would be no number")
            }
            ArrowError::DivideByZero => format!(
                "division by zero in {shown}: write nullif({}, 0), which makes the result NULL there",
                divisor
                    .strip_prefix('(')
                    .and_then(|inner| inner.strip_suffix(')'))
                    .unwrap_or(divisor)
            ),
            ArrowError::ArithmeticOverflow(what) => {
                let what = what.trim_start_matches("Overflow happened on: ");
                let kind = in_sql(
                    &self
                        .return_type(&[left.clone(), right.clone()])
                        .map_or_else(|_| "its type".to_owned(), |kind| kind.to_string()),
                );
                format!(
                    "overflow in {shown}: {what} is out of range for {kind}; cast a side to NUMBER(38, 0) or DOUBLE"
                )
            }
            // Of a decimal it names the number and its digits.
            error => format!(
                "overflow in {shown}: {}; cast a side to DOUBLE",
                in_sql(error.to_string().trim_start_matches("Invalid argument error: "))
            ),
        };
        into_datafusion(Error::invalid(message))
    }
}

impl ScalarUDFImpl for CheckedArithmetic {
    fn name(&self) -> &str {
        match self.op {
            Operator::Plus => "checked_add",
            Operator::Minus => "checked_subtract",
            Operator::Divide => "checked_divide",
            Operator::Modulo => "checked_modulo",
            _ => "checked_multiply",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [left, right] => BinaryTypeCoercer::new(left, &self.op, right).get_result_type(),
            _ => exec_err!("{} takes two arguments", self.name()),
        }
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> =
            arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = arguments.args.as_slice() else {
            return exec_err!("{} takes two arguments", self.name());
        };
        // These fail where whole numbers overflow. Those of plans, such as `add_wrapping`, do not.
        let kernel: fn(&dyn Datum, &dyn Datum) -> std::result::Result<ArrayRef, ArrowError> =
            match self.op {
                Operator::Plus => add,
                Operator::Minus => sub,
                Operator::Divide => div,
                Operator::Modulo => rem,
                _ => mul,
            };
        let result = apply(left, right, |left, right| {
            let result = kernel(left, right)?;
            // The kernels of decimals see when the bits overflow, not when the digits do.
            match result.data_type() {
                DataType::Decimal128(precision, _) => {
                    result
                        .as_primitive::<Decimal128Type>()
                        .validate_decimal_precision(*precision)?;
                }
                DataType::Decimal256(precision, _) => {
                    result
                        .as_primitive::<Decimal256Type>()
                        .validate_decimal_precision(*precision)?;
                }
                _ => {}
            }
            Ok(result)
        });
        result.map_err(|error| match error {
            DataFusionError::ArrowError(error, _) => {
                self.told(*error, &left.data_type(), &right.data_type())
            }
            error => error,
        })
    }
}

/// A chain of a thousand additions holds one text for each: they must be short.
const CHARS_MAX: usize = 80;

/// One side of an operator. Whether it is cast is left out: the planner casts most sides itself.
fn side(expr: &Expr) -> String {
    match expr {
        Expr::Cast(Cast { expr, .. }) => side(expr),
        Expr::ScalarFunction(call) => match call.func.inner().downcast_ref::<CheckedArithmetic>() {
            Some(arithmetic) => format!("({})", shortened(&arithmetic.shown)),
            None => in_sql(&shortened(expr)),
        },
        Expr::BinaryExpr(_) => format!("({})", in_sql(&shortened(expr))),
        _ => in_sql(&shortened(expr)),
    }
}

/// The beginning of a text, which is not made beyond it.
fn shortened(what: &dyn Display) -> String {
    struct Beginning(String);
    impl Write for Beginning {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = CHARS_MAX.saturating_sub(self.0.chars().count());
            self.0.extend(text.chars().take(room));
            // An error ends the writing.
            if text.chars().nth(room).is_some() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut beginning = Beginning(String::new());
    match write!(beginning, "{what}") {
        Ok(()) => beginning.0,
        Err(_) => beginning.0 + "...",
    }
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{col, lit};

    use super::*;

    #[test]
    fn types_and_casts_do_not_show() {
        let cast = Expr::Cast(Cast::new(Box::new(col("t.b")), DataType::Int64));
        let inner = checked(lit(5_i64), Operator::Divide, cast);
        assert_eq!(side(&inner), "(5 / t.b)");
        assert_eq!(side(&checked(inner, Operator::Multiply, col("b"))), "((5 / t.b) * b)");
    }

    #[test]
    fn a_long_chain_is_cut() {
        let chain = (0..500).fold(col("a"), |chain, _| chain + lit(1_i64));
        let shown = side(&chain);
        assert!(shown.starts_with("(a + 1 + 1") && shown.ends_with("...)"), "{shown}");
        assert!(shown.chars().count() <= CHARS_MAX + "(...)".len(), "{shown}");
    }
}
