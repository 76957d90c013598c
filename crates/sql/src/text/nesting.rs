//! The nesting of expressions that the planner copies or visits several times.
//!
//! What it does twice at each level it does 2^levels times. In DataFusion 55:
//!
//! 1. `check_invariants` checks a query in an expression again for each of those around it.
//! 2. ANY, and IN where its NULL counts, become two or three queries.
//! 3. BETWEEN is written with its value twice, and COALESCE with all values but the last.
//! 4. The type of a cast is asked for twice by the cast around it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Query, SelectItem,
    SetExpr, Statement,
};
use tonnage::{Error, Result};

use super::column_names::has_test;
use super::walk::{Looker, walk};

/// 16 levels of two are planned in a quarter of a second.
const DOUBLINGS_MAX: usize = 16;

/// Refuses a statement with too many such levels.
///
/// # Errors
/// `Unsupported`.
pub(super) fn check(statement: &Statement) -> Result<()> {
    walk(statement, &mut NestingVisitor::default())
}

/// The expressions and queries around the current node.
#[derive(Default)]
struct NestingVisitor {
    around: Vec<NestingLevel>,
    count: usize,
}

#[derive(Clone, Copy)]
struct NestingLevel {
    /// How often this is doubled by what is right around it.
    doublings: usize,
    /// How often it doubles what it holds, but for one part.
    inner: usize,
    once: Option<*const Expr>,
    /// Whether a test that is NULL, here, is the same as one that is false.
    is_plain: bool,
}

impl NestingVisitor {
    fn outer(&self) -> NestingLevel {
        let top = NestingLevel { doublings: 0, inner: 0, once: None, is_plain: true };
        self.around.last().copied().unwrap_or(top)
    }

    fn enter(&mut self, level: NestingLevel) -> ControlFlow<Error> {
        self.count += level.doublings;
        self.around.push(level);
        if self.count <= DOUBLINGS_MAX {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(Error::unsupported(format!(
            "more than {DOUBLINGS_MAX} subqueries, casts, BETWEENs or COALESCEs stand in each other: \
             join the inner queries, or compute inner values in a WITH query"
        )))
    }

    fn leave(&mut self) -> ControlFlow<Error> {
        self.count -= self.around.pop().map_or(0, |level| level.doublings);
        ControlFlow::Continue(())
    }
}

impl Looker for NestingVisitor {
    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let (doublings, is_plain) = (self.outer().inner, !selects_test(query));
        self.enter(NestingLevel { doublings, inner: 0, once: None, is_plain })
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Error> {
        self.leave()
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        let outer = self.outer();
        let is_once = outer.once.is_some_and(|once| std::ptr::eq(once, expr));
        let keeps =
            matches!(expr, Expr::Nested(_) | Expr::BinaryOp { op: BinaryOperator::And, .. });
        self.enter(NestingLevel {
            doublings: if is_once { 0 } else { outer.inner },
            inner: doublings_in(expr, outer.is_plain),
            once: last_coalesced(expr).map(std::ptr::from_ref),
            is_plain: outer.is_plain && keeps,
        })
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<Error> {
        self.leave()
    }
}

/// How often an expression doubles what it holds.
fn doublings_in(expr: &Expr, is_plain: bool) -> usize {
    match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::Between { .. } => 1,
        Expr::InSubquery { negated: false, .. } if is_plain => 1,
        // Three queries of it, each checked again in those around it: 5 times as much.
        Expr::InSubquery { .. } => 4,
        // What is in it is a subquery besides.
        Expr::AnyOp { .. } | Expr::AllOp { .. } => 1,
        Expr::Cast { expr, .. } if !matches!(expr.as_ref(), Expr::Cast { .. }) => 1,
        expr => usize::from(last_coalesced(expr).is_some()),
    }
}

/// Whether a column of a query compares rows of another.
fn selects_test(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    select.projection.iter().any(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => has_test(expr),
        _ => false,
    })
}

/// The last value of COALESCE, the one that is written once.
fn last_coalesced(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(function) = expr else { return None };
    let name = function.name.to_string();
    let FunctionArguments::List(list) = &function.args else { return None };
    if !["coalesce", "nvl", "ifnull"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return None;
    }
    match list.args.last()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces;

    /// A value in so many queries.
    fn within_queries(depth: usize) -> String {
        format!("{}k{}", "(SELECT ".repeat(depth), ")".repeat(depth))
    }

    /// The greatest depth at which an expression is planned.
    fn deepest(nested: impl Fn(&str) -> String) -> usize {
        deepest_around("k".to_owned(), nested)
    }

    /// The greatest depth around an expression.
    fn deepest_around(mut expr: String, nested: impl Fn(&str) -> String) -> usize {
        for depth in 0..100 {
            expr = nested(&expr);
            if let Err(error) = pieces(&format!("SELECT {expr} FROM t")).unwrap()[0].parse() {
                assert!(error.message().contains("more than 16"), "{error}");
                return depth;
            }
        }
        100
    }

    #[test]
    fn each_kind_of_doubling_has_its_depth() {
        assert_eq!(deepest(|inner| format!("(SELECT {inner})")), 16);
        assert_eq!(deepest(|inner| format!("EXISTS (SELECT 1 FROM t WHERE {inner})")), 16);
        assert_eq!(deepest(|inner| format!("({inner} BETWEEN 1 AND 2)")), 16);
        // Around queries: the parser by itself reads what is in many calls too often.
        let coalesced = |inner: &str| format!("coalesce({inner}, 1)");
        assert_eq!(deepest_around(within_queries(13), coalesced), 3);
        assert_eq!(deepest(|inner| format!("k = ANY (SELECT k FROM t WHERE {inner})")), 8);
        let both = |inner: &str| format!("CAST({inner} IN (1, 2) AS STRING)");
        assert_eq!(deepest(both), 16);
    }

    #[test]
    fn a_membership_weighs_more_where_its_null_counts() {
        let within = |condition: &str| {
            let condition = condition.to_owned();
            deepest(move |inner| {
                format!("EXISTS (SELECT 1 FROM t WHERE {})", condition.replace('?', inner))
            })
        };
        assert_eq!(within("k > 1 AND (k IN (SELECT k FROM t WHERE ?))"), 8);
        assert_eq!(within("k > 1 OR k IN (SELECT k FROM t WHERE ?)"), 3);
        assert_eq!(within("k NOT IN (SELECT k FROM t WHERE ?)"), 3);
        assert_eq!(deepest(|inner| format!("k IN (SELECT {inner} FROM t)")), 4);
    }

    #[test]
    fn expressions_planned_once_may_be_as_deep_as_the_parser_reads() {
        let parsed = |text: &str| pieces(text).unwrap()[0].parse();
        let tables =
            format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(30), ") AS a".repeat(30));
        assert!(parsed(&tables).is_ok());
        assert!(parsed(&format!("SELECT j{} FROM t", "->'a'".repeat(17))).is_ok());
        // As many queries as there may be, so that a call which counted would be refused.
        let whole = within_queries(16);
        for call in ["abs(", "coalesce(k, "] {
            let calls = format!("SELECT {}{whole}{} FROM t", call.repeat(4), ")".repeat(4));
            assert!(parsed(&calls).is_ok(), "{call}");
        }
        assert!(parsed(&format!("SELECT abs({}) FROM t", within_queries(17))).is_err());
    }
}
