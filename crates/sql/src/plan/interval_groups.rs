//! Groups of intervals: intervals of one length are one group.
//!
//! GROUP BY an interval, DISTINCT, and set operations on rows with intervals compare the lengths.
//! Each group shows the first of its intervals. The second plan replaces the first:
//!
//! ```text
//! Aggregate: groupBy=[x, y], aggr=[sum(z)]
//!   t
//!
//! Projection: __interval_0 AS x, y, sum(z)
//!   Aggregate: groupBy=[_length(x) AS __length_0, y],
//!              aggr=[sum(z), first_value(x) AS __interval_0]
//!     t
//! ```

use std::sync::Arc;

use datafusion::common::{Column, Result, plan_err};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Join, LogicalPlan, Projection, RecursiveQuery,
};

use super::intervals::{measure, refuse_parts};
use crate::functions::length_of;
use crate::interval::is_interval;

/// A node whose expressions are done.
pub(super) fn group_by_length(node: LogicalPlan) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Aggregate(aggregate) => rewrite_groups(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let mut has_intervals = false;
            for field in input.schema().fields() {
                refuse_parts(field.data_type())?;
                has_intervals |= is_interval(field.data_type());
            }
            if !has_intervals {
                return Ok(LogicalPlan::Distinct(Distinct::All(input)));
            }
            let columns = input.schema().columns().into_iter().map(Expr::Column).collect();
            rewrite_groups(Aggregate::try_new(input, columns, Vec::new())?)
        }
        LogicalPlan::RecursiveQuery(query) => {
            refuse_repeated(&query)?;
            Ok(LogicalPlan::RecursiveQuery(query))
        }
        node => Ok(node),
    }
}

/// The pairs of columns of a join.
pub(super) fn join_by_length(join: &mut Join) -> Result<()> {
    for (one, other) in &mut join.on {
        let is_either = measure(one, join.left.schema())?;
        let is_other = measure(other, join.right.schema())?;
        // The other side is the time between two timestamps.
        match (is_either, is_other) {
            (true, false) => *other = length_of(std::mem::take(other)),
            (false, true) => *one = length_of(std::mem::take(one)),
            _ => {}
        }
    }
    Ok(())
}

fn rewrite_groups(aggregate: Aggregate) -> Result<LogicalPlan> {
    let schema = aggregate.input.schema().clone();
    let mut is_measured = Vec::with_capacity(aggregate.group_expr.len());
    for group in &aggregate.group_expr {
        let is_set = matches!(group, Expr::GroupingSet(_));
        let mut has_intervals = false;
        // A column is one of its table below, whatever it is called above.
        let parts = match group {
            Expr::GroupingSet(sets) => sets.distinct_expr().into_iter().cloned().collect(),
            group => vec![group.clone()],
        };
        for mut part in parts {
            has_intervals |= measure(&mut part, &schema)?;
        }
        if is_set && has_intervals {
            return plan_err!(
                "GROUPING SETS, ROLLUP and CUBE take no intervals: group by date_part('epoch', x)"
            );
        }
        is_measured.push(has_intervals);
    }
    if !is_measured.contains(&true) {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    // The nodes above know the columns by this schema: the projection restores it.
    let above = aggregate.schema.clone();
    let Aggregate { input, mut group_expr, mut aggr_expr, .. } = aggregate;
    let shown = |place: usize| format!("__interval_{place}");
    for (place, group) in group_expr.iter_mut().enumerate().filter(|(at, _)| is_measured[*at]) {
        let interval = without_alias(std::mem::take(group));
        let first = AggregateFunction::new_udf(
            first_value_udaf(),
            vec![interval.clone()],
            false,
            None,
            Vec::new(),
            None,
        );
        aggr_expr.push(Expr::AggregateFunction(first).alias(shown(place)));
        *group = length_of(interval).alias(format!("__length_{place}"));
    }
    let node = Aggregate::try_new(input, group_expr, aggr_expr)?;
    let columns = (0..above.fields().len()).map(|place| {
        let (relation, field) = above.qualified_field(place);
        // Groups come first in the schema, so a position in `is_measured` is that of a column.
        match is_measured.get(place) {
            Some(true) => Expr::Column(Column::new_unqualified(shown(place)))
                .alias_qualified(relation.cloned(), field.name()),
            _ => Expr::from((relation, field)),
        }
    });
    let columns = columns.collect();
    let node = Projection::try_new(columns, Arc::new(LogicalPlan::Aggregate(node)))?;
    Ok(LogicalPlan::Projection(node))
}

fn without_alias(expr: Expr) -> Expr {
    match expr {
        Expr::Alias(alias) => without_alias(*alias.expr),
        expr => expr,
    }
}

fn refuse_repeated(query: &RecursiveQuery) -> Result<()> {
    let mut fields = query.schema.fields().iter();
    if query.is_distinct && fields.any(|field| is_interval(field.data_type())) {
        return plan_err!(
            "WITH RECURSIVE by UNION takes no intervals, for it would tell them apart: write UNION ALL"
        );
    }
    Ok(())
}
