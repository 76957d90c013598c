//! Timestamps and dates compared with columns of timestamps.
//!
//! The planner compares a text, a date or the current time with a timestamp in nanoseconds, which
//! reach from 1677 to 2262. A column covers all years, and people write 9999-12-31 for "until
//! further notice". So constants get the unit of the column, or microseconds where that unit would
//! cut them. A bound that would be cut is rounded instead: keys and indexes know the unit of the
//! column alone. A column of days beside timestamps is counted in microseconds.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Cast, Expr, ExprSchemable, Operator};
use tonnage::{ColumnType, Value};

use super::nullable::nullable;
use super::numbers::is_compared;
use super::texts::{self, Part};
use super::whole_moments::{per_second, round_moment};

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/// An expression whose parts are done.
pub(super) fn compare_with_columns(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) => {
            let has_days = cast_days(&mut [left.as_mut(), right.as_mut()], schema);
            // A bound that was rounded has the unit of the column already, so `||` may stop there.
            round_bound(left, op, right, schema)
                || unify_units(&mut [left, right], schema)
                || has_days
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut parts: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
            unify_compared(&mut parts, schema)
        }
        // A difference is counted in the unit of both.
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Minus, right }) => {
            let is_wide = |part: &Expr| match part.get_type(schema) {
                Ok(DataType::Timestamp(unit, None)) => unit != TimeUnit::Nanosecond,
                kind => kind.is_ok_and(|kind| kind == DataType::Date32),
            };
            is_wide(left)
                && is_wide(right)
                && choose(&mut [(left.as_mut(), schema), (right.as_mut(), schema)])
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            let (mut tested, mut given) = (Vec::new(), Vec::new());
            for (when, then) in when_then_expr {
                tested.push(when.as_mut());
                given.push((then.as_mut(), schema));
            }
            given.extend(else_expr.as_deref_mut().map(|part| (part, schema)));
            let is_given_changed = choose(&mut given);
            // Without an operand the conditions compare for themselves.
            let is_tested_changed = expr.as_deref_mut().is_some_and(|operand| {
                tested.push(operand);
                unify_compared(&mut tested, schema)
            });
            is_given_changed || is_tested_changed
        }
        // It compares its arguments as `=` does.
        Expr::ScalarFunction(call) if call.func.name() == "nullif" => {
            unify_compared(&mut call.args.iter_mut().collect::<Vec<_>>(), schema)
        }
        Expr::ScalarFunction(call) if texts::CHOOSING.contains(&call.func.name()) => {
            choose(&mut call.args.iter_mut().map(|part| (part, schema)).collect::<Vec<_>>())
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            let has_days = cast_days(&mut [expr.as_mut(), low.as_mut(), high.as_mut()], schema);
            let unit = column_unit(expr, schema);
            let is_rounded = unit.is_some_and(|unit| {
                let is_low_rounded = round_up(low, unit) || round_constant(low, unit, true, schema);
                let is_high_rounded =
                    round_down(high, unit) || round_constant(high, unit, false, schema);
                is_low_rounded || is_high_rounded
            });
            // One end alone may have been rounded: the other still needs a unit.
            unify_units(&mut [expr, low, high], schema) || is_rounded || has_days
        }
        // A day of any year is a timestamp in microseconds.
        Expr::Cast(Cast { expr, field })
            if *field.data_type() == DataType::Timestamp(TimeUnit::Nanosecond, None)
                && expr.get_type(schema).is_ok_and(|kind| kind == DataType::Date32) =>
        {
            let data_type = DataType::Timestamp(TimeUnit::Microsecond, None);
            *field = Arc::new(field.as_ref().clone().with_data_type(data_type));
            true
        }
        _ => false,
    };
    if changed { Transformed::yes(expr) } else { Transformed::no(expr) }
}

