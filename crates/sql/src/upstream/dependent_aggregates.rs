//! Aggregates over other rows for each row, tied by other comparisons than `=`:
//! `(SELECT count(*) FROM t b WHERE b.id < a.id)`.
//!
//! Upstream: apache/datafusion#14554. Gone in: open
//!
//! DataFusion 55 makes a join of such a subquery only where `=` ties it to the row outside. Then it
//! can group the rows of the subquery by that column. For other comparisons the distinct values
//! outside are the groups:
//!
//! 1. Take the columns that the subquery uses from outside, each combination once.
//! 2. Join the rows of the subquery to these on its condition, by an outer join: a combination
//!    without rows stays.
//! 3. Group by the combination. The aggregates skip the rows that the outer join has added.
//! 4. Join the results to the rows outside. NULL is equal to NULL here.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
    Projection, Subquery, lit,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Comes before the rule that makes joins of subqueries for one value.
#[derive(Debug)]
pub(crate) struct DependentRule;

impl OptimizerRule for DependentRule {
    fn name(&self) -> &str {
        "dependent_aggregates"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let input = match &plan {
            LogicalPlan::Filter(filter) => &filter.input,
            LogicalPlan::Projection(projection) => &projection.input,
            _ => return Ok(Transformed::no(plan)),
        };
        let is_here = |expr: &Expr| {
            expr.exists(|part| Ok(DependentAggregate::of(part, input.schema()).is_some()))
                .unwrap_or(false)
        };
        if !plan.expressions().iter().any(is_here) {
            return Ok(Transformed::no(plan));
        }
        // Each subquery joins onto the one before it, for an expression may hold several. Groups
        // come from the rows as they were, without the values that others have added.
        let mut joined = input.as_ref().clone();
        let outside = input.clone();
        let mut settle = |expr: Expr| {
            expr.transform_down(|part| {
                let alias = || config.alias_generator().next("__dependent");
                let dependent = DependentAggregate::of(&part, outside.schema());
                let settled = dependent
                    .map(|dependent| dependent.join(joined.clone(), &outside, &alias()))
                    .transpose()?;
                Ok(match settled {
                    None => Transformed::no(part),
                    Some((plan, value)) => {
                        joined = plan;
                        Transformed::yes(value)
                    }
                })
            })
        };
        match plan {
            LogicalPlan::Filter(filter) => {
                // The joins have added columns that the nodes above do not know.
                let columns = filter.input.schema().columns();
                let predicate = settle(filter.predicate)?.data;
                let kept = LogicalPlanBuilder::from(joined).filter(predicate)?;
                kept.project(columns.into_iter().map(Expr::from))?.build().map(Transformed::yes)
            }
            LogicalPlan::Projection(Projection { expr, .. }) => {
                let names = NamePreserver::new_for_projection();
                let settled = expr.into_iter().map(|expr| {
                    let name = names.save(&expr);
                    Ok(name.restore(settle(expr)?.data))
                });
                let settled = settled.collect::<Result<Vec<_>>>()?;
                LogicalPlanBuilder::from(joined).project(settled)?.build().map(Transformed::yes)
            }
            plan => Ok(Transformed::no(plan)),
        }
    }
}

/// A subquery that aggregates rows which a condition ties to the row outside.
struct DependentAggregate<'a> {
    value: &'a Expr,
    aggregate: &'a Aggregate,
    filter: &'a Filter,
    /// What it takes from outside.
    outer: Vec<Column>,
}

