//! Intervals compared by their length.
//!
//! The planner compares months first, then days, then the rest. To it 25 hours are less than a day,
//! and so is the time between any two timestamps, which it counts in units below days. So every
//! comparison of intervals gets their lengths (`interval/mod.rs`). `interval_groups.rs` does the
//! same for groups, `aggregate/extreme_interval.rs` for `min` and `max`. `date_part` splits
//! intervals as other databases do.

use std::str::FromStr;

use arrow::compute::kernels::cast_utils::IntervalUnit;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::{
    AggregateFunction, InList, ScalarFunction, Sort, WindowFunction,
};
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Cast, Distinct, Expr, ExprSchemable, LogicalPlan, TryCast,
};

use super::numbers::is_compared;
use crate::functions::{
    interval_in_days, length_of, longest_of, microseconds_of, milliseconds_of, seconds_of,
    whole_interval,
};
use crate::interval::{INTERVAL, holds_intervals, is_interval};

/// Functions of lists that compare what is in them.
const COMPARING: [&str; 16] = [
    "array_distinct",
    "array_except",
    "array_has",
    "array_has_all",
    "array_has_any",
    "array_intersect",
    "array_max",
    "array_min",
    "array_position",
    "array_positions",
    "array_remove",
    "array_remove_all",
    "array_remove_n",
    "array_replace",
    "array_sort",
    "array_union",
];
/// Aggregates that take no notice of DISTINCT.
const EXTREMES: [&str; 2] = ["min", "max"];
/// Aggregates that count equal values together.
const COUNTING: [&str; 2] = ["mode", "histogram"];

/// An expression whose parts are done.
pub(super) fn compare_by_length(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) => {
            measure_compared(&mut [left, right], schema)?
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut parts: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
            measure_compared(&mut parts, schema)?
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            measure_compared(&mut [expr, low, high], schema)?
        }
        Expr::Case(Case { expr: Some(tested), when_then_expr, .. }) => {
            // Without an operand CASE compares nothing: its conditions compare for themselves.
            let listed = when_then_expr.iter_mut().map(|(when, _)| when.as_mut());
            let mut parts: Vec<&mut Expr> =
                std::iter::once(tested.as_mut()).chain(listed).collect();
            measure_compared(&mut parts, schema)?
        }
        Expr::ScalarFunction(call) => match rewrite_call(call, schema)? {
            Some(made) => return Ok(Transformed::yes(made)),
            None => false,
        },
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            // The arguments and the order both change: `||` must not pass the second by.
            let is_changed =
                rewrite_aggregate(func.name(), &mut params.args, params.distinct, schema)?;
            measure_sort_keys(&mut params.order_by, schema)? || is_changed
        }
        Expr::WindowFunction(function) => {
            let WindowFunction { fun, params } = function.as_mut();
            let mut is_changed =
                rewrite_aggregate(fun.name(), &mut params.args, params.distinct, schema)?;
            for part in &mut params.partition_by {
                is_changed |= measure(part, schema)?;
            }
            measure_sort_keys(&mut params.order_by, schema)? || is_changed
        }
        _ => false,
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// A sort, or DISTINCT ON, that orders intervals by their length.
pub(super) fn sort_by_length(node: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    Ok(match node {
        LogicalPlan::Sort(mut sort) => {
            measure_sort_keys(&mut sort.expr, schema)?;
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            for key in &mut distinct.on_expr {
                measure(key, schema)?;
            }
            measure_sort_keys(distinct.sort_expr.as_deref_mut().unwrap_or_default(), schema)?;
            LogicalPlan::Distinct(Distinct::On(distinct))
        }
        node => node,
    })
}

fn measure_sort_keys(keys: &mut [Sort], schema: &DFSchema) -> Result<bool> {
    let mut is_changed = false;
    for key in keys {
        is_changed |= measure(&mut key.expr, schema)?;
    }
    Ok(is_changed)
}

/// Makes a number of a value by itself, if it is an interval.
pub(super) fn measure(part: &mut Expr, schema: &DFSchema) -> Result<bool> {
    let Ok(kind) = part.get_type(schema) else { return Ok(false) };
    refuse_parts(&kind)?;
    if is_interval(&kind) {
        *part = length_of(std::mem::take(part));
        return Ok(true);
    }
    Ok(false)
}

/// Refuses what is compared by its parts where intervals are among these.
pub(super) fn refuse_parts(kind: &DataType) -> Result<()> {
    match holds_intervals(kind) {
        true => plan_err!(
            "intervals in a row, a list or a map are not compared there: compare each by itself"
        ),
        false => Ok(()),
    }
}

/// Makes numbers of values that are compared, if intervals are among them. Times between timestamps
/// are left to themselves.
fn measure_compared(parts: &mut [&mut Expr], schema: &DFSchema) -> Result<bool> {
    let Some(types) = types_of(parts.iter().map(|part| &**part), schema) else { return Ok(false) };
    types.iter().try_for_each(refuse_parts)?;
    if !are_lengths(&types) {
        return Ok(false);
    }
    for (part, kind) in parts.iter_mut().zip(types) {
        **part = as_length(std::mem::take(&mut **part), &kind);
    }
    Ok(true)
}

/// The length of an interval, also of one that text says.
pub(super) fn as_length(value: Expr, kind: &DataType) -> Expr {
    length_of(as_interval(value, kind))
}

