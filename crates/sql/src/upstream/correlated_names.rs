//! Unique names for the columns that tie a subquery to the row outside.
//!
//! Upstream: no issue known: docs/upstream/correlated-names.md. Gone in: open
//!
//! DataFusion 55 makes a join of a correlated subquery, and distinguishes its columns by name
//! alone. Of `a.x = o.x AND b.x = o.y` both columns become `__correlated_sq_1.x`, and the join
//! gives wrong rows. An output column of that name is an error: `(SELECT max(y) AS x FROM a WHERE
//! a.x = o.x)`.
//!
//! Where names clash, the columns of the condition are added once more, under names that no
//! statement has:
//!
//! ```text
//! Filter: a.x = outer_ref(o.x)            Projection: a.x, a.y
//!   a                            becomes    Filter: __tied_1 = outer_ref(o.x)
//!                                             Projection: a.x, a.y, a.x AS __tied_1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::utils::{
    conjunction, find_out_reference_exprs, split_conjunction, split_conjunction_owned,
};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection, Subquery};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Comes before the rules that make joins of subqueries.
#[derive(Debug)]
pub(crate) struct CorrelatedNamesRule;

impl OptimizerRule for CorrelatedNamesRule {
    fn name(&self) -> &str {
        "correlated_names"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let names = config.alias_generator();
        if let LogicalPlan::Subquery(mut subquery) = plan {
            let is_changed = rename_correlated(&mut subquery, names)?;
            let plan = LogicalPlan::Subquery(subquery);
            return Ok(if is_changed { Transformed::yes(plan) } else { Transformed::no(plan) });
        }
        plan.map_expressions(|expr| {
            expr.transform_down(|mut part| {
                let (Expr::ScalarSubquery(subquery)
                | Expr::Exists(Exists { subquery, .. })
                | Expr::InSubquery(InSubquery { subquery, .. })
                | Expr::SetComparison(SetComparison { subquery, .. })) = &mut part
                else {
                    return Ok(Transformed::no(part));
                };
                let is_changed = rename_correlated(subquery, names)?;
                Ok(if is_changed { Transformed::yes(part) } else { Transformed::no(part) })
            })
        })
    }
}

/// Answers whether names met, and are apart now.
fn rename_correlated(subquery: &mut Subquery, names: &AliasGenerator) -> Result<bool> {
    let tied = correlated_columns(&subquery.subquery)?;
    if !has_name_clash(&subquery.subquery, &tied)? {
        return Ok(false);
    }
    let plan = subquery.subquery.as_ref().clone().transform_up(|node| match node {
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => {
            with_renamed_columns(filter, names).map(Transformed::yes)
        }
        node => Ok(Transformed::no(node)),
    })?;
    // Nodes above have the columns that they had.
    subquery.subquery = Arc::new(plan.data);
    Ok(true)
}

/// The columns that are held against the row outside.
fn correlated_columns(plan: &LogicalPlan) -> Result<BTreeSet<Column>> {
    let mut tied = BTreeSet::new();
    plan.apply(|node| {
        if let LogicalPlan::Filter(filter) = node {
            let parts = split_conjunction(&filter.predicate).into_iter();
            let parts = parts.filter(|part| part.contains_outer());
            tied.extend(parts.flat_map(Expr::column_refs).cloned());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(tied)
}

/// Whether two of the columns are called alike, or something else that is given above them is.
fn has_name_clash(plan: &LogicalPlan, tied: &BTreeSet<Column>) -> Result<bool> {
    let names: BTreeSet<&str> = tied.iter().map(Column::name).collect();
    if names.len() < tied.len() {
        return Ok(true);
    }
    let mut do_meet = false;
    plan.apply(|node| {
        if let LogicalPlan::Filter(filter) = node
            && filter.predicate.contains_outer()
        {
            // The row outside may be one of the same table, where a rule has created the condition.
            do_meet |= find_out_reference_exprs(&filter.predicate).iter().any(|outer| {
                matches!(outer, Expr::OuterReferenceColumn(_, column) if tied.contains(column))
            });
            // Below it columns have their tables.
            return Ok(TreeNodeRecursion::Jump);
        }
        if matches!(
            node,
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_)
        ) {
            let mut given = node.schema().columns().into_iter();
            do_meet |= given.any(|column| names.contains(column.name()) && !tied.contains(&column));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(do_meet)
}

fn with_renamed_columns(filter: Filter, names: &AliasGenerator) -> Result<LogicalPlan> {
    let mut own: BTreeMap<Column, Column> = BTreeMap::new();
    for part in split_conjunction(&filter.predicate) {
        if part.contains_outer() {
            for column in part.column_refs() {
                // A column that several conditions name gets one new name: it is added once.
                own.entry(column.clone())
                    .or_insert_with(|| Column::new_unqualified(names.next("__tied")));
            }
        }
    }
    // The old columns stay beside the new ones: the last projection gives them to the nodes above.
    let columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::from).collect();
    let twice = own.iter().map(|(column, name)| Expr::from(column.clone()).alias(name.name()));
    let twice = Projection::try_new(columns.iter().cloned().chain(twice).collect(), filter.input)?;
    let parts = split_conjunction_owned(filter.predicate).into_iter().map(|part| {
        if !part.contains_outer() {
            return Ok(part);
        }
        let named = part.transform(|part| {
            Ok(match &part {
                Expr::Column(column) if own.contains_key(column) => {
                    Transformed::yes(Expr::Column(own[column].clone()))
                }
                _ => Transformed::no(part),
            })
        });
        named.map(|named| named.data)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let twice = Arc::new(LogicalPlan::Projection(twice));
    let kept = match conjunction(parts) {
        Some(predicate) => Arc::new(LogicalPlan::Filter(Filter::try_new(predicate, twice)?)),
        None => twice,
    };
    Ok(LogicalPlan::Projection(Projection::try_new(columns, kept)?))
}
