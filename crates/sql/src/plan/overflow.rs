//! Overflow of whole numbers and decimals as an error.
//!
//! The operators of plans wrap around. So additions, subtractions and multiplications of whole
//! numbers, and of decimals that may get too many digits, become calls of functions that check.
//! This happens after type coercion.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Datum};
use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type,
    Field, FieldRef,
};
use arrow::error::ArrowError;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::logical_expr_common::type_coercion::binary::BinaryTypeCoercer;
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr_common::datum::apply;

use super::named_expressions::map_named;
use super::{doubles, intervals};

/// Runs after types are brought together.
#[derive(Debug)]
pub(crate) struct OverflowRule;

impl AnalyzerRule for OverflowRule {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|node| {
            if matches!(node, LogicalPlan::Limit(_)) {
                return Ok(Transformed::no(node));
            }
            let schema = match &node {
                LogicalPlan::TableScan(scan) => scan.projected_schema.as_ref().clone(),
                node => merge_schema(&node.inputs()),
            };
            let node = map_named(node, |expr| {
                expr.transform_up(|part| {
                    check_arithmetic(part, &schema)
                        .transform_data(|part| Ok(doubles::canonicalise_result(part, &schema)))?
                        .transform_data(|part| Ok(intervals::rewrite_duration_cast(part, &schema)))
                })
            })?;
            let node =
                if node.transformed { node.map_data(LogicalPlan::recompute_schema)? } else { node };
            node.transform_data(doubles::canonicalise_sums)
        });
        rewritten.map(|rewritten| rewritten.data)
    }
}

fn check_arithmetic(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    // A narrower type of a decimal result holds all its results: the planner has widened it.
    let may_overflow = |expr: &Expr| match expr.get_type(schema) {
        Ok(DataType::Decimal128(precision, _)) => precision == DECIMAL128_MAX_PRECISION,
        Ok(DataType::Decimal256(precision, _)) => precision == DECIMAL256_MAX_PRECISION,
        Ok(data_type) => data_type.is_integer(),
        Err(_) => false,
    };
    let call = |op, args| {
        let func = ScalarUDF::new_from_impl(CheckedArithmetic {
            op,
            signature: Signature::any(2, Volatility::Immutable),
        });
        Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: func.into(), args }))
    };
    match &part {
        Expr::BinaryExpr(BinaryExpr {
            op: Operator::Plus | Operator::Minus | Operator::Multiply,
            ..
        }) if may_overflow(&part) => {
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part else {
                unreachable!("just seen")
            };
            call(op, vec![*left, *right])
        }
        Expr::Negative(inner) if !matches!(inner.as_ref(), Expr::Literal(..)) => match inner
            .get_type(schema)
        {
            Ok(data_type) if data_type.is_integer() => match ScalarValue::new_zero(&data_type) {
                // The least number has no opposite: a subtraction from zero finds that out.
                Ok(zero) => {
                    call(Operator::Minus, vec![Expr::Literal(zero, None), inner.as_ref().clone()])
                }
                Err(_) => Transformed::no(part),
            },
            _ => Transformed::no(part),
        },
        _ => Transformed::no(part),
    }
}

/// An operator that looks whether its result fits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedArithmetic {
    op: Operator,
    signature: Signature,
}

impl ScalarUDFImpl for CheckedArithmetic {
    fn name(&self) -> &str {
        match self.op {
            Operator::Plus => "checked_add",
            Operator::Minus => "checked_subtract",
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
                _ => mul,
            };
        apply(left, right, |left, right| {
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
        })
    }
}
