//! Names of columns.
//!
//! 1. The planner wants the columns of a SELECT to have names of their own, and names a cast after
//!    what is cast. So columns that would be named like one before them get a number: `id, id_1`.
//! 2. It names expressions in words of its own, `Int64(1)` and `max(t.a)`; here they are named as
//!    they are written, but for the case of names.
//! 3. Parts of documents, `doc->'a'`, have a type that nothing outside of a plan knows: what is
//!    selected is their JSON.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectNamePart, Select, SelectItem, SelectItemQualifiedWildcardKind, TableFactor,
    TableWithJoins, UnaryOperator, Value,
};

use tonnage::Error;

use super::walk::{Looker, Rewriter, walk, walk_mut};
use super::{casts, documents, functions};

/// Gives columns the names that they come out by.
pub(super) fn name_columns(select: &mut Select) {
    select.projection.iter_mut().for_each(without_plus);
    select.projection.iter_mut().for_each(show_document);
    name_twins(select);
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) = item
            && is_named_as_written(expr)
        {
            let name = written(expr);
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

/// Whether an expression gets the name that it is written by. A column has one, and so has what is
/// cast; subqueries and places for values are left to the planner.
fn is_named_as_written(expr: &Expr) -> bool {
    struct Parts {
        /// A literal, or what is written in other functions, and would be named after those.
        renamed: bool,
        hidden: bool,
    }
    impl Looker for Parts {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
            match expr {
                Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => {
                    self.hidden = true
                }
                Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                    self.hidden = true
                }
                Expr::Value(_) => self.renamed = true,
                expr if functions::is_written_in_others(expr) || casts::is_to_json(expr) => {
                    self.renamed = true
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut parts = Parts { renamed: false, hidden: false };
    let _ = walk(expr, &mut parts);
    let is_column = matches!(unwrapped(expr), Expr::Identifier(_) | Expr::CompoundIdentifier(_));
    !parts.hidden && (parts.renamed || !is_column)
}

/// Whether a name in lower case needs no quotes.
pub(crate) fn is_plain(name: &str) -> bool {
    let begins_well = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    begins_well && name.chars().all(|char| char.is_alphanumeric() || char == '_')
}

/// An expression as it is written, with its names in lower case: case tells no columns apart.
fn written(expr: &Expr) -> String {
    struct Folding;
    impl Rewriter for Folding {
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            match expr {
                Expr::Identifier(name) => fold(name),
                Expr::CompoundIdentifier(names) => names.iter_mut().for_each(fold),
                Expr::Function(function) => function.name.0.iter_mut().for_each(|part| {
                    if let ObjectNamePart::Identifier(name) = part {
                        fold(name);
                    }
                }),
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    fn fold(name: &mut Ident) {
        name.value.make_ascii_lowercase();
        if is_plain(&name.value) {
            name.quote_style = None;
        }
    }
    let mut folded = expr.clone();
    let _ = walk_mut(&mut folded, &mut Folding);
    folded.to_string()
}

/// Gives the later ones of columns with the same name names of their own.
fn name_twins(select: &mut Select) {
    let is_one_table = is_one_table(&select.from);
    let mut stars = Stars { all: false, tables: Vec::new(), is_one_table };
    select.projection.iter().for_each(|item| stars.note(item));
    let mut seen = HashMap::<String, usize>::new();
    for item in &mut select.projection {
        let Some((name, short)) = named(item, is_one_table) else { continue };
        let twins = seen.entry(name).or_insert_with(|| usize::from(stars.hold(item)));
        if *twins > 0 {
            rename(item, format!("{short}_{twins}"));
        }
        *twins += 1;
    }
}

fn is_one_table(from: &[TableWithJoins]) -> bool {
    matches!(from, [TableWithJoins { relation: TableFactor::Table { .. }, joins }] if joins.is_empty())
}

/// What `*` and `t.*` among the columns stand for.
struct Stars {
    all: bool,
    tables: Vec<String>,
    is_one_table: bool,
}

impl Stars {
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

/// What the planner tells columns apart by, and a name to put a number behind.
fn named(item: &SelectItem, is_one_table: bool) -> Option<(String, String)> {
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
        expr => (written(expr), written(expr)),
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
