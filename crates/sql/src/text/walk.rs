//! Walks over parsed statements.
//!
//! sqlparser builds its walk, 700 functions, anew for each type of visitor. Nine types took a third
//! of the code of this crate, and of the time to build it. So there is one of each kind, and what
//! it does is after a pointer.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use tonnage::{Error, Result};

/// A trait of hooks that do nothing unless they are written, and the one visitor that calls them.
macro_rules! hooks {
    ($(#[$what:meta])* $trait:ident by $called:ident as $visitor:ident, $($hook:ident($node:ty)),*) => {
        $(#[$what])*
        pub(crate) trait $trait {
            $(fn $hook(&mut self, _: $node) -> ControlFlow<Error> {
                ControlFlow::Continue(())
            })*
        }

        struct $called<'a>(&'a mut dyn $trait);

        impl $visitor for $called<'_> {
            type Break = Error;

            $(fn $hook(&mut self, node: $node) -> ControlFlow<Error> {
                self.0.$hook(node)
            })*
        }
    };
}

hooks! {
    /// What is done to the parts of a statement. An error ends the walk.
    Rewriter by Rewriting as VisitorMut,
    pre_visit_query(&mut Query),
    post_visit_query(&mut Query),
    pre_visit_select(&mut Select),
    post_visit_select(&mut Select),
    pre_visit_expr(&mut Expr),
    post_visit_expr(&mut Expr),
    pre_visit_table_factor(&mut TableFactor),
    post_visit_table_factor(&mut TableFactor)
}

hooks! {
    /// What is looked at in a statement. An error ends the walk.
    Looker by Looking as Visitor,
    pre_visit_query(&Query),
    post_visit_query(&Query),
    pre_visit_expr(&Expr),
    post_visit_expr(&Expr),
    pre_visit_table_factor(&TableFactor),
    pre_visit_relation(&ObjectName)
}

/// Walks over a part of a statement, and changes it.
///
/// # Errors
/// The one that ended the walk.
pub(crate) fn walk_mut(part: &mut impl VisitMut, rewriter: &mut dyn Rewriter) -> Result<()> {
    ended(part.visit(&mut Rewriting(rewriter)))
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
