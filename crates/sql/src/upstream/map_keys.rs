//! `m[k]` of a map whose keys have another type than `k`.
//!
//! Upstream: no issue known: docs/upstream/map-keys.md. Gone in: open
//!
//! The library compares both as they are. It fails for whole numbers of two sizes, and for nested
//! keys (DataFusion 55). `map_extract` handles the latter.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_nested::expr_fn::{array_element, map_extract};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, TryCast, lit};

/// An expression whose parts are done.
pub(crate) fn rewrite_map_lookup(mut part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{Field, Schema};
    use datafusion::functions::core::get_field;
    use datafusion::logical_expr::col;

    use super::*;

    /// The lookup of a LONG in a map whose keys have this type.
    fn lookup_in(of_keys: DataType) -> Transformed<Expr> {
        let key = Field::new("key", of_keys, false);
        let value = Field::new("value", DataType::Utf8, true);
        let entries = Field::new("entries", DataType::Struct(vec![key, value].into()), false);
        let map = Field::new("m", DataType::Map(Arc::new(entries), false), true);
        let schema = Schema::new(vec![map, Field::new("k", DataType::Int64, true)]);
        let schema = DFSchema::try_from(schema).unwrap();
        rewrite_map_lookup(get_field().call(vec![col("m"), col("k")]), &schema).unwrap()
    }

    #[test]
    fn keys_of_another_type_are_looked_up_by_their_values() {
        let lists = DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)));
        let found = lookup_in(lists).data.to_string();
        assert!(found.contains("map_extract(m, k)"), "{found}");
        let found = lookup_in(DataType::Int32).data.to_string();
        assert!(found.contains("TRY_CAST(k AS Int32)"), "{found}");
        for same in [DataType::Int64, DataType::Utf8] {
            assert!(!lookup_in(same).transformed);
        }
    }
}
