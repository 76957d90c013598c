//! How large a statement is once the queries of WITH stand where they are named.
//!
//! The planner puts a query of WITH into each place that names it. Of queries that name each other
//! twice each doubles the plan: 26 of them, in a statement of a thousand bytes, never ended, and took
//! all memory.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Query, Statement, TableFactor};
use tonnage::{Error, Result};

use super::ident::folded;
use super::walk::{Looker, walk};

/// So many queries, tables and expressions of a chain of joins are planned in about seven seconds.
const PARTS_MAX: u64 = 32_768;

/// Refuses a statement that grows beyond that; one that is written as large does not grow.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(statement: &Statement) -> Result<()> {
    let mut growth = Growth::default();
    walk(statement, &mut growth)?;
    if growth.parts <= PARTS_MAX.max(growth.written) {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the queries of WITH name each other so often that the statement has more than {PARTS_MAX} parts: \
         keep what the inner ones give in a table, by CREATE TABLE ... AS"
    )))
}

#[derive(Default)]
struct Growth {
    /// The queries around the place that the walk has come to.
    around: Vec<OpenQuery>,
    /// The queries, tables and expressions that are written down.
    written: u64,
    /// Those that are planned.
    parts: u64,
}

/// A query.
struct OpenQuery {
    /// The queries of its WITH that the walk has not come to, and their names.
    with: Vec<(*const Query, String)>,
    /// Those that it has left, with how many parts they have.
    given: Vec<(String, u64)>,
    /// How many parts it has itself so far.
    parts: u64,
}

impl Growth {
    /// Takes a part into account that stands for so many.
    fn add(&mut self, parts: u64) {
        self.written += 1;
        self.put(parts);
    }

    fn put(&mut self, parts: u64) {
        let sum = self.around.last_mut().map_or(&mut self.parts, |level| &mut level.parts);
        *sum = sum.saturating_add(parts);
    }

    /// How many parts stand behind the name of a table.
    fn behind(&self, name: &str) -> u64 {
        let mut given = self.around.iter().rev().flat_map(|level| level.given.iter().rev());
        given.find(|(given, _)| given == name).map_or(1, |(_, parts)| *parts)
    }
}

impl Looker for Growth {
    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        let with = tables
            .map(|table| (std::ptr::from_ref(table.query.as_ref()), folded(&table.alias.name)))
            .collect();
        self.around.push(OpenQuery { with, given: Vec::new(), parts: 0 });
        self.add(1);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let Some(OpenQuery { parts, .. }) = self.around.pop() else {
            return ControlFlow::Continue(());
        };
        if let Some(outer) = self.around.last_mut()
            && let Some(at) = outer.with.iter().position(|(own, _)| std::ptr::eq(*own, query))
        {
            let (_, name) = outer.with.swap_remove(at);
            outer.given.push((name, parts));
        } else {
            self.put(parts);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<Error> {
        self.add(1);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Error> {
        if let TableFactor::Table { name, .. } = table {
            let parts = match name.0.as_slice() {
                [part] => part.as_ident().map_or(1, |name| self.behind(&folded(name))),
                _ => 1,
            };
            self.add(parts);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces;

    /// So many queries, each of which names the one before it so often.
    fn chain(queries: usize, times: usize) -> String {
        let query = |at: usize| {
            let tables = (0..times).map(|table| format!("q{} AS t{table}", at - 1));
            format!("q{at} AS (SELECT 1 AS x FROM {})", tables.collect::<Vec<_>>().join(", "))
        };
        let queries: Vec<_> = (1..=queries).map(query).collect();
        let last = queries.len();
        format!("WITH q0 AS (SELECT x FROM t), {} SELECT x FROM q{last}", queries.join(", "))
    }

    fn is_taken(text: &str) -> bool {
        pieces(text).unwrap()[0].parse().is_ok()
    }

    #[test]
    fn what_grows_with_each_query_is_refused() {
        assert!(is_taken(&chain(12, 2)));
        let error = pieces(&chain(13, 2)).unwrap()[0].parse().unwrap_err();
        assert!(error.message().contains("more than 32768 parts"), "{error}");
        assert!(!is_taken(&chain(200, 10)));
    }

    #[test]
    fn what_is_named_once_does_not_grow() {
        assert!(is_taken(&chain(200, 1)));
        let values = vec!["1"; 40_000].join(", ");
        let query = format!("WITH q AS (SELECT x FROM t WHERE x IN ({values})) SELECT x FROM q");
        assert!(is_taken(&query));
    }

    #[test]
    fn a_name_means_the_query_next_to_it() {
        let inner = "(WITH q12 AS (SELECT 1 AS x) SELECT a.x FROM q12 AS a, q12 AS b)";
        assert!(is_taken(&chain(12, 2).replace("SELECT x FROM q12", inner)));
        let outer = "SELECT a.x FROM q12 AS a, q12 AS b";
        assert!(!is_taken(&chain(12, 2).replace("SELECT x FROM q12", outer)));
    }
}