impl<'a> DependentAggregate<'a> {
    fn of(expr: &'a Expr, outside: &DFSchema) -> Option<Self> {
        let Expr::ScalarSubquery(Subquery { subquery, .. }) = expr else { return None };
        let (value, aggregate) = match subquery.as_ref() {
            LogicalPlan::Projection(projection) => {
                match (projection.expr.as_slice(), projection.input.as_ref()) {
                    ([value], LogicalPlan::Aggregate(aggregate)) if !value.contains_outer() => {
                        (value, aggregate)
                    }
                    _ => return None,
                }
            }
            LogicalPlan::Aggregate(aggregate) => (aggregate.aggr_expr.first()?, aggregate),
            _ => return None,
        };
        let LogicalPlan::Filter(filter) = aggregate.input.as_ref() else { return None };
        let is_free = aggregate.group_expr.is_empty()
            && !aggregate.aggr_expr.iter().any(Expr::contains_outer)
            && filter.input.all_out_ref_exprs().is_empty();
        // DataFusion makes the join itself where every condition is simple.
        if !is_free || split_conjunction(&filter.predicate).into_iter().all(is_simple) {
            return None;
        }
        let mut outer = Vec::new();
        let noted = filter.predicate.apply(|part| {
            if let Expr::OuterReferenceColumn(_, column) = part
                && !outer.contains(column)
            {
                outer.push(column.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        // A column of a query further out is not among the rows of the join.
        let is_near = noted.is_ok() && outer.iter().all(|column| outside.has_column(column));
        is_near.then_some(Self { value, aggregate, filter, outer })
    }

    /// The rows outside, joined with the values for them, and the value as a column there.
    fn join(
        &self,
        joined: LogicalPlan,
        outside: &Arc<LogicalPlan>,
        alias: &str,
    ) -> Result<(LogicalPlan, Expr)> {
        let name = |place: usize| format!("{alias}_{place}");
        let groups = format!("{alias}_groups");
        let group = |place: usize| Expr::Column(Column::new(Some(groups.clone()), name(place)));
        let marker = format!("{alias}_found");
        let places = 0..self.outer.len();

        let combinations =
            places.clone().map(|place| Expr::Column(self.outer[place].clone()).alias(name(place)));
        let combinations = LogicalPlanBuilder::from(outside.as_ref().clone())
            .project(combinations)?
            .distinct()?
            .alias(groups.as_str())?;
        // The marker distinguishes a row that was found from the one of NULLs that the left join
        // makes: `count(*)` would count that too.
        let rows = self
            .filter
            .input
            .schema()
            .columns()
            .into_iter()
            .map(Expr::from)
            .chain([lit(true).alias(&marker)]);
        let rows =
            LogicalPlanBuilder::from(self.filter.input.as_ref().clone()).project(rows)?.build()?;
        let condition = self.filter.predicate.clone().transform(|part| match &part {
            Expr::OuterReferenceColumn(_, column) => {
                let place = self.outer.iter().position(|known| known == column).unwrap_or_default();
                Ok(Transformed::yes(group(place)))
            }
            _ => Ok(Transformed::no(part)),
        })?;
        let found = Expr::Column(Column::new_unqualified(marker)).is_not_null();
        let aggregates = self
            .aggregate
            .aggr_expr
            .iter()
            .map(|expr| filter_aggregates(expr, &found))
            .collect::<Result<Vec<_>>>()?;
        let values = match self.value {
            Expr::AggregateFunction(_) => {
                Expr::Column(Column::new_unqualified(self.value.schema_name().to_string()))
            }
            Expr::Alias(alias) if self.aggregate.aggr_expr.contains(self.value) => {
                Expr::Column(Column::new_unqualified(alias.name.clone()))
            }
            value => value.clone(),
        };
        let own = format!("{alias}_value");
        let kept =
            places.clone().map(|place| group(place).alias(name(place))).chain([values.alias(&own)]);
        let results = combinations
            .join_on(rows, JoinType::Left, split_conjunction_owned(condition.data))?
            .aggregate(places.clone().map(group), aggregates)?
            .project(kept)?
            .alias(alias)?
            .build()?;
        // NULL outside is a group of its own, so `=` would lose its value.
        let same = places.map(|place| {
            let result = Expr::Column(Column::new(Some(alias.to_owned()), name(place)));
            let outer = Box::new(Expr::Column(self.outer[place].clone()));
            Expr::BinaryExpr(BinaryExpr::new(outer, Operator::IsNotDistinctFrom, Box::new(result)))
        });
        let plan =
            LogicalPlanBuilder::from(joined).join_on(results, JoinType::Left, same)?.build()?;
        Ok((plan, Expr::Column(Column::new(Some(alias.to_owned()), own))))
    }
}

/// Whether DataFusion knows what to do with a condition: nothing of the row outside is in it, or
/// `=` ties it to that row.
fn is_simple(condition: &Expr) -> bool {
    if !condition.contains_outer() {
        return true;
    }
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            left.contains_outer() != right.contains_outer()
        }
        _ => false,
    }
}

/// The aggregates in an expression, over rows that were found.
fn filter_aggregates(expr: &Expr, found: &Expr) -> Result<Expr> {
    let names = NamePreserver::new_for_projection();
    let name = names.save(expr);
    let filtered = expr.clone().transform(|part| match part {
        Expr::AggregateFunction(mut aggregate) => {
            let filter = aggregate.params.filter.take();
            aggregate.params.filter = Some(match filter {
                None => Box::new(found.clone()),
                Some(filter) => Box::new(filter.and(found.clone())),
            });
            Ok(Transformed::new(Expr::AggregateFunction(aggregate), true, TreeNodeRecursion::Jump))
        }
        part => Ok(Transformed::no(part)),
    })?;
    Ok(name.restore(filtered.data))
}
