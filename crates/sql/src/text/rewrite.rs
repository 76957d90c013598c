//! Rewrites a parsed statement before planning: what the parser reads differently from SQL, and
//! what the planner would fail on.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, LimitClause, Query, Select, SetExpr, Statement, TableFactor,
    UnaryOperator, Value,
};
use tonnage::{Error, Result};

use super::distinct::distinct;
use super::walk::{Rewriter, walk_mut};
use super::{
    aggregates, casts, column_names, date_format, documents, forms, functions, joins, json_path,
    pivot, row_lists, row_values, stars, values,
};
use crate::upstream::windows::NamedWindows;
use crate::upstream::{sets, similar};

/// Rewrites a statement.
pub(super) fn rewrite(statement: &mut Statement) -> Result<()> {
    if let Statement::Explain { analyze, verbose, options, .. } = statement {
        for option in std::mem::take(options).unwrap_or_default() {
            let wanted = is_wanted(option.arg.as_ref())?;
            match option.name.value.to_ascii_lowercase().as_str() {
                "analyze" => *analyze = wanted,
                "verbose" => *verbose = wanted,
                other => {
                    return Err(Error::unsupported(format!(
                        "EXPLAIN takes the options ANALYZE and VERBOSE, not {other}"
                    )));
                }
            }
        }
    }
    let is_inserted = matches!(statement, Statement::Insert(insert)
        if insert.source.as_ref().is_some_and(|source| matches!(*source.body, SetExpr::Values(_))));
    walk_mut(statement, &mut StatementRewriter { is_inserted })
}

/// What an option of EXPLAIN says of itself.
fn is_wanted(argument: Option<&Expr>) -> Result<bool> {
    let Some(argument) = argument else { return Ok(true) };
    match argument.to_string().trim_matches('\'').to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        other => Err(Error::invalid(format!("an option of EXPLAIN is ON or OFF, not {other}"))),
    }
}

struct StatementRewriter {
    /// Whether the next VALUES are rows of an INSERT, whose types are those of the table.
    is_inserted: bool,
}

impl Rewriter for StatementRewriter {
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Err(error) = sets::rewrite_counted(&mut query.body) {
            return ControlFlow::Break(error);
        }
        if let Some(lock) = query.locks.first() {
            return ControlFlow::Break(Error::unsupported(format!(
                "{lock}: no statement locks rows; UPDATE writes a row only if it is as it was read"
            )));
        }
        if query.with.as_ref().is_some_and(|with| with.recursive) {
            // The first step settles the types of all; a decimal would lose the digits that the
            // next ones need.
            casts::approximate_all(query);
        }
        // Those of an INSERT are read by their columns, and the others among them are marked then.
        if let SetExpr::Values(values) = query.body.as_mut()
            && !std::mem::take(&mut self.is_inserted)
        {
            casts::approximate_columns(values);
            values::mark_texts(values);
            values::mark(values);
        }
        control_flow(fetch_as_limit(query).and_then(|()| forms::query(query)))
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let SetExpr::Select(select) = query.body.as_mut() else { return ControlFlow::Continue(()) };
        if select.named_window.is_empty() {
            return ControlFlow::Continue(());
        }
        let windows = std::mem::take(&mut select.named_window);
        match (NamedWindows::new(&windows), &mut query.order_by) {
            (Ok(windows), Some(order)) => control_flow(windows.write_into(order)),
            (windows, _) => control_flow(windows.map(drop)),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        stars::fold_replaced(select);
        column_names::name_columns(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        let checked = select.from.iter().try_for_each(joins::refuse_without_condition);
        if let Err(error) = checked.and_then(|()| joins::of_select(select)) {
            return ControlFlow::Break(error);
        }
        if select.named_window.is_empty() {
            return ControlFlow::Continue(());
        }
        match NamedWindows::new(&select.named_window) {
            Ok(windows) => control_flow(windows.write_into(select)),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
        match table {
            // It would be taken, and all rows would come.
            TableFactor::Table { sample: Some(_), .. }
            | TableFactor::Derived { sample: Some(_), .. } => {
                ControlFlow::Break(Error::unsupported(
                    "TABLESAMPLE: write WHERE random() < 0.01 for about one row of a hundred",
                ))
            }
            TableFactor::Table { with_ordinality: true, .. } => {
                ControlFlow::Break(Error::unsupported(
                    "WITH ORDINALITY: write row_number() OVER () beside the columns",
                ))
            }
            table => control_flow(pivot::expand(table)),
        }
    }

    fn post_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
        joins::hand_documents_on(table);
        if let TableFactor::NestedJoin { table_with_joins, .. } = table {
            if let Err(error) = joins::refuse_without_condition(table_with_joins) {
                return ControlFlow::Break(error);
            }
            joins::of_table(table_with_joins);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        documents::respell(expr);
        let respelled = functions::refuse(expr)
            .and_then(|()| aggregates::respell(expr))
            .and_then(|()| forms::expression(expr))
            .and_then(|()| date_format::respell(expr))
            .and_then(|()| row_values::write_out(expr))
            .and_then(|()| row_lists::complete_membership(expr));
        if let Err(error) = respelled {
            return ControlFlow::Break(error);
        }
        match functions::meaning(expr) {
            Ok(Some(meaning)) => *expr = meaning,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        match json_path::stepwise(expr) {
            Ok(Some(stepwise)) => *expr = stepwise,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        control_flow(expression(expr))
    }
}

fn control_flow(result: Result<()>) -> ControlFlow<Error> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

fn expression(expr: &mut Expr) -> Result<()> {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Plus, expr: signed } => *expr = take_expr(signed),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: signed } if is_interval(signed) => {
            // The planner would put the sign before the text, whose first part alone it is.
            **signed = Expr::Nested(Box::new(take_expr(signed)));
        }
        // The sign binds closer, though the parser reads it last.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: signed } if is_power(signed) => {
            *expr = within(take_expr(signed), is_exponent, |base| Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: Box::new(base),
            });
        }
        Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::UnaryOp { op: UnaryOperator::Not, .. }
        | Expr::BinaryOp { op: BinaryOperator::And, .. } => *expr = rebind(take_expr(expr)),
        Expr::SimilarTo { negated, expr: matched, pattern, escape_char } => {
            *expr = similar::similar(*negated, take_expr(matched), pattern, escape_char.as_ref())?;
        }
        Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
            if let Some(escape) = escape_char.take() {
                **pattern = similar::with_backslash(pattern, &escape)?;
            }
        }
        Expr::Value(_) => casts::approximate(expr),
        Expr::Cast { .. } | Expr::TypedString(_) => casts::rewrite_cast(expr),
        _ => {}
    }
    Ok(())
}

