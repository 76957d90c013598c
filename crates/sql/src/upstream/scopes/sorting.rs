//! Keys of ORDER BY that an alias of the list hides: `SELECT -k AS k FROM t ORDER BY k + 1`. A cast
//! without an alias hides its column too, as in `SELECT a.v::INT, b.v FROM a, b ORDER BY a.v`, for
//! the planner calls it `a.v`.
//!
//! Upstream: apache/datafusion#13558. Gone in: open
//!
//! In an expression a name is a column of FROM, as in PostgreSQL; alone it is one of the list. The
//! planner takes it for one of the list in both, and refuses `t.k` beside it (DataFusion 55). So a
//! key that is an item of the list is written by its alias, and any other one becomes a column
//! beside the list, which a query around leaves out again.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderBy, OrderByKind, Query, Select, SelectItem, SetExpr, TableAlias,
    TableFactor, Value, ValueWithSpan,
};
use tonnage::{Error, Result};

use super::visible::{ColumnMatch, ColumnNames, VisibleColumns};
use crate::text::{Rewriter, folded, walk_mut};
use crate::upstream::{derived, read};

/// The positions of such keys, and of those that belong to them.
#[derive(Debug, Default)]
pub(super) struct HiddenKeys {
    places: Vec<usize>,
    /// The columns that the query gives by themselves.
    names: Vec<String>,
}

impl HiddenKeys {
    /// Takes a key that is not a bare name. Returns whether it is done: written by an alias.
    pub(super) fn note(
        &mut self,
        place: usize,
        key: &mut Expr,
        select: &Select,
        scope: &VisibleColumns,
    ) -> Result<bool> {
        let is_hidden =
            |part: &Expr| select.projection.iter().any(|item| scope.is_hidden_by(item, part));
        let mut found = None;
        each_part(key, |part| {
            let is_name = match part {
                Expr::Identifier(_) => true,
                Expr::CompoundIdentifier(parts) => parts.len() == 2,
                _ => false,
            };
            if is_name && is_hidden(part) {
                found = Some(part.clone());
            }
        })?;
        let Some(column) = found else { return Ok(false) };
        // DISTINCT ON sorts before it makes the list: nothing hides a name with its table there.
        let is_of_several = match &column {
            Expr::CompoundIdentifier(parts) => parts
                .last()
                .is_some_and(|name| matches!(scope.find(&folded(name)), ColumnMatch::Several)),
            _ => false,
        };
        if is_of_several && matches!(select.distinct, Some(Distinct::On(_))) {
            return Ok(false);
        }
        let is_item = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { expr, alias } if *expr == *key => Some(alias.clone()),
            _ => None,
        };
        if let Some(alias) = select.projection.iter().find_map(is_item) {
            *key = Expr::Identifier(alias);
            return Ok(true);
        }
        // A key that is written as a cast of the list is found by the planner itself.
        let is_same = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr @ Expr::Cast { .. }) => *expr == *key,
            _ => false,
        };
        if select.projection.iter().any(is_same) {
            return Ok(false);
        }
        // A key beside the list would be one more column by which DISTINCT distinguishes rows.
        if select.distinct.is_some() {
            return Err(Error::unsupported(format!(
                "ORDER BY {key}: {column} is a column that another one of the list hides; give that one another name"
            )));
        }
        // The names that are hidden are written with their tables.
        each_part(key, |part| {
            if let Expr::Identifier(name) = part
                && let name = folded(name)
                && is_hidden(part)
                && let ColumnMatch::One(column) = scope.find(&name)
            {
                *part = column.to_expr();
            }
        })?;
        self.places.push(place);
        Ok(false)
    }

    pub(super) fn into_some(mut self, columns: &ColumnNames) -> Option<Self> {
        self.names = columns.names.clone();
        (!self.places.is_empty()).then_some(self)
    }
}

/// Does something to each part of a key that is in no subquery.
fn each_part(key: &mut Expr, work: impl FnMut(&mut Expr)) -> Result<()> {
    walk_mut(key, &mut KeyParts { work, depth: 0 })
}

struct KeyParts<F> {
    work: F,
    depth: usize,
}

impl<F: FnMut(&mut Expr)> Rewriter for KeyParts<F> {
    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.depth == 0 {
            (self.work)(expr);
        }
        ControlFlow::Continue(())
    }
}

/// Puts the keys of an order beside the list, and a query around that leaves them out.
pub(super) fn add_hidden_keys(query: &mut Query, hidden: &HiddenKeys) -> Result<()> {
    let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) = &mut query.order_by else {
        return Ok(());
    };
    let SetExpr::Select(select) = query.body.as_mut() else { return Ok(()) };
    let mut made = Vec::new();
    for (place, key) in keys.iter_mut().enumerate() {
        // A bare name of the list, or a number, means the same in the query around.
        let is_listed = match &key.expr {
            Expr::Identifier(name) => hidden.names.contains(&folded(name)),
            Expr::Value(ValueWithSpan { value: Value::Number(..), .. }) => true,
            _ => false,
        };
        if !is_listed {
            let alias = Ident::with_quote('"', format!("_sort{place}"));
            let name = Expr::Identifier(alias.clone());
            let expr = std::mem::replace(&mut key.expr, name);
            select.projection.push(SelectItem::ExprWithAlias { expr, alias: alias.clone() });
            made.push(alias.to_string());
        }
    }
    // The order stays with the query around: rows of a subquery have none.
    let mut around = read(&format!("SELECT * EXCLUDE ({}) FROM nothing", made.join(", ")))?;
    let SetExpr::Select(outer) = around.body.as_mut() else { return Ok(()) };
    let mut inner = read("SELECT 1")?;
    std::mem::swap(&mut inner.body, &mut query.body);
    let mut table = derived(inner);
    if let TableFactor::Derived { alias, .. } = &mut table {
        let name = Ident::with_quote('"', "_sorted");
        *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
    }
    if let Some(first) = outer.from.first_mut() {
        first.relation = table;
    }
    query.body = around.body;
    Ok(())
}