/// Values of which one is given, days and texts among timestamps: all become timestamps of one
/// unit, which has the digits of each. The planner would count days in nanoseconds, which reach to
/// 2262.
pub(super) fn choose(parts: &mut [Part<'_>]) -> bool {
    let is_day = |part: &Expr, schema: &DFSchema| {
        part.get_type(schema).is_ok_and(|kind| kind == DataType::Date32)
    };
    let is_null = |part: &Expr| matches!(part, Expr::Literal(value, _) if value.is_null());
    let moments = |parts: &[Part<'_>]| -> Vec<Option<(TimeUnit, ZoneName)>> {
        parts
            .iter()
            .map(|(part, schema)| unit_of(part, schema).filter(|_| !is_null(part)))
            .collect()
    };
    let units = moments(parts);
    let (mut has_others, mut is_known, mut common) = (false, true, None);
    for ((part, schema), unit) in parts.iter().zip(&units) {
        let own = match unit {
            Some((_, Some(_))) => return false,
            // Of the current time nanoseconds are left out: it may be beside any year.
            Some((TimeUnit::Nanosecond, None)) if !varies(part) && moment(part).is_none() => {
                TimeUnit::Microsecond
            }
            Some((unit, None)) => *unit,
            None if is_null(part) => continue,
            None if is_day(part, schema) => {
                has_others = true;
                TimeUnit::Second
            }
            None => {
                let text = if varies(part) { None } else { moment(part) };
                is_known &= text.is_some();
                has_others = true;
                text.map_or(TimeUnit::Second, |text| text.common_unit(TimeUnit::Second))
            }
        };
        common = Some(common.map_or(own, |common: TimeUnit| common.max(own)));
    }
    // Timestamps alone are left to the planner, which takes the finest of their units.
    let (Some(common), true, true) = (common, has_others, is_known) else { return false };
    if units.iter().all(Option::is_none) {
        return false;
    }
    for ((part, schema), unit) in parts.iter_mut().zip(units) {
        let text_or_day = match varies(part) || unit.is_some() {
            true => None,
            false => moment(part),
        };
        if let Some(moment) = text_or_day {
            **part = Expr::Literal(moment.to_scalar(common), None);
        } else if is_day(part, schema) || unit.is_some_and(|(unit, _)| unit != common) {
            let inner = Box::new(std::mem::take(&mut **part));
            **part = Expr::Cast(Cast::new(inner, DataType::Timestamp(common, None)));
        }
    }
    true
}

/// Values that are compared for being equal.
fn unify_compared(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let has_days = cast_days(parts, schema);
    unify_units(parts, schema) || has_days
}

/// Days of a column beside timestamps as such. The planner would count both in nanoseconds.
fn cast_days(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    if !parts.iter().any(|part| unit_of(part, schema).is_some()) {
        return false;
    }
    let is_fine = |part: &&mut Expr| {
        varies(part) && matches!(unit_of(part, schema), Some((TimeUnit::Nanosecond, None)))
    };
    let is_fine = parts.iter().any(is_fine);
    let mut changed = false;
    for part in parts.iter_mut() {
        if varies(part) && part.get_type(schema).is_ok_and(|kind| kind == DataType::Date32) {
            let day = std::mem::take(&mut **part);
            let kind = DataType::Timestamp(TimeUnit::Microsecond, None);
            let moment = Expr::Cast(Cast::new(Box::new(day), kind));
            // A day outside of them is before or after all nanoseconds.
            **part = match is_fine {
                true => round_moment(moment, TimeUnit::Nanosecond, false),
                false => moment,
            };
            changed = true;
        }
    }
    changed
}

/// Rounds the bound of `at < bound` and the like where the column does not keep all of its digits.
fn round_bound(left: &mut Expr, op: &mut Operator, right: &mut Expr, schema: &DFSchema) -> bool {
    let is_swapped = !varies(left);
    let Some(plain) = (if is_swapped { op.swap() } else { Some(*op) }) else { return false };
    let (column, bound) = if is_swapped { (right, left) } else { (left, right) };
    let Some(unit) = column_unit(column, schema) else { return false };
    let is_up = match plain {
        Operator::Lt | Operator::GtEq => true,
        Operator::LtEq | Operator::Gt => false,
        _ => return false,
    };
    if round_constant(bound, unit, is_up, schema) {
        return true;
    }
    // What is not after a timestamp is not after the last one that the column can hold before it.
    let plain = match plain {
        Operator::Lt | Operator::LtEq => Operator::LtEq,
        Operator::Gt | Operator::GtEq => Operator::Gt,
        _ => return false,
    };
    let is_rounded = round_down(bound, unit);
    if is_rounded {
        *op = if is_swapped { plain.swap().unwrap_or(plain) } else { plain };
    }
    is_rounded
}

/// The unit of what varies, if that is a timestamp without a zone.
fn column_unit(expr: &Expr, schema: &DFSchema) -> Option<TimeUnit> {
    let (unit, zone) = unit_of(expr, schema)?;
    (varies(expr) && zone.is_none()).then_some(unit)
}

/// Replaces a timestamp that cannot be counted in a unit by the last one before it that can.
fn round_down(expr: &mut Expr, unit: TimeUnit) -> bool {
    round(expr, unit, 0)
}

/// The same with the first one after it.
fn round_up(expr: &mut Expr, unit: TimeUnit) -> bool {
    round(expr, unit, 1)
}

/// Rounds what is the same for the whole statement, such as `now() - INTERVAL '1 hour'`, if it is
/// counted in a finer unit.
fn round_constant(expr: &mut Expr, unit: TimeUnit, is_up: bool, schema: &DFSchema) -> bool {
    if varies(expr) || moment(expr).is_some() || finer_unit(expr, unit, schema).is_none() {
        return false;
    }
    *expr = round_moment(std::mem::take(expr), unit, is_up);
    true
}

/// The unit of a timestamp, if it is finer than another.
fn finer_unit(expr: &Expr, unit: TimeUnit, schema: &DFSchema) -> Option<TimeUnit> {
    let (own, _) = unit_of(expr, schema)?;
    (per_second(own) > per_second(unit)).then_some(own)
}

fn round(expr: &mut Expr, unit: TimeUnit, add: i64) -> bool {
    let Some(count) = moment(expr).and_then(|moment| moment.floor_to(unit)) else { return false };
    *expr = Expr::Literal(literal(unit, count + add), None);
    true
}

fn literal(unit: TimeUnit, count: i64) -> ScalarValue {
    match unit {
        TimeUnit::Second => ScalarValue::TimestampSecond(Some(count), None),
        TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(Some(count), None),
        TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(Some(count), None),
        TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(Some(count), None),
    }
}

fn unify_units(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let varying = parts.iter().filter(|part| varies(part)).find_map(|part| unit_of(part, schema));
    let Some((unit, None)) = varying else { return false };
    let moments: Vec<Option<LiteralMoment>> =
        parts.iter().map(|part| if varies(part) { None } else { moment(part) }).collect();
    let common = moments.iter().flatten().fold(unit, |unit, moment| moment.common_unit(unit));
    // Of a constant nanoseconds are left out, beside a column that reaches over all years.
    let common = parts
        .iter()
        .zip(&moments)
        .filter(|(part, moment)| moment.is_none() && !varies(part))
        .filter_map(|(part, _)| finer_unit(part, common, schema))
        .map(|finer| if unit == TimeUnit::Nanosecond { finer } else { TimeUnit::Microsecond })
        .fold(common, |common, finer| match per_second(finer) > per_second(common) {
            true => finer,
            false => common,
        });
    let mut changed = false;
    for (part, moment) in parts.iter_mut().zip(moments) {
        if let Some(moment) = moment {
            // `common` is at least as fine as each timestamp needs, so no digit is cut.
            **part = Expr::Literal(moment.to_scalar(common), None);
            changed = true;
        } else if varies(part) {
            if common != unit && unit_of(part, schema).is_some() {
                **part = cast_column(std::mem::take(&mut **part), common);
                changed = true;
            }
        } else if let Some((TimeUnit::Nanosecond, zone)) = unit_of(part, schema)
            && unit != TimeUnit::Nanosecond
            && !matches!(part, Expr::Literal(..))
        {
            let inner = Box::new(std::mem::take(&mut **part));
            **part = Expr::Cast(Cast::new(inner, DataType::Timestamp(TimeUnit::Microsecond, zone)));
            changed = true;
        }
    }
    changed
}

/// A column counted in a finer unit, in such a way that the optimiser does not count the literal in
/// the coarser one instead: it would cut it.
fn cast_column(expr: Expr, unit: TimeUnit) -> Expr {
    let cast = Expr::Cast(Cast::new(Box::new(expr), DataType::Timestamp(unit, None)));
    Expr::ScalarFunction(ScalarFunction { func: Arc::new(nullable()), args: vec![cast] })
}

/// Whether a value is not the same for the whole statement.
fn varies(expr: &Expr) -> bool {
    let is_read = |expr: &Expr| {
        matches!(expr, Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_))
    };
    expr.exists(|expr| Ok(is_read(expr))).unwrap_or(true)
}

