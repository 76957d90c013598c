//! UUIDs written as text: compared with a column of UUIDs, text stands for the UUID that it spells.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use tonnage::{ColumnType, Value};

use arrow::datatypes::DataType;

/// Runs before types are brought together, which would take the letters of the text for the bytes of the UUID.
#[derive(Debug)]
pub(crate) struct UuidRule;

impl AnalyzerRule for UuidRule {
    fn name(&self) -> &str {
        "uuid_text"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let analyzed = plan.transform_up_with_subqueries(|node| {
            let schema = merge_schema(&node.inputs());
            let schema = if let LogicalPlan::TableScan(scan) = &node { scan.projected_schema.as_ref().clone() } else { schema };
            node.map_expressions(|expr| expr.transform_up(|part| Ok(spelled(part, &schema))))
        })?;
        Ok(analyzed.data)
    }
}

fn spelled(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            let (left, right) = match (is_uuid(&left, schema), is_uuid(&right, schema)) {
                (true, false) => (left, Box::new(uuid(*right))),
                (false, true) => (Box::new(uuid(*left)), right),
                _ => (left, right),
            };
            Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
        }
        Expr::InList(list) if is_uuid(&list.expr, schema) => {
            Transformed::yes(Expr::InList(InList { list: list.list.into_iter().map(uuid).collect(), ..list }))
        }
        Expr::Between(between) if is_uuid(&between.expr, schema) => Transformed::yes(Expr::Between(Between {
            low: Box::new(uuid(*between.low)),
            high: Box::new(uuid(*between.high)),
            ..between
        })),
        other => Transformed::no(other),
    }
}

fn is_uuid(expr: &Expr, schema: &DFSchema) -> bool {
    let Expr::Column(column) = expr else { return false };
    schema.field_from_column(column).is_ok_and(|field| *field.data_type() == DataType::FixedSizeBinary(16))
}

fn uuid(expr: Expr) -> Expr {
    let Expr::Literal(ScalarValue::Utf8(Some(text)), metadata) = &expr else { return expr };
    match Value::parse(text, ColumnType::Uuid) {
        Ok(Value::Uuid(bytes)) => Expr::Literal(ScalarValue::FixedSizeBinary(16, Some(bytes.to_vec())), metadata.clone()),
        _ => expr,
    }
}
