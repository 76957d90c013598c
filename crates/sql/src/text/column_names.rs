//! Names of columns.
//!
//! 1. The planner wants the columns of a SELECT to have names of their own, and names a cast after
//!    what is cast. So columns that would be named like one before them get a number: `id, id_1`.
//! 2. It names expressions with literals in words of its own, `Int64(1)`; here they are named as
//!    they are written.
//! 3. So are those that compare rows of subqueries.
//! 4. Parts of documents, `doc->'a'`, have a type that nothing outside of a plan knows: what is
//!    selected is their JSON.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Select, SelectItem, SelectItemQualifiedWildcardKind, TableFactor, TableWithJoins,
    UnaryOperator, Value,
};

use tonnage::Error;

use super::ident::folded;
use super::walk::{Looker, walk};
use super::{casts, documents, functions};

/// Gives columns the names that they come out by.
pub(super) fn name_columns(select: &mut Select) {
    select.projection.iter_mut().for_each(without_plus);
    select.projection.iter_mut().for_each(show_document);
    name_twins(select);
    name_casts(select);
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) = item
            && (has_literal(expr) || has_test(expr))
        {
            let name = expr.to_string();
            rename(item, name);
        }
    }
}

/// `+ a` says no more than `a`, and would be named as it is.
fn without_plus(item: &mut SelectItem) {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return;
    };
    while let Expr::UnaryOp { op: UnaryOperator::Plus, expr: signed } = expr {
        *expr = std::mem::replace(signed.as_mut(), Expr::value(Value::Null));
    }
}

/// `doc->'a'` as JSON text.
fn show_document(item: &mut SelectItem) {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return;
    };
    let written = expr.to_string();
    documents::as_json(expr);
    if expr.to_string() != written && matches!(item, SelectItem::UnnamedExpr(_)) {
        rename(item, written);
    }
}

/// Whether a literal is in an expression, or what becomes one, outside of subqueries and positions
/// for values.
fn has_literal(expr: &Expr) -> bool {
    struct LiteralFinder {
        found: bool,
        hidden: bool,
    }
    impl Looker for LiteralFinder {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
            match expr {
                Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => {
                    self.hidden = true
                }
                Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                    self.hidden = true
                }
                Expr::Value(_) | Expr::TypedString(_) => self.found = true,
                // They are written in others, and would be named after those.
                expr if functions::is_written_in_others(expr) || casts::is_call(expr) => {
                    self.found = true
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut literals = LiteralFinder { found: false, hidden: false };
    // The finder breaks off nowhere, so the walk has no error to report.
    let _ = walk(expr, &mut literals);
    literals.found && !literals.hidden
}

/// Whether rows of a subquery are compared in an expression. The planner gives two of them one
/// name, and writes ANY as other expressions after it has named the column.
pub(super) fn has_test(expr: &Expr) -> bool {
    struct SubqueryTestFinder(bool);
    impl Looker for SubqueryTestFinder {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
            self.0 |=
                matches!(expr, Expr::InSubquery { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. });
            ControlFlow::Continue(())
        }
    }
    let mut tests = SubqueryTestFinder(false);
    let _ = walk(expr, &mut tests);
    tests.0
}

/// Gives the later ones of columns with the same name names of their own.
fn name_twins(select: &mut Select) {
    let is_one_table = is_one_table(&select.from);
    let mut stars = StarItems { all: false, tables: Vec::new(), is_one_table };
    select.projection.iter().for_each(|item| stars.note(item));
    let mut seen = HashMap::<String, usize>::new();
    for item in &mut select.projection {
        let Some((name, short)) = column_name(item, is_one_table) else { continue };
        let twins = seen.entry(name).or_insert_with(|| usize::from(stars.hold(item)));
        if *twins > 0 {
            rename(item, format!("{short}_{twins}"));
        }
        *twins += 1;
    }
}

/// Names what casts a column after the column. The planner does so too, but takes the name for the
/// column itself: `SELECT x::DATE FROM t ORDER BY x` would have two columns of one name to it.
fn name_casts(select: &mut Select) {
    let short = |item: &SelectItem| Some(column_name(item, true)?.1.to_ascii_lowercase());
    let is_star = |item: &SelectItem| {
        matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
    };
    if select.projection.iter().any(is_star) {
        return;
    }
    let names: Vec<Option<String>> = select.projection.iter().map(short).collect();
    for (item, name) in select.projection.iter_mut().zip(&names) {
        if let SelectItem::UnnamedExpr(expr @ Expr::Cast { .. }) = &*item
            && let Expr::Identifier(column) = last_part(unwrapped(expr))
            && names.iter().filter(|other| *other == name).count() == 1
        {
            let column = folded(&column);
            rename(item, column);
        }
    }
}

/// A column without the name of its table.
fn last_part(expr: &Expr) -> Expr {
    match expr {
        Expr::CompoundIdentifier(parts) => {
            parts.last().cloned().map_or_else(|| expr.clone(), Expr::Identifier)
        }
        expr => expr.clone(),
    }
}

fn is_one_table(from: &[TableWithJoins]) -> bool {
    matches!(from, [TableWithJoins { relation: TableFactor::Table { .. }, joins }] if joins.is_empty())
}

/// What `*` and `t.*` among the columns mean.
struct StarItems {
    all: bool,
    tables: Vec<String>,
    is_one_table: bool,
}

impl StarItems {
    fn note(&mut self, item: &SelectItem) {
        match item {
            SelectItem::Wildcard(_) => self.all = true,
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(table),
                _,
            ) => {
                self.tables.push(table.to_string().to_ascii_lowercase());
            }
            _ => {}
        }
    }

    /// Whether a column is among them.
    fn hold(&self, item: &SelectItem) -> bool {
        let SelectItem::UnnamedExpr(expr) = item else { return false };
        match unwrapped(expr) {
            Expr::Identifier(_) => self.all || self.is_one_table && !self.tables.is_empty(),
            Expr::CompoundIdentifier(parts) => {
                let table = parts[..parts.len() - 1]
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(".");
                self.all || self.tables.contains(&table.to_ascii_lowercase())
            }
            _ => false,
        }
    }
}

/// The name by which the planner distinguishes columns, and one to add a number to.
fn column_name(item: &SelectItem, is_one_table: bool) -> Option<(String, String)> {
    let expr = match item {
        SelectItem::ExprWithAlias { alias, .. } => {
            return Some((alias.value.to_ascii_lowercase(), alias.value.clone()));
        }
        SelectItem::UnnamedExpr(expr) => unwrapped(expr),
        _ => return None,
    };
    Some(match expr {
        // The planner calls them all the same.
        Expr::Subquery(_) => ("(subquery)".to_owned(), "subquery".to_owned()),
        Expr::Identifier(name) => (name.value.to_ascii_lowercase(), name.value.clone()),
        Expr::CompoundIdentifier(parts) => {
            let short = parts.last().map_or_else(String::new, |part| part.value.clone());
            let name = if is_one_table { short.clone() } else { expr.to_string() };
            (name.to_ascii_lowercase(), short)
        }
        expr => (expr.to_string(), expr.to_string()),
    })
}

/// What is cast: the planner gives a cast its name.
fn unwrapped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Cast { expr, .. } | Expr::Nested(expr) => unwrapped(expr),
        expr => expr,
    }
}

fn rename(item: &mut SelectItem, name: String) {
    let alias = Ident::with_quote('"', name);
    match item {
        SelectItem::UnnamedExpr(expr) => {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias }
        }
        SelectItem::ExprWithAlias { alias: given, .. } => *given = alias,
        _ => {}
    }
}
