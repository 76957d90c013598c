//! NULL within lists and records.
//!
//! There NULL is a value, greater than all others, as in PostgreSQL. To the library it is the least
//! value, and `NULLS FIRST` and `NULLS LAST` put it where a row without a list (DataFusion 55). So
//! comparisons and orders of such values are rewritten here.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, not_impl_err};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, ScalarFunction, Sort, WindowFunction,
};
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{
    Between, BinaryExpr, Cast, Distinct, Expr, ExprSchemable, LogicalPlan, Operator, lit,
};

use crate::functions::{comparison, extreme_of};

/// An expression whose parts are done.
pub(super) fn compare_nested(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_order(*op) => {
            match comparison_call(left, *op, right, schema) {
                Some(made) => return Ok(Transformed::yes(made)),
                None => return Ok(Transformed::no(expr)),
            }
        }
        Expr::Between(Between { expr: value, negated, low, high }) => {
            // The value is written twice: `casts::rewrite_cast` has refused one that differs each
            // time.
            let is_in = comparison_call(value, Operator::GtEq, low, schema).zip(comparison_call(
                value,
                Operator::LtEq,
                high,
                schema,
            ));
            let Some((low, high)) = is_in else { return Ok(Transformed::no(expr)) };
            let both = low.and(high);
            return Ok(Transformed::yes(if *negated { !both } else { both }));
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "greatest" | "least")
                && args.iter().any(|value| is_nested(value, schema)) =>
        {
            let is_max = func.name() == "greatest";
            match in_common_type(args, schema) {
                Some(values) => return Ok(Transformed::yes(extreme_of(values, is_max))),
                None => return Ok(Transformed::no(expr)),
            }
        }
        Expr::AggregateFunction(AggregateFunction { func, params })
            if matches!(func.name(), "min" | "max") && is_extreme(params, schema) =>
        {
            // The library's own `min` takes NULL within a record for the least.
            *params = first_value_params(
                std::mem::take(&mut params.args),
                params.filter.take(),
                func.name(),
            );
            *func = first_value_udaf();
        }
        Expr::AggregateFunction(AggregateFunction { params, .. }) => {
            if !rewrite_sort_keys(&mut params.order_by, schema) {
                return Ok(Transformed::no(expr));
            }
        }
        Expr::WindowFunction(function) => {
            let WindowFunction { fun, params } = function.as_mut();
            if matches!(fun.name(), "min" | "max")
                && params.args.iter().any(|value| is_record(value, schema))
            {
                return not_impl_err!(
                    "{} of records over windows: write first_value(x) OVER (ORDER BY x)",
                    fun.name()
                );
            }
            if !rewrite_sort_keys(&mut params.order_by, schema) {
                return Ok(Transformed::no(expr));
            }
        }
        _ => return Ok(Transformed::no(expr)),
    }
    Ok(Transformed::yes(expr))
}

/// A sort, or DISTINCT ON, by lists and records.
pub(super) fn sort_nested(node: LogicalPlan, schema: &DFSchema) -> LogicalPlan {
    match node {
        LogicalPlan::Sort(mut sort) => {
            rewrite_sort_keys(&mut sort.expr, schema);
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            if let Some(keys) = &mut distinct.sort_expr
                && rewrite_sort_keys(keys, schema)
            {
                // It names what the order begins with.
                distinct.on_expr = with_tests(distinct.on_expr, keys);
            }
            LogicalPlan::Distinct(Distinct::On(distinct))
        }
        node => node,
    }
}

/// The same groups, distinguished by whether there is a value as well where an order is by that.
fn with_tests(groups: Vec<Expr>, keys: &[Sort]) -> Vec<Expr> {
    let is_key = |test: &Expr| keys.iter().any(|key| key.expr == *test);
    let tested = |group: Expr| {
        let test = Some(group.clone().is_null()).filter(is_key);
        test.into_iter().chain([group])
    };
    groups.into_iter().flat_map(tested).collect()
}

/// Puts whether there is a value before each key that wants rows without one at the other end than
/// NULL within the key comes.
fn rewrite_sort_keys(keys: &mut Vec<Sort>, schema: &DFSchema) -> bool {
    let is_odd = |key: &Sort| key.nulls_first == key.asc && is_nested(&key.expr, schema);
    if !keys.iter().any(is_odd) {
        return false;
    }
    let mut made = Vec::with_capacity(keys.len() + 1);
    for mut key in keys.drain(..) {
        if is_odd(&key) {
            made.push(key.expr.clone().is_null().sort(!key.nulls_first, false));
            key.nulls_first = !key.asc;
        }
        made.push(key);
    }
    *keys = made;
    true
}

fn is_order(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

/// `_compare(a, b) < 0` for `a < b`.
fn comparison_call(left: &Expr, op: Operator, right: &Expr, schema: &DFSchema) -> Option<Expr> {
    if !is_nested(left, schema) && !is_nested(right, schema) {
        return None;
    }
    let values = in_common_type(&[left.clone(), right.clone()], schema)?;
    let [left, right] = <[Expr; 2]>::try_from(values).ok()?;
    let order = comparison(left, right);
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(order), op, Box::new(lit(0_i64)))))
}

/// Values in the type that they are compared in.
fn in_common_type(values: &[Expr], schema: &DFSchema) -> Option<Vec<Expr>> {
    let types = values.iter().map(|value| value.get_type(schema).ok());
    let types = types.collect::<Option<Vec<DataType>>>()?;
    let (first, others) = types.split_first()?;
    let common =
        others.iter().try_fold(first.clone(), |common, kind| comparison_coercion(&common, kind))?;
    let cast = |(value, kind): (&Expr, &DataType)| match *kind == common {
        true => value.clone(),
        false => Expr::Cast(Cast::new(Box::new(value.clone()), common.clone())),
    };
    Some(values.iter().zip(&types).map(cast).collect())
}

fn is_nested(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| {
        matches!(
            kind,
            DataType::List(_)
                | DataType::LargeList(_)
                | DataType::FixedSizeList(..)
                | DataType::Struct(_)
        )
    })
}

fn is_record(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| matches!(kind, DataType::Struct(_)))
}

fn is_extreme(params: &AggregateFunctionParams, schema: &DFSchema) -> bool {
    params.args.len() == 1 && is_record(&params.args[0], schema)
}

/// The least or greatest record as the first one in an order.
fn first_value_params(
    args: Vec<Expr>,
    filter: Option<Box<Expr>>,
    name: &str,
) -> AggregateFunctionParams {
    let is_least = name == "min";
    let there = args[0].clone().is_not_null();
    let filter = match filter {
        Some(filter) => filter.and(there),
        None => there,
    };
    let order_by = vec![args[0].clone().sort(is_least, !is_least)];
    AggregateFunctionParams {
        args,
        distinct: false,
        filter: Some(Box::new(filter)),
        order_by,
        null_treatment: None,
    }
}
