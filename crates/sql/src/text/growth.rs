//! How large and how deep a statement is once the queries of WITH replace their names.
//!
//! The planner puts a query of WITH at each of its names. Of queries that name each other
//! several times each multiplies the plan, so that a short statement may become larger than any
//! memory. Of queries that name each other once each makes it deeper than the stack of a thread may
//! hold.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Query, Statement, TableFactor};
use tonnage::{Error, Result};

use super::depth::{JUNCTION, OPERATOR, RELATION};
use super::ident::folded;
use super::walk::{Looker, walk};

/// So many queries, tables and expressions of a chain of joins are planned in about seven seconds.
const PARTS_MAX: u64 = 32_768;
/// The sum of weights along one path through queries that name each other.
const DEPTH_MAX: usize = 2_048;

/// Refuses a statement that grows beyond that; one that is written as large does not grow.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(statement: &Statement) -> Result<()> {
    let mut growth = GrowthVisitor::default();
    walk(statement, &mut growth)?;
    let QuerySize { parts, depth } = growth.whole.size();
    let fault = if parts > PARTS_MAX.max(growth.written) {
        format!("so often that the statement has more than {PARTS_MAX} parts")
    } else if depth > DEPTH_MAX {
        "in too long a chain".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::unsupported(format!(
        "the queries of WITH and views name each other {fault}: \
         keep what the inner ones give in a table, by CREATE TABLE ... AS"
    )))
}

/// What a query, with those that it names, is to the planner.
#[derive(Clone, Copy, Default)]
struct QuerySize {
    parts: u64,
    depth: usize,
}

#[derive(Default)]
struct GrowthVisitor {
    /// The statement around all queries.
    whole: OpenQuery,
    /// The queries around the current node.
    around: Vec<OpenQuery>,
    /// The queries, tables and expressions that are written down.
    written: u64,
}

/// A query.
#[derive(Default)]
struct OpenQuery {
    /// The queries of its WITH that the walk has not come to, and their names.
    with: Vec<(*const Query, String)>,
    /// Those that it has left.
    given: Vec<(String, QuerySize)>,
    /// How many parts it has itself so far.
    parts: u64,
    /// How many tables it has itself: a set operation or a join for each but the first.
    tables: usize,
    /// The weight of the expressions around the current node, and what weighs most of those so far.
    path: usize,
    expression: usize,
    /// The deepest of the queries that it reads: its expressions are above them.
    behind: usize,
}

impl OpenQuery {
    fn size(&self) -> QuerySize {
        let relations = self.tables.max(1).saturating_mul(RELATION);
        let above = relations.saturating_add(self.expression);
        QuerySize { parts: self.parts, depth: above.saturating_add(self.behind) }
    }

    /// Adds the weight of the current node.
    fn put(&mut self, size: QuerySize) {
        self.parts = self.parts.saturating_add(size.parts);
        match self.path {
            0 => self.behind = self.behind.max(size.depth),
            path => self.expression = self.expression.max(path.saturating_add(size.depth)),
        }
    }
}

impl GrowthVisitor {
    fn open(&mut self) -> &mut OpenQuery {
        self.around.last_mut().unwrap_or(&mut self.whole)
    }

    /// Takes something that is written down into account.
    fn add(&mut self, size: QuerySize) {
        self.written += 1;
        self.open().put(size);
    }

    /// The query that the name of a table means.
    fn behind(&self, name: &str) -> QuerySize {
        let mut given = self.around.iter().rev().flat_map(|level| level.given.iter().rev());
        let table = QuerySize { parts: 1, depth: 0 };
        given.find(|(given, _)| given == name).map_or(table, |(_, size)| *size)
    }
}

impl Looker for GrowthVisitor {
    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        let with = tables
            .map(|table| (std::ptr::from_ref(table.query.as_ref()), folded(&table.alias.name)))
            .collect();
        self.around.push(OpenQuery { with, ..OpenQuery::default() });
        self.add(QuerySize { parts: 1, depth: 0 });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let Some(size) = self.around.pop().map(|level| level.size()) else {
            return ControlFlow::Continue(());
        };
        let outer = self.open();
        match outer.with.iter().position(|(own, _)| std::ptr::eq(*own, query)) {
            Some(at) => {
                let (_, name) = outer.with.swap_remove(at);
                outer.given.push((name, size));
            }
            None => outer.put(size),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.open().path += weight(expr);
        self.add(QuerySize { parts: 1, depth: 0 });
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.open().path -= weight(expr);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Error> {
        self.open().tables += 1;
        if let TableFactor::Table { name, .. } = table {
            let size = match name.0.as_slice() {
                [part] => part.as_ident().map(|name| self.behind(&folded(name))),
                _ => None,
            };
            self.add(size.unwrap_or(QuerySize { parts: 1, depth: 0 }));
        }
        ControlFlow::Continue(())
    }
}

fn weight(expr: &Expr) -> usize {
    match expr {
        Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. } => JUNCTION,
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Nested(_) => 0,
        _ => OPERATOR,
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
        assert!(!is_taken(&chain(3, 32)));
    }

    #[test]
    fn what_is_named_once_does_not_grow() {
        assert!(is_taken(&chain(120, 1)));
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

    #[test]
    fn a_chain_of_queries_that_name_each_other_has_an_end() {
        let chain = |queries: usize, condition: &str| {
            let query = |at: usize| format!("q{at} AS (SELECT x FROM q{}{condition})", at - 1);
            let queries: Vec<_> = (1..=queries).map(query).collect();
            let last = queries.len();
            format!("WITH q0 AS (SELECT x FROM t), {} SELECT x FROM q{last}", queries.join(", "))
        };
        assert!(is_taken(&chain(253, "")));
        let error = pieces(&chain(254, "")).unwrap()[0].parse().unwrap_err();
        assert!(error.message().contains("in too long a chain"), "{error}");
        assert!(is_taken(&chain(160, " WHERE x > 1")));
        assert!(!is_taken(&chain(175, " WHERE x > 1")));
        // A chain of operators may be long, or there may be many: not both.
        let sums = format!(" WHERE x{} > 1", " + x".repeat(200));
        assert!(is_taken(&chain(2, &sums)));
        assert!(!is_taken(&chain(3, &sums)));
    }
}
