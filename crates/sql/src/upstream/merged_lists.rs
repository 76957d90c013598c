//! Two lists that test one value, kept apart where the optimizer would merge them wrongly.
//!
//! Upstream: apache/datafusion#24258. Gone in: 56
//!
//! It merges `x NOT IN (1) OR x NOT IN (2)` into one list of the values in both. There are none, so
//! the condition becomes true, even where x is NULL. Likewise `x IN (1) AND x IN (2)` becomes false
//! instead of NULL, which NOT makes true. Lists with NULL lose it (DataFusion 55,
//! `inlist_intersection` and `inlist_except`).
//!
//! The optimizer merges two lists only if they test the same expression. So in each chain of AND or
//! OR all but one of such lists get another expression of the same value, `_nullable(x)`. Harmless
//! merges stay: `IN` with OR, `NOT IN` with AND. A comparison that the optimizer turns into a list,
//! such as `x = 1 OR x = 2`, counts as a list.

use std::collections::HashMap;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;

use crate::plan::{map_named, nullable};

/// Runs after types are settled.
#[derive(Debug)]
pub(crate) struct MergedListRule;

impl AnalyzerRule for MergedListRule {
    fn name(&self) -> &str {
        "merged_lists"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|node| {
            let node = map_named(node, |expr| expr.transform_down(keep_lists_apart))?;
            if node.transformed { node.map_data(LogicalPlan::recompute_schema) } else { Ok(node) }
        });
        rewritten.map(|rewritten| rewritten.data)
    }
}

/// A chain of ANDs or ORs whose lists the optimizer leaves alone.
fn keep_lists_apart(mut part: Expr) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) = part else {
        return Ok(Transformed::no(part));
    };
    let mut lists = ListChain { op, by_value: HashMap::new(), changed: false };
    lists.visit(&mut part, false, ListChain::count)?;
    if lists.by_value.values().all(|found| found.is_harmless(op)) {
        return Ok(Transformed::no(part));
    }
    lists.visit(&mut part, false, ListChain::keep_apart)?;
    Ok(Transformed::new_transformed(part, lists.changed))
}

/// A list: the value that is looked for, and whether it must not be there.
struct ValueList<'e> {
    value: &'e Expr,
    negated: bool,
}

impl<'e> ValueList<'e> {
    /// An expression that is a list, or becomes one: `x = 1 OR x = 2`, and `x <> 1 AND x <> 2`.
    fn of(expr: &'e Expr) -> Option<Self> {
        // In step with `as_inlist` of DataFusion 55, which takes a comparison for a list only where
        // a column is beside a literal.
        match expr {
            Expr::InList(list) => Some(ValueList { value: &list.expr, negated: list.negated }),
            Expr::Not(inner) => {
                let list = Self::of(inner)?;
                Some(ValueList { negated: !list.negated, ..list })
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::Eq | Operator::NotEq => {
                    let value = match (left.as_ref(), right.as_ref()) {
                        (column @ Expr::Column(_), Expr::Literal(..)) => column,
                        (Expr::Literal(..), column @ Expr::Column(_)) => column,
                        _ => return None,
                    };
                    Some(ValueList { value, negated: *op == Operator::NotEq })
                }
                Operator::And | Operator::Or => {
                    let (one, other) = (Self::of(left)?, Self::of(right)?);
                    // Only a union of values is one list: IN under OR, NOT IN under AND.
                    let is_one = one.value == other.value
                        && one.negated == other.negated
                        && one.negated == (*op == Operator::And);
                    is_one.then_some(one)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The lists of a chain, by the value that they are about.
struct ListChain {
    op: Operator,
    by_value: HashMap<Expr, ListCounts>,
    changed: bool,
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
    /// Whether there is one list alone, or all of them together are one longer list. A NOT before
    /// the chain makes no difference: it turns the lists with the operator.
    fn is_harmless(&self, op: Operator) -> bool {
        let others = if op == Operator::Or { self.negated } else { self.plain };
        others == 0 || self.plain + self.negated == 1
    }
}

impl ListChain {
    /// Visits the lists that the chain joins, whatever NOT precedes them.
    fn visit(
        &mut self,
        part: &mut Expr,
        negated: bool,
        each: fn(&mut Self, &mut Expr, bool) -> Result<()>,
    ) -> Result<()> {
        match part {
            Expr::Not(inner) => self.visit(inner, !negated, each),
            Expr::BinaryExpr(BinaryExpr { left, op, right })
                if self.continues_with(*op, negated) =>
            {
                self.visit(left, negated, each)?;
                self.visit(right, negated, each)
            }
            // A comparison by itself is merged with nothing that harms.
            Expr::BinaryExpr(BinaryExpr { op: Operator::Eq | Operator::NotEq, .. }) => Ok(()),
            list => each(self, list, negated),
        }
    }

    /// Whether an operator is that of the chain. NOT makes AND of OR.
    fn continues_with(&self, op: Operator, negated: bool) -> bool {
        match op {
            Operator::And | Operator::Or => (op == self.op) != negated,
            _ => false,
        }
    }

    fn count(&mut self, part: &mut Expr, negated: bool) -> Result<()> {
        if let Some(list) = ValueList::of(part) {
            let found = self.by_value.entry(list.value.clone()).or_default();
            *(if list.negated != negated { &mut found.negated } else { &mut found.plain }) += 1;
        }
        Ok(())
    }

    /// Gives a list another expression of its value, unless it is the one that stays: a plain one,
    /// for keys and indexes answer it.
    fn keep_apart(&mut self, part: &mut Expr, negated: bool) -> Result<()> {
        let Some(list) = ValueList::of(part) else { return Ok(()) };
        let (value, negated) = (list.value.clone(), list.negated != negated);
        let Some(found) = self.by_value.get_mut(&value) else { return Ok(()) };
        if found.is_harmless(self.op) {
            return Ok(());
        }
        if !found.is_kept && (found.plain == 0 || !negated) {
            found.is_kept = true;
            return Ok(());
        }
        // Two of these must not be equal either.
        found.changed += 1;
        let other = (0..found.changed).fold(value.clone(), |value, _| nullable().call(vec![value]));
        let changed = std::mem::take(part).transform_down(|inner| match inner == value {
            true => Ok(Transformed::new(other.clone(), true, TreeNodeRecursion::Jump)),
            false => Ok(Transformed::no(inner)),
        })?;
        *part = changed.data;
        self.changed = true;
        Ok(())
    }
}
