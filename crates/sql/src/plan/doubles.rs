//! Doubles in canonical form: zero without a sign, and one NaN.
//!
//! Plans order and group doubles by their bits. These distinguish `-0.0` from `0.0`, and put a NaN
//! with a sign below all numbers. Stored doubles lose the sign when they are read. Computed ones
//! lose it here: after each operator, function and cast that may make one, and after sums.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, FieldRef, Float32Type, Float64Type};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, exec_err, plan_err};
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction, WindowFunction};
use datafusion::logical_expr::{
    BinaryExpr, Cast, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, Projection,
    ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TryCast, Volatility,
};

/// Functions that give one of their arguments, and so nothing new.
const CHOOSING: [&str; 7] = ["coalesce", "greatest", "least", "nullif", "nvl", "nvl2", NAME];
/// Aggregates that give one of their values.
const PICKING: [&str; 9] = [
    "min",
    "max",
    "first_value",
    "last_value",
    "nth_value",
    "lag",
    "lead",
    "any_value",
    "array_agg",
];
pub(crate) const NAME: &str = "_one_double";

/// An expression in canonical form, whose parts have it, after type coercion.
pub(super) fn canonicalise_result(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    if !may_be_odd(&expr, schema) || !expr.get_type(schema).is_ok_and(|kind| kind.is_floating()) {
        return Transformed::no(expr);
    }
    Transformed::yes(call_one_double(without_inner_calls(expr)))
}

/// Whether an expression may make a zero or a NaN with a sign out of parts that have none.
fn may_be_odd(expr: &Expr, schema: &DFSchema) -> bool {
    match expr {
        Expr::Negative(_) => true,
        Expr::BinaryExpr(BinaryExpr { op, .. }) => is_arithmetic(*op),
        Expr::Cast(Cast { expr, .. }) | Expr::TryCast(TryCast { expr, .. }) => {
            // A narrower double is one of the wider ones.
            let keeps = |kind: DataType| {
                kind.is_integer() || kind.is_decimal() || kind == DataType::Float32
            };
            !expr.get_type(schema).is_ok_and(keeps)
        }
        Expr::ScalarFunction(call) => {
            !CHOOSING.contains(&call.func.name()) && !call.func.name().starts_with('_')
        }
        _ => false,
    }
}

fn is_arithmetic(op: Operator) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(op, Plus | Minus | Multiply | Divide | Modulo)
}

/// `a + b + c` needs one look at its end. A divisor needs its own: it makes infinity.
fn without_inner_calls(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply) =>
        {
            let (left, right) =
                (Box::new(without_one_double(*left)), Box::new(without_one_double(*right)));
            Expr::BinaryExpr(BinaryExpr { left, op, right })
        }
        other => other,
    }
}

fn without_one_double(expr: Expr) -> Expr {
    match expr {
        Expr::ScalarFunction(mut call) if call.func.name() == NAME && call.args.len() == 1 => {
            call.args.remove(0)
        }
        other => other,
    }
}

fn call_one_double(expr: Expr) -> Expr {
    let func =
        ScalarUDF::new_from_impl(OneDouble { signature: Signature::any(1, Volatility::Immutable) });
    Expr::ScalarFunction(ScalarFunction { func: func.into(), args: vec![expr] })
}

/// A node with sums of doubles, which may be NaN, and above it what takes the sign off them.
pub(super) fn canonicalise_sums(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let made = match &node {
        LogicalPlan::Aggregate(node) => &node.aggr_expr,
        LogicalPlan::Window(node) => &node.window_expr,
        _ => return Ok(Transformed::no(node)),
    };
    let schema = node.schema().clone();
    // They follow all others.
    let before = schema.fields().len() - made.len();
    let is_sum = |place: usize| {
        place >= before
            && schema.field(place).data_type().is_floating()
            && made.get(place - before).is_some_and(is_computed)
    };
    if !(0..schema.fields().len()).any(is_sum) {
        return Ok(Transformed::no(node));
    }
    let column = |place: usize| {
        let (relation, field) = schema.qualified_field(place);
        let column = Expr::from((relation, field));
        match is_sum(place) {
            // Under its old name and table: the nodes above find the column by these.
            true => call_one_double(column).alias_qualified(relation.cloned(), field.name()),
            false => column,
        }
    };
    let columns = (0..schema.fields().len()).map(column).collect();
    let node = Projection::try_new(columns, Arc::new(node))?;
    Ok(Transformed::yes(LogicalPlan::Projection(node)))
}

/// Whether an aggregate reckons, and does not give one of the values.
fn is_computed(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_computed(&alias.expr),
        Expr::AggregateFunction(AggregateFunction { func, .. }) => !PICKING.contains(&func.name()),
        Expr::WindowFunction(function) => {
            let WindowFunction { fun, .. } = function.as_ref();
            !PICKING.contains(&fun.name())
        }
        _ => false,
    }
}

/// Takes the sign off zeros and NaNs.
pub(crate) fn canonicalise_doubles(array: &mut ArrayRef) {
    const ZERO: u64 = (-0.0_f64).to_bits();
    const NARROW_ZERO: u32 = (-0.0_f32).to_bits();
    match array.data_type() {
        // Odd values are rare: an array without them is not written anew. Adding 0.0 takes the sign
        // off a zero.
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            let is_odd = |value: &f64| {
                // By bits: as numbers the two zeros are equal, and a NaN does not equal itself.
                let bits = value.to_bits();
                bits == ZERO || value.is_nan() && bits != f64::NAN.to_bits()
            };
            if values.values().iter().any(is_odd) {
                *array = Arc::new(values.unary::<_, Float64Type>(|value| match value.is_nan() {
                    true => f64::NAN,
                    false => value + 0.0,
                }));
            }
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            let is_odd = |value: &f32| {
                let bits = value.to_bits();
                bits == NARROW_ZERO || value.is_nan() && bits != f32::NAN.to_bits()
            };
            if values.values().iter().any(is_odd) {
                *array = Arc::new(values.unary::<_, Float32Type>(|value| match value.is_nan() {
                    true => f32::NAN,
                    false => value + 0.0,
                }));
            }
        }
        _ => {}
    }
}

/// `_one_double(x)`: x in the one form that its value has.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OneDouble {
    signature: Signature,
}

impl ScalarUDFImpl for OneDouble {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [data_type] => Ok(data_type.clone()),
            _ => exec_err!("{NAME} takes one argument"),
        }
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        match arguments.arg_fields {
            [field] => Ok(field.clone()),
            _ => plan_err!("{NAME} takes one argument"),
        }
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.pop() {
            Some(ColumnarValue::Array(mut array)) => {
                canonicalise_doubles(&mut array);
                Ok(ColumnarValue::Array(array))
            }
            Some(ColumnarValue::Scalar(scalar)) => {
                let mut array = scalar.to_array()?;
                canonicalise_doubles(&mut array);
                let scalar = datafusion::common::ScalarValue::try_from_array(&array, 0)?;
                Ok(ColumnarValue::Scalar(scalar))
            }
            None => exec_err!("{NAME} takes one argument"),
        }
    }
}