fn take_expr(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::value(Value::Null))
}

/// FETCH FIRST in the words of LIMIT.
fn fetch_as_limit(query: &mut Query) -> Result<()> {
    let Some(fetch) = query.fetch.take() else { return Ok(()) };
    if fetch.percent || fetch.with_ties {
        return Err(Error::unsupported(
            "FETCH FIRST takes a number of rows, without PERCENT and WITH TIES",
        ));
    }
    let rows = fetch.quantity.unwrap_or_else(|| Expr::value(Value::Number("1".to_owned(), false)));
    let offset = match query.limit_clause.take() {
        None => None,
        Some(LimitClause::LimitOffset { limit: None, offset, .. }) => offset,
        Some(_) => {
            return Err(Error::invalid("LIMIT and FETCH FIRST say the same: write one of them"));
        }
    };
    query.limit_clause =
        Some(LimitClause::LimitOffset { limit: Some(rows), offset, limit_by: Vec::new() });
    Ok(())
}

/// The parser takes everything after `IS DISTINCT FROM` for its right side, AND and OR included.
/// What is in parentheses is another kind of expression to it; so an AND or OR right below one
/// of these was read too early, and belongs above.
fn rebind(expr: Expr) -> Expr {
    match expr {
        Expr::IsDistinctFrom(left, right) => {
            within(*right, any_logic, |right| distinct(left, false, right))
        }
        Expr::IsNotDistinctFrom(left, right) => {
            within(*right, any_logic, |right| distinct(left, true, right))
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => within(*expr, any_logic, |expr| {
            Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) }
        }),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => within(*right, is_or, |right| {
            Expr::BinaryOp { left, op: BinaryOperator::And, right: Box::new(right) }
        }),
        other => other,
    }
}

fn any_logic(op: &BinaryOperator) -> bool {
    matches!(op, BinaryOperator::And | BinaryOperator::Or)
}

fn is_interval(expr: &Expr) -> bool {
    matches!(expr, Expr::Interval(_))
}

fn is_power(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryOp { op, .. } if is_exponent(op))
}

fn is_exponent(op: &BinaryOperator) -> bool {
    *op == BinaryOperator::PGExp
}

fn is_or(op: &BinaryOperator) -> bool {
    *op == BinaryOperator::Or
}

/// The expression with its leftmost part replaced, below the operators that bind less.
fn within(
    expr: Expr,
    binds_less: fn(&BinaryOperator) -> bool,
    make: impl FnOnce(Expr) -> Expr,
) -> Expr {
    match expr {
        Expr::BinaryOp { left, op, right } if binds_less(&op) => {
            Expr::BinaryOp { left: Box::new(within(*left, binds_less, make)), op, right }
        }
        other => make(other),
    }
}
