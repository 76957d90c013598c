//! Calls of list functions that the library answers wrongly for NULL.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};

use crate::functions::{holds_null, without_null};

/// An expression whose parts are done.
///
/// 1. NULL is no common item of two lists, as `&&` and `@>` of PostgreSQL have it.
/// 2. The mean of nothing but NULL is NULL, and a double.
/// 3. `concat` writes lists of a fixed length as others, not their items alone.
pub(super) fn without_null_items(mut part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match &mut part {
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.name() == "array_has_any" && args.len() == 2 && may_hold_null(&args[1]) =>
        {
            // One list without NULL is enough: a NULL of the other then finds no equal.
            let wanted = args.remove(1);
            args.push(without_null(wanted));
            Transformed::yes(part)
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.name() == "array_has_all" && args.len() == 2 && may_hold_null(&args[1]) =>
        {
            // PostgreSQL finds NULL in no list, not even in one that holds it.
            let has_none = !holds_null(args[1].clone());
            Transformed::yes(part.and(has_none))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.name() == "concat"
                && args.iter().any(|list| item_of(list, schema).is_some()) =>
        {
            for list in args.iter_mut() {
                if let Some(item) = item_of(list, schema) {
                    let list_type = DataType::List(item);
                    *list = Expr::Cast(Cast::new(Box::new(list.clone()), list_type));
                }
            }
            Transformed::yes(part)
        }
        Expr::AggregateFunction(AggregateFunction { func, params })
            if func.name() == "avg" && is_null(&params.args, schema) =>
        {
            let nothing = Box::new(params.args.remove(0));
            params.args.push(Expr::Cast(Cast::new(nothing, DataType::Float64)));
            Transformed::yes(part)
        }
        _ => Transformed::no(part),
    }
}

/// Whether NULL may be among the items: it is not among those that are written down without it.
fn may_hold_null(list: &Expr) -> bool {
    let is_value = |item: &Expr| matches!(item, Expr::Literal(value, _) if !value.is_null());
    match list {
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "make_array" => {
            !args.iter().all(is_value)
        }
        Expr::Literal(ScalarValue::List(list), _) => {
            let items = Arc::clone(list.values());
            items.logical_null_count() > 0
        }
        _ => true,
    }
}

/// What the items of a list of a fixed length are.
fn item_of(list: &Expr, schema: &DFSchema) -> Option<FieldRef> {
    match list.get_type(schema) {
        Ok(DataType::FixedSizeList(item, _)) => Some(item),
        _ => None,
    }
}

fn is_null(args: &[Expr], schema: &DFSchema) -> bool {
    matches!(args, [value] if value.get_type(schema).is_ok_and(|kind| kind.is_null()))
}