fn types_of<'a>(parts: impl Iterator<Item = &'a Expr>, schema: &DFSchema) -> Option<Vec<DataType>> {
    parts.map(|part| part.get_type(schema).ok()).collect()
}

/// Whether intervals are among values that can be compared with them.
fn are_lengths(types: &[DataType]) -> bool {
    let fits = |kind: &DataType| {
        kind.is_null() || kind.is_string() || is_interval(kind) || is_duration(kind)
    };
    types.iter().any(is_interval) && types.iter().all(fits)
}

fn is_duration(kind: &DataType) -> bool {
    matches!(kind, DataType::Duration(_))
}

/// A time between timestamps that becomes an interval, once types are settled. The library's own
/// cast counts nanoseconds, and fails where they are more than 292 years apart.
pub(super) fn rewrite_duration_cast(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match part {
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })
            if *field.data_type() == INTERVAL
                && expr.get_type(schema).is_ok_and(|kind| is_duration(&kind)) =>
        {
            Transformed::yes(whole_interval(*expr))
        }
        part => Transformed::no(part),
    }
}

/// Text as the interval that it says.
fn as_interval(value: Expr, kind: &DataType) -> Expr {
    match kind.is_string() {
        true => Expr::Cast(Cast::new(Box::new(value), INTERVAL)),
        false => value,
    }
}

/// A part of an interval. The library counts the whole time between two timestamps in the unit of
/// the part, where `hour` is what days leave of it. It cuts fractions, and has years of 360 days.
fn rewrite_date_part(call: &mut ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let [part, value] = call.args.as_mut_slice() else { return None };
    let kind = value.get_type(schema).ok()?;
    if !is_interval(&kind) && !is_duration(&kind) {
        return None;
    }
    let name = part.as_literal().and_then(|part| part.try_as_str().flatten())?;
    let name = name.trim_matches(['\'', '"']);
    if name.eq_ignore_ascii_case("epoch") {
        return Some(seconds_of(std::mem::take(value)));
    }
    let unit = IntervalUnit::from_str(name).ok();
    if is_duration(&kind) {
        *value = interval_in_days(std::mem::take(value));
    }
    match unit {
        Some(IntervalUnit::Millisecond) => Some(milliseconds_of(std::mem::take(value))),
        Some(IntervalUnit::Microsecond) => Some(microseconds_of(std::mem::take(value))),
        _ => {
            let args = std::mem::take(&mut call.args);
            Some(Expr::ScalarFunction(ScalarFunction { func: call.func.clone(), args }))
        }
    }
}

/// The calls of functions that compare their arguments, and of `date_part`.
fn rewrite_call(call: &mut ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let name = call.func.name();
    if name == "date_part" {
        return Ok(rewrite_date_part(call, schema));
    }
    let is_extreme = matches!(name, "greatest" | "least");
    if !is_extreme && name != "nullif" && !COMPARING.contains(&name) {
        return Ok(None);
    }
    let Some(types) = types_of(call.args.iter(), schema) else { return Ok(None) };
    types.iter().try_for_each(refuse_parts)?;
    if !are_lengths(&types) {
        return Ok(None);
    }
    let is_max = name == "greatest";
    let args = std::mem::take(&mut call.args);
    let mut args = args.into_iter().zip(&types);
    if is_extreme {
        // They give one of the intervals back: a length could not be turned into it again.
        let alike = args.map(|(value, kind)| match *kind == INTERVAL {
            true => value,
            false => Expr::Cast(Cast::new(Box::new(value), INTERVAL)),
        });
        return Ok(Some(longest_of(alike.collect(), is_max)));
    }
    let (Some((value, kind)), Some((other, of_other))) = (args.next(), args.next()) else {
        return plan_err!("nullif takes two values");
    };
    // `nullif` gives the interval itself, so only the test compares lengths.
    let value = as_interval(value, kind);
    let other = as_length(other, of_other);
    let is_same = length_of(value.clone()).eq(other);
    let nothing = Box::new(Expr::Literal(ScalarValue::Null, None));
    Ok(Some(Expr::Case(Case {
        expr: None,
        when_then_expr: vec![(Box::new(is_same), nothing)],
        else_expr: Some(Box::new(value)),
    })))
}

/// The arguments of an aggregate that compares them.
fn rewrite_aggregate(
    name: &str,
    values: &mut [Expr],
    is_distinct: bool,
    schema: &DFSchema,
) -> Result<bool> {
    let is_counted = COUNTING.contains(&name);
    // `min` and `max` compare lengths themselves (`aggregate/extreme_interval.rs`).
    if EXTREMES.contains(&name) {
        for value in values.iter() {
            refuse_parts(&value.get_type(schema).unwrap_or(DataType::Null))?;
        }
        return Ok(false);
    }
    if !is_distinct && !is_counted && name != "approx_distinct" {
        return Ok(false);
    }
    for value in values.iter_mut() {
        let Ok(kind) = value.get_type(schema) else { continue };
        refuse_parts(&kind)?;
        if !is_interval(&kind) {
            continue;
        }
        // A count does not show its values, so lengths may replace them. Others show them.
        if !matches!(name, "count" | "approx_distinct") {
            return plan_err!(
                "{name} takes no intervals that it must tell apart: group by the interval in a subquery"
            );
        }
        *value = length_of(std::mem::take(value));
        return Ok(true);
    }
    Ok(false)
}
