//! `ORDER BY x LIMIT n` through an index on x: no more than n rows are read.
//!
//! The sort stays as it is, and finds its rows in order; so nothing depends on the reader.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Expr, Filter, LogicalPlan, Projection, Sort, SubqueryAlias, TableScan,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::latest::origin;
use crate::access::Ordered;
use crate::catalog::{FirstRows, StoreTable, condition_of};

/// Tells reads which rows are wanted first.
#[derive(Debug)]
pub(crate) struct IndexOrderRule;

impl OptimizerRule for IndexOrderRule {
    fn name(&self) -> &str {
        "first_rows_through_index"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let rewritten = match &plan {
            LogicalPlan::Sort(sort) => sorted(sort),
            _ => None,
        };
        Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

fn sorted(sort: &Sort) -> Option<LogicalPlan> {
    let [key] = sort.expr.as_slice() else { return None };
    // NULL comes where SQL has it by itself.
    if key.nulls_first == key.asc {
        return None;
    }
    let column = origin(&sort.input, &key.expr)?;
    let first = FirstRows { order: Ordered { column, descending: !key.asc }, rows: sort.fetch? };
    let input = Arc::new(told(&sort.input, first)?);
    Some(LogicalPlan::Sort(Sort { input, ..sort.clone() }))
}

/// The plan whose scan knows which rows come first, where nothing but what an index answers stands
/// between.
fn told(plan: &LogicalPlan, first: FirstRows) -> Option<LogicalPlan> {
    match plan {
        LogicalPlan::TableScan(scan) => told_scan(scan, &[], first),
        LogicalPlan::Filter(filter) => {
            let LogicalPlan::TableScan(scan) = filter.input.as_ref() else { return None };
            let conditions = split_conjunction(&filter.predicate);
            let input = Arc::new(told_scan(scan, &conditions, first)?);
            Filter::try_new(filter.predicate.clone(), input).ok().map(LogicalPlan::Filter)
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = Arc::new(told(&alias.input, first)?);
            SubqueryAlias::try_new(input, alias.alias.clone()).ok().map(LogicalPlan::SubqueryAlias)
        }
        LogicalPlan::Projection(projection) => {
            let input = Arc::new(told(&projection.input, first)?);
            Projection::try_new(projection.expr.clone(), input).ok().map(LogicalPlan::Projection)
        }
        _ => None,
    }
}

fn told_scan(scan: &TableScan, conditions: &[&Expr], first: FirstRows) -> Option<LogicalPlan> {
    let provider = source_as_provider(&scan.source).ok()?;
    let table = provider.downcast_ref::<StoreTable>()?;
    let wanted = scan.filters.iter().chain(conditions.iter().copied());
    let conditions = wanted.map(|wanted| condition_of(table.table(), wanted));
    let conditions = conditions.collect::<Option<Vec<_>>>()?.concat();
    if scan.fetch.is_some() || !table.is_in_order(&conditions, first) {
        return None;
    }
    let source = provider_as_source(Arc::new(table.with_order(first)));
    Some(LogicalPlan::TableScan(TableScan { source, ..scan.clone() }))
}
