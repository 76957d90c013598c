//! Names of columns in a statement, each written so that the planner takes it for the right one.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, LambdaFunction, ObjectName, OrderBy, OrderByExpr, OrderByKind, Query,
    Select, SetExpr, SetQuantifier, Statement, VisitMut,
};
use tonnage::{Error, Result};

use super::outputs::{outputs, spell_out_stars};
use super::sorting::{HiddenKeys, beside_list};
use super::visible::{ColumnNames, Meaning, VisibleColumns, folded};
use crate::error::invalid_at;
use crate::text::{CATALOG, Rewriter, SCHEMA, walk_mut};

/// The columns of a table by its name, where they are known.
type KnownColumns<'a> = &'a dyn Fn(&ObjectName) -> Option<Vec<String>>;

/// Resolves the names in a statement.
///
/// # Errors
/// A bare name in a subquery that means several columns.
pub(crate) fn resolve(statement: &mut Statement, known: KnownColumns<'_>) -> Result<()> {
    match statement {
        Statement::Query(query) => {
            let mut names =
                NameResolver { known, given: Vec::new(), scopes: Vec::new(), tables_made: 0 };
            names.query(query).map(drop)
        }
        Statement::Explain { statement, .. } => resolve(statement, known),
        _ => Ok(()),
    }
}

/// What is known at a place of the statement.
pub(super) struct NameResolver<'a> {
    pub(super) known: KnownColumns<'a>,
    /// The tables that WITH gives.
    pub(super) given: Vec<GivenTable>,
    /// What the queries around see, the innermost last.
    scopes: Vec<VisibleColumns>,
    tables_made: usize,
}

/// A table that WITH gives.
pub(super) struct GivenTable {
    pub(super) name: String,
    /// What it is called in the plan, where a WITH around gives a table of its name: the planner
    /// refuses such names, also of one within a view.
    pub(super) written: Option<Ident>,
    pub(super) columns: ColumnNames,
}

