//! Columns of USING in WHERE.
//!
//! The planner finds them everywhere but in WHERE, where it calls them ambiguous (DataFusion 55).
//! So there each is written as the column of a table that it is.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select,
    TableFactor, TableWithJoins,
};
use tonnage::Error;

use super::call;
use super::walk::{Rewriter, walk_mut};

/// Writes the columns of USING in the WHERE of a SELECT.
pub(super) fn name_in_where(select: &mut Select) {
    let (Some(condition), [from]) = (&mut select.selection, select.from.as_slice()) else { return };
    let shared = shared(from);
    if !shared.is_empty() {
        let _ = walk_mut(condition, &mut Naming { shared, depth: 0 });
    }
}

/// The columns by which tables are joined, with what each is; without those of which the text does
/// not tell.
fn shared(from: &TableWithJoins) -> HashMap<String, Expr> {
    let mut shared = HashMap::<String, Expr>::new();
    for (place, join) in from.joins.iter().enumerate() {
        let Some((names, kind)) = names_of(join) else { continue };
        for name in names {
            let Some(name) = plain(name) else { continue };
            let key = folded(name);
            let first = (place == 0).then(|| of_table(&from.relation, name)).flatten();
            let left = shared.remove(&key).or(first);
            let right = of_table(&join.relation, name);
            let whole = match (kind, left, right) {
                (Kind::Left, left, _) => left,
                (Kind::Right, _, right) => right,
                (Kind::Inner, left, right) => left.or(right),
                (Kind::Full, Some(left), Some(right)) => Some(call("coalesce", [left, right])),
                (Kind::Full, ..) => None,
            };
            shared.extend(whole.map(|whole| (key, whole)));
        }
    }
    shared
}

#[derive(Clone, Copy)]
enum Kind {
    Inner,
    Left,
    Right,
    Full,
}

fn names_of(join: &Join) -> Option<(&[ObjectName], Kind)> {
    use JoinOperator::{FullOuter, Inner, Join as Plain, Left, LeftOuter, Right, RightOuter};
    let (constraint, kind) = match &join.join_operator {
        Plain(constraint) | Inner(constraint) => (constraint, Kind::Inner),
        Left(constraint) | LeftOuter(constraint) => (constraint, Kind::Left),
        Right(constraint) | RightOuter(constraint) => (constraint, Kind::Right),
        FullOuter(constraint) => (constraint, Kind::Full),
        _ => return None,
    };
    match constraint {
        JoinConstraint::Using(names) if !join.global => Some((names.as_slice(), kind)),
        _ => None,
    }
}

fn plain(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [part] => part.as_ident(),
        _ => None,
    }
}

fn folded(name: &Ident) -> String {
    match name.quote_style {
        None => name.value.to_ascii_lowercase(),
        Some(_) => name.value.clone(),
    }
}

/// A column of one table.
fn of_table(table: &TableFactor, column: &Ident) -> Option<Expr> {
    let mut parts: Vec<Ident> = match table {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. } => vec![alias.name.clone()],
        TableFactor::Table { name, args: None, .. } => {
            let parts = name.0.iter().map(ObjectNamePart::as_ident);
            let parts = parts.map(Option::<&Ident>::cloned).collect::<Option<Vec<_>>>()?;
            // A file is named between single quotes.
            parts.iter().all(|part| part.quote_style != Some('\'')).then_some(parts)?
        }
        _ => return None,
    };
    parts.push(column.clone());
    Some(Expr::CompoundIdentifier(parts))
}

/// Names the columns of a condition, those of its subqueries left out.
struct Naming {
    shared: HashMap<String, Expr>,
    depth: usize,
}

impl Rewriter for Naming {
    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Identifier(name) = expr
            && self.depth == 0
            && let Some(whole) = self.shared.get(&folded(name))
        {
            *expr = whole.clone();
        }
        ControlFlow::Continue(())
    }
}