type ZoneName = Option<Arc<str>>;

fn unit_of(expr: &Expr, schema: &DFSchema) -> Option<(TimeUnit, ZoneName)> {
    match expr.get_type(schema).ok()? {
        DataType::Timestamp(unit, zone) => Some((unit, zone)),
        _ => None,
    }
}

/// A timestamp that is written in the statement.
#[derive(Clone, Copy)]
struct LiteralMoment {
    microseconds: i64,
    /// With the digits after those, where it has such.
    nanoseconds: Option<i64>,
}

/// What a literal or a parameter says: a text, a date, a timestamp without a zone.
fn moment(expr: &Expr) -> Option<LiteralMoment> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)), _) => of_text(text),
        Expr::Literal(ScalarValue::Date32(Some(days)), _) => Some(LiteralMoment {
            microseconds: i64::from(*days) * MICROSECONDS_PER_DAY,
            nanoseconds: None,
        }),
        // The value of a parameter.
        Expr::Literal(value, _) => of_value(value),
        Expr::Cast(Cast { expr, field }) => match (expr.as_ref(), field.data_type()) {
            (Expr::Literal(ScalarValue::Utf8(Some(text)), _), DataType::Timestamp(unit, None)) => {
                of_text(text)
                    .filter(|_| matches!(unit, TimeUnit::Microsecond | TimeUnit::Nanosecond))
            }
            (Expr::Literal(ScalarValue::Utf8(Some(text)), _), DataType::Date32) => of_text(text)
                .filter(|moment| {
                    moment.microseconds % MICROSECONDS_PER_DAY == 0 && moment.nanoseconds.is_none()
                }),
            _ => None,
        },
        _ => None,
    }
}

