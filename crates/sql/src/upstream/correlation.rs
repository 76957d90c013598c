//! Correlated subqueries, checked before the library makes joins of them.
//!
//! Upstream: apache/datafusion#25507. Gone in: open
//! Upstream: apache/datafusion#25519. Gone in: open
//!
//! The library moves the condition that ties a subquery to the row outside up, above the subquery.
//! Above some nodes the condition means something else (DataFusion 55). These are refused here:
//!
//! - outer and semi-joins whose condition or optional side is correlated
//! - windows, DISTINCT ON and ASOF joins
//! - OFFSET, and any LIMIT but one of a row or more that ends the subquery of an EXISTS
//! - ROLLUP, CUBE and GROUPING SETS, which would lose the row of all groups
//! - an aggregate over all rows that is not the last step

use datafusion::common::{JoinType, Result, plan_err};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, FetchType, Limit, LogicalPlan, SkipType,
};

/// What becomes of the rows of a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubqueryUse {
    /// Whether there are any.
    Existence,
    /// Their values.
    Values,
}

/// Whether anything in a subquery is of the row outside.
///
/// # Errors
/// For a correlated subquery that the library would carry out wrongly.
pub(crate) fn check_correlation(plan: &LogicalPlan, asked: SubqueryUse) -> Result<bool> {
    check_node(plan, asked, true)
}

/// `is_last` says that nothing above changes which rows there are.
fn check_node(plan: &LogicalPlan, asked: SubqueryUse, is_last: bool) -> Result<bool> {
    let is_own = plan.expressions().iter().any(Expr::contains_outer);
    let tied = match plan {
        LogicalPlan::Join(join) => {
            // What is below a join is not last: the join may drop rows or repeat them.
            let left = check_node(&join.left, asked, false)?;
            let right = check_node(&join.right, asked, false)?;
            use JoinType::{Inner, Left, LeftAnti, LeftMark, LeftSemi};
            use JoinType::{Right, RightAnti, RightMark, RightSemi};
            let is_wrong = match join.join_type {
                Inner => false,
                Left | LeftSemi | LeftAnti | LeftMark => right || is_own,
                Right | RightSemi | RightAnti | RightMark => left || is_own,
                JoinType::Full => left || right || is_own,
            };
            if is_wrong {
                return refuse("an outer join whose condition or optional side is tied to it");
            }
            left || right
        }
        // What is beside it may be meant, not the row outside.
        LogicalPlan::Subquery(_) => false,
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Sort(_) => {
            check_inputs(plan, asked, is_last)?
        }
        LogicalPlan::Limit(limit) => {
            let tied = check_inputs(plan, asked, false)?;
            if tied && !(is_last && asked == SubqueryUse::Existence && keeps_one(limit)) {
                return refuse("LIMIT or OFFSET");
            }
            tied
        }
        LogicalPlan::Window(_) => check_barrier(plan, asked, "a window")?,
        LogicalPlan::Distinct(Distinct::On(_)) => check_barrier(plan, asked, "DISTINCT ON")?,
        LogicalPlan::Extension(_) => check_barrier(plan, asked, "an ASOF join")?,
        LogicalPlan::Aggregate(aggregate) if has_grouping_sets(aggregate) => {
            check_barrier(plan, asked, "ROLLUP, CUBE or GROUPING SETS")?
        }
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
            let tied = check_inputs(plan, asked, false)?;
            if tied && !is_last {
                return refuse("an aggregate further inside");
            }
            tied
        }
        // Other nodes may change which rows there are, so nothing below them is last.
        plan => check_inputs(plan, asked, false)?,
    };
    Ok(tied || is_own)
}

fn check_inputs(plan: &LogicalPlan, asked: SubqueryUse, is_last: bool) -> Result<bool> {
    let mut tied = false;
    for input in plan.inputs() {
        tied |= check_node(input, asked, is_last)?;
    }
    Ok(tied)
}

/// What is below a node over which no condition is taken.
fn check_barrier(plan: &LogicalPlan, asked: SubqueryUse, what: &str) -> Result<bool> {
    if check_inputs(plan, asked, false)? { refuse(what) } else { Ok(false) }
}

fn has_grouping_sets(aggregate: &Aggregate) -> bool {
    matches!(aggregate.group_expr[..], [Expr::GroupingSet(_)])
}

/// Whether one row at least is left of any.
pub(crate) fn keeps_one(limit: &Limit) -> bool {
    let keeps_first = matches!(limit.get_skip_type(), Ok(SkipType::Literal(0)));
    let takes_one = match limit.get_fetch_type() {
        Ok(FetchType::Literal(rows)) => rows != Some(0),
        _ => false,
    };
    keeps_first && takes_one
}

fn refuse<T>(what: &str) -> Result<T> {
    plan_err!(
        "a subquery that is tied to the row outside has {what}: write it as a join, or aggregate in FROM"
    )
}
