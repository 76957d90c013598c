//! BINARY(16) in expressions that give one of several values.
//!
//! Such an expression keeps the type alone, and 16 bytes without a mark are a UUID.

use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Case, Expr, ExprSchemable};
use tonnage::ColumnType;

use crate::functions::{UUID, sixteen_bytes};

/// Functions that give one of their arguments.
const CHOOSING: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// An expression whose parts are done.
pub(super) fn keep_mark(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let values: Vec<&Expr> = match &part {
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let results = when_then_expr.iter().map(|(_, then)| then.as_ref());
            results.chain(else_expr.as_deref()).collect()
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if CHOOSING.contains(&func.name()) => {
            args.iter().collect()
        }
        _ => return Transformed::no(part),
    };
    let is_marked = values.into_iter().any(|value| is_sixteen_bytes(value, schema));
    if !is_marked || part.get_type(schema).ok() != Some(UUID) {
        return Transformed::no(part);
    }
    let name = part.schema_name().to_string();
    Transformed::yes(sixteen_bytes(part).alias(name))
}

fn is_sixteen_bytes(value: &Expr, schema: &DFSchema) -> bool {
    value
        .to_field(schema)
        .is_ok_and(|(_, field)| ColumnType::of_arrow(&field) == Some(ColumnType::FixedBinary(16)))
}
