//! How deep queries stand within expressions of each other.
//!
//! The planner checks each such query again for each of those around it, twice as long for each level
//! (DataFusion 55, `check_invariants`): 30 levels, in a statement of 270 bytes, never ended.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Statement, Visit, Visitor};
use tonnage::{Error, Result};

/// 16 levels are planned in a quarter of a second.
const LEVELS_MAX: usize = 16;

/// Refuses a statement whose queries are nested too deeply.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(statement: &Statement) -> Result<()> {
    match statement.visit(&mut QueryDepth(0)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::unsupported(format!(
            "more than {LEVELS_MAX} queries stand in expressions of each other: join the inner ones, or \
             make WITH queries of them"
        ))),
    }
}

struct QueryDepth(usize);

impl Visitor for QueryDepth {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0 += usize::from(is_query(expr));
        if self.0 > LEVELS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0 -= usize::from(is_query(expr));
        ControlFlow::Continue(())
    }
}

fn is_query(expr: &Expr) -> bool {
    matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })
}

#[cfg(test)]
mod tests {
    use super::super::pieces;

    fn nested(levels: usize) -> String {
        format!("SELECT {}1{}", "(SELECT ".repeat(levels), ")".repeat(levels))
    }

    #[test]
    fn queries_in_expressions_nest_so_deep_and_no_deeper() {
        let parsed = |text: &str| pieces(text).unwrap()[0].parse();
        assert!(parsed(&nested(16)).is_ok());
        let error = parsed(&nested(17)).unwrap_err();
        assert!(error.message().contains("more than 16 queries"), "{error}");
        // Tables of queries cost nothing.
        let tables =
            format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(30), ") AS a".repeat(30));
        assert!(parsed(&tables).is_ok());
    }
}
