//! Intervals by their length.
//!
//! The planner compares months first, then days, then what is left: 25 hours are less than a day to
//! it, and so is the time between any two moments, which it counts in less than days. As in other
//! databases a month is as long as 30 days here, and a day as 24 hours.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalUnit,
    IntervalYearMonthType, TimeUnit,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, exec_err};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{
    Between, BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, ScalarUDF,
};

use super::numbers::is_compared;
use crate::functions::{Arguments, Gives, Scalar};

const LENGTH: DataType = DataType::Decimal128(38, 0);
const DAY: i128 = 86_400_000_000_000;
const MONTH: i128 = 30 * DAY;

/// `_length(interval)`: how many nanoseconds it has.
static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    let length = Scalar {
        name: "_length",
        form: "_length(interval)",
        count: (1, 1),
        gives: Gives::Type(|| LENGTH),
        work: lengths,
    };
    Arc::new(length.function())
});

/// An expression whose parts are done.
pub(super) fn by_length(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) => {
            measured(&mut [left, right], schema)
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut parts: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
            measured(&mut parts, schema)
        }
        Expr::Between(Between { expr, low, high, .. }) => measured(&mut [expr, low, high], schema),
        _ => false,
    };
    if changed { Transformed::yes(expr) } else { Transformed::no(expr) }
}

/// A sort whose intervals are ordered by their length.
pub(super) fn ordered(node: LogicalPlan, schema: &DFSchema) -> LogicalPlan {
    let LogicalPlan::Sort(mut sort) = node else { return node };
    for key in &mut sort.expr {
        if matches!(key.expr.get_type(schema), Ok(DataType::Interval(_))) {
            key.expr = length(std::mem::take(&mut key.expr));
        }
    }
    LogicalPlan::Sort(sort)
}

/// Makes numbers of values that are compared, if intervals are among them. Times between moments
/// are left to themselves.
fn measured(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let Some(types) =
        parts.iter().map(|part| part.get_type(schema).ok()).collect::<Option<Vec<DataType>>>()
    else {
        return false;
    };
    let fits = |kind: &DataType| {
        kind.is_null()
            || kind.is_string()
            || matches!(kind, DataType::Interval(_) | DataType::Duration(_))
    };
    let is_interval = |kind: &DataType| matches!(kind, DataType::Interval(_));
    if !types.iter().any(is_interval) || !types.iter().all(fits) {
        return false;
    }
    for (part, kind) in parts.iter_mut().zip(types) {
        let value = std::mem::take(&mut **part);
        **part = match kind.is_string() {
            true => {
                let interval = DataType::Interval(IntervalUnit::MonthDayNano);
                length(Expr::Cast(Cast::new(Box::new(value), interval)))
            }
            false => length(value),
        };
    }
    true
}

fn length(interval: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction { func: FUNCTION.clone(), args: vec![interval] })
}

fn lengths(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    let lengths: Decimal128Array = match array.data_type() {
        DataType::Null => (0..array.len()).map(|_| None::<i128>).collect(),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let length = |interval: arrow::datatypes::IntervalMonthDayNano| {
                i128::from(interval.months) * MONTH
                    + i128::from(interval.days) * DAY
                    + i128::from(interval.nanoseconds)
            };
            array
                .as_primitive::<IntervalMonthDayNanoType>()
                .iter()
                .map(|one| one.map(length))
                .collect()
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let length = |interval: arrow::datatypes::IntervalDayTime| {
                i128::from(interval.days) * DAY + i128::from(interval.milliseconds) * 1_000_000
            };
            array.as_primitive::<IntervalDayTimeType>().iter().map(|one| one.map(length)).collect()
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            let length = |months: i32| i128::from(months) * MONTH;
            array
                .as_primitive::<IntervalYearMonthType>()
                .iter()
                .map(|one| one.map(length))
                .collect()
        }
        DataType::Duration(unit) => {
            let nanoseconds: i128 = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1_000,
                TimeUnit::Nanosecond => 1,
            };
            let counts = cast(array, &DataType::Int64)?;
            let length = |count: i64| i128::from(count) * nanoseconds;
            counts.as_primitive::<Int64Type>().iter().map(|one| one.map(length)).collect()
        }
        other => return exec_err!("{} takes an interval, not {other}", arguments.name),
    };
    Ok(Arc::new(lengths.with_data_type(LENGTH)))
}
