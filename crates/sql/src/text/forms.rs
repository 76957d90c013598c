//! Rewrites forms of queries and conditions that the planner does not know.

use datafusion::sql::sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments,
    Interval, LimitClause, OrderBy, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr,
    TopQuantity, Value, ValueWithSpan,
};
use tonnage::{Error, Result};

use super::call::arguments;
use super::dialect::SYMMETRIC;
use super::pattern::{fill, parsed};
use super::spelling::INTEGER_DIVISION;
use super::time_zones;
use crate::interval::in_whole_units;

/// Of so many parts a CUBE has 4,096 grouping sets, as many as the planner takes. It counts those
/// of several CUBEs, but makes those of one however many they are.
const CUBE_MAX: usize = 12;

/// A condition or a value in forms that the planner knows.
pub(super) fn expression(expr: &mut Expr) -> Result<()> {
    if let Some(made) = comparison_with_items(expr) {
        *expr = made;
        return Ok(());
    }
    let made = match expr {
        Expr::CompoundFieldAccess { root, access_chain } => {
            let is_named = matches!(root.as_ref(), Expr::Identifier(_));
            members_behind_items(access_chain, is_named);
            return Ok(());
        }
        // The planner's cast to a type with the zone changes no timestamp, and is an error at times
        // that a clock skips or shows twice.
        Expr::AtTimeZone { timestamp, time_zone } => {
            time_zones::at_time_zone(timestamp.as_ref().clone(), time_zone.as_ref().clone())
        }
        // The tokenizer has read what stands in them.
        Expr::Value(ValueWithSpan {
            value: Value::UnicodeStringLiteral(text) | Value::NationalStringLiteral(text),
            ..
        }) => Expr::value(Value::SingleQuotedString(std::mem::take(text))),
        Expr::Collate { expr, collation } => {
            let name = collation.to_string();
            let is_by_bytes = ["C", "POSIX", "UCS_BASIC", "BINARY"]
                .iter()
                .any(|known| name.trim_matches('"').eq_ignore_ascii_case(known));
            if !is_by_bytes {
                return Err(Error::unsupported(format!(
                    "COLLATE {name}: text is compared by its bytes, as by COLLATE \"C\"; write lower(x) to compare without regard to case"
                )));
            }
            expr.as_ref().clone()
        }
        Expr::Between { expr, negated, low, high } => match symmetric_low(low) {
            Some(first) => {
                let pattern = match negated {
                    true => "(NOT ($1 BETWEEN $2 AND $3 OR $1 BETWEEN $3 AND $2))",
                    false => "($1 BETWEEN $2 AND $3 OR $1 BETWEEN $3 AND $2)",
                };
                let mut made = parsed(pattern)?;
                fill(&mut made, &[expr, first, high])?;
                made
            }
            None => return Ok(()),
        },
        Expr::BinaryOp { left, op: BinaryOperator::Custom(name), right }
            if name == INTEGER_DIVISION =>
        {
            // Of doubles and decimals `/` keeps a fraction, but not once the remainder is gone.
            let mut made = parsed("($1 - $1 % $2) / $2")?;
            fill(&mut made, &[left, right])?;
            made
        }
        // Of a list that holds NULL nothing else is known but that a value is in it.
        Expr::AnyOp { right, .. } if !is_query(right) && !is_plain_list(right) => {
            let mut made = parsed("($1 OR (_holds_null($2) AND NULL))")?;
            let list = right.as_ref().clone();
            fill(&mut made, &[expr, &list])?;
            made
        }
        Expr::Cube(parts) if parts.len() > CUBE_MAX => {
            return Err(Error::unsupported(format!(
                "CUBE of {0} parts has 2^{0} grouping sets, and may have {CUBE_MAX} parts: write the sets that you want as GROUPING SETS",
                parts.len()
            )));
        }
        Expr::Interval(Interval { value, leading_field: None, .. }) if is_digits(value) => {
            return Err(Error::unsupported(format!(
                "INTERVAL {value}: name its unit, as in INTERVAL '{value} days'"
            )));
        }
        Expr::Interval(interval) => {
            in_whole_units_of(interval);
            return Ok(());
        }
        Expr::Like { any: true, .. } | Expr::ILike { any: true, .. } => {
            like_any_or_all(expr, false)?
        }
        Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } if is_all(pattern) => {
            like_any_or_all(expr, true)?
        }
        _ => return Ok(()),
    };
    *expr = made;
    Ok(())
}

/// `.k` after `[1]` or a value as the name of a member. What begins with a name may be a table and
/// a column.
fn members_behind_items(chain: &mut [AccessExpr], is_named: bool) {
    let behind = chain.iter_mut().skip_while(|step| is_named && matches!(step, AccessExpr::Dot(_)));
    for step in behind {
        if let AccessExpr::Dot(Expr::Identifier(name)) = step {
            let name = match name.quote_style {
                Some(_) => name.value.clone(),
                None => name.value.to_lowercase(),
            };
            *step = AccessExpr::Dot(Expr::value(Value::SingleQuotedString(name)));
        }
    }
}