impl NameResolver<'_> {
    pub(super) fn query(&mut self, query: &mut Query) -> Result<ColumnNames> {
        let outside = self.given.len();
        if let Some(with) = &mut query.with {
            for table in &mut with.cte_tables {
                let name = folded(&table.alias.name);
                let is_taken = self.given[..outside].iter().any(|given| given.name == name);
                let written = is_taken.then(|| Ident::with_quote('"', self.made("_with")));
                if let Some(written) = &written {
                    table.alias.name = written.clone();
                }
                if with.recursive {
                    let columns = ColumnNames::unknown().under(Some(&table.alias));
                    let (name, written) = (name.clone(), written.clone());
                    self.given.push(GivenTable { name, written, columns });
                }
                let columns = self.query(&mut table.query)?.under(Some(&table.alias));
                if with.recursive {
                    self.given.pop();
                }
                self.given.push(GivenTable { name, written, columns });
            }
        }
        let columns = match query.body.as_mut() {
            SetExpr::Select(select) => {
                let (columns, hidden) = self.select(select, query.order_by.as_mut())?;
                if let Some(hidden) = hidden {
                    beside_list(query, &hidden)?;
                }
                columns
            }
            body => self.body(body)?,
        };
        self.given.truncate(outside);
        Ok(columns)
    }

    fn body(&mut self, body: &mut SetExpr) -> Result<ColumnNames> {
        match body {
            SetExpr::Select(select) => self.select(select, None).map(|(columns, _)| columns),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, set_quantifier, .. } => {
                let columns = self.body(left)?;
                self.body(right)?;
                Ok(match set_quantifier {
                    SetQuantifier::ByName
                    | SetQuantifier::AllByName
                    | SetQuantifier::DistinctByName => ColumnNames::unknown(),
                    _ => columns,
                })
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                self.within(VisibleColumns::default(), |names| names.expressions(values))?;
                let names = (1..=width).map(|place| format!("column{place}")).collect();
                Ok(ColumnNames::whole(names))
            }
            _ => Ok(ColumnNames::unknown()),
        }
    }

    /// What a SELECT gives, and the keys of its order that its own aliases hide.
    fn select(
        &mut self,
        select: &mut Select,
        order: Option<&mut OrderBy>,
    ) -> Result<(ColumnNames, Option<HiddenKeys>)> {
        let from = self.from(&mut select.from)?;
        spell_out_stars(select, &from);
        let columns = outputs(select, &from);
        let mut hidden = None;
        self.within(from, |names| {
            if let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) = order {
                hidden = names.order(select, &columns, keys)?;
            }
            // FROM is done, and what DISTINCT ON takes for columns of the list stays.
            let tables = std::mem::take(&mut select.from);
            let distinct = select.distinct.take();
            names.expressions(select)?;
            select.from = tables;
            select.distinct = distinct;
            if let Some(Distinct::On(keys)) = &mut select.distinct {
                for key in keys {
                    let is_listed = matches!(key, Expr::Identifier(name)
                        if columns.names.contains(&folded(name)));
                    if !is_listed {
                        names.expressions(key)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok((columns, hidden))
    }

    /// The keys of ORDER BY: a bare name is a column of the list if there is one, every other one a
    /// column of FROM.
    fn order(
        &mut self,
        select: &Select,
        columns: &ColumnNames,
        keys: &mut [OrderByExpr],
    ) -> Result<Option<HiddenKeys>> {
        let mut hidden = HiddenKeys::default();
        for (place, key) in keys.iter_mut().enumerate() {
            if let Expr::Identifier(name) = &key.expr {
                let name = folded(name);
                let listed = columns.names.iter().filter(|column| **column == name).count();
                if listed == 1 || listed > 1 && self.scopes.len() == 1 && !self.shares(&name) {
                    continue;
                }
            } else {
                let scope = self.scopes.last();
                if let Some(scope) = scope
                    && hidden.note(place, &mut key.expr, select, scope)?
                {
                    continue;
                }
            }
            self.expressions(&mut key.expr)?;
        }
        Ok(hidden.into_some(columns))
    }

    /// Whether a name is one of a join by names here.
    fn shares(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(
            |scope| matches!(scope.find(name), Meaning::One(column) if column.shared.is_some()),
        )
    }

    pub(super) fn made(&mut self, what: &str) -> String {
        self.tables_made += 1;
        format!("{what}{}", self.tables_made)
    }

    /// Does something where these columns are seen too.
    pub(super) fn within<T>(
        &mut self,
        columns: VisibleColumns,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scopes.push(columns);
        let done = work(self);
        self.scopes.pop();
        done
    }

    /// Resolves the names in expressions, and in the subqueries of these.
    pub(super) fn expressions(&mut self, part: &mut impl VisitMut) -> Result<()> {
        walk_mut(part, &mut NameRewriter { names: self, depth: 0, parameters: Vec::new() })
    }

    /// A bare name, if it must be written otherwise.
    fn bare(&self, name: &Ident) -> Result<Option<Expr>> {
        let wanted = folded(name);
        for (at, scope) in self.scopes.iter().enumerate().rev() {
            match scope.find(&wanted) {
                Meaning::One(column) => return Ok(column.shared.clone()),
                Meaning::Several => {
                    let may_be = |outer: &VisibleColumns| outer.has(&wanted) || !outer.is_whole;
                    return match self.scopes[..at].iter().any(may_be) {
                        true => Err(ambiguous(name, scope)),
                        false => Ok(None),
                    };
                }
                Meaning::Nothing if !scope.is_whole => return Ok(None),
                Meaning::Nothing => {}
            }
        }
        Ok(None)
    }

    /// A column of a table further outside, if a column further inside bears the name of the table:
    /// with all names before it, it is no part of that column.
    fn outer(&self, parts: &[Ident]) -> Option<Expr> {
        let [table, _] = parts else { return None };
        let wanted = folded(table);
        let at = self.scopes.iter().rposition(|scope| scope.has_table(&wanted))?;
        if !self.scopes[at + 1..].iter().any(|scope| scope.has(&wanted)) {
            return None;
        }
        let before = [CATALOG, SCHEMA].map(|part| Ident::with_quote('"', part));
        Some(Expr::CompoundIdentifier(before.into_iter().chain(parts.iter().cloned()).collect()))
    }
}

fn ambiguous(name: &Ident, scope: &VisibleColumns) -> Error {
    let wanted = folded(name);
    let meant = scope.columns.iter().filter(|column| column.name == wanted);
    let meant: Vec<String> = meant.map(|column| column.written().to_string()).collect();
    let message = format!(
        "column {wanted} is ambiguous: several tables have one; write its table before it, as in {}",
        meant.join(" or ").replace('"', "")
    );
    match name.span.start.line {
        0 => Error::invalid(message),
        _ => invalid_at(name.span.start, message),
    }
}

/// Writes names otherwise where they must be, those of subqueries within their own scopes.
struct NameRewriter<'a, 'b> {
    names: &'a mut NameResolver<'b>,
    depth: usize,
    /// The parameters of functions of lists around.
    parameters: Vec<Vec<String>>,
}

impl Rewriter for NameRewriter<'_, '_> {
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        if self.depth > 1 {
            return ControlFlow::Continue(());
        }
        match self.names.query(query) {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Lambda(LambdaFunction { params, .. }) = expr {
            self.parameters.push(params.iter().map(|given| folded(&given.name)).collect());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let made = match expr {
            Expr::Lambda(_) => {
                self.parameters.pop();
                Ok(None)
            }
            _ if self.depth > 0 => Ok(None),
            Expr::Identifier(name)
                if self.parameters.iter().flatten().any(|p| *p == folded(name)) =>
            {
                Ok(None)
            }
            Expr::Identifier(name) => self.names.bare(name),
            Expr::CompoundIdentifier(parts) => Ok(self.names.outer(parts)),
            _ => Ok(None),
        };
        match made {
            Ok(Some(made)) => *expr = made,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}
