//! `m[k]` of a map whose keys have another type than `k`.
//!
//! The library compares both as they are. Whole numbers of two sizes are an error, and lists as
//! keys a panic (DataFusion 55). `map_extract` handles such keys.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_nested::expr_fn::{array_element, map_extract};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, TryCast, lit};

/// An expression whose parts are done.
pub(super) fn rewrite_map_lookup(mut part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut part else {
        return Ok(Transformed::no(part));
    };
    let [map, key] = args.as_mut_slice() else { return Ok(Transformed::no(part)) };
    if func.name() != "get_field" {
        return Ok(Transformed::no(part));
    }
    let Ok(DataType::Map(entries, _)) = map.get_type(schema) else {
        return Ok(Transformed::no(part));
    };
    let DataType::Struct(fields) = entries.data_type() else { return Ok(Transformed::no(part)) };
    let Some(of_keys) = fields.first().map(|field| field.data_type().clone()) else {
        return Ok(Transformed::no(part));
    };
    if of_keys.is_nested() {
        let found = map_extract(std::mem::take(map), std::mem::take(key));
        return Ok(Transformed::yes(array_element(found, lit(1_i64))));
    }
    let of_key = key.get_type(schema)?;
    if of_key == of_keys || !of_key.is_integer() || !of_keys.is_integer() {
        return Ok(Transformed::no(part));
    }
    // A key that is too great for the type is none of the map's.
    *key = Expr::TryCast(TryCast::new(Box::new(std::mem::take(key)), of_keys));
    Ok(Transformed::yes(part))
}
