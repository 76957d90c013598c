//! Walks over parsed statements.
//!
//! sqlparser builds its walk, 700 functions, anew for each type of visitor. Nine types took a third
//! of the code of this crate, and of the time to build it. So there is one of each kind, and what it
//! does lies behind a pointer.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use tonnage::{Error, Result};

macro_rules! hooks {
    ($($hook:ident($node:ty)),* $(,)?) => {
        $(fn $hook(&mut self, _: $node) -> ControlFlow<Error> {
            ControlFlow::Continue(())
        })*
    };
}

macro_rules! handed_on {
    ($($hook:ident($node:ty)),* $(,)?) => {
        $(fn $hook(&mut self, node: $node) -> ControlFlow<Error> {
            self.0.$hook(node)
        })*
    };
}

/// What is done to the parts of a statement. An error ends the walk.
pub(crate) trait Rewriter {
    hooks! {
        pre_visit_query(&mut Query),
        post_visit_query(&mut Query),
        pre_visit_select(&mut Select),
        post_visit_select(&mut Select),
        pre_visit_expr(&mut Expr),
        post_visit_expr(&mut Expr),
        pre_visit_table_factor(&mut TableFactor),
        post_visit_table_factor(&mut TableFactor),
    }
}

struct Rewriting<'a>(&'a mut dyn Rewriter);

impl VisitorMut for Rewriting<'_> {
    type Break = Error;

    handed_on! {
        pre_visit_query(&mut Query),
        post_visit_query(&mut Query),
        pre_visit_select(&mut Select),
        post_visit_select(&mut Select),
        pre_visit_expr(&mut Expr),
        post_visit_expr(&mut Expr),
        pre_visit_table_factor(&mut TableFactor),
        post_visit_table_factor(&mut TableFactor),
    }
}

/// Walks over a part of a statement, and changes it.
///
/// # Errors
/// The one that ended the walk.
pub(crate) fn walk_mut(part: &mut impl VisitMut, rewriter: &mut dyn Rewriter) -> Result<()> {
    ended(part.visit(&mut Rewriting(rewriter)))
}

/// What is looked at in a statement. An error ends the walk.
pub(crate) trait Looker {
    hooks! {
        pre_visit_query(&Query),
        pre_visit_expr(&Expr),
        pre_visit_table_factor(&TableFactor),
        pre_visit_relation(&ObjectName),
    }
}

struct Looking<'a>(&'a mut dyn Looker);

impl Visitor for Looking<'_> {
    type Break = Error;

    handed_on! {
        pre_visit_query(&Query),
        pre_visit_expr(&Expr),
        pre_visit_table_factor(&TableFactor),
        pre_visit_relation(&ObjectName),
    }
}

/// Walks over a part of a statement.
///
/// # Errors
/// The one that ended the walk.
pub(crate) fn walk(part: &impl Visit, looker: &mut dyn Looker) -> Result<()> {
    ended(part.visit(&mut Looking(looker)))
}

fn ended(walked: ControlFlow<Error>) -> Result<()> {
    match walked {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}