/// A timestamp without a zone that is a value already.
fn of_value(value: &ScalarValue) -> Option<LiteralMoment> {
    let whole = |microseconds| Some(LiteralMoment { microseconds, nanoseconds: None });
    match value {
        ScalarValue::TimestampSecond(Some(count), None) => whole(count.checked_mul(1_000_000)?),
        ScalarValue::TimestampMillisecond(Some(count), None) => whole(count.checked_mul(1_000)?),
        ScalarValue::TimestampMicrosecond(Some(count), None) => whole(*count),
        ScalarValue::TimestampNanosecond(Some(count), None) => Some(LiteralMoment {
            microseconds: count.div_euclid(1_000),
            nanoseconds: Some(*count).filter(|count| count % 1_000 != 0),
        }),
        _ => None,
    }
}

fn of_text(text: &str) -> Option<LiteralMoment> {
    let count = |precision| match Value::parse(text, ColumnType::Timestamp(precision)) {
        Ok(Value::Timestamp { value, .. }) => Some(value),
        _ => None,
    };
    let microseconds = count(6)?;
    let nanoseconds = count(9).filter(|fine| Some(*fine) != microseconds.checked_mul(1_000));
    Some(LiteralMoment { microseconds, nanoseconds })
}

/// A timestamp that a text says as a count of a unit: nothing if the unit cannot count it, and
/// nothing at all for a text that says none.
pub(super) fn count_of_text(text: &str, unit: TimeUnit) -> Option<Option<i64>> {
    let moment = of_text(text)?;
    let is_told = moment.common_unit(unit) == unit;
    match moment.to_scalar(unit) {
        ScalarValue::TimestampSecond(count, _)
        | ScalarValue::TimestampMillisecond(count, _)
        | ScalarValue::TimestampMicrosecond(count, _)
        | ScalarValue::TimestampNanosecond(count, _) => Some(count.filter(|_| is_told)),
        _ => None,
    }
}

impl LiteralMoment {
    /// The unit in which this and what is counted in another can both be counted.
    fn common_unit(self, unit: TimeUnit) -> TimeUnit {
        let is_whole = |units: i64| self.microseconds % units == 0;
        match unit {
            _ if self.nanoseconds.is_some() => TimeUnit::Nanosecond,
            TimeUnit::Second if is_whole(1_000_000) => unit,
            TimeUnit::Millisecond if is_whole(1_000) => unit,
            TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond => {
                TimeUnit::Microsecond
            }
            TimeUnit::Nanosecond => unit,
        }
    }

    fn to_scalar(self, unit: TimeUnit) -> ScalarValue {
        let Self { microseconds, nanoseconds } = self;
        let count = match unit {
            TimeUnit::Second => microseconds / 1_000_000,
            TimeUnit::Millisecond => microseconds / 1_000,
            TimeUnit::Microsecond => microseconds,
            // What is outside is after, or before, all that a column of nanoseconds holds.
            TimeUnit::Nanosecond => nanoseconds.unwrap_or(microseconds.saturating_mul(1_000)),
        };
        literal(unit, count)
    }

    /// The count of the last timestamp before this one that a unit can count; nothing for one that
    /// the unit can count itself.
    fn floor_to(self, unit: TimeUnit) -> Option<i64> {
        if self.common_unit(unit) == unit {
            return None;
        }
        let per_microsecond = match unit {
            TimeUnit::Second => 1_000_000,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond | TimeUnit::Nanosecond => 1,
        };
        Some(match self.nanoseconds {
            Some(nanoseconds) => nanoseconds.div_euclid(per_microsecond * 1_000),
            None => self.microseconds.div_euclid(per_microsecond),
        })
    }
}