/// Writes fractions of years and weeks in smaller units.
fn in_whole_units_of(interval: &mut Interval) {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) =
        interval.value.as_mut()
    else {
        return;
    };
    let whole = match (&interval.leading_field, &interval.last_field) {
        (None, _) => in_whole_units(text),
        (Some(unit), None) => in_whole_units(&format!("{text} {unit}")),
        _ => None,
    };
    if let Some(whole) = whole {
        *text = whole;
        interval.leading_field = None;
    }
}

/// The first end of BETWEEN SYMMETRIC.
fn symmetric_low(low: &Expr) -> Option<&Expr> {
    let (name, given) = arguments(low)?;
    if name == SYMMETRIC { given.first().copied() } else { None }
}

/// As many comparisons are written out.
const WRITTEN_MAX: usize = 64;

/// ANY and ALL of a list that is written, as IN or as comparisons with each item. So a text among
/// them is read beside the value, and keys are used.
fn comparison_with_items(expr: &Expr) -> Option<Expr> {
    let (left, op, list, is_all) = match expr {
        Expr::AnyOp { left, compare_op, right, .. } => (left, compare_op, right, false),
        Expr::AllOp { left, compare_op, right } => (left, compare_op, right, true),
        _ => return None,
    };
    let items = items_of(list)?;
    let made =
        match (op, is_all) {
            (BinaryOperator::Eq, false) | (BinaryOperator::NotEq, true) => {
                Expr::InList { expr: left.clone(), list: items.to_vec(), negated: is_all }
            }
            // A value that is computed would be computed for each item.
            _ if items.len() > WRITTEN_MAX || !is_short(left) => return None,
            (op, _) => {
                let join = if is_all { BinaryOperator::And } else { BinaryOperator::Or };
                let comparison = |left: Box<Expr>, op: &BinaryOperator, right: &Expr| {
                    Expr::BinaryOp { left, op: op.clone(), right: Box::new(right.clone()) }
                };
                let compared = items.iter().map(|item| {
                    comparison(left.clone(), op, &Expr::Nested(Box::new(item.clone())))
                });
                compared.reduce(|one, other| comparison(Box::new(one), &join, &other))?
            }
        };
    Some(Expr::Nested(Box::new(made)))
}

/// The items of a list that is written, unless they are lists, rows or queries themselves.
fn items_of(list: &Expr) -> Option<&[Expr]> {
    let is_several = |item: &Expr| {
        matches!(item, Expr::Array(_) | Expr::Tuple(_) | Expr::Subquery(_) | Expr::Nested(_))
    };
    match list {
        Expr::Nested(inner) => items_of(inner),
        Expr::Array(Array { elem, .. }) if !elem.is_empty() => {
            (!elem.iter().any(is_several)).then_some(elem.as_slice())
        }
        _ => None,
    }
}

/// Whether an expression may be written several times: a name or a value, one of a few of them, or
/// a cast. The planner computes such a value once.
fn is_short(expr: &Expr) -> bool {
    const CHOOSING: [&str; 6] = ["coalesce", "greatest", "ifnull", "least", "nullif", "nvl"];
    const CHOSEN_MAX: usize = 4;
    match expr {
        Expr::Nested(inner) => is_short(inner),
        Expr::Cast { expr, .. } => is_name_or_value(expr),
        expr => {
            let is_choice = |(name, given): (String, Vec<&Expr>)| {
                CHOOSING.contains(&name.as_str())
                    && given.len() <= CHOSEN_MAX
                    && given.into_iter().all(is_name_or_value)
            };
            is_name_or_value(expr) || arguments(expr).is_some_and(is_choice)
        }
    }
}

fn is_name_or_value(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_name_or_value(inner),
        expr => matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_)),
    }
}

/// Whether the list is a query.
fn is_query(list: &Expr) -> bool {
    match list {
        Expr::Nested(inner) => is_query(inner),
        list => matches!(list, Expr::Subquery(_)),
    }
}

/// Whether a list is written down, without NULL.
fn is_plain_list(list: &Expr) -> bool {
    let is_value = |item: &Expr| match item {
        Expr::Value(value) => !matches!(value.value, Value::Null | Value::Placeholder(_)),
        _ => false,
    };
    match list {
        Expr::Nested(inner) => is_plain_list(inner),
        Expr::Array(Array { elem, .. }) => elem.iter().all(is_value),
        _ => false,
    }
}

fn is_digits(value: &Expr) -> bool {
    matches!(value, Expr::Value(ValueWithSpan { value: Value::Number(..), .. }))
}

/// Whether a pattern is `ALL (...)`, which the parser takes for a function.
fn is_all(pattern: &Expr) -> bool {
    matches!(pattern, Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("all"))
}

