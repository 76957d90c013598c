//! Queries among VALUES: the planner knows none there.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::Location;
use tonnage::{Error, Result};

use super::tokens::word;
use crate::text::{Looker, parse, walk};

/// Makes a SELECT of VALUES with one row that holds a query.
///
/// # Errors
/// `Unsupported` for several rows, one of which holds a query.
pub(super) fn take_queries(source: &mut ast::Query) -> Result<()> {
    let ast::SetExpr::Values(values) = source.body.as_mut() else { return Ok(()) };
    if !values.rows.iter().flat_map(|row| &row.content).any(holds_query) {
        return Ok(());
    }
    let [row] = values.rows.as_mut_slice() else {
        return Err(Error::unsupported(
            "VALUES of several rows take no queries: write a statement for each row, or INSERT ... SELECT",
        ));
    };
    let cells = std::mem::take(&mut row.content).into_iter().enumerate();
    let items = cells.map(|(place, expr)| ast::SelectItem::ExprWithAlias {
        expr,
        alias: ast::Ident::new(format!("column{}", place + 1)),
    });
    let items = items.collect();
    let mut made = one_row()?;
    if let ast::SetExpr::Select(select) = made.body.as_mut() {
        select.projection = items;
    }
    source.body = made.body;
    Ok(())
}

/// A query for one row.
pub(super) fn one_row() -> Result<Box<ast::Query>> {
    let tokens = vec![word("SELECT"), word("NULL")];
    match parse(tokens, Location::new(1, 1))? {
        ast::Statement::Query(query) => Ok(query),
        _ => Err(Error::internal("SELECT NULL is not a query")),
    }
}

fn holds_query(cell: &ast::Expr) -> bool {
    struct QueryFinder(bool);
    impl Looker for QueryFinder {
        fn pre_visit_query(&mut self, _: &ast::Query) -> ControlFlow<Error> {
            self.0 = true;
            ControlFlow::Continue(())
        }
    }
    if matches!(cell, ast::Expr::Value(_)) {
        return false;
    }
    let mut finder = QueryFinder(false);
    let _ = walk(cell, &mut finder);
    finder.0
}
