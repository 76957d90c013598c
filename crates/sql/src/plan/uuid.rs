//! UUIDs and text. Text that is compared with a UUID stands for the UUID that it spells. A UUID as
//! text is its spelling.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Between, BinaryExpr, Cast, Expr, ExprSchemable, binary_expr};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use tonnage::{ColumnType, Value};

use crate::functions::{UUID, uuid_text};
use crate::text::distinct_operator;

/// Spells comparisons while they are planned: their types are looked at before any rule runs.
#[derive(Debug)]
pub(crate) struct UuidPlanner;

impl ExprPlanner for UuidPlanner {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, StringConcat};
        let RawBinaryExpr { op, left, right } = expr;
        if let Some(op) = distinct_operator(&op) {
            let (left, right) = with_uuid_literals(left, right, schema);
            return Ok(PlannerResult::Planned(binary_expr(left, op, right)));
        }
        let (left, right) = match &op {
            Eq | NotEq | Gt | GtEq | Lt | LtEq => with_uuid_literals(left, right, schema),
            StringConcat => (text_if_uuid(left, schema), text_if_uuid(right, schema)),
            _ => (left, right),
        };
        Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
    }
}

fn text_if_uuid(expr: Expr, schema: &DFSchema) -> Expr {
    if is_uuid(&expr, schema) { uuid_text(expr) } else { expr }
}

/// Two sides of a comparison, a UUID beside text made of it.
fn with_uuid_literals(left: Expr, right: Expr, schema: &DFSchema) -> (Expr, Expr) {
    match (is_uuid(&left, schema), is_uuid(&right, schema)) {
        (true, false) => (left, uuid_literal(right)),
        (false, true) => (uuid_literal(left), right),
        _ => (left, right),
    }
}

/// An expression whose parts are done.
pub(super) fn rewrite_uuids(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match expr {
        // `UuidPlanner` has seen these, but not the values of parameters, which come after it.
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            let (left, right) = with_uuid_literals(*left, *right, schema);
            Transformed::yes(binary_expr(left, op, right))
        }
        Expr::InList(list) if is_uuid(&list.expr, schema) => {
            Transformed::yes(Expr::InList(InList {
                list: list.list.into_iter().map(uuid_literal).collect(),
                ..list
            }))
        }
        Expr::Between(between) if is_uuid(&between.expr, schema) => {
            Transformed::yes(Expr::Between(Between {
                low: Box::new(uuid_literal(*between.low)),
                high: Box::new(uuid_literal(*between.high)),
                ..between
            }))
        }
        Expr::Cast(Cast { expr, field })
            if is_text(field.data_type()) && is_uuid(&expr, schema) =>
        {
            // Arrow has no cast from 16 bytes to text.
            Transformed::yes(uuid_text(*expr))
        }
        other => Transformed::no(other),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_uuid(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr, Expr::Column(_) | Expr::ScalarFunction(_) | Expr::Cast(_))
        && expr.get_type(schema).is_ok_and(|data_type| data_type == UUID)
}

fn uuid_literal(expr: Expr) -> Expr {
    let Expr::Literal(ScalarValue::Utf8(Some(text)), metadata) = &expr else { return expr };
    match Value::parse(text, ColumnType::Uuid) {
        Ok(Value::Uuid(bytes)) => {
            Expr::Literal(ScalarValue::FixedSizeBinary(16, Some(bytes.to_vec())), metadata.clone())
        }
        _ => expr,
    }
}
