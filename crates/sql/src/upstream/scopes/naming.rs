//! Rewrites names of columns so that the planner takes the right one.
//!
//! Upstream: no issue known: docs/upstream/ambiguous-names.md. Gone in: open
//! Upstream: no issue known: docs/upstream/ambiguous-names.md. Gone in: open

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, LambdaFunction, Query, VisitMut};
use tonnage::{Error, Result};

use super::resolver::NameResolver;
use super::visible::{ColumnMatch, VisibleColumns};
use crate::text::{CATALOG, Rewriter, SCHEMA, folded, walk_mut};

impl NameResolver<'_> {
    /// Resolves the names in expressions, and in the subqueries of these.
    pub(super) fn expressions(&mut self, part: &mut impl VisitMut) -> Result<()> {
        walk_mut(part, &mut NameRewriter { names: self, depth: 0, parameters: Vec::new() })
    }

    /// A bare name, if it must be written otherwise.
    fn bare(&self, name: &Ident) -> Result<Option<Expr>> {
        let wanted = folded(name);
        for (at, scope) in self.scopes.iter().enumerate().rev() {
            match scope.find(&wanted) {
                ColumnMatch::One(column) => return Ok(column.shared.clone()),
                ColumnMatch::Several => {
                    let may_be = |outer: &VisibleColumns| outer.has(&wanted) || !outer.is_whole;
                    return match self.scopes[..at].iter().any(may_be) {
                        true => Err(scope.ambiguous(name)),
                        false => Ok(None),
                    };
                }
                ColumnMatch::Nothing if !scope.is_whole => return Ok(None),
                ColumnMatch::Nothing => {}
            }
        }
        Ok(None)
    }

    /// A column of a table further outside, if a column further inside bears the name of the table:
    /// with all names before it, it is not part of that column.
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
        match self.names.query(query, false) {
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
