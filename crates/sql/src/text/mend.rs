//! What the parser reads otherwise than SQL says, and what the planner would stumble over, put right before planning.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, UnaryOperator, Value,
    VisitMut, VisitorMut,
};
use tonnage::{Error, Result};

use super::call;

/// The function that says of a column that it may be NULL.
pub(crate) const NULLABLE: &str = "_nullable";

/// Mends a statement.
pub(super) fn mend(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Mender) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Mender;

impl VisitorMut for Mender {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match counted_set(&query.body) {
            None => ControlFlow::Continue(()),
            // It would be answered, but repeated rows would be counted wrongly.
            Some(operator) => ControlFlow::Break(Error::unsupported(format!(
                "{operator} ALL: write {operator}, or number equal rows with row_number() and take {operator} of these"
            ))),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        name_twins(&mut select.projection);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match expr {
            Expr::Subquery(query) => let_be_null(query),
            Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::UnaryOp { op: UnaryOperator::Not, .. }
            | Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                let read = std::mem::replace(expr, Expr::value(Value::Null));
                *expr = rebound(read);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The parser takes everything behind `IS DISTINCT FROM` for its right side, AND and OR included. What stands in parentheses is another
/// kind of expression to it; so an AND or OR right below one of these was read too early, and belongs above.
fn rebound(expr: Expr) -> Expr {
    match expr {
        Expr::IsDistinctFrom(left, right) => within(*right, any_logic, |right| Expr::IsDistinctFrom(left, Box::new(right))),
        Expr::IsNotDistinctFrom(left, right) => within(*right, any_logic, |right| Expr::IsNotDistinctFrom(left, Box::new(right))),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            within(*expr, any_logic, |expr| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) })
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            within(*right, is_or, |right| Expr::BinaryOp { left, op: BinaryOperator::And, right: Box::new(right) })
        }
        other => other,
    }
}

fn any_logic(op: &BinaryOperator) -> bool {
    matches!(op, BinaryOperator::And | BinaryOperator::Or)
}

fn is_or(op: &BinaryOperator) -> bool {
    *op == BinaryOperator::Or
}

/// The expression with something made of its leftmost part, below the operators that bind less.
fn within(expr: Expr, binds_less: fn(&BinaryOperator) -> bool, make: impl FnOnce(Expr) -> Expr) -> Expr {
    match expr {
        Expr::BinaryOp { left, op, right } if binds_less(&op) => {
            Expr::BinaryOp { left: Box::new(within(*left, binds_less, make)), op, right }
        }
        other => make(other),
    }
}

/// The operator of an INTERSECT ALL or EXCEPT ALL.
fn counted_set(body: &SetExpr) -> Option<SetOperator> {
    match body {
        SetExpr::SetOperation { op, set_quantifier, left, right } => {
            let is_counted = *op != SetOperator::Union && matches!(set_quantifier, SetQuantifier::All | SetQuantifier::AllByName);
            is_counted.then_some(*op).or_else(|| counted_set(left)).or_else(|| counted_set(right))
        }
        _ => None,
    }
}

/// Columns that are asked for twice come under names of their own: `id, id_1`.
fn name_twins(items: &mut [SelectItem]) {
    let mut seen = HashMap::<String, usize>::new();
    for item in items {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let name = match &*expr {
            // The planner calls them all the same.
            Expr::Subquery(_) => "subquery".to_owned(),
            expr => expr.to_string(),
        };
        let twins = seen.get(&name).copied().unwrap_or_default();
        if twins > 0 {
            let short = match &*expr {
                Expr::CompoundIdentifier(parts) => parts.last().map_or(name.as_str(), |part| part.value.as_str()),
                _ => name.as_str(),
            };
            let alias = Ident::with_quote('"', format!("{short}_{twins}"));
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
        seen.insert(name, twins + 1);
    }
}

/// A query for one value gives NULL when there is no row, even of a column that is never NULL.
fn let_be_null(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let [item] = select.projection.as_mut_slice() else { return };
    // An order would no longer be that of the key.
    if query.order_by.is_some() {
        return;
    }
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = &*item else { return };
    let name = match expr {
        Expr::Identifier(name) => name.clone(),
        Expr::CompoundIdentifier(parts) => match parts.last() {
            Some(name) => name.clone(),
            None => return,
        },
        _ => return,
    };
    let call = call(NULLABLE, expr.clone());
    *item = SelectItem::ExprWithAlias { expr: call, alias: name };
}
