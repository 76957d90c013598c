//! Two lists that one value is held against: kept apart where the optimizer would merge them wrongly.
//!
//! It makes one list of `x NOT IN (1) OR x NOT IN (2)`: that of the values in both. There are none,
//! so the condition becomes true, even where x is NULL. Likewise `x IN (1) AND x IN (2)` becomes
//! false instead of NULL, which NOT makes true, and lists with NULL lose it (DataFusion 55,
//! `inlist_intersection` and `inlist_except`).
//!
//! Two lists are merged only if they are about the same expression. So in each chain of AND or OR all
//! but one of such lists get another expression of the same value, `_nullable(x)`. What can be merged
//! without harm stays: `IN` with OR, `NOT IN` with AND.

use std::collections::HashMap;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;

use super::nullable::nullable;

/// Runs after types are settled.
#[derive(Debug)]
pub(crate) struct MergedListRule;

impl AnalyzerRule for MergedListRule {
    fn name(&self) -> &str {
        "merged_lists"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|node| {
            let names = NamePreserver::new(&node);
            let node = node.map_expressions(|expr| {
                let name = names.save(&expr);
                let expr = expr.transform_down(|part| Ok(kept_apart(part)))?;
                Ok(if expr.transformed {
                    expr.update_data(|expr| name.restore(expr))
                } else {
                    expr
                })
            })?;
            if node.transformed { node.map_data(LogicalPlan::recompute_schema) } else { Ok(node) }
        });
        rewritten.map(|rewritten| rewritten.data)
    }
}

/// A chain of ANDs or ORs whose lists the optimizer leaves alone.
fn kept_apart(mut part: Expr) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) = part else {
        return Transformed::no(part);
    };
    let mut lists = ListChain { op, ..ListChain::default() };
    lists.visit(&mut part, false, ListChain::count);
    if lists.by_value.values().all(|found| found.is_harmless(op)) {
        return Transformed::no(part);
    }
    lists.visit(&mut part, false, ListChain::keep_apart);
    Transformed::new_transformed(part, lists.changed)
}

/// The lists of a chain, by the value that they are about.
struct ListChain {
    op: Operator,
    by_value: HashMap<Expr, ListCounts>,
    changed: bool,
}

impl Default for ListChain {
    fn default() -> Self {
        Self { op: Operator::And, by_value: HashMap::new(), changed: false }
    }
}

#[derive(Default)]
struct ListCounts {
    plain: usize,
    negated: usize,
    /// What the second walk has met: whether one stays as it is, and how many do not.
    is_kept: bool,
    changed: usize,
}

impl ListCounts {
    /// Whether there is one list alone, or all of them together are one longer list.
    fn is_harmless(&self, op: Operator) -> bool {
        match op {
            Operator::Or => self.negated < 2,
            _ => self.plain == 0 || self.plain + self.negated == 1,
        }
    }
}

impl ListChain {
    /// Visits the lists that the chain joins, whatever NOT stands before them.
    fn visit(&mut self, part: &mut Expr, negated: bool, each: fn(&mut Self, &mut InList, bool)) {
        match part {
            Expr::Not(inner) => self.visit(inner, !negated, each),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if self.joins(*op, negated) => {
                self.visit(left, negated, each);
                self.visit(right, negated, each);
            }
            Expr::InList(list) => {
                let negated = list.negated != negated;
                each(self, list, negated);
            }
            _ => {}
        }
    }

    /// Whether an operator is that of the chain. NOT makes AND of OR.
    fn joins(&self, op: Operator, negated: bool) -> bool {
        match op {
            Operator::And | Operator::Or => (op == self.op) != negated,
            _ => false,
        }
    }

    fn count(&mut self, list: &mut InList, negated: bool) {
        let found = self.by_value.entry(list.expr.as_ref().clone()).or_default();
        *(if negated { &mut found.negated } else { &mut found.plain }) += 1;
    }

    /// Gives all lists of a value but one an expression of their own. A plain one is left as it is:
    /// keys and indexes answer it.
    fn keep_apart(&mut self, list: &mut InList, negated: bool) {
        let Some(found) = self.by_value.get_mut(&list.expr) else { return };
        if found.is_harmless(self.op) {
            return;
        }
        if !found.is_kept && (found.plain == 0 || !negated) {
            found.is_kept = true;
            return;
        }
        // Two of these must not be equal either.
        found.changed += 1;
        for _ in 0..found.changed {
            let value = std::mem::take(list.expr.as_mut());
            *list.expr = nullable().call(vec![value]);
        }
        self.changed = true;
    }
}