/// `x LIKE ANY (...)` as conditions joined by OR, `x LIKE ALL (...)` by AND.
fn like_any_or_all(like: &Expr, is_all: bool) -> Result<Expr> {
    let (Expr::Like { pattern, .. } | Expr::ILike { pattern, .. }) = like else {
        return Ok(like.clone());
    };
    // NOT and ESCAPE stay on each: `x NOT LIKE ANY` is true where one pattern does not match.
    let one = |pattern: &Expr| {
        let mut one = like.clone();
        if let Expr::Like { pattern: place, any, .. } | Expr::ILike { pattern: place, any, .. } =
            &mut one
        {
            (**place, *any) = (pattern.clone(), false);
        }
        one
    };
    let patterns = patterns(pattern).ok_or_else(|| {
        Error::unsupported(
            "LIKE ANY and LIKE ALL take a list of patterns: write LIKE ANY (ARRAY['a%', 'b%'])",
        )
    })?;
    let op = if is_all { BinaryOperator::And } else { BinaryOperator::Or };
    let joined = patterns.iter().map(one).reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: op.clone(),
        right: Box::new(right),
    });
    // Without patterns ANY is false and ALL is true, as an OR and an AND of nothing are.
    let joined = joined.unwrap_or_else(|| Expr::value(Value::Boolean(is_all)));
    Ok(Expr::Nested(Box::new(joined)))
}

fn patterns(list: &Expr) -> Option<Vec<Expr>> {
    match list {
        Expr::Nested(inner) => match patterns(inner) {
            Some(patterns) => Some(patterns),
            None => is_text(inner).then(|| vec![inner.as_ref().clone()]),
        },
        Expr::Array(array) => Some(array.elem.clone()),
        Expr::Tuple(parts) => Some(parts.clone()),
        Expr::Function(function) if is_all(list) => {
            let FunctionArguments::List(arguments) = &function.args else { return None };
            let parts = arguments.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
                _ => None,
            });
            let parts = parts.collect::<Option<Vec<_>>>()?;
            match parts.as_slice() {
                [one] => patterns(one).or_else(|| is_text(one).then(|| vec![one.clone()])),
                _ => Some(parts),
            }
        }
        _ => None,
    }
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }))
}

/// A query in forms that the planner knows: TOP, ORDER BY ALL, and what LIMIT takes.
pub(super) fn query(query: &mut Query) -> Result<()> {
    top(query)?;
    order_by_all(query)?;
    if let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause {
        let is_query = |expr: &Expr| matches!(unwrapped(expr), Expr::Subquery(_));
        if limit.as_ref().is_some_and(is_query)
            || offset.as_ref().is_some_and(|offset| is_query(&offset.value))
        {
            return Err(Error::unsupported(
                "LIMIT and OFFSET take a number, not a subquery: write a parameter, or number the rows with row_number() and compare that in QUALIFY",
            ));
        }
    }
    Ok(())
}

fn unwrapped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => unwrapped(inner),
        expr => expr,
    }
}

/// `SELECT TOP n` in the words of LIMIT.
fn top(query: &mut Query) -> Result<()> {
    let SetExpr::Select(select) = query.body.as_mut() else { return Ok(()) };
    let Some(top) = select.top.take() else { return Ok(()) };
    if top.with_ties || top.percent {
        return Err(Error::unsupported(
            "TOP takes a number of rows, without PERCENT and WITH TIES: write LIMIT",
        ));
    }
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return Err(Error::invalid("TOP and LIMIT say the same: write one of them"));
    }
    let rows = match top.quantity {
        Some(TopQuantity::Constant(rows)) => number(rows),
        Some(TopQuantity::Expr(expr)) => expr,
        None => number(1),
    };
    query.limit_clause =
        Some(LimitClause::LimitOffset { limit: Some(rows), offset: None, limit_by: Vec::new() });
    Ok(())
}

fn number(number: impl ToString) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

/// ORDER BY ALL as an order by every column, where these can be counted.
fn order_by_all(query: &mut Query) -> Result<()> {
    let Some(OrderBy { kind: kind @ OrderByKind::All(_), .. }) = &mut query.order_by else {
        return Ok(());
    };
    let OrderByKind::All(options) = *kind else { return Ok(()) };
    let (is_set, items) = leftmost(&query.body);
    let is_star = |item: &SelectItem| {
        matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
    };
    if items.iter().any(is_star) || items.is_empty() {
        if is_set || items.is_empty() {
            return Err(Error::unsupported(
                "ORDER BY ALL over a union or over VALUES: write ORDER BY 1, 2 and so on",
            ));
        }
        // The planner counts the columns that * means.
        return Ok(());
    }
    let place = |place: usize| OrderByExpr { expr: number(place), options, with_fill: None };
    *kind = OrderByKind::Expressions((1..=items.len()).map(place).collect());
    Ok(())
}

/// The columns that a query begins with, and whether others are united with them.
fn leftmost(body: &SetExpr) -> (bool, &[SelectItem]) {
    match body {
        SetExpr::Select(select) => (false, &select.projection),
        SetExpr::Query(query) => leftmost(&query.body),
        SetExpr::SetOperation { left, .. } => (true, leftmost(left).1),
        _ => (false, &[]),
    }
}
