//! Member names that are computed: `doc -> name`.
//!
//! The literal `'$.a'` is a path, which is split before planning. A computed value that looks like
//! a path would be taken for a member name, and nothing would be found. It is refused at run time.

use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::functions::json_key;

/// An expression whose parts are done.
pub(super) fn check_json_keys(mut part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut part else {
        return Transformed::no(part);
    };
    let name = func.name();
    if !name.starts_with("json_get") && !matches!(name, "json_as_text" | "json_length") {
        return Transformed::no(part);
    }
    let mut is_changed = false;
    for key in args.iter_mut().skip(1).filter(|key| may_be_path(key, schema)) {
        *key = json_key(std::mem::take(key));
        is_changed = true;
    }
    if is_changed { Transformed::yes(part) } else { Transformed::no(part) }
}

fn may_be_path(key: &Expr, schema: &DFSchema) -> bool {
    match key {
        Expr::Literal(value, _) => value.data_type().is_list(),
        Expr::ScalarFunction(call) if call.func.name() == "_json_key" => false,
        key => key.get_type(schema).is_ok_and(|kind| kind.is_string() || kind.is_list()),
    }
}
